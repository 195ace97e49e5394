package session

import (
	"errors"
	"net/netip"
	"syscall"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/gateway/node"
)

// Admit counts a peer that has just connected, and reports whether the peer may stay. If so, the
// caller must call Over or Leave at the end of the connection.
func (d *Sessions) Admit(c *connector.Connector, remote netip.AddrPort) bool {
	if !c.Config().TakesFrom(remote.Addr()) {
		d.strange(c, remote)
		return false
	}
	return d.enter(c, remote, remote.Addr())
}

// AdmitProxy counts the connection of a proxy, as Admit does, until the client's address is known.
// Then the caller must call Leave without an address, and Admit with the client's address.
func (d *Sessions) AdmitProxy(c *connector.Connector, proxy netip.AddrPort) bool {
	return d.enter(c, proxy, netip.Addr{})
}

// enter counts a peer that has connected, and returns true. It returns false, without counting, if
// too many peers are connected. The zero address counts in total only.
func (d *Sessions) enter(c *connector.Connector, remote netip.AddrPort, address netip.Addr) bool {
	if limit, full := d.Full(); full {
		if d.node.Repeats.First("descriptors") {
			d.node.Log.Error().Str("connector", c.Name).Int64("clients", limit).
				Msg(
					"a client was refused: the file descriptors that are left are for our own connections; raise the " +
						"limit with ulimit -n",
				)
		}
		return false
	}
	stays, displaced := d.logins.Prebind.Enter(d.node.Clock.Now(), address, c.Config().Transport() != config.BySession)
	if displaced && d.node.Repeats.First("displaced") {
		d.node.Log.Warn().Msg(
			"connections that have not logged in are closed to make room for others: as many are open as limits.prebind allows",
		)
	}
	if !stays {
		if d.node.LogLimits.Crowded.Next(c.Name, d.node.Clock.Now()) {
			d.node.Log.Warn().Str("connector", c.Name).Stringer("remote", remote).
				Msg("a client was refused: too many connections are open that have not logged in")
		}
		return false
	}
	d.sockets.Add(1)
	return true
}

// Full reports whether clients use all sockets that they may have. limit is that number of sockets.
func (d *Sessions) Full() (limit int64, full bool) {
	limit = d.clientSockets.Load()
	return limit, limit > 0 && d.sockets.Load() >= limit
}

// Count returns the number of open sockets.
func (d *Sessions) Count() (n int) {
	for _, c := range d.table.Connectors() {
		c.Links(func(*connector.Link) { n++ })
	}
	return n
}

// HasSMSCs reports whether there is an open socket to an SMSC.
func (d *Sessions) HasSMSCs() bool {
	for _, c := range d.table.Connectors() {
		any := false
		if c.Links(func(*connector.Link) { any = true }); any && c.Config().Direction == config.Out {
			return true
		}
	}
	return false
}

// Place records the owner of a connection that Admit has admitted. end ends the connection if it
// must make room for another one before its login. end must not wait.
func (d *Sessions) Place(c *connector.Connector, of any, remote netip.AddrPort, end func()) {
	d.logins.Prebind.Place(d.node.Clock.Now(), of, remote.Addr(), c.Config().Transport() != config.BySession, end)
}

// Known records that a request on a connection of a client has shown valid credentials. of is the
// owner of the connection's place, or nil.
func (d *Sessions) Known(c *connector.Connector, of any, remote netip.AddrPort) {
	d.logins.Prebind.Leave(of, remote.Addr(), c.Config().Transport() != config.BySession)
}

// Leave undoes Admit for a client that got no session. of is the owner of the connection's place,
// or nil.
func (d *Sessions) Leave(c *connector.Connector, of any, remote netip.AddrPort) {
	d.Known(c, of, remote)
	d.sockets.Add(-1)
}

// CloseSocket undoes Admit for a client that had logged in without a session.
func (d *Sessions) CloseSocket() { d.sockets.Add(-1) }

// LimitDescriptors keeps clients from using up all of the process's file
// descriptors: some are for our own connections, the admin listener, the logs and the
// store. Without those of the store nothing could be committed. Where there are few, clients
// may use a quarter: a gateway without clients has about 30 open. It is called after Keep.
func (d *Sessions) LimitDescriptors(limit int) {
	reserved := 64
	if d.keep.Durable() {
		reserved += keep.StoreFiles(limit)
	}
	for _, c := range d.table.Connectors() {
		reserved += 2 // the pdu log and the next one
		if cfg := c.Config(); !cfg.Listens() {
			reserved += 2 * cfg.Instances
		}
	}
	d.clientSockets.Store(int64(max(limit-reserved, limit/4)))
}

// NoInstance logs that a client was refused because all instances are in use.
func (d *Sessions) NoInstance(c *connector.Connector) {
	if !d.node.Repeats.First("no instance: " + c.Name) {
		return
	}
	d.node.Log.Warn().Str("connector", c.Name).Int("instances", c.Config().Instances).Msg(
		"all instances are in use: a client was refused; raise instances of the connector if it needs more",
	)
}

// AcceptFailed logs that clients cannot be accepted for now.
func (d *Sessions) AcceptFailed(c *connector.Connector, err error) {
	what := "cannot accept"
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		what = "cannot accept; clients wait until a connection is closed (raise the limit with ulimit -n)"
	}
	if d.node.Repeats.First(what) {
		d.node.Log.Error().Err(err).Str("connector", c.Name).Msg(what)
	}
}

// NoHeader logs that a connection of a proxy was closed because of its PROXY header.
func (d *Sessions) NoHeader(c *connector.Connector, proxy netip.AddrPort, why error) {
	c.Stats.Headers.Add(1)
	if d.node.LogLimits.Headers.Next(c.Name, d.node.Clock.Now()) {
		d.node.Log.Warn().Err(why).Str("connector", c.Name).Stringer("remote", proxy).
			Msg("a connection was closed: its address is in proxies of the connector, and its PROXY header cannot be read")
	}
}

// StrayHeader logs that a peer that is no proxy has sent a PROXY header.
func (d *Sessions) StrayHeader(l *connector.Link) {
	l.Connector.Stats.Headers.Add(1)
	if d.node.LogLimits.Headers.Next(l.Connector.Name, d.node.Clock.Now()) {
		node.OfSession(d.node.Log.Warn(), l).
			Msg("a PROXY header came from an address that is not in proxies of the connector, and is taken for a PDU")
	}
}

// strange logs that a connection was closed because its address is not in networks.
func (d *Sessions) strange(c *connector.Connector, remote netip.AddrPort) {
	if d.node.LogLimits.Crowded.Next(c.Name, d.node.Clock.Now()) {
		d.node.Log.Warn().Str("connector", c.Name).Stringer("remote", remote).
			Msg("a connection was refused: its address is not in networks of the connector")
	}
}
