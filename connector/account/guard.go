package account

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

// The delays that failed logins cause, and for how long failures are remembered.
const (
	firstDelay = time.Second
	maxDelay   = time.Minute
	remember   = 10 * time.Minute

	// An address stays known to an account for one to two times rememberKnown.
	rememberKnown = 7 * 24 * time.Hour

	// freeFailures is how many failures of an account cause no delay if they come from addresses that
	// the account never logged in from. Each further failure doubles the delay up to maxSoft.
	freeFailures = 20
	maxSoft      = 5 * time.Second

	// maxWaiting is how many logins of one address may wait at the same time.
	maxWaiting = 10
)

// A Guard makes guessing passwords slow. Before a login's password is compared,
// Check returns how long the comparison must wait. The delay depends on earlier
// failures and not on the connection: a client that hangs up and connects again
// gets the same delay.
//
// Failures are counted in three places:
//
//   - by address, whatever the account: 1 s after the first failure, then twice
//     as long after each, up to a minute;
//   - by account and address together, with the same delays;
//   - by account, over all addresses that it never logged in from: a delay of a
//     few seconds, and only after many failures.
//
// A login from an address that the account has logged in from before waits only
// for the delay by account and address. So an attacker cannot lock out a client by failing in its name
// from another address, or by failing in other names from the client's address.
//
// A Guard is safe for concurrent use, and its memory is bounded.
type Guard struct {
	mu       sync.Mutex
	seed     maphash.Seed
	failures recent[uint64, standing] // by address, by account and address, and by account
	known    recent[uint64, struct{}] // accounts and addresses that logged in
	waiting  map[uint64]int           // logins that wait, by address
}

// A standing is the state of one counter of failed logins.
type standing struct {
	failures int
	next     int64 // no password is compared before this time
}

// NewGuard makes a guard that remembers about size addresses and accounts.
func NewGuard(size int) *Guard {
	return &Guard{
		seed:     maphash.MakeSeed(),
		failures: newRecent[uint64, standing](size/2, remember),
		known:    newRecent[uint64, struct{}](size/2, rememberKnown),
		waiting:  map[uint64]int{},
	}
}

// Check returns how many nanoseconds remain until the password of a login may be compared. began is
// when the login began. After that wait the caller calls Check again, because another login may
// have come first.
//
// If the result is 0, the caller may compare the password, and must then report the outcome with
// Fail, Refuse or Succeed. After earlier failures, the next login waits as if this login had
// already failed. Otherwise parallel logins would allow many guesses.
func (g *Guard) Check(now, began int64, addr netip.Addr, systemID []byte) (wait int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	k := g.keysOf(addr, systemID)
	_, known := g.known.get(now, k.pair)
	wait = g.standing(now, k.pair).next - now
	if !known {
		soft := softDelay(g.standing(now, k.account).failures)
		wait = max(wait, g.standing(now, k.address).next-now, began+soft-now)
	}
	if wait > 0 {
		return wait
	}
	g.charge(now, k.pair)
	if !known {
		g.charge(now, k.address)
	}
	return 0
}

// Failed reports whether earlier failures make a login from the address to the
// account wait.
func (g *Guard) Failed(now int64, addr netip.Addr, systemID []byte) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	k := g.keysOf(addr, systemID)
	if g.standing(now, k.pair).failures > 0 {
		return true
	}
	_, known := g.known.get(now, k.pair)
	return !known && g.standing(now, k.address).failures > 0
}

// Fail records a login with a wrong password, of an unknown account, or from a
// network that the account may not log in from.
func (g *Guard) Fail(now int64, addr netip.Addr, systemID []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	k := g.keysOf(addr, systemID)
	g.fail(now, k.pair)
	g.fail(now, k.address)
	if _, known := g.known.get(now, k.pair); !known {
		s := g.standing(now, k.account)
		s.failures++
		g.failures.put(now, k.account, s)
	}
}

// Refuse records a login that was refused though its password was right. It is not
// a guess, but the next login waits for a moment.
func (g *Guard) Refuse(now int64, addr netip.Addr, systemID []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	k := g.keysOf(addr, systemID)
	s := g.standing(now, k.pair)
	s.next = max(s.next, now+int64(firstDelay))
	g.failures.put(now, k.pair, s)
}

// Succeed records that the account logged in from the address. The account's
// failures from there are forgotten. The failures of the address stay, because
// otherwise one good account would make guessing the passwords of others cheap.
// The delay that Check charged in case this login failed is taken back.
func (g *Guard) Succeed(now int64, addr netip.Addr, systemID []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	k := g.keysOf(addr, systemID)
	g.failures.delete(k.pair)
	if _, known := g.known.get(now, k.pair); !known {
		if s := g.standing(now, k.address); s.next > now {
			s.next = now
			g.failures.put(now, k.address, s)
		}
	}
	g.known.put(now, k.pair, struct{}{})
}

// BeginWait counts a login that waits. It returns false, without counting the login, if the address
// already has the allowed number of waiting logins. If it returns true, the caller must call
// EndWait.
func (g *Guard) BeginWait(addr netip.Addr) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	k := g.addressKey(addr)
	if g.waiting[k] >= maxWaiting {
		return false
	}
	g.waiting[k]++
	return true
}

// EndWait records that a login no longer waits.
func (g *Guard) EndWait(addr netip.Addr) {
	g.mu.Lock()
	defer g.mu.Unlock()
	k := g.addressKey(addr)
	if g.waiting[k]--; g.waiting[k] <= 0 {
		delete(g.waiting, k)
	}
}

func (g *Guard) standing(now int64, key uint64) standing {
	s, _ := g.failures.get(now, key)
	return s
}

// charge makes the next login wait as if the login under way had failed, if earlier logins have
// failed.
func (g *Guard) charge(now int64, key uint64) {
	if s := g.standing(now, key); s.failures > 0 {
		s.next = now + delay(s.failures+1)
		g.failures.put(now, key, s)
	}
}

func (g *Guard) fail(now int64, key uint64) {
	s := g.standing(now, key)
	s.failures++
	s.next = max(s.next, now+delay(s.failures))
	g.failures.put(now, key, s)
}

// delay returns how long the next login waits after this number of failures.
func delay(failures int) int64 {
	return int64(min(firstDelay<<min(failures-1, 16), maxDelay))
}

// softDelay returns how long the next login waits after this number of failures of an account, from
// whatever address.
func softDelay(failures int) int64 {
	if failures <= freeFailures {
		return 0
	}
	return min(delay(failures-freeFailures), int64(maxSoft))
}

// keys are the keys of the three counters of a login's failures.
type keys struct{ address, pair, account uint64 }

func (g *Guard) keysOf(addr netip.Addr, systemID []byte) keys {
	k := keys{address: g.addressKey(addr), account: maphash.Bytes(g.seed, systemID)}
	k.pair = maphash.Comparable(g.seed, k)
	return k
}

func (g *Guard) addressKey(addr netip.Addr) uint64 {
	return maphash.Comparable(g.seed, Host(addr))
}

// Host returns the address that limits by address count a client under: its IPv4
// address, or the /64 of its IPv6 address, because a single host usually has all
// of a /64.
func Host(addr netip.Addr) netip.Addr {
	addr = addr.Unmap()
	if addr.Is6() {
		p, _ := addr.Prefix(64) // 64 is never too long
		addr = p.Addr()
	}
	return addr
}
