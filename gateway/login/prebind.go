package login

import (
	"net/netip"
	"sync"

	"pmg/account"
)

// Prebind counts the connections that have not logged in, in total and by address. An
// IPv6 address counts as its /64, as it does for the login guard. A connection whose address is
// not known, the zero Addr, counts in total only. Prebind is safe for concurrent use.
type Prebind struct {
	mu         sync.Mutex
	total      int // limit of all connections
	perAddress int
	open       int
	byAddress  map[netip.Addr]int
	of         *Prebind // of which it is a part; nil: of none
}

// NewPrebind returns a counter with a limit for all addresses together and one for each.
func NewPrebind(total, perAddress int) *Prebind {
	return &Prebind{total: total, perAddress: perAddress, byAddress: map[netip.Addr]int{}}
}

// half returns a counter for some of the connections that p counts, which may be half of them.
func (p *Prebind) half() *Prebind {
	h := NewPrebind(max(p.total/2, 1), p.perAddress)
	h.of = p
	return h
}

// Enter counts a connection, unless there are too many already. It reports whether it did.
func (p *Prebind) Enter(addr netip.Addr) bool {
	addr = account.Host(addr)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open >= p.total || p.byAddress[addr] >= p.perAddress {
		return false
	}
	if p.of != nil && !p.of.Enter(addr) {
		return false
	}
	p.open++
	if !addr.IsValid() {
		return true
	}
	p.byAddress[addr]++
	return true
}

// Leave notes that a connection has logged in, or has ended before its login.
func (p *Prebind) Leave(addr netip.Addr) {
	addr = account.Host(addr)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of != nil {
		p.of.Leave(addr)
	}
	p.open--
	if p.byAddress[addr]--; p.byAddress[addr] <= 0 {
		delete(p.byAddress, addr)
	}
}
