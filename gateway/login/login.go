// Package login decides which clients may log in, and which SMSCs that connect themselves: by their
// credentials, the failed logins of their address and account, and the number of connections
// without a login.
//
// # Start reading
//
// login.go, prebind.go; plugins.go asks the hook login.
package login

import (
	"net/netip"
	"runtime"
	"sync/atomic"
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/connector/account"
	"pmg/gateway/hooks"
	"pmg/gateway/node"
	"pmg/internal/tlsfiles"
	"pmg/internal/turns"
	"pmg/protocols"
	"pmg/sms"
)

// Logins decides which clients and SMSCs may log in. It is safe for concurrent use.
type Logins struct {
	node    *node.Node
	Prebind *Prebind

	accounts atomic.Pointer[account.Table]
	guard    *account.Guard
	hashing  *turns.Turns[netip.Prefix] // the turns of networks to compute hashes of passwords
	hooks    *hooks.Hooks
}

// guardSize bounds how many addresses and accounts with failed logins are remembered.
const guardSize = 100_000

// maxHashing is how many passwords are hashed at the same time on a machine with many processors.
// One argon2id hash may take 64 MiB, so all together take at most half a GiB.
const maxHashing = 8

// maxUnhashed is how many logins wait until their passwords are hashed. About this number of hashes
// can be computed while clients wait for an answer.
const maxUnhashed = 500

// hashings returns how many passwords may be hashed at the same time.
func hashings() int { return min(max(runtime.GOMAXPROCS(0)-1, 1), maxHashing) }

// New makes the logins of the configuration in force. The caller then calls SetAccounts.
func New(n *node.Node, h *hooks.Hooks) *Logins {
	limits := &n.Config().Limits
	return &Logins{
		node: n, Prebind: NewPrebind(limits.Prebind, limits.PrebindPerAddress),
		guard: account.NewGuard(guardSize), hashing: turns.New[netip.Prefix](hashings(), maxUnhashed), hooks: h,
	}
}

// SetAccounts puts accounts in force.
func (d *Logins) SetAccounts(t *account.Table) { d.accounts.Store(t) }

// Accounts returns the accounts in force.
func (d *Logins) Accounts() *account.Table { return d.accounts.Load() }

// An Attempt is a client's login on its way to a decision. Only Work may run on another
// goroutine than the one that runs the session.
//
//	        Next ──► Waits ──► Next, at that time
//	         │  └──► Works ──► Work, then Next
//	         ▼
//	Decided: Result
//
// If the session ends before that, Abandon is called instead.
type Attempt struct {
	Result Result // valid after Next has returned Decided

	logins    *Logins
	connector *connector.Connector
	table     *account.Table
	who       account.Login
	name      []byte // the name under which the guard counts the login
	began     int64

	request  bool   // the login belongs to a request, and begins no session
	stays    bool   // with request: the login counts for all requests of the connection, so plugins are asked about it
	proof    *proof // shown in place of an account's password; nil: the password is
	password account.Password
	allowed  bool // the guard has allowed the password to be checked
	clean    bool // there were no earlier failures when the guard allowed the check
	waiting  bool // the guard counts the login as waiting
	counted  bool // the guard counts the login as a failure
	crowded  bool // too many passwords wait to be hashed
	asked    bool // the plugins were asked
	refused  hooks.Refusal
	gone     chan struct{}
}

// A Result is the outcome of a client's login.
type Result struct {
	Account     *account.Account // set if Code is OK; End of the account must be called once
	Code        sms.Code
	AnswerAfter int64 // a refusal is not sent before this time; 0: immediately

	Full account.Result // why the login needs the place of another session of the account; OK: it needs none
}

// Exceeds reports whether the account needs the place of another session for the login.
func (r *Result) Exceeds() bool { return r.Full != account.OK }

// MayReplace reports whether a session from an address may lose its place to a login from another
// address.
func (r *Result) MayReplace(session, login netip.Addr) bool {
	return r.Full != account.TooManyFromAddress || account.Host(session) == account.Host(login)
}

// A Step is what a login needs next.
type Step uint8

// The steps.
const (
	Decided Step = iota
	Waits        // the login waits until the time that Next returned
	Works        // the caller must call Work, which compares the password with a hash, or asks plugins
)

