// Package turns limits the number of pieces of work that run at a time. Each piece has an owner, and the owners are served in
// turn. For example, an owner is the network of the unknown clients whose passwords are hashed, or the account whose messages
// are searched.
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

// A Turns has places for work. If all are taken, work waits. Free places go to the owners in turn, and the work of an owner
// runs in order of arrival, so that an owner with much work delays another by at most one piece. It is safe for concurrent
// use.
type Turns[Owner comparable] struct {
	mu      sync.Mutex
	free    int
	most    int // maximum number of waiting pieces of work
	waits   int
	waiting map[Owner][]*waiter // in order of arrival
	order   []Owner             // owners with waiting work, in the order of their turns
}

// A waiter is a waiting piece of work.
type waiter struct {
	decided chan struct{} // closed when the work may run, or is refused
	refused bool
}

// New returns a number of places for work, and room for most waiting pieces of work.
func New[Owner comparable](places, most int) *Turns[Owner] {
	return &Turns[Owner]{free: places, most: most, waiting: map[Owner][]*waiter{}}
}

// Take waits for a place for work of an owner until gone is closed. It reports false if there is none. After true, the caller
// must call Give. If too much work waits, it refuses the newest work of the owner with most waiting work.
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

// runs reports whether w got a place, which is final.
func (w *waiter) runs() bool { return !w.refused }

// enter takes a place and returns nil, or begins to wait.
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

// displace refuses the newest work of the owner with most waiting work. It reports false if that is not more than the new
// work's owner would have with it.
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

// Give returns a place, to the next owner in turn.
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

// Waiting returns the number of waiting pieces of work.
func (t *Turns[Owner]) Waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.waits
}

// Network returns the network of an address, as an owner of work: the /24 of an IPv4 address, or the /48 of an IPv6 address,
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
