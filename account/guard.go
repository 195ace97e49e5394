package account

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

// How long the answer to a failed login waits, and for how long failures are
// remembered.
const (
	firstDelay = time.Second
	maxDelay   = time.Minute
	remember   = 10 * time.Minute
)

// A Guard makes guessing passwords slow: each failure of an address, or of an
// account, doubles the time until the next is answered. Good logins never wait,
// so nobody can lock a client out by failing in its name. It is safe for
// concurrent use.
type Guard struct {
	mu   sync.Mutex
	seed maphash.Seed
	size int // of a generation

	// Failures by hashed key in two generations: what was not touched since the
	// last turn but one is forgotten, without looking for it.
	young, old map[uint64]int
	turned     int64 // when young began
}

// NewGuard makes a guard that remembers at most size addresses and accounts.
func NewGuard(size int) *Guard {
	return &Guard{seed: maphash.MakeSeed(), size: max(size/2, 1), young: map[uint64]int{}}
}

// Fail notes a failed login and gives the nanoseconds its answer should wait.
func (g *Guard) Fail(now int64, addr netip.Addr, systemID []byte) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now-g.turned > int64(remember) {
		g.turn(now)
	}
	failures := max(g.count(now, g.addrKey(addr)), g.count(now, g.accountKey(systemID)))
	return int64(min(firstDelay<<min(failures-1, 16), maxDelay))
}

// Succeed forgets the failures of an account whose client has logged in. Those
// of the address stay, or one good account would make guessing others cheap.
func (g *Guard) Succeed(systemID []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	key := g.accountKey(systemID)
	delete(g.young, key)
	delete(g.old, key)
}

// count adds a failure to a key and gives how many it has.
func (g *Guard) count(now int64, key uint64) int {
	n, ok := g.young[key]
	if !ok {
		n = g.old[key]
		if len(g.young) >= g.size {
			g.turn(now)
		}
	}
	g.young[key] = n + 1
	return n + 1
}

// turn begins a new generation.
func (g *Guard) turn(now int64) {
	if now-g.turned > 2*int64(remember) {
		g.young = nil
	}
	g.old, g.young, g.turned = g.young, map[uint64]int{}, now
}

// addrKey is one key for all addresses that a single host is usually given.
func (g *Guard) addrKey(addr netip.Addr) uint64 {
	addr = addr.Unmap()
	if addr.Is6() {
		p, _ := addr.Prefix(64) // 64 is never too long
		addr = p.Addr()
	}
	return maphash.Comparable(g.seed, addr)
}

func (g *Guard) accountKey(systemID []byte) uint64 { return maphash.Bytes(g.seed, systemID) }
