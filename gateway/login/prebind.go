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
	requests   part // the connections of requests, limited separately so that they do not keep sessions from logging in
	perAddress int
	byAddress  map[netip.Addr]int
	order      *list.List // *place elements that may be displaced, the longest open first
	places     map[any]*place
}

// A part counts connections within a limit.
type part struct {
	limit, open  int
	displaceable map[netip.Prefix]int // number of connections that may be displaced, by network
}

// A place is the place of a connection that may be displaced.
type place struct {
	network netip.Prefix
	host    netip.Addr
	since   int64
	request bool
	end     func()
	element *list.Element // element in order; nil: the connection was displaced
}

// leastTime is how long a connection stays open before a connection of a network with as many
// connections may displace it.
const leastTime = int64(2 * time.Second)

// NewPrebind returns a Prebind with a limit for all addresses together, and a limit for each
// address. Connections of requests may use half of the places.
func NewPrebind(total, perAddress int) *Prebind {
	return &Prebind{
		all: part{total, 0, map[netip.Prefix]int{}}, requests: part{max(total/2, 1), 0, map[netip.Prefix]int{}},
		perAddress: perAddress, byAddress: map[netip.Addr]int{}, order: list.New(), places: map[any]*place{},
	}
}

// Enter counts a connection of requests or of a session. stays is false if the connection is
// refused, and then not counted. displaced is true if another connection was displaced for it.
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

// full returns the part that has no room for another connection, or nil if there is room.
func (p *Prebind) full(request bool) *part {
	switch {
	case request && p.requests.open >= p.requests.limit:
		return &p.requests
	case p.all.open >= p.all.limit:
		return &p.all
	}
	return nil
}

// count adds n to the number of connections of a host.
func (p *Prebind) count(host netip.Addr, request bool, n int) {
	p.all.open += n
	if request {
		p.requests.open += n
	}
	if host.IsValid() {
		add(p.byAddress, host, n)
	}
}

// Place records the owner of a connection that Enter has counted. end ends the connection if it
// must make room for another one. end must not wait.
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

// displace ends the longest open connection of the networks with the most connections in a part,
// and returns true. It ends nothing and returns false if the network of the new connection has
// about as many connections and the longest open one is younger than leastTime.
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

// remove removes a place from the counts.
func (p *Prebind) remove(l *place) {
	p.order.Remove(l.element)
	l.element = nil
	p.countPlace(l, -1)
	p.count(l.host, l.request, -1)
}

// Leave records that a connection has logged in, or has ended before its login. of is the owner of
// the connection's place, or nil.
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

// add adds n to a count, and removes the count from the map when it becomes 0.
func add[K comparable](to map[K]int, key K, n int) {
	if to[key] += n; to[key] <= 0 {
		delete(to, key)
	}
}
