package admin

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pmg/admin/history"
)

// The last hour has what the connectors count, of all and of each; the recorder ends with the server.
func TestHistory(t *testing.T) {
	t.Parallel()
	r := start(t, parse(t, wholeConfig, t.TempDir(), "127.0.0.1:1"), false)
	r.admin.stop() // samples are made by the test alone
	at := time.Now().Add(time.Hour)
	r.admin.History().Sample(at)
	operator := r.gateway.Table.Connector("operator").Stats
	operator.Sent.Add(200)
	operator.Accepted.Add(80)
	operator.ReceiptsIn.Add(70)
	operator.Queued.Add(3)
	operator.Answer.Observe(int64(5 * time.Millisecond))
	r.gateway.Table.Connector("clients").Stats.Accepted.Add(100)
	r.admin.History().Sample(at.Add(history.Period))
	for query, want := range map[string]string{"": "[11] [20] [3] [0.006144] true", "?connector=operator": "[1] [20] [3] [0.006144] false", "?connector=clients": "[10] [0] [0] [<nil>] false"} {
		code, body := r.get("/admin/v1/history" + query)
		var h map[string]any
		if err := json.Unmarshal([]byte(body), &h); code != 200 || err != nil {
			t.Fatal(code, err, body)
		}
		last := func(name string) any {
			all := h[name].([]any)
			return all[len(all)-1:]
		}
		memory, _ := h["memory_octets"].([]any)
		if got := fmt.Sprint(last("in"), last("out"), last("waiting"), last("answer_median_seconds"), len(memory) > 0 && memory[0].(float64) > 1<<20); got != want {
			t.Errorf("%q: %s, not %s", query, got, want)
		}
	}
	if code, body := r.get("/admin/v1/history?connector=x"); code != 404 || !strings.Contains(body, "there is no such connector") {
		t.Error(code, body)
	}
}

// A sample of 200 connectors, which is made every ten seconds. docs/web.md has what it takes.
func BenchmarkHistory(b *testing.B) {
	yaml := clientsOnly
	for i := range 200 {
		yaml += fmt.Sprintf("  - {name: smsc%d, direction: out, address: \"127.0.0.1:1\", system_id: pmg, password: x, static: false}\n", i)
	}
	r := start(b, parse(b, yaml, b.TempDir()), false)
	r.admin.stop()
	at := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		at = at.Add(history.Period)
		r.gateway.Table.Connector("smsc7").Stats.Sent.Add(1)
		r.admin.History().Sample(at)
	}
}
