package operate

import (
	"testing"

	"pmg/protocols"
	"pmg/sms"
	"pmg/store"
)

// A client is not told that a message was cancelled of which the store has not noted that.
func TestCancelNotStored(t *testing.T) {
	t.Parallel()
	r := newRig(t, 0)
	m := r.message(0, 1)
	r.share.Lane.Push(now, r.share, m)
	r.disk.full.Store(true)
	if code := r.ask(protocols.Cancel, m.ID); code != sms.SystemError {
		t.Errorf("on a full disk: %s", code)
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
			r.share.Lane.Restore(now, r.share, waitingOf(&found{id: m.ID, message: m}, 0))
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
		if waits, aside := r.share.Lane.Len(), r.Aside(store.Parked); waits != queued || aside != int64(parked) {
			t.Errorf("%s: %d wait, %d are parked", name, waits, aside)
		}
		if err := r.close(); err != nil {
			t.Error(err)
		}
	}
}
