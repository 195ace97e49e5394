package queue

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pmg/sms"
)

// newQueue returns an empty queue.
func newQueue() *Queue {
	q := &Queue{}
	q.Init()
	return q
}

// A model is a queue that is simple enough to be obviously right: a list that is searched
// from end to end.
type model []*sms.Message

func (q *model) pop(now int64) *sms.Message {
	best := -1
	for i, m := range *q {
		if wakesAt(m) <= now && (best < 0 || before(m, (*q)[best])) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	m := (*q)[best]
	*q = slices.Delete(*q, best, best+1)
	return m
}

// before is the order: priority, then delivery time, then arrival.
func before(a, b *sms.Message) bool {
	switch {
	case min(a.Priority, 4) != min(b.Priority, 4):
		return min(a.Priority, 4) > min(b.Priority, 4)
	case max(a.DeliverAt, a.Arrived) != max(b.DeliverAt, b.Arrived):
		return max(a.DeliverAt, a.Arrived) < max(b.DeliverAt, b.Arrived)
	}
	return a.ID < b.ID
}

// wakesAt returns when the queue must handle a message that waits for its time: when it is
// due, or has expired before.
func wakesAt(m *sms.Message) int64 {
	at := max(m.DeliverAt, m.NotBefore)
	if m.Expires != 0 {
		at = min(at, m.Expires+1)
	}
	return at
}

func (q *model) nextDue(now int64) (next int64) {
	for _, m := range *q {
		if at := wakesAt(m); at > now && (next == 0 || at < next) {
			next = at
		}
	}
	return next
}

// expire removes and returns the expired messages, in the order of their ids.
func (q *model) expire(now int64) (expired []uint64) {
	*q = slices.DeleteFunc(*q, func(m *sms.Message) bool {
		if m.Expires == 0 || m.Expires >= now {
			return false
		}
		expired = append(expired, m.ID)
		return true
	})
	slices.Sort(expired)
	return expired
}

// With random pushes, schedules, returns, pops and expiries a queue does the same as the
// model. Each octet of the script is one step.
func run(t *testing.T, script []byte) {
	t.Helper()
	q, m := newQueue(), &model{}
	var popped []*sms.Message
	now, id := int64(1000), uint64(0)
	pop := func() {
		t.Helper()
		if got, want := q.Ready(now), m.ready(now); got != want {
			t.Fatalf("ready %t, want %t", got, want)
		}
		got, expires := q.Pop(now)
		want := m.pop(now)
		if got != want || got != nil && expires != got.Expires {
			t.Fatalf("at %d popped %+v, which expires at %d, want %+v", now, got, expires, want)
		}
		if got != nil {
			popped = append(popped, got)
		}
		if got, want := q.NextDue(), m.nextDue(now); got != want {
			t.Fatalf("next due at %d, want %d", got, want)
		}
	}
	for _, step := range script {
		arg := int64(step >> 3)
		switch step & 7 {
		case 0, 1: // a message arrives, perhaps after a later one
			id++
			message := &sms.Message{ID: id, Arrived: now - arg&1, Priority: uint8(arg % 7)}
			if id%3 == 0 {
				message.Expires = now + arg*2
			}
			if arg > 24 {
				message.DeliverAt = now + arg - 28
			}
			q.Push(message, now)
			*m = append(*m, message)
		case 2, 3, 4:
			for range arg % 4 {
				pop()
			}
		case 5, 6: // a message comes back
			if n := int64(len(popped)); n > 0 {
				i := int(arg % n)
				message := popped[i]
				popped = slices.Delete(popped, i, i+1)
				message.NotBefore = 0
				if arg&3 == 3 {
					message.NotBefore = now + arg
				}
				q.PushBack(message, now)
				*m = append(*m, message)
			}
		default:
			now += arg
			if arg&1 == 0 {
				break
			}
			var expired []uint64
			q.Expired(now, func(e *Entry) { expired = append(expired, e.ID) })
			slices.Sort(expired)
			if want := m.expire(now); !slices.Equal(expired, want) {
				t.Fatalf("at %d expired %d, want %d", now, expired, want)
			}
		}
		if q.Len() != len(*m) {
			t.Fatalf("%d messages, want %d", q.Len(), len(*m))
		}
	}
	now += 100
	for len(*m) > 0 {
		pop()
	}
	if none, _ := q.Pop(now); q.Len() != 0 || none != nil || q.Ready(now) || q.NextDue() != 0 || q.Oldest() != 0 {
		t.Errorf("the empty queue has %d messages, next %d, oldest %d", q.Len(), q.NextDue(), q.Oldest())
	}
}

// ready reports whether a message is due.
func (q *model) ready(now int64) bool {
	return slices.ContainsFunc(*q, func(m *sms.Message) bool { return wakesAt(m) <= now })
}

func TestQueue(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		script := make([]byte, 1+random.IntN(1500))
		for i := range script {
			script[i] = byte(random.Uint32())
		}
		run(t, script)
	}
}