// refusalDelay is the least time between a login and its refusal. The delay is longer than a hash
// takes, so that the time of an answer does not reveal whether a password was hashed, and so
// whether the account exists.
const refusalDelay = int64(time.Second)

// Begin begins a client's login. The caller must not change the credentials until the
// login is decided and Work has returned.
func (d *Logins) Begin(
	now int64, c *connector.Connector, remote netip.AddrPort, certificate tlsfiles.Identity, who protocols.Credentials,
) *Attempt {
	return &Attempt{
		logins: d, connector: c, table: d.accounts.Load(), began: now, gone: make(chan struct{}), name: who.SystemID,
		who: account.Login{
			SystemID: who.SystemID, Password: who.Password, Connector: c.Name, Addr: remote.Addr(), Bind: who.Bind,
			Certificate: certificate,
		},
	}
}

// Next continues the login. again is the time of the next call if step is Waits.
func (l *Attempt) Next(now int64) (step Step, again int64) {
	d := l.logins
	if t := d.accounts.Load(); t != l.table { // the configuration was reloaded meanwhile
		l.table, l.password = t, account.Unverified
	}
	if !l.allowed {
		if wait := d.guard.Check(now, l.began, l.who.Addr, l.name); wait > 0 {
			return l.wait(now + wait)
		}
		l.allowed, l.clean = true, !d.guard.Failed(now, l.who.Addr, l.name)
	}
	l.endWait()
	if l.proof != nil {
		l.decideProof(now)
		return Decided, 0
	}
	if cfg := l.connector.Config(); cfg.Role() == protocols.Client {
		l.decidePeer(now, cfg)
		return Decided, 0
	}
	if l.password == account.Unverified {
		if l.password = l.table.Lookup(l.who); l.password == account.Unverified && !l.crowded {
			return Works, 0
		}
	}
	if l.password == account.Unverified {
		l.refuseCrowded(now)
		return Decided, 0
	}
	if l.asksPlugins() {
		return Works, 0
	}
	l.decide(now)
	return Decided, 0
}

// wait makes the login wait, or refuses it immediately if too many logins of its
// address wait already.
func (l *Attempt) wait(until int64) (Step, int64) {
	d := l.logins
	if !l.waiting && !d.guard.BeginWait(l.who.Addr) {
		if d.node.Repeats.First("logins wait: " + l.connector.Name) {
			d.node.Log.Warn().Str("connector", l.connector.Name).Stringer("remote", l.who.Addr).
				Msg("login refused: too many logins from this address wait because others failed")
		}
		l.Result.Code = sms.BindFailed
		return Decided, 0
	}
	l.waiting = true
	return Waits, until
}

func (l *Attempt) endWait() {
	if l.waiting {
		l.logins.guard.EndWait(l.who.Addr)
		l.waiting = false
	}
}

// Work checks the password or asks the plugins, after Next has returned Works. It may run on any
// goroutine.
func (l *Attempt) Work() {
	if l.password == account.Unverified {
		l.hash()
	} else {
		l.askPlugins()
	}
}

// hash compares the password with its hash. Only a few hashes are computed at the same time, so
// hash first waits for the turn of the client's network. It does nothing if the client is gone by
// then, or if too many logins wait.
func (l *Attempt) hash() {
	d := l.logins
	if !d.hashing.Take(turns.Network(l.who.Addr), l.gone) {
		l.crowded = true
		return
	}
	defer d.hashing.Give()
	// The wait may have been long. Another login may have verified the same
	// password meanwhile, or have failed.
	now := d.node.Clock.Now()
	if l.password = l.table.Lookup(l.who); l.password == account.Unverified {
		if l.clean && d.guard.Failed(now, l.who.Addr, l.name) {
			l.allowed = false
			return
		}
		l.password = l.table.Verify(l.who)
		now = d.node.Clock.Now()
	}
	if l.password == account.Wrong { // a failure, even if the client is gone now
		l.fail(now)
	}
}

// Abandon ends a login whose session has ended. It may be called while Work is running. Work then
// ends as early as possible.
func (l *Attempt) Abandon() {
	close(l.gone)
	l.endWait()
}

