package stages

import (
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pmg/connector"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
	"pmg/stages/flow"
)

// submit sends numbered messages to the connector "operator".
func (r *rig) submit(from, to int) {
	share := r.share()
	in := r.gateway.Intake.NewIntake(1)
	for i := from; i < to; i++ {
		m := r.gateway.Node.Messages.Get()
		m.Arrived, m.Origin = r.Now(), share.Origin
		m.Set(sms.Address{}, sms.Address{}, fmt.Append(nil, i))
		in.Accept(m.Arrived, m, share)
		r.send(toDispatcher, Message, func(j *Job) { j.Message, j.Share = m, share })
	}
}

// dials expects n dials, and returns their instances.
func (r *rig) dials(why string, n int) (all []*connector.Instance) {
	r.t.Helper()
	synctest.Wait()
	r.mu.Lock()
	for _, j := range r.seen[toConnecter] {
		all = append(all, j.Instance)
	}
	r.mu.Unlock()
	r.take(toConnecter)
	if len(all) != n {
		r.t.Fatalf("%s: %d dials, want %d", why, len(all), n)
	}
	return all
}

// connect returns a session of a dialed instance that has logged in.
func (r *rig) connect(i *connector.Instance) *handle {
	h := newSession(r, i)
	r.send(toDispatcher, Bound, func(j *Job) { j.retain(h) })
	return h
}

// sent checks that the messages with these numbers were sent to SMSCs.
func (r *rig) sent(why string, from, to int) {
	r.t.Helper()
	synctest.Wait()
	var got, want string
	for _, s := range r.take(toWriter) {
		got += s.Wire
	}
	for i := from; i < to; i++ {
		want += fmt.Sprint(i)
	}
	if got != want {
		r.t.Errorf("%s: sent %q, want %q", why, got, want)
	}
}

// answer answers the requests of a session with these sequence numbers.
func (r *rig) answer(h *handle, code sms.Code, from, to uint32) {
	for n := from; n <= to; n++ {
		slot := h.Inflight.Take(n)
		r.send(toDispatcher, Answered, func(j *Job) { j.Slot, j.Code = slot, code })
	}
}

// Waiting messages leave in order by the free slots. When a session is over, its slots are
// removed before its messages under way return to the queue. These leave again, in order,
// by another session.
func TestDispatcher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, site{operator: "instances: 2"}, toDispatcher, toEncoder, toPDULogger, toPDUBuilder)
		to := r.gateway.Table.Connector("operator")
		r.send(toDispatcher, Attach, func(j *Job) { j.extras = &extras{Connector: to} })
		r.dials("nothing to send", 0)
		r.submit(0, 25)
		dialed := r.dials("more than a window waits", 2)
		first := r.connect(dialed[0])
		r.sent("a window", 0, 10)
		second := r.connect(dialed[1])
		r.sent("another", 10, 20)
		r.over(toDispatcher, first)
		r.dials("again, for what waits", 1)
		r.sent("nothing is free", 0, 0)
		r.answer(second, sms.OK, 1, 10)
		r.sent("those of the session that is over", 0, 10)
		r.answer(second, sms.OK, 11, 20)
		r.sent("the rest", 20, 25)
		r.answer(second, sms.Throttled, 21, 21)
		time.Sleep(to.Config().ThrottlePause - 1)
		r.sent("a pause", 0, 0)
		time.Sleep(time.Nanosecond)
		r.sent("it is over", 20, 21)
		r.answer(second, sms.OK, 22, 26)
		synctest.Wait()
		if n := to.Queued(); n != 0 || to.Stats.Sent.Load() != 25 {
			t.Errorf("%d messages are left, %d sent", n, to.Stats.Sent.Load())
		}
		r.over(toDispatcher, second)
		r.dials("nothing waits", 0)
		if first.refs.Load() != 0 || second.refs.Load() != 0 {
			t.Errorf("%d and %d references are kept", first.refs.Load(), second.refs.Load())
		}
		r.close()
	})
}

// A request is in flight when it has been encoded. Until then no answer can release the
// message that its fields point into.
func TestInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, rows := range [][]int{{toDispatcher, toEncoder, toPDULogger}, {toDispatcher, toEncoder, toPDULogger, toPDUBuilder}} {
			r := newRig(t, site{}, rows...)
			r.send(toDispatcher, Attach, func(j *Job) { j.extras = &extras{Connector: r.gateway.Table.Connector("operator")} })
			r.submit(0, 1)
			h := r.connect(r.dials("a message", 1)[0])
			synctest.Wait()
			made := len(rows) == 4
			if slot := h.Inflight.Take(1); (slot != nil) != made {
				t.Errorf("encoded: %t, in flight: %t", made, slot != nil)
			}
			r.take(toPDUBuilder)
			r.take(toWriter)
			r.over(toDispatcher, h)
			synctest.Wait()
			r.take(toConnecter)
			r.close()
		}
	})
}

