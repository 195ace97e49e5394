package check

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmg/config"
)

// run runs the command, and returns what it writes.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := Lists(func(_ io.Writer, file string) (*config.Config, error) {
		c, _, err := config.Load(file, config.Options{})
		return c, err
	})
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(io.Discard)
	err := cmd.Execute()
	return out.String(), err
}

func TestListCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "pmg.yaml")
	for name, text := range map[string]string{
		"optouts.txt": "+46701\n46701\n4670*\n4670123*\nACME\n", "bad.txt": "46701\n4*6\n*\n",
		"pmg.yaml": "connectors: []\nlists: [{name: optouts, file: optouts.txt}]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ args, want, err string }{
		{"check DIR/optouts.txt", "lines 5, numbers 1, prefixes 1, names of senders 1\n  number 46701\n  number 46701\n  numbers that begin with 4670\nwithout effect: 1 entries that stand there " +
			"more than once, 1 prefixes", ""},
		{"check DIR/bad.txt", "bad.txt:2: cannot read \"4*6\"", "cannot use DIR/bad.txt: 2 problems"},
		{"check DIR/none.txt", "", "make the file"},
		{"check", "", "it needs the name of a file"},
		{"check a b", "", "got 2 arguments"},
		{"test optouts 46799", "46799 is not on list optouts", ""},
		{"test optouts +46-709", "+46-709 is on list optouts", ""},
		{"test others 46709", "", "cannot find list others"},
		{"add optouts 46799 +46799 4711", "list optouts: 2 added, 1 were", ""},
		{"test optouts 4711", "4711 is on", ""},
		{"remove optouts 4711 4712 46709", "list optouts: 2 removed, 1 were not", ""},
		{"test optouts 4711", "4711 is not on", ""},
		{"test optouts 46709", "46709 is not on", ""},
		{"test optouts acme", "acme is on", ""},
		{"add optouts 47*", "", "prefixes must be in the file"},
		{"add optouts", "", "it needs the name of a list and numbers"},
		{"remove optouts x\x00", "", "NUL"},
	} {
		args := strings.Fields(strings.ReplaceAll(c.args, "DIR", dir))
		if args[0] != "check" {
			args = append(args, "-c", file)
		}
		out, err := run(t, args...)
		switch {
		case !strings.Contains(out, c.want):
			t.Errorf("%s: %q", c.args, out)
		case (err == nil) != (c.err == ""), err != nil && !strings.Contains(err.Error(), strings.ReplaceAll(c.err, "DIR", dir)):
			t.Errorf("%s: %v", c.args, err)
		}
	}
}
