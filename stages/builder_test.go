package stages

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/crypto/bcrypt"

	"pmg/connector"
	"pmg/protocols/prototest/toy"
	"pmg/sms"
	"pmg/stages/flow"
)

// building runs f with a builder and a session of a client that has logged in.
func building(t *testing.T, s site, f func(r *rig, h *handle)) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, s, toBuilder)
		h := r.client()
		r.receive(h, "lsecret")
		r.answers("login", "lsecret ok")
		if s := r.take(toDispatcher); len(s) != 1 || s[0].Kind != Bound {
			t.Errorf("%+v", s)
		}
		f(r, h)
		if synctest.Wait(); h.Phase != connector.Over {
			r.over(toBuilder, h)
		}
		synctest.Wait()
		r.take(toReader)
		r.take(toPDULogger)
		for _, s := range r.take(toDispatcher) {
			if s.Kind != Over && s.Kind != Message && s.Kind != LoggingOut {
				t.Errorf("%+v", s)
			}
		}
		if h.refs.Load() != 0 {
			t.Errorf("%d references are kept", h.refs.Load())
		}
		r.close()
	})
}

// client is a session without a socket, known to the gateway.
func (r *rig) client() *handle {
	h := r.handle("clients", -1)
	r.gateway.Sessions.Connected(&h.Link)
	return h
}

// over passes the end of a session to a stage.
func (r *rig) over(row int, h *handle) {
	r.send(row, Over, func(j *Job) { j.Handle, j.refs = h, 1 })
}

// receive sends the builder PDUs of a peer, in one batch.
func (r *rig) receive(h *handle, pdus ...string) {
	r.in(toPDULogger, func(out *flow.Out[Job]) {
		for _, p := range pdus {
			j := out.Get()
			j.Kind = Received
			j.Bytes = append(append(j.Bytes, byte(1+len(p))), p...)
			_ = toy.New().Decode(j.pdu(h.Connector), j.Bytes)
			j.retain(h)
			out.To(toBuilder, j)
		}
	})
	synctest.Wait()
}

// answers checks the PDUs that were sent to clients.
func (r *rig) answers(why string, want ...string) {
	r.t.Helper()
	synctest.Wait()
	r.mu.Lock()
	var got []string
	for _, j := range r.seen[toPDULogger] {
		got = append(got, string(j.PDU.AppendWire(nil)))
	}
	r.mu.Unlock()
	r.take(toPDULogger)
	if !slices.Equal(got, want) {
		r.t.Errorf("%s: answers %q, want %q", why, got, want)
	}
}

// accepted checks the messages that were sent to the dispatcher.
func (r *rig) accepted(why string, want ...string) {
	r.t.Helper()
	synctest.Wait()
	r.mu.Lock()
	var got []string
	for _, j := range r.seen[toDispatcher] {
		if j.Kind == Message {
			got = append(got, string(j.Message.Text()))
			j.Share.Leave(&sms.Message{})
			j.Message.Release()
			j.Message = nil
		}
	}
	r.mu.Unlock()
	r.take(toDispatcher)
	if !slices.Equal(got, want) {
		r.t.Errorf("%s: accepted %q, want %q", why, got, want)
	}
}

// Requests are answered in their order. After our last PDU, only answers to our own
// requests are handled.
func TestBuilderOrder(t *testing.T) {
	building(t, site{}, func(r *rig, h *handle) {
		r.receive(h, "e1", "m2", "e3", "m4", "u5", "e6", "m7", "c8")
		r.answers("all", "\x03e1", "m2 ok", "\x03e3", "m4 ok", "\x03u5")
		r.accepted("two", "2", "4")
		if !h.HasEnded() {
			t.Error("not ended")
		}
	})
}

// A session that must be closed is ended once, by the reader.
func TestBuilderClose(t *testing.T) {
	building(t, site{}, func(r *rig, h *handle) {
		r.receive(h, "c", "c", "e")
		r.answers("none")
		if s := r.take(toReader); len(s) != 1 || s[0].Kind != Hangup || h.Reason() != "closed" {
			t.Errorf("%+v, reason %q", s, h.Reason())
		}
	})
}

