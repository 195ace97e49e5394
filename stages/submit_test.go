package stages

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"pmg/connector"
	"pmg/protocols"
	"pmg/protocols/prototest/toy"
	"pmg/stages/flow"
)

// After the barrier every message that was accepted before it has been counted, even those
// of the same batch (F19).
func TestBarrier(t *testing.T) {
	building(t, site{}, func(r *rig, h *handle) {
		done := make(chan struct{})
		counted := int64(-1)
		r.in(toPDULogger, func(out *flow.Out[Job]) {
			for _, p := range []string{"\x03m1", "\x03m2"} {
				j := out.Get()
				j.Kind = Received
				j.Bytes = append(j.Bytes, p...)
				_ = toy.New().Decode(j.pdu(h.Connector), j.Bytes)
				j.retain(h)
				out.To(toBuilder, j)
			}
			j := out.Get()
			j.Kind, j.extras = Barrier, &extras{Done: done}
			out.To(toBuilder, j)
			j = out.Get()
			j.Kind = Logout
			j.extras = &extras{Connector: h.Connector, Match: func(*connector.Link) bool {
				counted = r.lane().Queued.Load()
				return false
			}}
			out.To(toBuilder, j)
		})
		<-done
		synctest.Wait()
		if counted != 2 {
			t.Errorf("%d messages are counted behind the barrier, want 2", counted)
		}
		r.take(toPDULogger)
		r.accepted("all", "1", "2")
	})
}

// A request that comes after our logout, or after our answer to the peer's, is neither
// logged nor written nor counted. Its slot returns to the lane (F12).
func TestPDULoggerUnsent(t *testing.T) {
	for _, last := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, site{}, toPDULogger)
			defer r.close()
			h := newSession(r, r.gateway.Table.Connector("operator").Acquire())
			slots := make([]connector.Slot, 4)
			r.in(toBuilder, func(out *flow.Out[Job]) {
				for n := range 6 {
					j := out.Get()
					j.Kind = Send
					switch n {
					case 2:
						j.Closing, j.Last = true, last
					case 5: // an answer, which is still allowed
					default:
						j.Slot = &slots[n-n/3]
					}
					j.pdu(h.Connector).(*toy.PDU).Octets = fmt.Append(nil, n)
					j.retain(h)
					out.To(toPDULogger, j)
				}
			})
			synctest.Wait()
			var got []string
			r.mu.Lock()
			for _, j := range r.seen[toPDUBuilder] {
				got = append(got, string(j.PDU.(*toy.PDU).Octets))
			}
			for i, j := range r.seen[toDispatcher] {
				if j.Kind != Unsent || j.Slot != &slots[2+i] || j.Handle != nil {
					t.Errorf("last %t: %+v", last, j)
				}
			}
			r.mu.Unlock()
			if want := []string{"0", "1", "2", "5"}; !slices.Equal(got, want) {
				t.Errorf("last %t: %q go on, want %q", last, got, want)
			}
			if n := h.Connector.Stats.PDUsOut[0].Load(); n != 4 {
				t.Errorf("last %t: %d are counted", last, n)
			}
			if s := r.take(toDispatcher); len(s) != 2 {
				t.Errorf("last %t: %d come back", last, len(s))
			}
			r.take(toPDUBuilder)
			if n := h.refs.Load(); n != 1 {
				t.Errorf("last %t: %d references are kept", last, n-1)
			}
		})
	}
}

// A message that was not written keeps its place and leaves by another session. This does
// not count as an attempt.
func TestDispatcherUnsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, site{operator: "instances: 2"}, toDispatcher, toPDULogger, toPDUBuilder)
		defer r.close()
		to := r.gateway.Table.Connector("operator")
		r.send(toDispatcher, Attach, func(j *Job) { j.extras = &extras{Connector: to} })
		r.submit(0, 15)
		dialed := r.dials("more than a window", 2)
		forwarded := func(from, to int) (all []*connector.Slot) {
			t.Helper()
			synctest.Wait()
			var got, want []string
			r.mu.Lock()
			for _, j := range r.seen[toEncoder] {
				if j.Kind == Forward {
					all, got = append(all, j.Slot), append(got, string(j.Slot.Message.Text()))
				}
			}
			r.mu.Unlock()
			r.take(toEncoder)
			for n := from; n < to; n++ {
				want = append(want, fmt.Sprint(n))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q leave, want %q", got, want)
			}
			return all
		}
		first := r.connect(dialed[0])
		under := forwarded(0, 10)
		r.send(toDispatcher, LoggingOut, func(j *Job) { j.retain(first) })
		for _, slot := range under {
			r.send(toDispatcher, Unsent, func(j *Job) { j.Slot = slot })
		}
		forwarded(0, 0)
		if n := to.Stats.InFlight.Load(); n != 0 || to.Stats.Retried.Load() != 0 {
			t.Errorf("%d are under way, %d were tried again", n, to.Stats.Retried.Load())
		}
		second := r.connect(dialed[1])
		for _, slot := range forwarded(0, 10) {
			if m := slot.Message; m.Attempts != 0 || m.Losses != 0 || slot.Link != &second.Link {
				t.Errorf("message %s: %d attempts, %d losses", m.Text(), m.Attempts, m.Losses)
			}
			r.send(toDispatcher, Answered, func(j *Job) { j.Slot = slot })
		}
		for _, slot := range forwarded(10, 15) {
			r.send(toDispatcher, Answered, func(j *Job) { j.Slot = slot })
		}
		synctest.Wait()
		if n := to.Queued(); n != 0 || to.Stats.Sent.Load() != 15 {
			t.Errorf("%d messages are left, %d sent", n, to.Stats.Sent.Load())
		}
	})
}

// newSession returns a session of a dialed instance that has logged in, but is not known to
// the dispatcher yet.
func newSession(r *rig, i *connector.Instance) *handle {
	h := r.handleOn(i, -1)
	h.BoundAt = 1
	h.Session.(*toy.Session).As = protocols.Transceiver
	r.gateway.Sessions.Connected(&h.Link)
	return h
}
