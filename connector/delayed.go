package connector

import (
	"slices"

	"github.com/tidwall/btree"
)

// Delayed holds answers that are to be sent later, by their time; those for the
// same time stay in order. They wait before they are logged, so that the pdu log
// shows when they were sent. The zero value is empty. It is not safe for
// concurrent use.
type Delayed[T any] struct {
	tree  *btree.BTreeG[delayed[T]]
	of    map[*Link][]delayed[T] // of each session, in the order in which they were added
	added uint64
}

type delayed[T any] struct {
	at     int64
	order  uint64
	link   *Link
	answer T
}

// Add keeps an answer of a session until its time.
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

// Due takes out the first answer whose time has come.
func (d *Delayed[T]) Due(now int64) (l *Link, answer T, ok bool) {
	if at := d.Next(); at == 0 || at > now {
		return nil, answer, false
	}
	first, _ := d.tree.PopMin()
	own := d.of[first.link]
	if own[0].order == first.order { // it nearly always is
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

// Next returns when the first answer is due; 0: none waits.
func (d *Delayed[T]) Next() int64 {
	if d.tree == nil {
		return 0
	}
	first, _ := d.tree.Min()
	return first.at
}

// Take takes out all answers of a session, in the order in which they were added,
// and passes them to f.
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