func FuzzQueue(f *testing.F) {
	f.Add([]byte("\x00\x08\x10\xe0\xf8\x12\x1d\x05\x1a\xff\x0a"))
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) <= 2000 {
			run(t, script)
		}
	})
}

// NextDue returns when the first message becomes due, and the queue is ready from then on.
func TestQueueNextDue(t *testing.T) {
	t.Parallel()
	q := newQueue()
	for i, at := range []int64{300, 200, 0} {
		q.Push(&sms.Message{ID: uint64(i + 1), Arrived: 100, DeliverAt: at}, 100)
	}
	if q.NextDue() != 200 || q.Oldest() != 100 {
		t.Errorf("next due at %d, oldest of %d", q.NextDue(), q.Oldest())
	}
	for _, want := range []struct {
		at int64
		id uint64
	}{{100, 3}, {200, 2}, {300, 1}} {
		if want.at > 100 && q.Ready(want.at-1) {
			t.Errorf("ready before %d", want.at)
		}
		if m, _ := q.Pop(want.at); m == nil || m.ID != want.id {
			t.Errorf("at %d: %+v, want message %d", want.at, m, want.id)
		}
	}
}

// What waits for another attempt is due when an operator says so, in parts; what waits for its delivery time is not.
func TestQueueHasten(t *testing.T) {
	t.Parallel()
	q := newQueue()
	for i := range 3 {
		q.PushBack(&sms.Message{ID: uint64(i + 1), Arrived: 100, NotBefore: int64(500 + i)}, 100)
	}
	q.Push(&sms.Message{ID: 4, Arrived: 100, DeliverAt: 400}, 100)
	for i, more := range []bool{true, false} {
		if got := q.Hasten(110, 2); got != more || q.Due() != i+2 {
			t.Fatalf("%v, %d are due", got, q.Due())
		}
	}
	for id := range uint64(3) {
		if m, _ := q.Pop(110); m == nil || m.ID != id+1 {
			t.Errorf("%+v, not message %d", m, id+1)
		}
	}
	if q.Ready(399) || q.NextDue() != 400 || q.Len() != 1 {
		t.Errorf("next due at %d, %d wait", q.NextDue(), q.Len())
	}
}

// After a backlog has been sent its memory is free.
func TestQueueShrinks(t *testing.T) {
	t.Parallel()
	q := newQueue()
	m := &sms.Message{ID: 1, Arrived: 1}
	const backlog = 10 * maxIdleChunks * chunkSize
	kept := func() (n int) {
		for _, c := range q.rings[0].chunks {
			if c != nil {
				n++
			}
		}
		return n
	}
	for range backlog {
		q.Push(m, 1)
	}
	for left := backlog - 1; left >= 0; left-- {
		q.Pop(1)
		if n := kept(); n > left/chunkSize+2 {
			t.Fatalf("a ring of %d keeps %d chunks", left, n)
		}
	}
	if n := len(q.rings[0].chunks); n > maxIdleChunks {
		t.Errorf("an empty ring keeps room for %d chunks", n)
	}
}

// backlogged is a queue with a backlog. It is of few messages, over and over, all as
// old as each other: what is measured is the queue, not the memory of messages.
func backlogged(backlog int) (q *Queue, few []*sms.Message) {
	q = newQueue()
	for range 64 {
		few = append(few, &sms.Message{ID: 1, Arrived: 1})
	}
	for i := range backlog {
		q.Push(few[i%len(few)], 1)
	}
	return q, few
}

// The usual case allocates nothing, whatever the backlog.
func TestQueueAllocations(t *testing.T) {
	for _, backlog := range []int{0, 100_000} {
		q, few := backlogged(backlog)
		next := 0
		if n := testing.AllocsPerRun(1000, func() {
			q.Push(few[next%len(few)], 1)
			if m, _ := q.Pop(1); m == nil {
				t.Fatal("nothing to pop")
			}
			next++
		}); n > 0 {
			t.Errorf("backlog %d: %g allocations", backlog, n)
		}
	}
}

