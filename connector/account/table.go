package account

import (
	"crypto/subtle"
	"net/netip"
	"slices"
	"time"

	"pmg/config"
	"pmg/internal/passhash"
	"pmg/internal/tlsfiles"
	"pmg/protocols"
)

// A Table is the accounts of one configuration. It is immutable.
type Table struct {
	registry  *Registry
	accounts  map[string]*Account   // accounts, by system_id
	receivers map[string]*Receivers // accounts that may receive, by in connector
	keys      map[string]keyed      // keys for HTTP, by hash
	userDecoy []byte                // compared in place of an unknown user's hash; nil: no account has users
	hasOIDC   bool                  // an account has an OpenID provider
	decoy     *Account              // used in place of the account of an unknown system_id
}

// An Account is a client that may log in.
type Account struct {
	SystemID    string
	networks    []netip.Prefix
	connectors  []string
	maxSessions int
	perAddress  int // limit of sessions per address
	replaces    bool
	binds       [protocols.Transceiver + 1]bool
	certified   []string // the certificate names of which the client must show one; empty: no certificate is needed
	any         bool     // any password is accepted, because the certificate is enough
	passwords   []digest // digests of the plain passwords
	hashes      [][]byte // the hashed passwords
	users       []config.AccountUser
	use         *usage
}

// A Login holds the credentials and the origin of a client that logs in. Its slices
// are only read.
type Login struct {
	SystemID, Password []byte
	AsUser             bool   // the password is that of a user of the account, not the account's own
	User               string // the user's name
	Connector          string
	Addr               netip.Addr
	Bind               protocols.BindType
	Certificate        tlsfiles.Identity
}

// NewTable returns the table of a configuration's accounts. The accounts' state in the registry is
// kept.
func NewTable(c *config.Config, r *Registry) *Table {
	t := &Table{registry: r, accounts: make(map[string]*Account, len(c.Accounts)), keys: map[string]keyed{}, decoy: &Account{}}
	for i := range c.Accounts {
		a := newAccount(&c.Accounts[i], r)
		t.accounts[a.SystemID] = a
		t.addKeys(a, c.Accounts[i].Logins.Keys)
		t.hasOIDC = t.hasOIDC || c.Accounts[i].Logins.OIDC.IsSet()
		for j := range a.users {
			t.userDecoy = []byte(a.users[j].Password)
		}
		if len(a.hashes) > len(t.decoy.hashes) {
			t.decoy.hashes = a.hashes // assumed to cost as much to compare as the hashes of other accounts
		}
	}
	t.receivers = newReceivers(c, t)
	r.forget(t)
	return t
}

func newAccount(c *config.Account, r *Registry) *Account {
	a := &Account{
		SystemID:    c.SystemID,
		networks:    c.Networks,
		connectors:  c.Connectors,
		maxSessions: c.Sessions.Most,
		perAddress:  c.Sessions.PerAddress,
		replaces:    c.Sessions.Full == config.Replace,
		certified:   c.Certificates,
		any:         c.Password == "" && len(c.Certificates) > 0,
		users:       c.Logins.Users,
		use:         r.take(c),
	}
	for _, password := range c.Passwords() {
		if passhash.Is(password) {
			a.hashes = append(a.hashes, []byte(password))
		} else {
			a.passwords = append(a.passwords, r.digest([]byte(password)))
		}
	}
	for b := range a.binds {
		a.binds[b] = len(c.Bind) == 0
	}
	for _, b := range c.Bind {
		a.binds[b] = true
	}
	return a
}

// Lookup compares a login's password. If the comparison needs a slow hash, it returns Unverified
// instead, and the caller must call Verify.
func (t *Table) Lookup(l Login) Password {
	a := t.find(l)
	switch {
	case l.AsUser && t.userDecoy != nil:
		return Unverified
	case l.AsUser:
		return Wrong
	case a.any:
		return Right // LogIn checks the certificate
	}
	d := t.registry.digest(l.Password)
	for i := range a.passwords {
		if subtle.ConstantTimeCompare(d[:], a.passwords[i][:]) == 1 {
			return Right
		}
	}
	for _, hash := range a.hashes {
		if a != t.decoy && a.use.isVerified(t.registry.digest(hash, l.Password)) {
			return Right
		}
	}
	if len(a.hashes) > 0 {
		return Unverified
	}
	return Wrong
}

// Verify compares a login's password. A hashed password takes up to a second. Verify remembers a
// right password, so that the next Lookup need not return Unverified. A Guard makes wrong passwords
// rare.
func (t *Table) Verify(l Login) Password {
	a := t.find(l)
	if l.AsUser {
		return t.verifyUser(a, l)
	}
	for _, hash := range a.hashes {
		if t.registry.matches(hash, l.Password) && a != t.decoy {
			a.use.setVerified(t.registry.digest(hash, l.Password))
			return Right
		}
	}
	if len(a.hashes) > 0 {
		return Wrong
	}
	return t.Lookup(l)
}

// verifyUser verifies the password of a user of an account, as Verify does for an account's own.
func (t *Table) verifyUser(a *Account, l Login) Password {
	u, hash := a.User(l.User), t.userDecoy
	if u != nil {
		hash = []byte(u.Password)
	}
	if t.registry.matches(hash, l.Password) && u != nil {
		return Right
	}
	return Wrong
}

// User returns the account's user with this name, or nil if the account has no such user.
func (a *Account) User(name string) *config.AccountUser {
	for i := range a.users {
		if a.users[i].Name == name {
			return &a.users[i]
		}
	}
	return nil
}

