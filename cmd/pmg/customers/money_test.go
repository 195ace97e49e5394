package customers

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"pmg/events"
	"pmg/sms"
)

// writeEvents writes events of messages of now: three to networks, one of them in two parts, one to a number of an unknown network,
// one to a short code, and a receipt.
func writeEvents(t *testing.T, dir string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	network := func(text string) sms.Network { n, _ := sms.ReadNetwork(text); return n }
	now := time.Now().Add(-time.Minute).UnixNano()
	var out []byte
	var p events.Printer
	for i, e := range []events.Event{
		{Account: "shop", ToConnector: "telia", Destination: []byte("46701000001"), Network: network("24001")},
		{Account: "shop", ToConnector: "telia", Destination: []byte("46702000001"), Network: network("24002"), Parts: 2},
		{Account: "shop", ToConnector: "telia", Destination: []byte("46702000001"), Network: network("24002"), Parts: 2, Part: 1},
		{Account: "acme", ToConnector: "telia", Destination: []byte("46702000002"), Network: network("24002"), State: events.Rejected},
		{Account: "bank\x1b", ToConnector: "telia", Destination: []byte("4915100000001")},
		{Account: "shop", ToConnector: "telia", Destination: []byte("72404")},
		{Kind: sms.Receipt, ToAccount: "shop", Connector: "telia", Destination: []byte("4915100000001")},
	} {
		e.Number, e.ID, e.Accepted, e.Ended = uint64(i+1), uint64(i+1), now, now
		out = append(p.Append(out, &e), '\n')
	}
	if err := os.WriteFile(filepath.Join(dir, "events.log"), out, 0o600); err != nil {
		t.Fatal(err)
	}
}

// The commands ask for what their arguments say, and print what is answered, without what a terminal would obey.
func TestMoneyCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"good.csv": "24001,0.045\n*,0.09\n", "bad.csv": "24001,0.0450001\nx,1\n", "networks.csv": "46701,24001\n46702,24002\n", "few.csv": "24001,0.045\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	writeEvents(t, filepath.Join(dir, "events"))
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
		{"statement acme --month 2026-10", `{"account":"acme\u001b","currency":"EUR","timezone":"UTC","charged":"1.50","messages":2,` +
			`"lines":[{"country":"240","price":"0.75","messages":2,"short_messages":2,"sum":"1.50"}],"closing_balance":"-1.50"}`,
			"GET /admin/v1/statement?account=acme&connector=&month=2026-10&timezone=",
			"Statement of account acme?, 0001-01-01 to 0000-12-31 (UTC)\n\nCharged, in EUR\n240 - - 0.75 2 2 1.50\ntotal    2 0 1.50\n", ""},
		{"statement acme --csv", `{"timezone":"UTC","account":"acme"}`,
			"GET /admin/v1/statement?account=acme&connector=&month=&timezone=", "closing balance,0001-01-01T00:00:00Z,,,,,,,0.00,,,\n", ""},
		{"statement --connector telia --json", `{"connector":"telia"}`,
			"GET /admin/v1/statement?connector=telia&month=&timezone=", "telia", ""},
		{"statement acme --events DIR/none", `{"account":"acme","event":1,"from":"2026-10-01T00:00:00Z","to":"2026-11-01T00:00:00Z"}`,
			"GET /admin/v1/statement/ledger?account=acme&connector=&month=&timezone=", "", "no such file"},
		{"statement", "", "", "", "name an account"},
		{"statement acme --connector telia", "", "", "", "name an account"},
		{"price check DIR/good.csv", "", "", "good.csv: 2 prices: 1 of networks, 0 of countries, 0 of prefixes\n  network 240-01: 0.045\n  all others: 0.09\n", ""},
		{"price check DIR/bad.csv", "", "", "bad.csv:1: cannot read \"24001,0.0450001\"", "2 problems"},
		{"price check --networks DIR/networks.csv DIR/bad.csv", "", "",
			"0 prices: 0 of networks, 0 of countries, 0 of prefixes\nnetwork 24001 (no name) has no price, nor has its country\n", "2 problems"},
		{"price check --networks DIR/bad.csv DIR/good.csv", "", "", "", "bad.csv:1: "},
		{"price check --events DIR/events --networks DIR/networks.csv DIR/few.csv", "", "",
			"network 24002: no price, and 2 messages, such as those of account shop\n" +
				"numbers that begin with +4915: no price, and 1 messages, such as those of account bank?\n" +
				"short codes and national numbers: no price, and 1 messages, such as those of account shop\n", ""},
		{"price check --events DIR/events --account shop --connector other DIR/few.csv", "", "",
			"(*): messages to numbers without a row are refused\nall messages of the events have a price\n", ""},
		{"price check --events DIR/events DIR/good.csv", "", "", "all messages of the events have a price\n", ""},
		{"price check --events DIR/events --from 2020-01-01 --to 2020-01-31 DIR/few.csv", "", "", "all messages of the events have a price\n", ""},
		{"price check --events DIR/events --day tomorrow DIR/few.csv", "", "", "", "cannot read the day"},
		{"price check --events DIR/nowhere DIR/few.csv", "", "", "", "cannot read events"},
		{"price check DIR/none.csv", "", "", "", "make the file"},
	} {
		var out bytes.Buffer
		asked := ""
		root := &cobra.Command{Use: "pmg", SilenceErrors: true, SilenceUsage: true}
		gateway := func(*cobra.Command) func(method, path string, v any) error {
			return func(method, path string, v any) error {
				asked = method + " " + path
				return json.Unmarshal([]byte(c.answer), v)
			}
		}
		root.AddCommand(Credit(gateway), Price(), Statement(StatementProgram{
			Gateway: gateway, JSON: func(out io.Writer, v any) error { return json.NewEncoder(out).Encode(v) },
			Table: func(_ int, _ []string, rows [][]string) string {
				var b strings.Builder
				for _, row := range rows {
					b.WriteString(strings.Join(row, " ") + "\n")
				}
				return b.String()
			},
		}))
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
