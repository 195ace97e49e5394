package connector

import (
	"slices"

	"pmg/config"
	"pmg/sms"
)

// Backpressure holds the submits that wait for room in a share. Their late answers slow
// the clients down. T is the type in which an architecture keeps a submit. Backpressure
// is not safe for concurrent use.
type Backpressure[T any] struct {
	waiting []waiting[T] // oldest first
}

type waiting[T any] struct {
	message *sms.Message
	submit  T
	link    *Link
	after   int64 // the answer is not sent before this time
	until   int64 // the submit is refused at this time
}

// Len returns how many submits wait.
func (b *Backpressure[T]) Len() int { return len(b.waiting) }

// Wait adds a submit to those that wait. The submit is not answered before the time after. If Wait
// returns false, the submit does not wait and must be refused.
func (b *Backpressure[T]) Wait(now int64, s *Share, m *sms.Message, l *Link, submit T, after int64) bool {
	cfg := s.Lane.Config()
	if cfg.QueueFull == config.Refuse || cfg.QueueWait == 0 {
		return false
	}
	b.waiting = append(b.waiting, waiting[T]{m, submit, l, after, now + int64(cfg.QueueWait)})
	return true
}

// LetIn accepts as many waiting submits as there is room for, and refuses those that have waited
// too long. It calls accept with the submit and the time before which the submit must not be
// answered. accept must count the message.
func (b *Backpressure[T]) LetIn(
	now int64, room func(*sms.Message) bool, accept func(l *Link, m *sms.Message, submit T, after int64),
	refuse func(*Link, *sms.Message, T),
) {
	for len(b.waiting) > 0 {
		w := b.waiting[0]
		has := room(w.message)
		if !has && now < w.until {
			return
		}
		// The submit is removed first, so that a panic below does not repeat it. Reslicing instead of
		// copying makes admitting one submit O(1).
		b.waiting[0] = waiting[T]{}
		b.waiting = b.waiting[1:]
		if has {
			accept(w.link, w.message, w.submit, w.after)
		} else {
			refuse(w.link, w.message, w.submit)
		}
	}
}

// Take removes the waiting submits of a session, and calls f for each. These submits were never
// accepted.
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