// LogIn decides a login after its password was compared. If the result is OK, the session counts
// towards the account's limits, and the caller must call the account's End once with the address of
// the login. LogIn may also return an account with TooManySessions or TooManyFromAddress: then the
// login counts too, and takes the place of another session, if one can be replaced. In all other
// cases the account is nil unless the result is OK.
func (t *Table) LogIn(now int64, l Login, p Password) (*Account, Result) {
	a, result := t.Admit(l, p)
	if result != OK {
		return nil, result
	}
	switch result = a.use.begin(l.Addr, a.maxSessions, a.perAddress); {
	case result == OK:
		return a, OK
	case a.replaces:
		a.use.exceed(l.Addr)
		return a, result
	}
	a.Want(now)
	return nil, result
}

// Admit decides about the credentials of a request after its password was compared. A request
// begins no session. The account is nil unless the result is OK.
func (t *Table) Admit(l Login, p Password) (*Account, Result) {
	a := t.find(l)
	switch {
	case a == t.decoy:
		return nil, NoAccount
	case len(a.certified) > 0 && !l.Certificate.IsOneOf(a.certified):
		return nil, WrongCertificate
	case p != Right:
		return nil, WrongPassword
	case !a.mayComeFrom(l.Addr):
		return nil, WrongNetwork
	case !a.mayUse(l.Connector):
		return nil, WrongConnector
	case !a.binds[l.Bind&protocols.Transceiver]:
		return nil, WrongBind
	}
	return a, OK
}

// Account returns the account with a system_id, or nil.
func (t *Table) Account(systemID string) *Account { return t.accounts[systemID] }

// HasOIDC reports whether an account has an OpenID provider.
func (t *Table) HasOIDC() bool { return t.hasOIDC }

// find returns the login's account, or the decoy if there is no such account. The decoy's password
// takes as long to compare.
func (t *Table) find(l Login) *Account {
	if a := t.accounts[string(l.SystemID)]; a != nil {
		return a
	}
	return t.decoy
}

func (a *Account) mayUse(connector string) bool {
	return len(a.connectors) == 0 || slices.Contains(a.connectors, connector)
}

func (a *Account) mayComeFrom(addr netip.Addr) bool { return isIn(addr, a.networks) }

// isIn reports whether addr is in one of the networks. It also returns true if there are no
// networks.
func isIn(addr netip.Addr, networks []netip.Prefix) bool {
	addr = addr.Unmap().WithZone("")
	for _, n := range networks {
		if n.Contains(addr) {
			return true
		}
	}
	return len(networks) == 0
}

// Config returns the account's configuration in force, which may be newer than the
// Account. It takes no lock and is safe for concurrent use.
func (a *Account) Config() *config.Account { return a.use.cfg.Load() }

// End records that a session of the account from the address addr has ended.
func (a *Account) End(addr netip.Addr) { a.use.end(addr) }

// Want records that a login of the account was refused at the time now because no session is free.
func (a *Account) Want(now int64) { a.use.wanted.Store(now) }

// Wanted returns when a login of the account was last refused because no session was free.
func (a *Account) Wanted() int64 { return a.use.wanted.Load() }

// Operate adds n to the number of the account's operations under way, and returns the sum over all
// sessions of the account. n is negative for operations that end.
func (a *Account) Operate(n int64) int64 { return a.use.operating.Add(n) }

// Search begins a search of the account's messages. EndSearch ends the search. Search returns false
// if another search is under way.
func (a *Account) Search() bool { return a.use.searching.CompareAndSwap(false, true) }

// EndSearch ends the search that Search began.
func (a *Account) EndSearch() { a.use.searching.Store(false) }

// Admit takes the place of one message in the account's rate, which all of its sessions share. The
// message may be accepted wait nanoseconds from now. Its session should not be read until then. If
// ok is false, too many messages of the account wait already, and the message took no place. Then
// the message must be answered with sms.Throttled immediately, and its session should not be read
// for wait nanoseconds.
//
// A place stays taken when the session ends, so a client gains nothing by reconnecting. A reload
// also changes the rate of sessions that logged in before. Admit takes no lock and is safe for
// concurrent use.
func (a *Account) Admit(now int64) (wait int64, ok bool) { return a.use.rate.Admit(now) }

// AdmitOfMany admits one of many messages of a request, as Admit does. Fewer such messages may
// wait.
func (a *Account) AdmitOfMany(now int64) (wait int64, ok bool) { return a.use.rate.AdmitOfMany(now) }

// Left returns how many messages the account's rate admits now without a wait. whole is in how many
// nanoseconds the full rate is available again, if no message comes. Both results are 0 for an
// account without a rate.
func (a *Account) Left(now int64) (n, whole int64) { return a.use.rate.Left(now) }

// pressingRate is how many refusals a second, over all sessions of an account, are tolerated.
const pressingRate = 100

// IsPressing counts n refused PDUs of the account, and reports whether the account has recently
// exceeded pressingRate.
func (a *Account) IsPressing(now, n int64) bool {
	wait := a.use.refusals.Take(now, 0)
	if n > 0 && wait < int64(time.Second) {
		wait = a.use.refusals.Take(now, n)
	}
	return wait > 0
}

// Charge takes n more places in the account's rate, for the further messages that an admitted
// message was split into.
func (a *Account) Charge(now, n int64) { a.use.rate.Take(now, n) }

func (u *usage) isVerified(d digest) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return subtle.ConstantTimeCompare(u.verified[0][:], d[:])|subtle.ConstantTimeCompare(u.verified[1][:], d[:]) == 1
}

func (u *usage) setVerified(d digest) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.verified[0] != d {
		u.verified[0], u.verified[1] = d, u.verified[0]
	}
}