// BenchmarkQueue measures a message that arrives and one that leaves, with a backlog, and
// the same if each message comes back once.
func BenchmarkQueue(b *testing.B) {
	for _, back := range []bool{false, true} {
		for _, backlog := range []int{0, 1000, 1_000_000} {
			b.Run(fmt.Sprintf("back=%t/backlog=%d", back, backlog), func(b *testing.B) {
				q, few := backlogged(backlog)
				next := 0
				b.ReportAllocs()
				for b.Loop() {
					q.Push(few[next%len(few)], 1)
					m, _ := q.Pop(1)
					if back {
						m.ID = 0 // makes it the first
						q.PushBack(m, 1)
						m, _ = q.Pop(1)
						m.ID = 1
					}
					next++
				}
				if q.Len() != backlog {
					b.Errorf("%d messages are left of a backlog of %d", q.Len(), backlog)
				}
			})
		}
	}
}

// A queue that was ready stays so until Pop, even for a caller with an earlier time.
func TestQueueClockBehind(t *testing.T) {
	t.Parallel()
	q := newQueue()
	q.Push(&sms.Message{ID: 1, Arrived: 100, DeliverAt: 200}, 100)
	if q.Ready(199) || !q.Ready(200) || !q.Ready(199) {
		t.Error("ready too early, or not any more")
	}
	if m, _ := q.Pop(199); m == nil {
		t.Error("nothing comes out of a queue that was ready")
	}
}

// F16, H11: a message whose next attempt is after its expiry leaves the queue when it
// expires.
func TestQueueExpiresLater(t *testing.T) {
	t.Parallel()
	q := newQueue()
	m := &sms.Message{ID: 1, Arrived: 100, Expires: 200}
	q.Push(m, 100)
	q.Pop(100)
	m.NotBefore = 1000
	q.PushBack(m, 100)
	if q.NextDue() != 201 {
		t.Errorf("next due at %d, want 201", q.NextDue())
	}
	expired := 0
	q.Expired(200, func(*Entry) { expired++ })
	if expired != 0 {
		t.Error("expired before its time")
	}
	q.Expired(201, func(*Entry) { expired++ })
	if expired != 1 || q.Len() != 0 {
		t.Errorf("%d expired, %d are left", expired, q.Len())
	}
}

// H11: the search for expired messages goes through a long backlog in parts. It misses no
// message, even if messages leave or arrive between the parts.
func TestQueueSweepsInParts(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		random := rand.New(rand.NewPCG(seed, 7))
		q := newQueue()
		n := 2*sweepEntries + random.IntN(sweepEntries)
		left := map[uint64]int64{} // expiries of the messages in the queue
		push := func(id uint64) {
			m := &sms.Message{ID: id, Arrived: int64(id), Priority: uint8(random.IntN(2))}
			if random.IntN(3) > 0 {
				m.Expires = 1 + random.Int64N(100)
			}
			left[id] = m.Expires
			if random.IntN(9) > 0 {
				q.Push(m, 0)
			} else {
				q.PushBack(m, 0)
			}
		}
		for id := range n {
			push(uint64(id + 1))
		}
		next := uint64(n)
		const now = 50
		for range 10 { // parts, more than are needed
			q.Expired(now, func(m *Entry) {
				if e, ok := left[m.ID]; !ok || e == 0 || e >= now {
					t.Fatalf("seed %d: message %d is taken out, it expires at %d", seed, m.ID, e)
				}
				delete(left, m.ID)
			})
			for range random.IntN(sweepEntries / 2) {
				if m, _ := q.Pop(now); m != nil {
					delete(left, m.ID)
				}
			}
			for range random.IntN(1000) {
				next++
				push(next)
			}
		}
		for range 5 { // those that came since
			for more, n := true, 0; more; n = 0 {
				more = q.Expired(now, func(e *Entry) {
					delete(left, e.ID)
					n++
				})
				if n > sweepEntries/sweepExpired+1 { // D16
					t.Fatalf("%d messages end together", n)
				}
			}
		}
		if q.Len() != len(left) {
			t.Fatalf("seed %d: %d messages, want %d", seed, q.Len(), len(left))
		}
		for id, e := range left {
			if e != 0 && e < now {
				t.Fatalf("seed %d: message %d was missed", seed, id)
			}
		}
	}
}
