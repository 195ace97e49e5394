package gateway

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

// What is told or kept of a message has times by the wall clock, also where that is ahead of the
// engine's clock: when a message that an operator deletes from the disk was submitted, and when one had ended at a kill.
func TestWallClockOfReceipts(t *testing.T) {
	t.Parallel()
	const ahead = 3600 * second
	outcomes := make([]byte, 4*store.OutcomeSize)
	g := keepOn(t, vfs.NewMem(), outcomes, ahead)
	share := g.Share(g.LaneOf(g.Connector("operator")), g.Origins.Of("client", "clients"))
	deleted := g.Messages.Get()
	deleted.Origin, deleted.Notify, deleted.Arrived = share.Origin, sms.NotifyFailure, now+ahead
	g.deleted(now+second, share.Lane, &found{id: 1, message: deleted}, nil)
	told, _ := made(g)[0].Message.Report()
	if told.Submitted != now+ahead || told.Done != now+second+ahead {
		t.Errorf("submitted at %d, deleted at %d; want %d, %d", told.Submitted, told.Done, now+ahead, now+second+ahead)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// The receipt of a message that had ended at a kill says when that was, by the wall clock.
func TestWallClockAtKill(t *testing.T) {
	t.Parallel()
	const ahead = 3600 * second
	fs, outcomes := vfs.NewMem(), make([]byte, 4*store.OutcomeSize)
	g := keepOn(t, fs, outcomes, ahead)
	began := g.Clock.Now()
	share := g.Share(g.LaneOf(g.Connector("operator")), g.Origins.Of("client", "clients"))
	m := g.Messages.Get()
	m.ID, m.Origin, m.Notify, m.Arrived = 1, share.Origin, sms.NotifyFailure, began
	g.Put(keep.Accepted{Message: m, Share: share}, nil)
	if err := g.Committer.Sync(); err != nil {
		t.Fatal(err)
	}
	g.Unsettled.Outcomes.Note(store.Outcome{ID: 1, Code: sms.Rejected, At: began + second + ahead})
	g.Unsettled.N.Add(1)
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	g = keepOn(t, fs, outcomes, ahead)
	n := 0
	_, err := g.Store.Scan(0, 10, func(e *store.Entry) error {
		n++
		m, _, err := g.Decode(e)
		if r, _ := m.Report(); r.Submitted != began+ahead || r.Done != began+second+ahead {
			t.Errorf("submitted at %d, ended at %d; want %d, %d", r.Submitted, r.Done, began+ahead, began+second+ahead)
		}
		return err
	})
	if err != nil || n != 1 {
		t.Errorf("%d messages, %v", n, err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// keepOn starts a gateway with a store and outcomes, and a wall clock that is ahead.
func keepOn(t *testing.T, fs vfs.FS, outcomes []byte, ahead int64) *Gateway {
	t.Helper()
	g, _, _ := start(t, "")
	g.Clock.SetAhead(ahead)
	s, err := store.Open("data", store.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Keep(s, store.OutcomesIn(outcomes)); err != nil {
		t.Fatal(err)
	}
	return g
}

// R26: the receipt of a message that was accepted before the wall clock was set back leaves now, and not when that
// time has come again.
func TestWallClockSetBack(t *testing.T) {
	t.Parallel()
	g := keepOn(t, vfs.NewMem(), make([]byte, 4*store.OutcomeSize), 0)
	share := g.Share(g.LaneOf(g.Connector("operator")), g.Origins.Of("client", "clients"))
	deleted := g.Messages.Get()
	deleted.Origin, deleted.Notify, deleted.Arrived = share.Origin, sms.NotifyFailure, g.Clock.Now()+3600*second
	g.deleted(g.Clock.Now(), share.Lane, &found{id: 1, message: deleted}, nil)
	if at := made(g)[0].Message.Arrived; at > g.Clock.Now() {
		t.Errorf("it waits for %d s", (at-g.Clock.Now())/second)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}
