package gateway

import "github.com/tidwall/btree"

// Delayed holds answers that are to be sent later, by their time; those for the
// same time stay in order. They wait before they are logged, so that the pdu log
// tells when they were sent. The zero value is empty. It is not safe for
// concurrent use.
type Delayed[T any] struct {
	tree  *btree.BTreeG[delayed[T]]
	added uint64
}

type delayed[T any] struct {
	at     int64
	order  uint64
	answer T
}

// Add keeps an answer until its time.
func (d *Delayed[T]) Add(at int64, answer T) {
	if d.tree == nil {
		d.tree = btree.NewBTreeGOptions(func(a, b delayed[T]) bool {
			if a.at != b.at {
				return a.at < b.at
			}
			return a.order < b.order
		}, btree.Options{NoLocks: true})
	}
	d.added++
	d.tree.Set(delayed[T]{at, d.added, answer})
}

// Due takes out the first answer whose time has come.
func (d *Delayed[T]) Due(now int64) (answer T, ok bool) {
	if at := d.Next(); at == 0 || at > now {
		return answer, false
	}
	first, _ := d.tree.PopMin()
	return first.answer, true
}

// Next tells when the first answer is due; 0: none waits.
func (d *Delayed[T]) Next() int64 {
	if d.tree == nil {
		return 0
	}
	first, _ := d.tree.Min()
	return first.at
}

// Drop takes out the answers for whom nobody waits any more, and hands them to discard.
func (d *Delayed[T]) Drop(gone func(T) bool, discard func(T)) {
	if d.tree == nil {
		return
	}
	var dropped []delayed[T]
	d.tree.Scan(func(a delayed[T]) bool {
		if gone(a.answer) {
			dropped = append(dropped, a)
		}
		return true
	})
	for _, a := range dropped {
		d.tree.Delete(a)
		discard(a.answer)
	}
}
