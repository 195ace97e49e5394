package account

import (
	"net/netip"
	"sync"
	"sync/atomic"

	"pmg/config"
	"pmg/internal/passhash"
	"pmg/internal/ratelimit"
)

// A Registry holds the state of accounts that outlives a configuration: sessions,
// rates and the password of each that was verified last. It is safe for concurrent use.
type Registry struct {
	key     [32]byte // the key of the digests; a new random key at each start of the process
	matches func(hash, password []byte) bool

	mu    sync.Mutex
	usage map[string]*usage // states of the accounts, by system_id
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	return &Registry{
		key:     newKey(),
		matches: passhash.Matches,
		usage:   map[string]*usage{},
	}
}

// usage is the state of one account. A reload changes its rate and its configuration
// also for sessions that logged in before.
type usage struct {
	rate     ratelimit.Shared
	refusals ratelimit.Shared
	cfg      atomic.Pointer[config.Account]

	duplicates atomic.Pointer[Duplicates]
	flood      atomic.Pointer[Flood]

	operating atomic.Int64
	searching atomic.Bool
	wanted    atomic.Int64

	mu       sync.Mutex
	sessions int
	from     map[netip.Addr]int // number of sessions by address; the key is what Host returns
	verified [2]digest          // digests of the two latest pairs of hash and password that matched; zero: none yet
}

// begin counts a session from addr, unless the account already has limit sessions or addr already
// has perAddress sessions. A limit of 0 means unlimited. The result is OK, or the limit that was
// exceeded.
func (u *usage) begin(addr netip.Addr, limit, perAddress int) Result {
	addr = Host(addr)
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case limit > 0 && u.sessions >= limit:
		return TooManySessions
	case perAddress > 0 && u.from[addr] >= perAddress:
		return TooManyFromAddress
	}
	u.sessions++
	u.from[addr]++
	return OK
}

// exceed counts a session from addr whatever the limits are.
func (u *usage) exceed(addr netip.Addr) { u.begin(addr, 0, 0) }

func (u *usage) end(addr netip.Addr) {
	addr = Host(addr)
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.from[addr] == 0 {
		panic("account: more sessions ended than began")
	}
	u.sessions--
	if u.from[addr]--; u.from[addr] == 0 {
		delete(u.from, addr)
	}
}

func (u *usage) count() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.sessions
}

// take returns the usage of an account, and applies the rate of the configuration to the usage.
func (r *Registry) take(c *config.Account) *usage {
	r.mu.Lock()
	defer r.mu.Unlock()
	u := r.usage[c.SystemID]
	if u == nil {
		u = &usage{from: map[netip.Addr]int{}}
		u.refusals.SetRate(pressingRate, pressingRate)
		r.usage[c.SystemID] = u
	}
	u.rate.SetRate(c.Rate, c.Burst)
	setDuplicates(&u.duplicates, &c.Policies.Duplicates)
	setFlood(&u.flood, c.Policies.Flood)
	u.cfg.Store(c)
	return u
}

// forget drops the usage of accounts that have no session and are not in the table.
func (r *Registry) forget(t *Table) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, u := range r.usage {
		if t.accounts[id] == nil && u.count() == 0 {
			delete(r.usage, id)
		}
	}
}
