package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// The lines of help fit a terminal, but for examples and tables, and the flags of a gateway elsewhere stand
// there once.
func TestHelpFits(t *testing.T) {
	t.Parallel()
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		var out bytes.Buffer
		args := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		if err := runPMG(&out, args...); err != nil {
			t.Fatal(err)
		}
		help, _, _ := strings.Cut(out.String(), "\nExamples:")
		_, flags, _ := strings.Cut(out.String(), "\nFlags:")
		for line := range strings.Lines(help + flags) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > 90 && !strings.HasPrefix(line, " ") {
				t.Errorf("%s: a line of %d: %s", cmd.CommandPath(), n, line)
			}
		}
		if strings.Contains(flags, "--token-file") {
			t.Errorf("%s repeats --token-file", cmd.CommandPath())
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(newRootCommand())
	var out bytes.Buffer
	if err := runPMG(&out, "help", "gateway"); err != nil || !strings.Contains(out.String(), "--token-file") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// The shell completes names of the configuration, and no files.
func TestNamesComplete(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := runPMG(new(bytes.Buffer), "config", "init", "-c", dir+"/pmg.yaml"); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{"hold": "operator\n:4", "webhooks test": "load\n:4", "trace": ":4", "status": ":4", "kick": "load\n:4"} {
		var out bytes.Buffer
		root := newRootCommand()
		root.SetArgs(append(append([]string{"__complete"}, strings.Fields(args)...), "-c", dir+"/pmg.yaml", ""))
		root.SetOut(&out)
		if err := root.Execute(); err != nil || !strings.HasPrefix(out.String(), want+"\n") {
			t.Errorf("pmg %s: %v, %s", args, err, out.String())
		}
	}
}
