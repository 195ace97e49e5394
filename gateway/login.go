package gateway

import (
	"net/netip"
	"sync"

	"pmg/account"
	"pmg/connector"
	"pmg/protocols"
	"pmg/sms"
)

// A LoginResult is what came of a client's login.
type LoginResult struct {
	Account     *account.Account // when Code is OK; its End must be called once
	Code        sms.Code
	AnswerAfter int64 // do not answer before this time; 0: at once
}

// Login decides a client's login at once, or gives a function that does and takes
// as long as a password hash does.
func (g *Gateway) Login(now int64, c *connector.Connector, remote netip.AddrPort, who protocols.Credentials) (LoginResult, func() LoginResult) {
	l := account.Login{SystemID: who.SystemID, Password: who.Password, Addr: remote.Addr(), Bind: who.Bind}
	table := g.accounts.Load()
	a, result := table.Lookup(l)
	if result != account.NeedsVerify {
		return g.loggedIn(now, c, l, a, result), nil
	}
	return LoginResult{}, func() LoginResult {
		a, result := table.Verify(l)
		return g.loggedIn(now, c, l, a, result)
	}
}

func (g *Gateway) loggedIn(now int64, c *connector.Connector, l account.Login, a *account.Account, result account.Result) LoginResult {
	if result == account.OK {
		g.guard.Succeed(l.SystemID)
		g.Log.Info().Str("connector", c.Name).Bytes("system_id", l.SystemID).Stringer("remote", l.Addr).Stringer("bind", l.Bind).Msg("client logged in")
		return LoginResult{Account: a}
	}
	wait := g.guard.Fail(now, l.Addr, l.SystemID)
	g.Log.Warn().Str("connector", c.Name).Bytes("system_id", l.SystemID).Stringer("remote", l.Addr).Stringer("reason", result).Msg("login refused")
	return LoginResult{Code: result.Code(), AnswerAfter: now + wait}
}

// Prebind counts the connections per address that have not logged in.
type Prebind struct {
	mu    sync.Mutex
	limit int
	open  map[netip.Addr]int
}

// NewPrebind makes a counter with a limit per address.
func NewPrebind(limit int) *Prebind { return &Prebind{limit: limit, open: map[netip.Addr]int{}} }

// Enter counts a connection, unless its address has too many already.
func (p *Prebind) Enter(a netip.Addr) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open[a] >= p.limit {
		return false
	}
	p.open[a]++
	return true
}

// Leave tells that a connection has logged in, or is over without having done so.
func (p *Prebind) Leave(a netip.Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open[a]--; p.open[a] <= 0 {
		delete(p.open, a)
	}
}
