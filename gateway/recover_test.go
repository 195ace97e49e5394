package gateway

import (
	"testing"
	"time"

	"pmg/connector"
	"pmg/connector/queue"
	"pmg/sms"
	"pmg/store"
)

// Messages keep the order of their ids, and wait for no longer than the longest pause, if
// the wall clock went back between them, or before the restart.
func TestRecoverClockBack(t *testing.T) {
	t.Parallel()
	g, _, operator := start(t, "retry: 1s")
	g.Node.Clock.EngineClock = func() int64 { return now }
	hour := int64(time.Hour)
	r := &recovery{
		gateway: g, cfg: g.Node.Config(), began: now,
		places: map[string]*connector.Share{}, parts: map[*connector.Share][]queue.Waiting{},
	}
	lane := store.Lane{Connector: operator.Name}
	origin := g.Node.Origins.Of("client", "clients")
	for id, arrived := range []int64{now + hour, now - hour, now - 1} {
		m := &sms.Message{ID: uint64(id + 1), Origin: origin, Arrived: arrived, NotBefore: now + hour}
		e := store.Entry{ID: m.ID, Record: store.AppendRecord(nil, m, lane, 0)}
		if id == 0 {
			e.State = store.AppendState(nil, m, store.State{Lane: lane}, 0)
		}
		r.entry(&e)
		read, _, err := g.Keeper.Decode(&e)
		if err != nil {
			t.Fatal(err)
		}
		if read.Arrived > now || read.NotBefore > now+int64(30*time.Minute) {
			t.Errorf("message %d has arrived in %d ns, and is sent again in %d", m.ID, read.Arrived-now, read.NotBefore-now)
		}
	}
	parts := r.parts[g.Table.Share(g.Table.LaneOf(operator), origin)]
	if len(parts) != 3 {
		t.Fatalf("%d messages are found", len(parts))
	}
	for i, w := range parts {
		if w.Arrived > now || i > 0 && w.Arrived < parts[i-1].Arrived || w.NotBefore > now+int64(30*time.Minute) {
			t.Errorf("message %d: %+v", w.ID, w)
		}
	}
}
