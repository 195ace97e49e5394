package queue

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pmg/sms"
)

// A search in parts passes each message that is due once, whatever the queue holds. The
// messages that it leaves stay in order.
func TestTakeDueRandom(t *testing.T) {
	t.Parallel()
	const start = 1000
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 2))
		q := newQueue()
		var all []*sms.Message
		for id := range uint64(random.IntN(60)) {
			m := &sms.Message{ID: id + 1, Arrived: start + random.Int64N(5), Priority: uint8(random.IntN(7))}
			if random.IntN(5) == 0 {
				m.DeliverAt = start + 100
			}
			all = append(all, m)
			if random.IntN(3) == 0 {
				q.PushBack(m, start+10)
			} else {
				q.Push(m, start+10)
			}
		}
		seen := map[uint64]int{}
		for end := false; !end; {
			left := 1 + random.IntN(7)
			end = q.TakeDue(start+10, &left, &Taker{Take: func(e *Entry) Verdict {
				seen[e.ID]++
				if e.ID%3 == 0 {
					return Leaves
				}
				return Stays
			}})
		}
		var due, kept int
		for _, m := range all {
			if q.isLater(m) {
				continue
			}
			due++
			if m.ID%3 != 0 {
				kept++
			}
			if seen[m.ID] != 1 {
				t.Fatalf("seed %d: message %d was passed %d times", seed, m.ID, seen[m.ID])
			}
		}
		if len(seen) != due || q.Due() != kept {
			t.Fatalf("seed %d: %d of %d messages that are due, %d kept of %d", seed, len(seen), due, q.Due(), kept)
		}
		var left []*sms.Message
		for m, _ := q.Pop(start + 10); m != nil; m, _ = q.Pop(start + 10) {
			left = append(left, m)
		}
		if len(left) != kept || !slices.IsSortedFunc(left, func(a, b *sms.Message) int {
			if leavesFirst(EntryOf(a), EntryOf(b)) {
				return -1
			}
			return 1
		}) {
			t.Fatalf("seed %d: %d of %d messages leave in order", seed, len(left), kept)
		}
	}
}

func (q *Queue) isLater(m *sms.Message) bool {
	found, ok := q.later.Get(EntryOf(m))
	return ok && found.Message == m
}
