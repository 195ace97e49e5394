// Package turns bounds how much work of strangers, such as hashes of passwords, runs at a time. The networks that the
// strangers come from take turns.
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

// A Turns has places for work. Where all are taken, work waits: first come, first served within a network, and each network
// in its turn, so that one that sends much delays nobody else by more than one piece of its work. It is safe for concurrent use.
type Turns struct {
	mu      sync.Mutex
	free    int
	most    int // how much may wait
	waits   int
	waiting map[netip.Prefix][]*waiter // by network, in order of arrival
	order   []netip.Prefix             // the networks of waiting, in the order of their turns
}

// A waiter is work that waits.
type waiter struct {
	decided chan struct{} // closed when it may run, or may not
	refused bool
}

// New returns places for work, and room for most pieces of work that wait for a place.
func New(places, most int) *Turns {
	return &Turns{free: places, most: most, waiting: map[netip.Prefix][]*waiter{}}
}

// Take waits for a place for work of an address until gone is closed. It reports false if there is none. If it reports
// true, Give must follow. If too much work waits, it refuses that of the network that has most of it waiting.
func (t *Turns) Take(addr netip.Addr, gone <-chan struct{}) bool {
	network := Network(addr)
	w := t.enter(network)
	if w == nil {
		return true
	}
	select {
	case <-w.decided:
	case <-gone:
		t.leave(network, w)
	}
	select {
	case <-gone: // in either case, so that no work is done for nobody
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
func (t *Turns) enter(network netip.Prefix) *waiter {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.free > 0 {
		t.free--
		return nil
	}
	w := &waiter{decided: make(chan struct{})}
	if t.waits >= t.most && !t.displace(network) {
		w.refuse()
		return w
	}
	if len(t.waiting[network]) == 0 {
		t.order = append(t.order, network)
	}
	t.waiting[network] = append(t.waiting[network], w)
	t.waits++
	return w
}

// displace refuses the newest work of the network that has most of it waiting. It reports false if none has more than another
// network would have with one more.
func (t *Turns) displace(network netip.Prefix) bool {
	most := network
	for other, all := range t.waiting {
		if len(all) > max(len(t.waiting[most]), len(t.waiting[network])+1) {
			most = other
		}
	}
	if most == network {
		return false
	}
	all := t.waiting[most]
	all[len(all)-1].refuse()
	t.remove(most, len(all)-1)
	return true
}

// leave ends the wait of w, if it still waits.
func (t *Turns) leave(network netip.Prefix, w *waiter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.waiting[network], w); i >= 0 {
		w.refuse()
		t.remove(network, i)
	}
}

func (t *Turns) remove(network netip.Prefix, i int) {
	t.waits--
	t.waiting[network] = slices.Delete(t.waiting[network], i, i+1)
	if len(t.waiting[network]) == 0 {
		delete(t.waiting, network)
		t.order = slices.DeleteFunc(t.order, func(n netip.Prefix) bool { return n == network })
	}
}

func (w *waiter) refuse() {
	w.refused = true
	close(w.decided)
}

// Give gives a place back, to the network whose turn it is.
func (t *Turns) Give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.order) == 0 {
		t.free++
		return
	}
	network := t.order[0]
	close(t.waiting[network][0].decided)
	t.order = append(t.order[1:], network)
	t.remove(network, 0) // also from order, if it was the last
}

// Waiting returns how much work waits.
func (t *Turns) Waiting() int {
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
	p, _ := addr.Prefix(bits) // that of no address is that of no address
	return p
}
