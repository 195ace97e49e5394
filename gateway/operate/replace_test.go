package operate

import (
	"testing"

	"pmg/connector/queue"
	"pmg/protocols"
	"pmg/sms"
)

// text returns a change of a text.
func text(s string) func(int64, *sms.Message) sms.Code {
	return func(_ int64, m *sms.Message) sms.Code {
		m.Set(m.Source(), m.Dest(), []byte(s))
		return sms.OK
	}
}

// A message that was replaced is in its lane, and in nobody else's hands.
func TestReplaced(t *testing.T) {
	t.Parallel()
	r := newRig(t, 0)
	m := r.message(0, 1)
	r.share.Lane.Queues.Push(now, r.share, m)
	if code := r.replace(m.ID, text("new")); code != sms.OK {
		t.Errorf("it is %s", code)
	}
	r.message(0, 1)
	w := waitingOf(&found{id: m.ID, message: m}, 0)
	if got, ok := r.share.Lane.Queues.Remove(now, r.share, w); !ok || string(got.Text()) != "new" {
		t.Errorf("in the lane: %v, %v", ok, got)
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
}

// Several messages that the client knows by one id are not replaced by one, nor is a part of a long one, or a text that is in
// another alphabet than the client wrote.
func TestReplaceRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(m *sms.Message){
		"several":   func(*sms.Message) {},
		"a part":    func(m *sms.Message) { m.Parts = 2 },
		"converted": func(m *sms.Message) { m.Flags |= sms.Converted },
	} {
		r := newRig(t, 0)
		many := 1
		if name == "several" {
			many = 2
		}
		for offset := range many {
			m := r.message(0, 1)
			m.Offset = uint16(offset)
			change(m)
			r.share.Lane.Queues.Push(now, r.share, m)
		}
		if code := r.replace(1, text("new")); code != sms.Rejected || r.share.Lane.Queues.Len() != many {
			t.Errorf("%s: it is %s, %d wait", name, code, r.share.Lane.Queues.Len())
		}
		if err := r.close(); err != nil {
			t.Error(err)
		}
	}
}

// A message stays as it is if its change cannot be stored.
func TestReplaceNotStored(t *testing.T) {
	t.Parallel()
	r := newDurableRig(t)
	m := r.message(0, 1)
	r.store(m)
	r.share.Lane.Queues.Push(now, r.share, m)
	r.disk.full.Store(true)
	if code := r.replace(m.ID, text("new")); code != sms.SystemError {
		t.Errorf("it is %s", code)
	}
	w := waitingOf(&found{id: m.ID, message: m}, 0)
	if got, ok := r.share.Lane.Queues.Remove(now, r.share, w); !ok || string(got.Text()) != "text" {
		t.Errorf("in the lane: %v, %v", ok, got)
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
}

// Where the store cannot be read, the answer to a client is not that there is no message.
func TestStoreLost(t *testing.T) {
	t.Parallel()
	r := newDurableRig(t)
	m := r.message(0, 1)
	r.store(m)
	r.disk.lost = true
	for _, code := range []sms.Code{r.replace(m.ID, text("new")), r.ask(protocols.Cancel, m.ID), r.ask(protocols.Cancel, 0), r.ask(protocols.Query, m.ID)} {
		if code != sms.SystemError {
			t.Errorf("it is %s", code)
		}
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
}

// A message whose body is on disk alone keeps its attempts when it is replaced, and is sent after the longest
// pause at the latest, also if the wall clock was set back by an hour since it was tried.
func TestReplaceTried(t *testing.T) {
	t.Parallel()
	r := newDurableRig(t)
	m := r.message(0, 1)
	r.store(m)
	m.Attempts, m.NotBefore = 1, now+3600*second
	r.Operations.keep.KeepState(r.share.Lane, m)
	if err := r.Operations.keep.Batches.Sync(); err != nil {
		t.Fatal(err)
	}
	r.share.Lane.Queues.Restore(now, r.share, waitingOf(&found{id: m.ID, message: m}, 0))
	if code := r.replace(m.ID, text("new")); code != sms.OK {
		t.Errorf("it is %s", code)
	}
	var got *sms.Message
	r.share.Lane.Queues.EachWaiting(r.share, func(_ queue.Waiting, m *sms.Message) { got = m })
	if got == nil || got.Attempts != 1 || got.NotBefore > now+1800*second || string(got.Text()) != "new" {
		t.Errorf("in the lane: %+v", got)
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
}

// A message that has moved is found in its new lane. While the engine ends, the answer to a client is not that there
// is no message.
func TestMoved(t *testing.T) {
	t.Parallel()
	for _, gone := range []bool{false, true} {
		r := newDurableRig(t)
		m := r.message(0, 1)
		r.store(m)
		second := r.Operations.table.Share(r.Operations.table.LaneOf(r.Operations.table.Connector("second")), m.Origin)
		second.Lane.Queues.Restore(now, second, waitingOf(&found{id: m.ID, message: m}, 0))
		r.gone = gone
		replaced, cancelled := r.replace(m.ID, text("new")), r.ask(protocols.Cancel, m.ID)
		if want := map[bool]sms.Code{false: sms.OK, true: sms.SystemError}[gone]; replaced != want || cancelled != want {
			t.Errorf("the engine is gone: %v: replaced %s, cancelled %s", gone, replaced, cancelled)
		}
		if err := r.close(); err != nil {
			t.Error(err)
		}
	}
}

// R27: a client's message is found in its lane although the wall clock was set since it was accepted.
func TestWallClockSet(t *testing.T) {
	t.Parallel()
	for _, step := range []int64{-3600 * second, 3600 * second} {
		for _, onDisk := range []bool{false, true} {
			r := newDurableRig(t)
			var ids []uint64
			for range 2 {
				m := r.message(0, 1)
				ids = append(ids, m.ID)
				r.store(m)
				if onDisk {
					r.share.Lane.Queues.Restore(now, r.share, waitingOf(&found{id: m.ID, message: m}, 0))
				} else {
					r.share.Lane.Queues.Push(now, r.share, m)
				}
			}
			r.Operations.node.Clock.SetAhead(step)
			for _, code := range []sms.Code{r.replace(ids[0], text("new")), r.ask(protocols.Cancel, ids[0]), r.ask(protocols.Cancel, 0)} {
				if code != sms.OK {
					t.Errorf("by %d, on disk %v: %s", step, onDisk, code)
				}
			}
			if n := r.share.Lane.Queues.Len(); n != 0 {
				t.Errorf("by %d, on disk %v: %d wait", step, onDisk, n)
			}
			if err := r.close(); err != nil {
				t.Error(err)
			}
		}
	}
}
