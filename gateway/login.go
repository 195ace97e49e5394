package gateway

import (
	"net/netip"
	"time"

	"pmg/account"
	"pmg/connector"
	"pmg/protocols"
	"pmg/sms"
)

// A Login is a client's login on its way to a decision. Only Hash may run on another
// goroutine than the one that runs the session.
//
//	        Next ──► LoginWaits ──► Next, at that time
//	         │  └──► LoginHashes ─► Hash, then Next
//	         ▼
//	LoginDecided: Result
//
// If the session ends before that, Abandon is called instead.
type Login struct {
	Result LoginResult // once Next has returned LoginDecided

	gateway   *Gateway
	connector *connector.Connector
	table     *account.Table
	who       account.Login
	began     int64

	password account.Password
	allowed  bool // the guard has allowed the password to be checked
	clean    bool // there were no failures when the guard allowed it
	waiting  bool // counted by the guard
	counted  bool // as a failure
	gone     chan struct{}
}

// A LoginResult is the outcome of a client's login.
type LoginResult struct {
	Account     *account.Account // when Code is OK; its End must be called once
	Code        sms.Code
	AnswerAfter int64 // the answer is not sent before this time; 0: immediately
}

// A LoginStep is what a login needs next.
type LoginStep uint8

// The steps.
const (
	LoginDecided LoginStep = iota
	LoginWaits             // until the time that Next returned
	LoginHashes            // for Hash, which takes as long as bcrypt does
)

// refusalDelay is the least time between a login and its refusal. It is longer than a
// bcrypt takes, so that the time of the answer does not show whether a password was
// hashed, and thereby whether the account exists.
const refusalDelay = int64(time.Second)

// Login begins a client's login. The caller must not change the credentials until the
// login is decided and Hash has returned.
func (g *Gateway) Login(now int64, c *connector.Connector, remote netip.AddrPort, who protocols.Credentials) *Login {
	return &Login{
		gateway: g, connector: c, table: g.accounts.Load(), began: now, gone: make(chan struct{}),
		who: account.Login{SystemID: who.SystemID, Password: who.Password, Connector: c.Name, Addr: remote.Addr(), Bind: who.Bind},
	}
}

// Next continues the login. With LoginWaits it returns the time of the next call.
func (l *Login) Next(now int64) (step LoginStep, again int64) {
	g := l.gateway
	if t := g.accounts.Load(); t != l.table { // reloaded meanwhile
		l.table, l.password = t, account.Unverified
	}
	if !l.allowed {
		if wait := g.guard.Check(now, l.began, l.who.Addr, l.who.SystemID); wait > 0 {
			return l.wait(now + wait)
		}
		l.allowed, l.clean = true, !g.guard.Failed(now, l.who.Addr, l.who.SystemID)
	}
	l.endWait()
	if cfg := l.connector.Config(); cfg.Role() == protocols.Client {
		l.decidePeer(now, cfg)
		return LoginDecided, 0
	}
	if l.password == account.Unverified {
		if l.password = l.table.Lookup(now, l.who); l.password == account.Unverified {
			return LoginHashes, 0
		}
	}
	l.decide(now)
	return LoginDecided, 0
}

// wait makes the login wait, or refuses it immediately if too many logins of its
// address wait already.
func (l *Login) wait(until int64) (LoginStep, int64) {
	g := l.gateway
	if !l.waiting && !g.guard.BeginWait(l.who.Addr) {
		if g.News.Is("logins wait: " + l.connector.Name) {
			g.Log.Warn().Str("connector", l.connector.Name).Stringer("remote", l.who.Addr).
				Msg("login refused: too many logins from this address wait because others failed")
		}
		l.Result.Code = sms.BindFailed
		return LoginDecided, 0
	}
	l.waiting = true
	return LoginWaits, until
}

func (l *Login) endWait() {
	if l.waiting {
		l.gateway.guard.EndWait(l.who.Addr)
		l.waiting = false
	}
}

// Hash compares the password with a bcrypt hash. Because few bcrypts may run at a time,
// it first waits for a place, and does nothing if the client is gone by then. It may run
// on any goroutine.
func (l *Login) Hash() {
	g := l.gateway
	select {
	case <-l.gone:
		return
	case g.hashing <- struct{}{}:
		defer func() { <-g.hashing }()
	}
	select {
	case <-l.gone:
		return
	default:
	}
	// The wait may have been long. Another login may have verified the same
	// password meanwhile, or have failed.
	now := g.Clock.Now()
	if l.password = l.table.Lookup(now, l.who); l.password == account.Unverified {
		if l.clean && g.guard.Failed(now, l.who.Addr, l.who.SystemID) {
			l.allowed = false
			return
		}
		l.password = l.table.Verify(now, l.who)
		now = g.Clock.Now()
	}
	if l.password == account.Wrong { // counts even if the client is gone now
		l.fail(now)
	}
}

// Abandon ends a login whose session has ended. It may be called while Hash
// runs, which then does as little as it can.
func (l *Login) Abandon() {
	close(l.gone)
	l.endWait()
}

func (l *Login) fail(now int64) {
	if !l.counted {
		l.counted = true
		l.gateway.guard.Fail(now, l.who.Addr, l.who.SystemID)
	}
}

func (l *Login) decide(now int64) {
	g := l.gateway
	a, result := l.table.LogIn(now, l.who, l.password)
	l.Result = LoginResult{Account: a, Code: result.Code()}
	if result == account.OK {
		g.guard.Succeed(now, l.who.Addr, l.who.SystemID)
		if g.Storms.Logins.Next(l.connector.Name, now) {
			g.Log.Info().Str("connector", l.connector.Name).Bytes("account", l.who.SystemID).Stringer("remote", l.who.Addr).Stringer("bind", l.who.Bind).Msg("client logged in")
		}
		return
	}
	if result.IsGuess() {
		l.fail(now)
	} else {
		g.guard.Refuse(now, l.who.Addr, l.who.SystemID)
	}
	l.Result.AnswerAfter = max(now, l.began+refusalDelay)
	if g.Storms.Refusals.Next(l.connector.Name, now) {
		g.Log.Warn().Str("connector", l.connector.Name).Bytes("account", l.who.SystemID).Stringer("remote", l.who.Addr).Stringer("reason", result).Msg("login refused: " + result.String())
	}
}
