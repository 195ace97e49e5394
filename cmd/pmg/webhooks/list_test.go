package webhooks

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"pmg/gateway/operate"
	"pmg/gateway/webhooks"
)

// program returns a program whose gateway answers so, and which records what it is asked.
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
	page := operate.QueuePage{Messages: []operate.StoredMessage{{ID: "0000000000000007", About: "9", Receiver: "shop", Connector: "https://a", Delivery: "delivered", Result: operate.ResultRetried}}, Next: 8}
	last := page
	last.Next = 0
	for _, c := range []struct {
		args   string
		answer any
		asked  string
		want   string
	}{
		{"list", rows, "GET /admin/v1/webhooks?account=", "shop|https://a|3|1h0m0s|0|12|1h0m0s|0|0|-|-|does not resolve"},
		{"list --account shop --json", rows, "GET /admin/v1/webhooks?account=shop", `"last_error":"does not resolve"`},
		{"list", []webhooks.Row{}, "GET /admin/v1/webhooks?account=", "no server was called yet"},
		{"attempts --id 7 --replies", tries, "GET /admin/v1/webhooks/attempts?account=&endpoint=&id=7&limit=100&replies=1", "|7|message.sent|2|503|0|answered 503|later"},
		{"attempts --account shop --endpoint https://a --limit 5", tries, "GET /admin/v1/webhooks/attempts?account=shop&endpoint=https%3A%2F%2Fa&id=&limit=5", "|0|204|0|has it\n"},
		{"attempts --json", tries, "GET /admin/v1/webhooks/attempts?account=&endpoint=&id=&limit=100", `"error":"answered 503"`},
		{"dead --since 2026-11-20T19:05:22Z --kind message.delivered", last, "GET /admin/v1/queue?delivery=delivered&limit=100&since=2026-11-20T19%3A05%3A22Z&state=dead", "evt_0000000000000007|9|shop|https://a|delivered|"},
		{"dead --limit 1", page, "GET /admin/v1/queue?limit=1&state=dead", "1 dead letter; there may be more"},
		{"dead --kind mo --json", last, "GET /admin/v1/queue?kind=mo&limit=100&state=dead", `"id":"0000000000000007"`},
		{"replay --account shop --dry-run", last, "POST /admin/v1/queue/retry?account=shop&dry_run=1&limit=500&state=dead", "1 dead letter would be replayed; nothing was changed"},
		{"replay evt_0000000000000007", last, "POST /admin/v1/queue/retry?id=0000000000000007&limit=500&state=dead", "1 dead letter replayed"},
		{"delete --endpoint https://a", last, "POST /admin/v1/queue/delete?connector=https%3A%2F%2Fa&limit=500&state=dead", "1 dead letter"},
		{"enable shop", map[string]any{"servers": []string{"https://a"}}, "POST /admin/v1/webhooks/enable?account=shop", "called again: https://a"},
		{"retry shop", map[string]any{"servers": []string{"https://a"}}, "POST /admin/v1/webhooks/retry?account=shop", "called now: https://a"},
		{"test shop --fallback", tries[1], "POST /admin/v1/webhooks/test?account=shop&fallback=1", "|0|204|0|has it|"},
		{"delete --all", operate.QueuePage{}, "POST /admin/v1/queue/delete?limit=500&state=dead", "0 dead letters deleted"},
		{"attempts", tries[:0], "GET /admin/v1/webhooks/attempts?account=&endpoint=&id=&limit=100", "no attempts"},
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
	for _, args := range []string{
		"attempts --limit 0", "replay", "delete --dry-run", "dead --since yesterday", "dead --limit -1", "replay 7",
	} {
		var asked string
		cmd := Command(program(t, nil, &asked))
		cmd.SetArgs(strings.Fields(args))
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		if err := cmd.Execute(); err == nil || asked != "" {
			t.Errorf("%s: %v, asked %s", args, err, asked)
		}
	}
}
