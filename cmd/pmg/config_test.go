package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pmgConfig runs pmg config and returns its output.
func pmgConfig(args ...string) (string, error) {
	cmd := newConfigCommand()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs(args)
	err := cmd.Execute()
	return out.String(), err
}

// The life of a configuration: written, checked, shown, not overwritten, broken.
func TestConfigCommand(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pmg.yaml")
	want := func(reason, part string, args ...string) {
		t.Helper()
		out, err := pmgConfig(args...)
		if err != nil {
			out += err.Error()
		}
		if !strings.Contains(out, part) {
			t.Errorf("%s: pmg config %s prints\n%s\nwant %q in it", reason, strings.Join(args, " "), out, part)
		}
	}
	want("not there yet", "cannot read configuration", "check", "-c", file)
	want("begun", "wrote "+file, "init", "-c", file)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file begun has mode %v, %v", info.Mode(), err)
	}
	want("the starter file is good", "can be used: accounts 1, connectors 2, routes 1", "check", "-c", file)
	want("defaults are shown", "max_jobs: 100000", "show", "-c", file)
	if out, _ := pmgConfig("show", "-c", file); strings.Contains(out, "secret") {
		t.Errorf("a password is shown:\n%s", out)
	}
	want("not overwritten", "--force overwrites it", "init", "-c", file)

	if err := os.WriteFile(file, []byte("log: {level: loud}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want("broken", file+":1:14: log.level must be trace", "check", "-c", file)
	want("with the line", "1 | log: {level: loud}", "show", "-c", file)
	want("overwritten", "wrote", "init", "-c", file, "--force")
	want("good again", "can be used", "check", "-c", file)

	want("explained", "Requests sent and not yet answered", "describe", "connectors[].window")
	want("all explained", "architecture", "describe")
	want("nothing to explain", "cannot find option", "describe", "nonsense")
}
