package login

import (
	"context"
	"net/netip"
	"time"

	"pmg/connector"
	"pmg/connector/account"
	"pmg/gateway/hooks"
	"pmg/plugin"
	"pmg/protocols"
	"pmg/sms"
)

// asksPlugins reports whether plugins must be asked before the login is decided. Plugins are not asked about a login that is
// refused anyway. For requests whose logins stand alone, Allows asks the plugins.
func (l *Attempt) asksPlugins() bool {
	if l.request && !l.stays || l.asked || !l.logins.asks(l.connector, string(l.who.SystemID)) {
		return false
	}
	_, result := l.table.Admit(l.who, l.password)
	return result == account.OK
}

// asks reports whether a plugin is asked about an account's logins on a connector.
func (d *Logins) asks(c *connector.Connector, account string) bool {
	return d.hooks.Any(plugin.Login, &sms.Origin{Account: account, Connector: c.Name})
}

// askPlugins asks the plugins about the login, and waits for their verdicts.
func (l *Attempt) askPlugins() {
	l.refused = l.logins.askPlugins(l.connector, l.who.Addr, string(l.who.SystemID), l.who.Bind)
	l.asked = true
}

func (d *Logins) askPlugins(c *connector.Connector, from netip.Addr, account string, bind protocols.BindType) hooks.Refusal {
	return d.hooks.LogIn(&plugin.Message{
		Account: account, Connector: c.Name, Address: from.Unmap().String(), Protocol: c.Config().Protocol, TLS: c.TLS() != nil,
		Bind: bind.String(), Arrived: time.Unix(0, d.node.Clock.WallNow()).UTC(),
	}, d.node.NoVerdict)
}

// Allows asks the plugins about a client of HTTP whose credentials were right, and reports whether
// the plugins allow the login. It must run on a goroutine that may wait. It returns when the client
// may be answered, or when ctx ends.
func (d *Logins) Allows(ctx context.Context, c *connector.Connector, remote netip.AddrPort, account string) bool {
	if !d.asks(c, account) {
		return true
	}
	began := d.node.Clock.Now()
	refused := d.askPlugins(c, remote.Addr(), account, protocols.Transmitter)
	if refused == (hooks.Refusal{}) {
		return true
	}
	now := d.node.Clock.Now()
	d.guard.Refuse(now, remote.Addr(), []byte(account))
	if d.node.LogLimits.Refusals.Next(c.Name, now) {
		d.node.Log.Warn().Str("connector", c.Name).Str("account", account).Stringer("remote", remote.Addr()).
			Msg("login refused: a plugin refuses it" + refused.String())
	}
	d.sleep(ctx, began+refusalDelay)
	return false
}
