package connector

import (
	"slices"

	"github.com/tidwall/btree"
)

// Delayed holds delayed answers, ordered by the time at which they are due. Answers for the same
// time stay in the order of Add. An answer is logged after its delay, so that the pdu log shows
// when the answer was sent. The zero value is empty. Delayed is not safe for concurrent use.
type Delayed[T any] struct {
	tree  *btree.BTreeG[delayed[T]]
	of    map[*Link][]delayed[T] // the answers of each session, in the order of Add
	added uint64
}

type delayed[T any] struct {
	at     int64
	order  uint64
	link   *Link
	answer T
}

// Add stores an answer of a session until the time at.
func (d *Delayed[T]) Add(at int64, l *Link, answer T) {
	if d.tree == nil {
		d.tree = btree.NewBTreeGOptions(func(a, b delayed[T]) bool {
			if a.at != b.at {
				return a.at < b.at
			}
			return a.order < b.order
		}, btree.Options{NoLocks: true})
		d.of = map[*Link][]delayed[T]{}
	}
	d.added++
	item := delayed[T]{at, d.added, l, answer}
	d.tree.Set(item)
	d.of[l] = append(d.of[l], item)
}

// Due removes and returns the first answer that is due.
func (d *Delayed[T]) Due(now int64) (l *Link, answer T, ok bool) {
	if at := d.Next(); at == 0 || at > now {
		return nil, answer, false
	}
	first, _ := d.tree.PopMin()
	own := d.of[first.link]
	if own[0].order == first.order { // the usual case
		own = own[1:]
	} else {
		own = slices.DeleteFunc(own, func(a delayed[T]) bool { return a.order == first.order })
	}
	if len(own) == 0 {
		delete(d.of, first.link)
	} else {
		d.of[first.link] = own
	}
	return first.link, first.answer, true
}

// Next returns when the first answer is due, or 0 if none waits.
func (d *Delayed[T]) Next() int64 {
	if d.tree == nil {
		return 0
	}
	first, _ := d.tree.Min()
	return first.at
}

// Take removes all answers of a session, and calls f for each, in the order in which they
// were added.
func (d *Delayed[T]) Take(l *Link, f func(T)) {
	own := d.of[l]
	if len(own) == 0 {
		return
	}
	delete(d.of, l)
	for _, a := range own {
		d.tree.Delete(a)
	}
	for _, a := range own {
		f(a.answer)
	}
}
