package check

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
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
		{"add optouts 46788 --reason by_letter", "1 added", ""},
		{"add optouts 46787 --reason " + strings.Repeat("x", 201), "", "200 octets at most"},
		{"add optouts 46787 --reason a\x1bb", "", "one line"},
		{"show optouts +46788", "+46788 is on list optouts, by a change\n2", ""},
		{"show optouts 46788", "  added  command  ", ""},
		{"show optouts 46788", "  -  by_letter\n", ""},
		{"show optouts 46701", "46701 is on list optouts, by its file\n", ""},
		{"show optouts 46705", "46705 is on list optouts, by a prefix of its file\n", ""},
		{"show optouts 4711", "4711 is not on list optouts, by a change\n2", ""},
		{"show optouts 4799", "4799 is not on list optouts\n", ""},
		{"show optouts 4670*", "", "prefixes must be in the file"},
		{"show others 46701", "", "cannot find list others"},
		{"show optouts", "", "got 1"},
		{"export optouts", "number,on,since,source,who,id,reason\r\n46701,yes,,,,,\r\n4670*,yes,,,,,\r\n", ""},
		{"export optouts", "\r\n46788,yes,2", ""},
		{"export optouts --all", "\r\n46709,no,2", ""},
		{"export others", "", "cannot find list others"},
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

// With --address the gateway is asked.
func TestListOfGateway(t *testing.T) {
	t.Parallel()
	var asked []string
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.String())
		switch {
		case strings.HasSuffix(r.URL.Path, "/numbers/47"):
			http.Error(w, "cannot read list optouts: \x1b[2J", http.StatusNotFound)
		case strings.Contains(r.URL.Path, "/numbers/"):
			_, _ = io.WriteString(w, `{"on":true,"by":"change","history":[{"change":"added","time":"2026-11-30T09:14:03Z","source":"stop","who":"op\u001b[2J","id":"a1"},{"change":"removed"}]}`)
		case strings.HasSuffix(r.URL.Path, "/export"):
			_, _ = io.WriteString(w, "number,on\r\n46701,yes\r\n")
		default:
			_, _ = io.WriteString(w, `{"changed":1}`)
		}
	}))
	defer gateway.Close()
	file := filepath.Join(t.TempDir(), "pmg.yaml")
	err := os.WriteFile(file, []byte("connectors: []\nlists: [{name: optouts, file: pmg.yaml}]\n"), 0o600) // the list is not read
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, asks, want, err string }{
		{"show optouts +46/70", "GET /admin/v1/lists/optouts/numbers/+46%2F70", "+46/70 is on list optouts, by a change\n2026-11-30 09:14:03 UTC  added    stop  op\\x1b[2J  a1  \n-                        removed  -     -          -   \n", ""},
		{"show optouts 47", "GET /admin/v1/lists/optouts/numbers/47", "", "cannot read list optouts: \\x1b[2J"},
		{"export optouts --all", "GET /admin/v1/lists/optouts/export?all=1", "number,on\r\n46701,yes\r\n", ""},
		{"add optouts 46 --reason a&b", "POST /admin/v1/lists/add?list=optouts&number=46&reason=a%26b", "1 added", ""},
		{"remove optouts 46", "POST /admin/v1/lists/remove?list=optouts&number=46", "1 removed", ""},
	} {
		asked = nil
		out, err := run(t, append(strings.Fields(c.args), "-c", file, "--address", gateway.URL)...)
		if len(asked) != 1 || asked[0] != c.asks || !strings.HasPrefix(out, c.want) && !strings.Contains(out, ": "+c.want) {
			t.Errorf("%s: %q, %q", c.args, asked, out)
		}
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v", c.args, err)
		}
	}
}
