package customers

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// The commands ask for what their arguments say, and print what is answered, without what a terminal would obey.
func TestMoneyCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"good.csv": "24001,0.045\n*,0.09\n", "bad.csv": "24001,0.0450001\nx,1\n", "networks.csv": "46701,24001\n46702,24002\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ args, answer, path, want, err string }{
		{"credit add --reference i1 --comment c acme 10.5", `{"currency":"EUR","payment":{"amount":"10.50","balance":"11.00"}}`,
			"POST /admin/v1/credit/add?account=acme&amount=10.5&comment=c&reference=i1", "acme: 10.50 EUR added, the balance is 11.00\n", ""},
		{"credit add -- acme -5", `{"currency":"EUR","payment":{"amount":"-5.00","balance":"6.00"}}`,
			"POST /admin/v1/credit/add?account=acme&amount=-5&comment=&reference=", "the balance is 6.00", ""},
		{"credit add acme", "", "", "", "accepts 2 arg"},
		{"credit show", `[{"account":"a\u001b[31m","balance":"1.00","reserved":"0.00"}]`, "GET /admin/v1/credit?account=",
			"account  prices  mode  currency  balance  reserved  available  today  month\na?[31m   -       -     -         1.00     0.00      -          -      -\n", ""},
		{"credit show acme", `[]`, "GET /admin/v1/credit?account=acme", "account", ""},
		{"credit history acme", `[{"at":"2026-11-27T10:00:00Z","amount":"1.00","balance":"2.00","by":"root"}]`,
			"GET /admin/v1/credit/history?account=acme", "2026-11-27 10:00:00  1.00    2.00     -          -        root\n", ""},
		{"price check DIR/good.csv", "", "", "good.csv: 2 prices: 1 of networks, 0 of countries, 0 of prefixes\n  network 240-01: 0.045\n  all others: 0.09\n", ""},
		{"price check DIR/bad.csv", "", "", "bad.csv:1: cannot read \"24001,0.0450001\"", "2 problems"},
		{"price check --networks DIR/networks.csv DIR/bad.csv", "", "",
			"0 prices: 0 of networks, 0 of countries, 0 of prefixes\nnetwork 24001 (no name) has no price, nor has its country\n", "2 problems"},
		{"price check --networks DIR/bad.csv DIR/good.csv", "", "", "", "bad.csv:1: "},
		{"price check DIR/none.csv", "", "", "", "make the file"},
	} {
		var out bytes.Buffer
		asked := ""
		root := &cobra.Command{Use: "pmg", SilenceErrors: true, SilenceUsage: true}
		root.AddCommand(Credit(func(*cobra.Command) func(method, path string, v any) error {
			return func(method, path string, v any) error {
				asked = method + " " + path
				return json.Unmarshal([]byte(c.answer), v)
			}
		}), Price())
		root.SetArgs(strings.Fields(strings.ReplaceAll(c.args, "DIR", dir)))
		root.SetOut(&out)
		root.SetErr(io.Discard)
		err := root.Execute()
		switch {
		case asked != c.path || !strings.Contains(out.String(), c.want):
			t.Errorf("%s: asked %q, wrote %q", c.args, asked, out.String())
		case (err == nil) != (c.err == ""), err != nil && !strings.Contains(err.Error(), c.err):
			t.Errorf("%s: %v", c.args, err)
		}
	}
}
