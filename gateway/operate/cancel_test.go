package operate

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pmg/internal/testkit/testutil"
	"pmg/protocols"
	"pmg/sms"
	"pmg/store"
)

// A cancellation that the store has not noted is not confirmed to the client, and the log says why.
func TestCancelNotStored(t *testing.T) {
	t.Parallel()
	r := newRig(t, 0)
	var log testutil.Log
	r.Operations.node.Log = zerolog.New(&log)
	m := r.message(0, 1)
	r.share.Lane.Queues.Push(now, r.share, m)
	r.disk.full.Store(true)
	if code := r.ask(protocols.Cancel, m.ID); code != sms.Undecided {
		t.Errorf("on a full disk: %s", code)
	}
	if line := log.String(); !strings.Contains(line, "cannot carry out a client's operation") || !strings.Contains(line, errFull.Error()) {
		t.Error(line)
	}
	r.disk.full.Store(false)
	if err := r.close(); err != nil {
		t.Error(err)
	}
}

// A long message ends whole, wherever its parts are, or stays whole: parts of which others have left wait in
// their lane further, also if the lane has entries of them alone.
func TestCancelParts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		queued, parked, left int
		want                 sms.Code
	}{
		"all wait":           {queued: 3, want: sms.OK},
		"all are parked":     {parked: 3, want: sms.OK},
		"some are parked":    {queued: 2, parked: 1, want: sms.OK},
		"one has left":       {queued: 2, left: 1, want: sms.Rejected},
		"one is not here":    {queued: 2, want: sms.Rejected},
		"others are parked":  {parked: 2, left: 1, want: sms.Rejected},
		"one of each":        {queued: 1, parked: 1, left: 1, want: sms.Rejected},
		"none is in a queue": {left: 3, want: sms.Rejected},
	} {
		r := newDurableRig(t)
		var all []*sms.Message
		for part := range c.queued + c.left {
			all = append(all, r.message(uint8(part), 3))
		}
		r.store(all...)
		for _, m := range all[:c.queued] {
			r.share.Lane.Queues.Restore(now, r.share, waitingOf(&found{id: m.ID, message: m}, 0))
		}
		for range c.parked {
			m := r.message(uint8(len(all)), 3)
			all = append(all, m)
			r.park(m)
		}
		if code := r.ask(protocols.Cancel, all[0].ID); code != c.want {
			t.Errorf("%s: it is %s", name, code)
		}
		queued, parked := c.queued, c.parked
		if c.want == sms.OK {
			queued, parked = 0, 0
		}
		if waits, aside := r.share.Lane.Queues.Len(), r.Operations.keep.Aside(store.Parked); waits != queued || aside != int64(parked) {
			t.Errorf("%s: %d wait, %d are parked", name, waits, aside)
		}
		if err := r.close(); err != nil {
			t.Error(err)
		}
	}
}

// A message that is put aside and deleted counts as cancelled, and its event counts all of its attempts, also those at other
// targets of its route, whoever deletes it.
func TestAttemptsOfDeleted(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*rig, uint64){
		"a client": func(r *rig, id uint64) { r.ask(protocols.Cancel, id) },
		"operator": func(r *rig, _ uint64) { r.change(DeleteMessages, Selection{}) },
	} {
		r := newRig(t, 0)
		cfg := *r.Operations.node.Config()
		cfg.Events.Dir = filepath.Join(t.TempDir(), "events")
		r.Operations.node.SetConfig(&cfg)
		if err := r.settler.OpenEvents(); err != nil {
			t.Fatal(err)
		}
		m := r.message(0, 1)
		m.Attempts, m.Earlier = 1, 2
		r.park(m)
		end(r, m.ID)
		if n, failed := m.Origin.Tally.Cancelled.Load(), m.Origin.Tally.Failed.Load(); n != 1 || failed != 0 {
			t.Errorf("%s deletes it: %d are cancelled, and %d have failed", name, n, failed)
		}
		if err := errors.Join(r.settler.Events.Writer.Close(), r.close()); err != nil {
			t.Error(err)
		}
		if b, err := os.ReadFile(filepath.Join(cfg.Events.Dir, "events.log")); err != nil || !strings.Contains(string(b), `"attempts":3`) {
			t.Errorf("%s deletes it: %s %v", name, b, err)
		}
	}
}
