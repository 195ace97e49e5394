package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// askPlugin runs a command with a message on standard input.
func askPlugin(t *testing.T, message string, args ...string) (string, error) {
	t.Helper()
	b, err := os.ReadFile("../../docs/plugins.md")
	if err != nil {
		t.Fatal(err)
	}
	file := writeConfig(t, blocks(string(b), "yaml")[0])
	var out bytes.Buffer
	cmd := newRootCommand()
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetIn(strings.NewReader(message))
	cmd.SetArgs(append(args, "-c", file))
	err = cmd.Execute()
	return out.String(), err
}

// The command prints the verdict of a plugin, or says why there is none.
func TestPluginCommand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, message, want string }{
		{"content", `{"from": "ACME", "to": "46701", "text": "Casino!"}`, `"why": "no games of chance"`},
		{"network", `{"to": "46701"}`, `"net:24001"`},
		{"network", `{"to": "49"}`, `{}`},
		{"nobody", `{}`, `no plugin "nobody": there are content, night, network`},
		{"network", `{"too": "49"}`, `unknown field "too"`},
		{"network", ``, "cannot read the message from standard input"},
	} {
		out, err := askPlugin(t, c.message, "plugin", "test", c.name)
		if err != nil {
			out += err.Error()
		}
		if !strings.Contains(out, c.want) || (err != nil) != !strings.HasPrefix(strings.TrimSpace(out), "{") {
			t.Errorf("%s, %s: %s, want %s", c.name, c.message, out, c.want)
		}
	}
	out, err := askPlugin(t, `{"to": "46701"}`, "plugin", "bench", "network", "--duration", "50ms", "--clients", "4")
	if err != nil || !strings.Contains(out, " a second; 0 failed\n") {
		t.Error(out, err)
	}
	if _, err := askPlugin(t, `{}`, "plugin", "bench", "network", "--clients", "0"); err == nil {
		t.Error("nobody asks")
	}
}
