package connector

import (
	"fmt"
	"slices"
	"testing"

	"pmg/sms"
)

// waiters returns submits of two sessions, in turns, that wait for room in a full share.
func waiters(t testing.TB, n int, more string) (d *desk, s *Share, b *Backpressure[int], links [2]*Link) {
	d = newDesk(t, more)
	s, b = d.share("a"), &Backpressure[int]{}
	s.add(int64(d.Config().MaxQueue))
	links = [2]*Link{{}, {}}
	for i := range n {
		if !b.Wait(d.now+int64(i), s, d.pool.Get(), links[i%2], i, 0) {
			t.Fatal("may not wait")
		}
	}
	return d, s, b, links
}

// Submits that wait for room are accepted in order while there is room, or refused when
// they have waited too long.
func TestBackpressure(t *testing.T) {
	t.Parallel()
	d, s, b, links := waiters(t, 10, "max_queue: 3, queue_wait: 1s")
	var got []string
	letIn := func(at int64) {
		b.LetIn(at, func(*sms.Message) bool { return s.Room() > 0 },
			func(l *Link, _ *sms.Message, i int, _ int64) {
				s.add(1)
				got = append(got, fmt.Sprint("in ", i))
				if l != links[i%2] {
					t.Errorf("submit %d is of another session", i)
				}
			},
			func(_ *Link, _ *sms.Message, i int) { got = append(got, fmt.Sprint("refused ", i)) })
	}
	want := func(left int, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) || b.Len() != left {
			t.Errorf("%q, %d wait, want %q, %d", got, b.Len(), want, left)
		}
		got = nil
	}
	letIn(d.now)
	want(10)
	s.add(-2)
	letIn(d.now)
	want(8, "in 0", "in 1")
	letIn(d.now + second + 3)
	want(6, "refused 2", "refused 3")
	b.Take(links[1], func(_ *sms.Message, i int) { got = append(got, fmt.Sprint("taken ", i)) })
	want(3, "taken 5", "taken 7", "taken 9")
	b.Take(&Link{}, func(*sms.Message, int) { t.Error("taken from a session that has none") })
	s.add(-2)
	letIn(d.now + second + 4)
	want(1, "in 4", "in 6")
	s.add(-1)
	letIn(d.now)
	want(0, "in 8")
}

// If the connector refuses submits when its queue is full, no submit waits.
func TestBackpressureRefused(t *testing.T) {
	t.Parallel()
	for _, more := range []string{"queue_full: refuse", "queue_wait: 0s"} {
		d := newDesk(t, more)
		var b Backpressure[int]
		if b.Wait(d.now, d.share("a"), d.pool.Get(), &Link{}, 1, 0) || b.Len() != 0 {
			t.Errorf("%s: a submit waits", more)
		}
	}
}

// F20: after a panic inside LetIn the other submits still wait, and the submit that caused
// it does not come again.
func TestBackpressurePanic(t *testing.T) {
	t.Parallel()
	d, _, b, _ := waiters(t, 4, "max_queue: 3")
	var got []int
	for range 4 {
		func() {
			defer func() { _ = recover() }()
			b.LetIn(d.now, func(*sms.Message) bool { return true }, func(l *Link, m *sms.Message, i int, _ int64) {
				if l == nil || m == nil {
					t.Fatal("a submit without a session")
				}
				got = append(got, i)
				if i < 2 {
					panic("fault")
				}
			}, nil)
		}()
	}
	if !slices.Equal(got, []int{0, 1, 2, 3}) || b.Len() != 0 {
		t.Errorf("let in %d, %d wait", got, b.Len())
	}
}

// BenchmarkBackpressure measures one submit that is accepted and another that begins to
// wait, by the number of waiting submits.
func BenchmarkBackpressure(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000} {
		b.Run(fmt.Sprintf("waiting=%d", n), func(b *testing.B) {
			d, s, w, links := waiters(b, n, "max_queue: 10")
			m := d.pool.Get()
			b.ReportAllocs()
			for b.Loop() {
				s.add(-1)
				w.LetIn(d.now, func(*sms.Message) bool { return s.Room() > 0 }, func(*Link, *sms.Message, int, int64) { s.add(1) }, nil)
				w.Wait(d.now, s, m, links[0], 0, 0)
			}
		})
	}
}
