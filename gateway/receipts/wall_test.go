package receipts

import (
	"encoding/binary"
	"testing"

	"pmg/sms"
	"pmg/store"
)

// The times that are sent or stored of a message are by the wall clock, also where that is ahead of
// the engine's clock: since when it is in its state, and when a receipt without a message has
// arrived.
func TestWallClock(t *testing.T) {
	t.Parallel()
	const now, ahead = int64(1_800_000_000_000_000_000), 3600 * int64(1e9)
	g := newRig(t)
	s := store.NewMemory()
	if err := g.keep(s); err != nil {
		t.Fatal(err)
	}
	g.Matcher.node.Clock.SetAhead(ahead)
	m, f := partOf(g, 0, 1, sms.StateDelivered, "000")
	r, _ := m.Report()
	r.Done = 0
	m.SetReport(m.Source(), m.Dest(), &r)
	g.Direct(now, m, f)
	if err := g.Matcher.keep.Batches.Sync(); err != nil {
		t.Fatal(err)
	}
	value, ok, err := s.Lookup(store.KindEnded, binary.BigEndian.AppendUint64(nil, f.Mapping.KnownID()))
	if since := int64(binary.BigEndian.Uint64(value[len(value)-8:])); !ok || err != nil || since != now+ahead {
		t.Errorf("delivered since %d, want %d; %t, %v", since, now+ahead, ok, err)
	}
	orphan, _ := partOf(g, 0, 1, sms.StateDelivered, "000")
	orphan.ID, orphan.Arrived = 7, now
	g.Orphans.Keep(orphan)
	if got := g.Orphans.all[0].arrived; got != now+ahead {
		t.Errorf("an orphan arrived at %d, want %d", got, now+ahead)
	}
	if err := g.close(); err != nil {
		t.Error(err)
	}
}
