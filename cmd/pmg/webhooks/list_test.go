package webhooks

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"pmg/gateway/webhooks"
)

// program returns a program whose gateway answers so, and which notes what it is asked.
func program(t *testing.T, answer any, asked *string) Program {
	return Program{
		Gateway: func(*cobra.Command) Ask {
			return func(method, path string, v any) error {
				*asked = method + " " + path
				b, err := json.Marshal(answer)
				if err != nil {
					t.Fatal(err)
				}
				return json.Unmarshal(b, v)
			}
		},
		JSON: func(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) },
		Table: func(_ int, head []string, rows [][]string) string {
			if len(rows) == 0 {
				return ""
			}
			var b strings.Builder
			for _, row := range append([][]string{head}, rows...) {
				if len(row) != len(head) {
					t.Errorf("%d cells below %d heads", len(row), len(head))
				}
				fmt.Fprintln(&b, strings.Join(row, "|"))
			}
			return b.String()
		},
	}
}

func TestCommands(t *testing.T) {
	t.Parallel()
	at := time.Now().Add(-time.Hour)
	later := time.Now().Add(time.Hour)
	rows := []webhooks.Row{{Account: "shop", Endpoint: "https://a", Waiting: 3, Oldest: &at, Failures: 12, RestsUntil: &later, LastError: "does not resolve"}, {Account: "x"}}
	tries := []webhooks.Attempt{{At: at, Account: "shop", ID: "7", Type: "message.sent", Number: 2, Status: 503, Error: "answered 503", Reply: "later"}, {Taken: true, Status: 204}}
	for _, c := range []struct {
		args   string
		answer any
		asked  string
		want   string
	}{
		{"list", rows, "GET /webhooks?account=", "shop|https://a|3|1h0m0s|0|12|1h0m0s|0|0|-|-|does not resolve"},
		{"list --account shop --json", rows, "GET /webhooks?account=shop", `"last_error":"does not resolve"`},
		{"list", []webhooks.Row{}, "GET /webhooks?account=", "no server was called yet"},
		{"attempts --id 7 --replies", tries, "GET /webhooks/attempts?account=&endpoint=&id=7&limit=100&replies=1", "|7|message.sent|2|503|0|answered 503|later"},
		{"attempts --account shop --endpoint https://a --limit 5", tries, "GET /webhooks/attempts?account=shop&endpoint=https%3A%2F%2Fa&id=&limit=5", "|0|204|0|has it\n"},
		{"attempts --json", tries, "GET /webhooks/attempts?account=&endpoint=&id=&limit=100", `"error":"answered 503"`},
		{"attempts", tries[:0], "GET /webhooks/attempts?account=&endpoint=&id=&limit=100", "no attempts"},
	} {
		var asked string
		var out strings.Builder
		cmd := Command(program(t, c.answer, &asked))
		cmd.SetArgs(strings.Fields(c.args))
		cmd.SetOut(&out)
		if err := cmd.Execute(); err != nil || asked != c.asked || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: %v, asked %s, wrote\n%s", c.args, err, asked, out.String())
		}
	}
	var asked string
	cmd := Command(program(t, nil, &asked))
	cmd.SetArgs([]string{"attempts", "--limit", "0"})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	if err := cmd.Execute(); err == nil || asked != "" {
		t.Errorf("%v, %s", err, asked)
	}
}
