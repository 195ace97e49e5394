package main

import (
	"bytes"
	"os"
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

// Help shows the commands by what they are for, and each of them in a group.
func TestHelpGroups(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := runPMG(&out, "--help"); err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, title := range []string{"Start:", "Look:", "Act:", "Customers:", "Test:"} {
		n := strings.Index(out.String(), "\n"+title+"\n")
		if n < at {
			t.Errorf("%s is missing, or stands before others:\n%s", title, out.String())
		}
		at = n
	}
	for _, cmd := range newRootCommand().Commands() {
		switch cmd.Name() {
		case "version", "help", "completion", "gateway", "manual":
		default:
			if cmd.GroupID == "" && !cmd.Hidden {
				t.Errorf("%s is in no group", cmd.Name())
			}
		}
	}
}

// What a configuration is warned of is said where it is checked and started, and not before the output of other commands.
func TestWarnings(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/pmg.yaml"
	const yaml = "accounts: [{system_id: acme, password: secret}]\nconnectors: [{name: clients, direction: in, address: '127.0.0.1:0'}," +
		"{name: out, direction: out, protocol: test}]\nroutes: [{to: out}, {to: out}]\nstore: {engine: memory}\npdulog: {enabled: false}\n"
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, warns := range map[string]bool{
		"config check": true, "explain --account acme --to 46701740605 --text a": false, "stats": false, "list": false, "plugins": false,
	} {
		root := newRootCommand()
		var out bytes.Buffer
		root.SetOut(&out)
		root.SetErr(&out)
		root.SetArgs(append(strings.Fields(line), "-c", file))
		_ = root.Execute()
		if strings.Contains(out.String(), "is never reached") != warns {
			t.Errorf("%s:\n%s", line, out.String())
		}
	}
}

// pmg help finds options of the configuration and flags of commands by a word, and names what is similar where nothing has it.
func TestHelpFinds(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"window": "Options (pmg config describe OPTION):\n  connectors[].window\n", "failover": "  connectors[].failover_after\n",
		"older": "  pmg queue list\n", "queue list": "Usage:\n  pmg queue list", "gateway": "--token-file",
	} {
		var out bytes.Buffer
		if err := runPMG(&out, append([]string{"help"}, strings.Fields(word)...)...); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%s: %v, %s", word, err, out.String())
		}
	}
	if err := runPMG(new(bytes.Buffer), "help", "windwo"); err == nil || !strings.Contains(err.Error(), `did you mean "window"?`) {
		t.Errorf("error %v", err)
	}
}
