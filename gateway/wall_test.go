package gateway

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
	"pmg/store/ended"
)

// The receipt of a message that had ended at a kill says when that was, by the wall clock.
func TestWallClockAtKill(t *testing.T) {
	t.Parallel()
	const ahead = 3600 * second
	fs, outcomes := vfs.NewMem(), make([]byte, 4*ended.Size)
	g := keepOn(t, fs, outcomes, ahead)
	began := g.Node.Clock.Now()
	share := g.Table.Share(g.Table.LaneOf(g.Table.Connector("operator")), g.Node.Origins.Of("client", "clients"))
	m := g.Node.Messages.Get()
	m.ID, m.Origin, m.Notify, m.Arrived = 1, share.Origin, sms.NotifyFailure, began
	g.Keeper.Put(keep.Accepted{Message: m, Share: share}, nil)
	if err := g.Keeper.Journal.Sync(); err != nil {
		t.Fatal(err)
	}
	g.Keeper.Unsettled.Outcomes.Note(ended.Outcome{ID: 1, Code: sms.Rejected, At: began + second + ahead})
	g.Keeper.Unsettled.N.Add(1)
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	g = keepOn(t, fs, outcomes, ahead)
	n := 0
	_, err := g.Keeper.Index.Scan(0, 10, func(e *store.Entry) error {
		n++
		m, _, err := g.Keeper.Decode(e)
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
	g.Node.Clock.SetAhead(ahead)
	s, err := store.Open("data", store.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Keep(s, ended.In(outcomes)); err != nil {
		t.Fatal(err)
	}
	return g
}