// An answer finds the slot of its request. An answer without a request is counted.
func TestBuilderAnswered(t *testing.T) {
	building(t, site{}, func(r *rig, h *handle) {
		slot := &connector.Slot{Instance: h.Instance, Outlet: &h.Outlet, Link: &h.Link, Sequence: h.Session.NextSequence()}
		h.Inflight.Put(slot)
		r.receive(h, "a1", "a1", "a7")
		synctest.Wait()
		r.mu.Lock()
		for _, j := range r.seen[toDispatcher] {
			if j.Kind != Answered || j.Slot != slot || j.Handle != nil {
				t.Errorf("%+v", j)
			}
		}
		r.mu.Unlock()
		if s := r.take(toDispatcher); len(s) != 1 || h.Connector.Stats.Unmatched.Load() != 2 {
			t.Errorf("%+v, %d unmatched", s, h.Connector.Stats.Unmatched.Load())
		}
	})
}

// The answers to a client that is too fast are delayed, in order, so that it keeps its
// rate. They are dropped when the session ends.
func TestBuilderDelayed(t *testing.T) {
	building(t, site{account: "password: secret, rate: 2"}, func(r *rig, h *handle) {
		r.receive(h, "m1", "m2", "e3", "m4", "m5")
		r.answers("at once", "m1 ok", "\x03e3")
		r.accepted("at once", "1", "2", "4", "5")
		time.Sleep(500*time.Millisecond - 1)
		r.answers("not yet")
		time.Sleep(time.Nanosecond)
		r.answers("its time", "m2 ok")
		time.Sleep(500 * time.Millisecond)
		r.answers("its time", "m4 ok")
		r.over(toBuilder, h)
		time.Sleep(time.Minute)
		r.answers("over")
	})
}

// Submits that find a full queue are accepted in order as it shrinks, or refused after a
// time. Submits of a session that has ended are dropped.
func TestBuilderCrowd(t *testing.T) {
	building(t, site{operator: "max_queue: 2, queue_wait: 10s"}, func(r *rig, h *handle) {
		other := r.client()
		r.receive(other, "lsecret")
		r.answers("login", "lsecret ok")
		r.take(toDispatcher)
		lane := r.lane()
		lane.Queued.Store(2)
		r.receive(h, "m1", "m2", "e3")
		r.receive(other, "m4")
		r.receive(h, "m5")
		r.answers("full", "\x03e3")
		lane.Queued.Store(0)
		r.send(toBuilder, Room, func(j *Job) { j.extras = &extras{Lane: lane} })
		r.answers("room for two", "m1 ok", "m2 ok")
		r.over(toBuilder, other)
		synctest.Wait()
		if other.refs.Load() != 1 { // Over, which the dispatcher has, holds one
			t.Errorf("%d references of a session that is over", other.refs.Load())
		}
		r.accepted("room for two", "1", "2")
		lane.Queued.Store(2)
		time.Sleep(11 * time.Second)
		r.answers("too late", "m5 queue_full")
		r.accepted("too late")
		if lane.WaitingForRoom.Load() != 0 || h.Connector.Stats.Refused.Load() != 1 {
			t.Errorf("%d are held, %d refused", lane.WaitingForRoom.Load(), h.Connector.Stats.Refused.Load())
		}
		r.receive(h, "m6")
		lane.Queued.Store(0)
		time.Sleep(2 * time.Second) // no job says that there is room
		r.answers("noticed in the end", "m6 ok")
	})
}