func (l *Attempt) fail(now int64) {
	if !l.counted {
		l.counted = true
		l.logins.guard.Fail(now, l.who.Addr, l.name)
	}
}

func (l *Attempt) decide(now int64) {
	d := l.logins
	a, result := l.logIn(now)
	l.Result = Result{Account: a, Code: result.Code()}
	if a != nil && result != account.OK {
		l.Result = Result{Account: a, Code: sms.OK, AnswerAfter: max(now, l.began+refusalDelay), Full: result}
		result = account.OK
	}
	if result == account.OK {
		d.guard.Succeed(now, l.who.Addr, l.name)
		if !l.request && !l.Result.Exceeds() && d.node.LogLimits.Logins.Next(l.connector.Name, now) {
			d.node.Log.Info().Str("connector", l.connector.Name).Bytes("account", l.who.SystemID).
				Stringer("remote", l.who.Addr).Stringer("bind", l.who.Bind).Msg("client logged in")
		}
		return
	}
	if result.IsGuess() {
		l.fail(now)
	} else {
		d.guard.Refuse(now, l.who.Addr, l.name)
	}
	l.Result.AnswerAfter = max(now, l.began+refusalDelay)
	if d.node.LogLimits.Refusals.Next(l.connector.Name, now) {
		e := d.node.Log.Warn().Str("connector", l.connector.Name).Bytes("account", l.who.SystemID)
		if l.who.AsUser {
			e = e.Str("user", l.who.User)
		}
		e.Stringer("remote", l.who.Addr).Stringer("reason", result).
			Msg("login refused: " + result.String() + l.refused.String())
	}
}

// refuseCrowded refuses a login whose password was not checked, as late as a wrong one. An immediate answer would show
// that the account exists.
func (l *Attempt) refuseCrowded(now int64) {
	l.Result = Result{Code: sms.BindFailed, AnswerAfter: max(now, l.began+refusalDelay)}
	if l.logins.node.Repeats.First("hashes wait: " + l.connector.Name) {
		l.logins.node.Log.Warn().Str("connector", l.connector.Name).
			Bytes("account", l.who.SystemID).Stringer("remote", l.who.Addr).
			Msg(
				"login refused: too many logins wait until their passwords are compared with hashes, most of them from " +
					"its network",
			)
	}
}

func (l *Attempt) logIn(now int64) (*account.Account, account.Result) {
	if l.refused != (hooks.Refusal{}) {
		return nil, account.RefusedByPlugin
	}
	if l.request {
		return l.table.Admit(l.who, l.password)
	}
	return l.table.LogIn(now, l.who, l.password)
}

// A proof is something that is shown in place of an account's password.
type proof struct {
	isRight func() bool
	refusal string // what the log says if it is wrong
}

// decideProof decides about what was shown in place of a password.
func (l *Attempt) decideProof(now int64) {
	d := l.logins
	if l.proof.isRight() {
		d.guard.Succeed(now, l.who.Addr, l.name)
		l.Result = Result{Code: sms.OK}
		return
	}
	l.fail(now)
	l.Result = Result{Code: sms.BindFailed, AnswerAfter: max(now, l.began+refusalDelay)}
	if d.node.LogLimits.Refusals.Next(l.connector.Name, now) {
		d.node.Log.Warn().Str("connector", l.connector.Name).Stringer("remote", l.who.Addr).Msg(l.proof.refusal)
	}
}

// decidePeer decides about the credentials of an SMSC that has connected.
func (l *Attempt) decidePeer(now int64, cfg *config.Connector) {
	d := l.logins
	if cfg.IsPeer(l.who.SystemID, l.who.Password) {
		d.guard.Succeed(now, l.who.Addr, l.name)
		l.Result = Result{Code: sms.OK}
		return
	}
	l.fail(now)
	l.Result = Result{Code: sms.BindFailed, AnswerAfter: max(now, l.began+refusalDelay)}
	if d.node.LogLimits.Refusals.Next(l.connector.Name, now) {
		d.node.Log.Warn().Str("connector", l.connector.Name).Bytes("system_id", l.who.SystemID).Stringer("remote", l.who.Addr).
			Msg("an SMSC was refused: its credentials are not peer_system_id and peer_password of the connector")
	}
}
