package web

import (
	"strings"
	"testing"
	"time"

	"pmg/config"
	"pmg/gateway/operate"
	"pmg/sms"
)

// What waits in several lanes of a peer and came from one origin is one row; names that look alike when they are joined are not.
func TestQueueRows(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	early, late := now.Add(-time.Minute), now.Add(-time.Second)
	rows := queueRows([]operate.QueueSum{
		{State: "queued", Connector: "operator", Account: "a", Messages: 3, Oldest: &late},
		{State: "queued", Receiver: "a", From: "operator", Messages: 2, Oldest: &late},
		{State: "queued", Receiver: "a", From: "operator", Messages: 5, Oldest: &early},
		{State: "queued", Receiver: `a" "b`, Account: "c", Messages: 1},
		{State: "queued", Receiver: "a", Account: `b" "c`, Messages: 1},
		{State: "parked", Messages: 7},
	}, now)
	if len(rows) != 5 || rows[1].Messages != 7 || rows[1].Oldest != 60 || rows[1].peer() != "account a" || rows[0].peer() != "connector operator" || rows[4].peer() != "" {
		t.Errorf("%+v", rows)
	}
}

// The page shows what waits for a peer by where it came from, with its part of the queue.
func TestQueues(t *testing.T) {
	t.Parallel()
	base, g := start(t)
	c := visitor(t, base, config.LookScope)
	if _, body, _ := ask(t, c, "GET", base+"/ui/queues", nil); !strings.Contains(body, "Nothing is queued.") {
		t.Error(body)
	}
	lane, now := g.Table.LaneOf(g.Table.Connector("operator")), g.Node.Clock.Now()
	for account, n := range map[string]int{`<b>"x`: 3, "other": 1} {
		share := lane.Queues.Share(g.Node.Origins.Of(account, "clients"), 100)
		for range n {
			m := new(sms.Message)
			share.Enter(m, now)
			defer share.Leave(m)
		}
	}
	_, body, _ := ask(t, c, "GET", base+"/ui/queues", nil)
	for _, want := range []string{"&lt;b&gt;", "75 %", "25 %", `<a href="/ui/connectors/operator">`} {
		if !strings.Contains(body, want) || strings.Contains(body, "<b>") {
			t.Errorf("%s: %s", want, body)
		}
	}
	if _, body, _ := ask(t, c, "GET", base+"/ui/queues?filter=other", nil); strings.Contains(body, "75 %") {
		t.Error(body)
	}
}
