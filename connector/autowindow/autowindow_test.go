package autowindow

import (
	"container/heap"
	"testing"
)

// An smsc answers each request after a while. It takes so many a second, others wait, or are refused.
type smsc struct {
	delay int64
	then  int64  // delay after a minute; 0: the same
	limit int    // messages a second; 0: any number
	how   string // queue; second: a limit for each second of the clock; bucket: of a second; burst: of a tenth of a second; nth: refuses each nth

	free   int64   // queue: when the next message is taken
	second int64   // second of the clock
	taken  int     // messages in it
	tokens float64 // bucket, burst
	at     int64
}

func (s *smsc) answer(now int64) (at int64, ok bool) {
	if s.then != 0 && now > 60*second {
		s.delay = s.then
	}
	at = now + s.delay
	switch s.how {
	case "queue":
		s.free = max(s.free, now) + second/int64(s.limit)
		return s.free + s.delay, true
	case "second":
		if now/second != s.second {
			s.second, s.taken = now/second, 0
		}
		s.taken++
		return at, s.taken <= s.limit
	case "bucket", "burst":
		depth := float64(s.limit)
		if s.how == "burst" {
			depth = max(1, depth/10)
		}
		s.tokens = min(depth, s.tokens+float64(now-s.at)*float64(s.limit)/float64(second))
		s.at = now
		if s.tokens < 1 {
			return at, false
		}
		s.tokens--
		return at, true
	case "nth":
		s.taken++
		return at, s.taken%s.limit != 0
	}
	return at, true
}

type reply struct {
	at, sent int64
	ok, lost bool
}

type replies []reply

func (r replies) Len() int           { return len(r) }
func (r replies) Less(i, j int) bool { return r[i].at < r[j].at }
func (r replies) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r *replies) Push(x any)        { *r = append(*r, x.(reply)) }
func (r *replies) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	return last
}

// run sends all the time, with a pause of a second after each refusal, and returns the messages a second that are taken between two times.
func run(s smsc, w *Window, fixed int, from, to int64) float64 {
	var (
		under          replies
		now, pause     int64
		taken, inWhole int
	)
	now = 3 * second / 10
	from, to = from+now, to+now
	size := func() int {
		if w != nil {
			return w.Size()
		}
		return fixed
	}
	for now < to {
		for now >= pause && len(under) < size() {
			at, ok := s.answer(now)
			lost := s.how == "discard" && len(under) >= s.limit
			if lost {
				at = now + 10*second
			}
			heap.Push(&under, reply{at, now, ok, lost})
		}
		if len(under) == 0 {
			now = pause
			continue
		}
		if under[0].at > pause && pause > now {
			now = pause
			continue
		}
		full := len(under) >= size()
		r := heap.Pop(&under).(reply)
		now = max(now, r.at)
		if r.lost {
			if w != nil {
				w.Unanswered(now, now-r.sent)
			}
			continue
		}
		if r.ok {
			inWhole++
			if now >= from {
				taken++
			}
			if w != nil {
				w.Accepted(now, now-r.sent, full)
			}
			continue
		}
		pause = max(pause, now+second)
		if w != nil {
			w.Refused(now, now-r.sent)
		}
	}
	return float64(taken) * float64(second) / float64(to-from)
}

// From the fifth second on, a window brings 0.95 of the best that one could have given; from the fifteenth on 0.8 where the SMSC refuses what
// is too much, because to find its limit costs refusals, and each a pause.
func TestBest(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		how  string
		from int64
		part float64
	}{{"queue", 5, 0.95}, {"second", 15, 0.78}, {"bucket", 15, 0.78}, {"burst", 15, 0.78}} {
		for _, ms := range []int64{1, 20, 200} {
			for _, limit := range []int{50, 700, 5000} {
				s := smsc{delay: ms * second / 1000, limit: limit, how: test.how}
				best, at := 0.0, 0
				for f := 1.0; f < 1001; f = max(f+1, f*1.25) {
					if r := run(s, nil, int(f), test.from*second, (test.from+20)*second); r > best {
						best, at = r, int(f)
					}
				}
				w := New(1000)
				if got := run(s, w, 0, test.from*second, (test.from+20)*second); got < best*test.part {
					t.Errorf("%s, %d ms, %d: %.0f a second, %.2f of the %.0f with %d; now %d", test.how, ms, limit, got, got/best, best, at, w.Size())
				}
			}
		}
	}
}

// Refusals that do not depend on the size leave it as it is: a smaller one would bring less.
func TestRefusalsByCount(t *testing.T) {
	t.Parallel()
	s := smsc{delay: second / 50, limit: 100, how: "nth"}
	fixed := run(s, nil, First, 5*second, 35*second)
	w := New(1000)
	if got := run(s, w, 0, 5*second, 35*second); got < fixed*0.9 || w.Size() < First {
		t.Errorf("%.0f a second, with a window of %d %.0f; now %d", got, First, fixed, w.Size())
	}
}

// A peer that discards what is too much, without an answer, gets what it answers.
func TestDiscarded(t *testing.T) {
	t.Parallel()
	s := smsc{delay: second / 50, limit: 5, how: "discard"}
	w := New(1000)
	if rate := run(s, w, 0, 40*second, 90*second); rate < 90 || w.Size() > 5 {
		t.Errorf("%.0f a second, with %d", rate, w.Size())
	}
}

// Few messages say nothing of what the peer would take: the size stays.
func TestIdle(t *testing.T) {
	t.Parallel()
	w := New(1000)
	for now := int64(0); now < 60*second; now += second / 100 {
		w.Accepted(now, second/50, false)
	}
	if w.Size() != First {
		t.Errorf("%d", w.Size())
	}
}

// A peer that becomes slower or quicker gets what fits it now.
func TestChanged(t *testing.T) {
	t.Parallel()
	for _, delays := range [][2]int64{{5, 100}, {100, 5}} {
		w := New(1000)
		s := smsc{delay: delays[0] * second / 1000, then: delays[1] * second / 1000, limit: 2000, how: "queue"}
		if rate := run(s, w, 0, 90*second, 120*second); rate < 1800 {
			t.Errorf("%v: %.0f a second, with %d", delays, rate, w.Size())
		}
	}
}
