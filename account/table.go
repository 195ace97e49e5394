package account

import (
	"crypto/subtle"
	"net/netip"

	"golang.org/x/crypto/bcrypt"

	"pmg/config"
	"pmg/protocols"
)

// A Table is the accounts of one configuration. It is immutable.
type Table struct {
	registry *Registry
	accounts map[string]*Account // by system_id
	decoy    *Account            // what an unknown system_id is compared with
}

// An Account is a client that may log in.
type Account struct {
	SystemID    string
	networks    []netip.Prefix
	maxSessions int
	binds       [protocols.Transceiver + 1]bool
	hash        []byte // bcrypt; nil when the password is plain
	password    digest // of a plain password
	use         *usage
}

// A Login is what a client logs in with. Its slices are only read.
type Login struct {
	SystemID, Password []byte
	Addr               netip.Addr
	Bind               protocols.BindType
}

// NewTable makes the table of a configuration's accounts. What the registry
// knows of them goes on.
func NewTable(accounts []config.Account, r *Registry) *Table {
	t := &Table{registry: r, accounts: make(map[string]*Account, len(accounts)), decoy: &Account{}}
	for i := range accounts {
		a := newAccount(&accounts[i], r)
		t.accounts[a.SystemID] = a
		if a.hash != nil && t.decoy.hash == nil {
			t.decoy.hash = a.hash // its cost is probably that of the others
		}
	}
	r.forget(t)
	return t
}

func newAccount(c *config.Account, r *Registry) *Account {
	a := &Account{
		SystemID:    c.SystemID,
		networks:    c.Networks,
		maxSessions: c.MaxSessions,
		use:         r.take(c.SystemID, c.Rate),
	}
	if config.IsHash(c.Password) {
		a.hash = []byte(c.Password)
	} else {
		a.password = r.digest([]byte(c.Password))
	}
	for b := range a.binds {
		a.binds[b] = len(c.Bind) == 0
	}
	for _, b := range c.Bind {
		a.binds[b] = true
	}
	return a
}

// Lookup decides a login at once, or says NeedsVerify. After OK the session
// counts, and the account's End must be called once. The account is nil unless
// the result is OK.
func (t *Table) Lookup(l Login) (*Account, Result) {
	a := t.find(l)
	if a.hash == nil {
		d := t.registry.digest(l.Password)
		return t.decide(a, l, subtle.ConstantTimeCompare(d[:], a.password[:]) == 1)
	}
	if a != t.decoy && a.use.isVerified(t.registry.digest(a.hash, l.Password)) {
		return t.decide(a, l, true)
	}
	return nil, NeedsVerify
}

// Verify decides a login for which Lookup said NeedsVerify. It takes as long as
// bcrypt does, so it belongs in a bounded pool.
func (t *Table) Verify(l Login) (*Account, Result) {
	a := t.find(l)
	if a.hash == nil {
		return t.Lookup(l)
	}
	fits := bcrypt.CompareHashAndPassword(a.hash, l.Password) == nil
	if fits && a != t.decoy {
		a.use.setVerified(t.registry.digest(a.hash, l.Password))
	}
	return t.decide(a, l, fits)
}

// Check is Lookup and, where it must be, Verify.
func (t *Table) Check(l Login) (*Account, Result) {
	a, result := t.Lookup(l)
	if result == NeedsVerify {
		return t.Verify(l)
	}
	return a, result
}

// Len is the number of accounts.
func (t *Table) Len() int { return len(t.accounts) }

// find gives the account, or the decoy that makes as much work.
func (t *Table) find(l Login) *Account {
	if a := t.accounts[string(l.SystemID)]; a != nil {
		return a
	}
	return t.decoy
}

// decide says what follows from a password that fits, or does not.
func (t *Table) decide(a *Account, l Login, fits bool) (*Account, Result) {
	switch {
	case a == t.decoy:
		return nil, NoAccount
	case !fits:
		return nil, WrongPassword
	case !a.mayComeFrom(l.Addr):
		return nil, WrongNetwork
	case !a.binds[l.Bind&protocols.Transceiver]:
		return nil, WrongBind
	case !a.use.begin(a.maxSessions):
		return nil, TooManySessions
	}
	return a, OK
}

func (a *Account) mayComeFrom(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	for _, n := range a.networks {
		if n.Contains(addr) {
			return true
		}
	}
	return len(a.networks) == 0
}

// End says that a session of the account is over.
func (a *Account) End() { a.use.end() }

// Sessions is the number of its sessions now, over every table.
func (a *Account) Sessions() int { return a.use.count() }

// Reserve takes the place of one message in the account's rate and gives the
// nanoseconds until its time. It follows a reload, also for a session that
// logged in before. It is safe for concurrent use.
func (a *Account) Reserve(now int64) int64 {
	if !a.use.limited.Load() {
		return 0
	}
	a.use.mu.Lock()
	defer a.use.mu.Unlock()
	return a.use.limiter.Reserve(now)
}

// isVerified tells whether the digest is that of the last login that bcrypt took.
func (u *usage) isVerified(d digest) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return subtle.ConstantTimeCompare(u.verified[:], d[:]) == 1
}

func (u *usage) setVerified(d digest) {
	u.mu.Lock()
	u.verified = d
	u.mu.Unlock()
}
