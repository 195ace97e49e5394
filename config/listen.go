package config

import (
	"crypto/subtle"
	"net/netip"
	"slices"
)

// listen checks who connects, and the options of a connector that waits for its SMSC.
func (d *decoder) listen(c *Connector, path string) {
	if slices.ContainsFunc(c.Proxies, func(p netip.Prefix) bool { return p.Bits() == 0 }) {
		d.warn(path+".proxies", "has everybody, so that every peer can name any address as its own: list the proxies alone")
	}
	switch {
	case c.Direction != Out: // a warning says that the options have no effect
	case c.Listen == "":
		if c.PeerSystemID != "" || c.PeerPassword != "" || len(c.Networks) > 0 || len(c.Proxies) > 0 {
			d.warn(path, "has peer_system_id, peer_password, networks or proxies, which have no effect without listen")
		}
	case c.Address != "" || len(c.Addresses) > 0:
		d.problem(
			path+".listen",
			"must not be given together with address: write another connector with the same operator for the sessions "+
				"that the gateway opens",
		)
	case c.PeerPassword == "" && len(c.Networks) == 0:
		d.warn(
			path+".listen",
			"lets every peer in that reaches %s, and an SMPP peer is sent the connector's password: give networks or "+
				"peer_password",
			c.Listen,
		)
	}
}

// IsProxy reports whether a connection from an address begins with the header of a proxy.
func (c *Connector) IsProxy(addr netip.Addr) bool { return contains(c.Proxies, addr) }

func contains(networks []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(addr.Unmap().WithZone("")) })
}

// TakesFrom reports whether a peer may connect from an address.
func (c *Connector) TakesFrom(addr netip.Addr) bool {
	return len(c.Networks) == 0 || contains(c.Networks, addr)
}

// PeerLogsIn reports whether an SMSC that connects must say who it is.
func (c *Connector) PeerLogsIn() bool { return c.PeerSystemID != "" || c.PeerPassword != "" }

// IsPeer reports whether an SMSC that connects has given the right credentials.
func (c *Connector) IsPeer(systemID, password []byte) bool {
	return isGiven(c.PeerSystemID, systemID) && isGiven(c.PeerPassword, password)
}

// isGiven reports whether a peer has given what an option wants, if that wants anything. The
// time it takes does not depend on where they differ.
func isGiven(want string, given []byte) bool {
	return want == "" || subtle.ConstantTimeCompare([]byte(want), given) == 1
}
