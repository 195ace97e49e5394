package login

import (
	"container/list"
	"net/netip"
	"sync"
	"time"

	"pmg/connector/account"
	"pmg/internal/turns"
)

// Prebind counts the connections that have not logged in, in total and by address. An
// IPv6 address counts as its /64, as it does for the login guard. A connection whose address is
// not known, the zero Addr, counts in total only. Where too many are open, one that may be displaced makes room. Prebind is safe
// for concurrent use.
type Prebind struct {
	mu         sync.Mutex
	all        part
	requests   part // those of connections of requests, so that these do not keep sessions from logging in
	perAddress int
	byAddress  map[netip.Addr]int
	order      *list.List // of *place: those that may be displaced, the one that is open for longest first
	places     map[any]*place
}

// A part counts connections within a limit.
type part struct {
	limit, open  int
	displaceable map[netip.Prefix]int // those that may be, by network
}

// A place is that of a connection which may be displaced.
type place struct {
	network netip.Prefix
	host    netip.Addr
	since   int64
	request bool
	end     func()
	element *list.Element // nil: it was displaced
}

// leastTime is how long a connection may be open before one of a network that has no fewer displaces it.
const leastTime = int64(2 * time.Second)

// NewPrebind returns a counter with a limit for all addresses together and one for each. Connections of requests may be
// half of them.
func NewPrebind(total, perAddress int) *Prebind {
	return &Prebind{
		all: part{total, 0, map[netip.Prefix]int{}}, requests: part{max(total/2, 1), 0, map[netip.Prefix]int{}},
		perAddress: perAddress, byAddress: map[netip.Addr]int{}, order: list.New(), places: map[any]*place{},
	}
}

// Enter counts a connection, of requests or of a session, and reports whether it may stay, and whether another was
// displaced for it.
func (p *Prebind) Enter(now int64, addr netip.Addr, request bool) (stays, displaced bool) {
	host := account.Host(addr)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byAddress[host] >= p.perAddress {
		return false, false
	}
	if full := p.full(request); full != nil {
		if displaced = p.displace(now, full, turns.Network(addr)); !displaced {
			return false, false
		}
	}
	p.count(host, request, 1)
	return true, displaced
}

// full returns the part in which there is no room for another connection, nil if there is room.
func (p *Prebind) full(request bool) *part {
	switch {
	case request && p.requests.open >= p.requests.limit:
		return &p.requests
	case p.all.open >= p.all.limit:
		return &p.all
	}
	return nil
}

// count counts n connections more.
func (p *Prebind) count(host netip.Addr, request bool, n int) {
	p.all.open += n
	if request {
		p.requests.open += n
	}
	if host.IsValid() {
		add(p.byAddress, host, n)
	}
}

// Place records whose the connection is that Enter has counted, and how it ends if it must make room. end must not
// wait.
func (p *Prebind) Place(now int64, of any, addr netip.Addr, request bool, end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := &place{network: turns.Network(addr), host: account.Host(addr), since: now, request: request, end: end}
	l.element = p.order.PushBack(l)
	p.places[of] = l
	p.countPlace(l, 1)
}

func (p *Prebind) countPlace(l *place, n int) {
	add(p.all.displaceable, l.network, n)
	if l.request {
		add(p.requests.displaceable, l.network, n)
	}
}

// displace ends the connection that is open for longest among those of the networks that have most in a part. It does not, and
// reports false, if the network of the new one has about as many and the connection is not open for leastTime.
func (p *Prebind) displace(now int64, in *part, network netip.Prefix) bool {
	most := 0
	for _, n := range in.displaceable {
		most = max(most, n)
	}
	for e := p.order.Front(); e != nil; e = e.Next() {
		l := e.Value.(*place)
		if in.displaceable[l.network] < most || in == &p.requests && !l.request {
			continue
		}
		if most < in.displaceable[network]+2 && now-l.since < leastTime {
			return false
		}
		p.remove(l)
		l.end()
		return true
	}
	return false
}

// remove uncounts a place.
func (p *Prebind) remove(l *place) {
	p.order.Remove(l.element)
	l.element = nil
	p.countPlace(l, -1)
	p.count(l.host, l.request, -1)
}

// Leave records that a connection has logged in, or has ended before its login. of is who has a place, if it has one.
func (p *Prebind) Leave(of any, addr netip.Addr, request bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.places[of]
	delete(p.places, of)
	switch {
	case l == nil:
		p.count(account.Host(addr), request, -1)
	case l.element != nil:
		p.remove(l)
	}
}

// add adds n to a count, which is not kept as zero.
func add[K comparable](to map[K]int, key K, n int) {
	if to[key] += n; to[key] <= 0 {
		delete(to, key)
	}
}
