package connector

import (
	"slices"

	"pmg/config"
	"pmg/sms"
)

// Backpressure is the submits that wait for room in a share: their answers, being
// late, slow their clients down. T is what an architecture keeps of a submit. It
// is not safe for concurrent use.
type Backpressure[T any] struct {
	waiting []waiting[T] // oldest first
}

type waiting[T any] struct {
	message *sms.Message
	submit  T
	link    *Link
	after   int64 // its answer is not sent before this time
	until   int64 // refused then
}

// Len returns how many submits wait.
func (b *Backpressure[T]) Len() int { return len(b.waiting) }

// Wait makes a submit wait, which is not to be answered before the time after. It
// reports false if the submit is to be refused instead.
func (b *Backpressure[T]) Wait(now int64, s *Share, m *sms.Message, l *Link, submit T, after int64) bool {
	cfg := s.Lane.Config()
	if cfg.QueueFull == config.Refuse || cfg.QueueWait == 0 {
		return false
	}
	b.waiting = append(b.waiting, waiting[T]{m, submit, l, after, now + int64(cfg.QueueWait)})
	return true
}

// LetIn passes as many submits as there is room for to accept, which counts them,
// with the time before which each is not to be answered. Those that have waited too
// long go to refuse.
func (b *Backpressure[T]) LetIn(now int64, room func() bool, accept func(l *Link, m *sms.Message, submit T, after int64), refuse func(*Link, *sms.Message, T)) {
	for len(b.waiting) > 0 {
		w := b.waiting[0]
		has := room()
		if !has && now < w.until {
			return
		}
		// It is taken out first, because a fault below must not bring it back.
		// Reslicing instead of copying makes admitting one submit O(1).
		b.waiting[0] = waiting[T]{}
		b.waiting = b.waiting[1:]
		if has {
			accept(w.link, w.message, w.submit, w.after)
		} else {
			refuse(w.link, w.message, w.submit)
		}
	}
}

// Take takes out the submits of a session, and passes them to f. They were never accepted.
func (b *Backpressure[T]) Take(l *Link, f func(*sms.Message, T)) {
	if !slices.ContainsFunc(b.waiting, func(w waiting[T]) bool { return w.link == l }) {
		return
	}
	kept := b.waiting[:0]
	var taken []waiting[T]
	for _, w := range b.waiting {
		if w.link == l {
			taken = append(taken, w)
		} else {
			kept = append(kept, w)
		}
	}
	clear(b.waiting[len(kept):])
	b.waiting = kept
	for _, w := range taken {
		f(w.message, w.submit)
	}
}
