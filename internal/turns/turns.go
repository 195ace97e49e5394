// Package turns bounds how much work of others runs at a time, such as hashes of passwords for strangers. Those whom the work is
// for take turns: the networks that strangers come from, or the accounts of messages.
//
// # Start reading
//
// turns.go.
package turns

import (
	"net/netip"
	"slices"
	"sync"
)

// A Turns has places for work. Where all are taken, work waits: first come, first served of one owner, and each owner
// in his turn, so that one who sends much delays nobody else by more than one piece of his work. It is safe for concurrent use.
type Turns[Owner comparable] struct {
	mu      sync.Mutex
	free    int
	most    int // how much may wait
	waits   int
	waiting map[Owner][]*waiter // in order of arrival
	order   []Owner             // owners in waiting, in the order of their turns
}

// A waiter is work that waits.
type waiter struct {
	decided chan struct{} // closed when the work may run, or is refused
	refused bool
}

// New returns places for work, and room for most pieces of work that wait for a place.
func New[Owner comparable](places, most int) *Turns[Owner] {
	return &Turns[Owner]{free: places, most: most, waiting: map[Owner][]*waiter{}}
}

// Take waits for a place for work of an owner until gone is closed. It reports false if there is none. If it reports
// true, Give must follow. If too much work waits, it refuses that of the owner who has most of it waiting.
func (t *Turns[Owner]) Take(owner Owner, gone <-chan struct{}) bool {
	w := t.enter(owner)
	if w == nil {
		return true
	}
	select {
	case <-w.decided:
	case <-gone:
		t.leave(owner, w)
	}
	select {
	case <-gone: // gone is checked in either case, so that no work is done for a caller that has left
		if w.runs() {
			t.Give()
		}
		return false
	default:
		return w.runs()
	}
}

// runs reports whether w got a place. That is final.
func (w *waiter) runs() bool { return !w.refused }

// enter takes a place, and returns nil, or begins to wait.
func (t *Turns[Owner]) enter(owner Owner) *waiter {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.free > 0 {
		t.free--
		return nil
	}
	w := &waiter{decided: make(chan struct{})}
	if t.waits >= t.most && !t.displace(owner) {
		w.refuse()
		return w
	}
	if len(t.waiting[owner]) == 0 {
		t.order = append(t.order, owner)
	}
	t.waiting[owner] = append(t.waiting[owner], w)
	t.waits++
	return w
}

// displace refuses the newest work of the owner who has most of it waiting. It reports false if none has more than another
// would have with one more.
func (t *Turns[Owner]) displace(owner Owner) bool {
	most := owner
	for other, all := range t.waiting {
		if len(all) > max(len(t.waiting[most]), len(t.waiting[owner])+1) {
			most = other
		}
	}
	if most == owner {
		return false
	}
	all := t.waiting[most]
	all[len(all)-1].refuse()
	t.remove(most, len(all)-1)
	return true
}

// leave ends the wait of w, if it still waits.
func (t *Turns[Owner]) leave(owner Owner, w *waiter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.waiting[owner], w); i >= 0 {
		w.refuse()
		t.remove(owner, i)
	}
}

func (t *Turns[Owner]) remove(owner Owner, i int) {
	t.waits--
	t.waiting[owner] = slices.Delete(t.waiting[owner], i, i+1)
	if len(t.waiting[owner]) == 0 {
		delete(t.waiting, owner)
		t.order = slices.DeleteFunc(t.order, func(o Owner) bool { return o == owner })
	}
}

func (w *waiter) refuse() {
	w.refused = true
	close(w.decided)
}

// Give gives a place back, to the owner whose turn it is.
func (t *Turns[Owner]) Give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.order) == 0 {
		t.free++
		return
	}
	owner := t.order[0]
	close(t.waiting[owner][0].decided)
	t.order = append(t.order[1:], owner)
	t.remove(owner, 0) // removes the owner from order, too, if this was the owner's last piece
}

// Waiting returns how much work waits.
func (t *Turns[Owner]) Waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.waits
}

// Network returns the network that takes turns for an address: the /24 of its IPv4 address, or the /48 of its IPv6 address,
// because a customer of a provider usually has at least that.
func Network(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap()
	bits := 24
	if addr.Is6() {
		bits = 48
	}
	p, _ := addr.Prefix(bits) // the prefix of an invalid address is invalid
	return p
}
