package stages

import (
	"sync"
	"testing"
	"testing/synctest"

	"pmg/internal/testkit/testutil"
	"pmg/stages/flow"
)

// Whatever the order in which the reader shuts a session's gate and other stages make room, a
// session that has room again is read: either the gate was not shut, or the reader is woken.
func TestGateRace(t *testing.T) {
	r := newRig(t, site{})
	defer r.close()
	h := r.handle("clients", -1)
	limit := h.Connector.ReadLimit()
	for round := range 2000 {
		full := round%2 == 1
		h.retain(limit + 1)
		h.gate.full.Store(full)
		var wg sync.WaitGroup
		shut := false
		wg.Go(func() { shut = h.shut() })
		r.in(toWriter, func(out *flow.Out[Job]) {
			if full { // as writer.open does
				h.gate.full.Store(false)
				h.reopen(out, int(h.refs.Load()))
			}
		})
		r.in(toBuilder, func(out *flow.Out[Job]) {
			for range limit + 1 {
				releaseHandle(out, h, 1)
			}
		})
		wg.Wait()
		testutil.Eventually(t, "the room is there, and the reader told", func() bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			return len(r.todo) == 0 && int(h.refs.Load()) == 1+len(r.seen[toReader])
		})
		told := r.take(toReader)
		if len(told) > 1 || shut != (len(told) == 1) || h.gate.paused.Load() {
			t.Fatalf("round %d: shut %t, paused %t, told %+v", round, shut, h.gate.paused.Load(), told)
		}
	}
}

// A session is read again when it is well below its limit, so that this does not happen at
// every PDU, and not while too many octets are unsent.
func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, site{})
		defer r.close()
		h := r.handle("clients", -1)
		limit := h.Connector.ReadLimit()
		release := func(n int) {
			r.in(toBuilder, func(out *flow.Out[Job]) { releaseHandle(out, h, n) })
			synctest.Wait()
		}
		want := func(why string, paused bool, resumes int) {
			t.Helper()
			if s := r.take(toReader); len(s) != resumes || h.gate.paused.Load() != paused {
				t.Errorf("%s: paused %t, the reader got %+v", why, h.gate.paused.Load(), s)
			}
		}
		h.retain(limit - 1)
		if h.shut() {
			t.Error("shut at the limit")
		}
		h.retain(1)
		if !h.shut() {
			t.Error("not shut beyond the limit")
		}
		release(1)
		want("at the limit", true, 0)
		release(limit - limit/2 - 1)
		want("one too many", true, 0)
		release(1)
		want("half of it", false, 1)
		h.gate.full.Store(true)
		if !h.shut() {
			t.Error("not shut though too much is unsent")
		}
		release(1)
		want("too much is unsent", true, 0)
		h.gate.full.Store(false)
		release(1)
		want("it was sent", false, 1)
		release(limit/2 - 3)
	})
}