// PDUs that follow a login wait until it is decided, and are then handled in order, even
// if one of them is another login.
func TestBuilderSlowLogin(t *testing.T) {
	hash, err := bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, site{account: fmt.Sprintf("password: %q", hash)}, toBuilder)
		gone := r.client()
		r.in(toPDULogger, func(out *flow.Out[Job]) { // the session is over before the login is decided
			for _, kind := range []Kind{Received, Received, Over} {
				j := out.Get()
				j.Kind = kind
				j.Bytes = append(j.Bytes, "\x08lsecret"...)
				_ = toy.New().Decode(j.pdu(gone.Connector), j.Bytes)
				if j.Handle, j.refs = gone, 1; kind == Received {
					j.retain(gone)
				}
				out.To(toBuilder, j)
			}
		})
		r.answers("over")
		h := r.client()
		r.receive(h, "lsecret", "e1", "m2", "lsecret", "e3")
		r.answers("all in order", "lsecret ok", "\x03e1", "m2 ok", "lsecret ok", "\x03e3")
		r.accepted("one", "2")
		if h.Phase == connector.LoggingIn {
			t.Error("still waiting")
		}
		h.Account.End(h.Remote.Addr()) // of the first login; the toy protocol allows two
		r.over(toBuilder, h)
		synctest.Wait()
		r.take(toDispatcher)
		r.close()
		if h.refs.Load() != 0 || gone.refs.Load() != 0 {
			t.Errorf("%d and %d references are kept", h.refs.Load(), gone.refs.Load())
		}
	})
}

// A panic ends only the session whose PDU was being handled.
func TestBuilderPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, site{}, toBuilder)
		h, other := r.client(), r.client()
		r.receive(h, "e1", "x2", "e3")
		r.receive(other, "e4")
		r.answers("the others", "\x03e1", "\x03e3", "\x03e4")
		if s := r.take(toReader); len(s) != 1 || s[0].Kind != Hangup || !strings.HasPrefix(h.Reason(), "fault in stage builder") {
			t.Errorf("%+v, reason %q", s, h.Reason())
		}
		if h.refs.Load() != 1 || other.refs.Load() != 1 || other.Closing() {
			t.Errorf("%d and %d references", h.refs.Load(), other.refs.Load())
		}
		r.closeAfter(1)
	})
}

// quiet informs the builder that nothing is under way on a session.
func (r *rig) quiet(h *handle) {
	h.retainOpen()
	r.send(toBuilder, Quiet, func(j *Job) { j.Handle, j.refs = h, 1 })
}

// Instances are connected with the options of a reload behind the beginning of the logout from the
// sessions that there were before, and not earlier: it would end the new sessions too.
func TestBuilderRebind(t *testing.T) {
	building(t, site{}, func(r *rig, h *handle) {
		r.send(toBuilder, Rebind, func(j *Job) { j.extras = &extras{Connector: h.Connector} })
		synctest.Wait()
		if s := r.take(toDispatcher); len(s) != 2 || s[0].Kind != LoggingOut || s[1].Kind != Attach {
			t.Errorf("the dispatcher was sent %+v", s)
		}
		r.quiet(h)
		synctest.Wait()
		if s := r.take(toPDULogger); len(s) != 1 || s[0].Kind != Send {
			t.Errorf("%+v", s)
		}
	})
}

// A logout ends the sessions of one connector, or of all.
func TestBuilderLogout(t *testing.T) {
	building(t, site{}, func(r *rig, h *handle) {
		r.send(toBuilder, Logout, func(j *Job) { j.extras = &extras{Connector: r.gateway.Table.Connector("operator")} })
		synctest.Wait()
		if len(r.kinds(toPDULogger)) != 0 {
			t.Error("logged out with another connector's")
		}
		for range 2 {
			r.send(toBuilder, Logout, func(j *Job) { j.extras = &extras{} })
		}
		synctest.Wait()
		if len(r.kinds(toPDULogger)) != 0 {
			t.Error("logged out before its requests have their answers")
		}
		r.quiet(h)
		synctest.Wait()
		if s := r.take(toPDULogger); len(s) != 1 || s[0].Kind != Send {
			t.Errorf("%+v", s)
		}
	})
}