// Submits that wait for room are accepted when there is room. A connector that is removed
// sends its queued messages, and then its sessions are logged out.
func TestDispatcherTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, site{operator: "max_queue: 3"}, toDispatcher, toEncoder, toPDULogger, toPDUBuilder)
		to := r.gateway.Table.Connector("operator")
		told := func(why string, want ...Kind) {
			t.Helper()
			synctest.Wait()
			var got []Kind
			for _, s := range r.take(toBuilder) {
				got = append(got, s.Kind)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: told %v, want %v", why, got, want)
			}
		}
		r.send(toDispatcher, Attach, func(j *Job) { j.extras = &extras{Connector: to} })
		r.submit(0, 3)
		h := r.connect(r.dials("a window", 1)[0])
		r.sent("all", 0, 3)
		r.lane().WaitingForRoom.Store(1)
		told("full")
		r.answer(h, sms.OK, 1, 1)
		told("room", Room)
		r.lane().WaitingForRoom.Store(0)
		r.answer(h, sms.OK, 2, 2)
		r.send(toDispatcher, Detach, func(j *Job) { j.extras = &extras{Connector: to} })
		told("one is under way")
		r.answer(h, sms.OK, 3, 3)
		told("all is sent", Logout)
		r.over(toDispatcher, h)
		synctest.Wait()
		r.take(toConnecter)
		r.close()
	})
}

// BenchmarkDispatcher measures a message that arrives, leaves by a slot and is answered,
// by the number of instances and with a backlog.
func BenchmarkDispatcher(b *testing.B) {
	for _, instances := range []int{1, 100, 10_000} {
		for _, backlog := range []int{1000, 1_000_000} {
			b.Run(fmt.Sprintf("instances=%d/backlog=%d", instances, backlog), func(b *testing.B) {
				benchDispatcher(b, instances, backlog)
			})
		}
	}
}

// An echo replaces all stages after the dispatcher. It answers as many messages as it has
// credit for.
type echo struct {
	credit  int
	held    []*Job // from next on
	next    int
	answers atomic.Int64
}

func (e *echo) Work(out *flow.Out[Job], j *Job) {
	if j.Kind == Forward {
		e.held = append(e.held, j)
	} else {
		e.credit += int(j.refs) // the benchmark passes the credit in this field
		out.Release(j)
	}
	for ; e.credit > 0 && e.next < len(e.held); e.credit-- {
		answer := e.held[e.next]
		e.next++
		answer.Kind, answer.Code = Answered, sms.OK
		out.To(toDispatcher, answer)
		e.answers.Add(1)
	}
	if e.next > len(e.held)/2 {
		e.held = e.held[:copy(e.held, e.held[e.next:])]
		e.next = 0
	}
}

func benchDispatcher(b *testing.B, instances, backlog int) {
	const batch = 64
	e := &echo{}
	site := site{operator: fmt.Sprintf("instances: %d, max_queue: 10000000", instances)}
	r := newRigWith(b, site, map[int]flow.Stage[Job]{toEncoder: e}, toDispatcher)
	defer r.close()
	c, share := r.gateway.Table.Connector("operator"), r.share()
	for range instances {
		r.connect(c.Acquire())
	}
	few := make([]*sms.Message, batch) // reused, because the memory of messages is not measured
	for i := range few {
		few[i] = &sms.Message{ID: 1, Arrived: 1}
	}
	submit := func(n int) {
		for i := range n {
			share.Enter(few[i%batch], 0)
		}
		r.in(toBuilder, func(out *flow.Out[Job]) {
			for i := range n {
				j := out.Get()
				j.Kind, j.Message, j.Share = Message, few[i%batch], share
				out.To(toDispatcher, j)
			}
		})
	}
	answered := 0
	answer := func(n int) {
		answered += n
		r.send(toEncoder, do, func(j *Job) { j.refs = int32(n) })
		for int(e.answers.Load()) < answered {
			runtime.Gosched()
		}
	}
	under := instances * c.Config().MostRequests()
	for n := under + backlog; n > 0; n -= 10_000 {
		submit(min(n, 10_000))
	}
	testutil.Eventually(b, "the backlog is there", func() bool {
		return int(c.Stats.Queued.Load()) == backlog && int(c.Stats.InFlight.Load()) == under
	})
	rounds := 0
	b.ReportAllocs()
	for b.Loop() {
		submit(batch)
		answer(batch)
		rounds++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rounds*batch), "ns/message")
	answer(under + backlog)
	testutil.Eventually(b, "all is sent", func() bool { return c.Queued() == 0 })
}
