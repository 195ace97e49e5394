package config

import (
	"crypto/subtle"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
)

// A listener is an address that the gateway itself listens on, and its owner as named in messages: "admin" or "connector NAME".
type listener struct{ address, owner string }

// addresses checks the addresses that the gateway listens on and connects to.
func (d *decoder) addresses(c *Config) {
	var listens []listener
	if a := c.Admin.Address; a != "" {
		d.address("admin.address", a, true)
		listens = append(listens, listener{a, "admin"})
	}
	for i := range c.Connectors {
		if cc := &c.Connectors[i]; cc.Listens() {
			eachAddress(cc, i, func(path, address string) {
				d.address(path, address, true)
				if other := overlapping(listens, address); other != "" {
					d.problem(path, "%s is already listened on by %s: give one of them another port", address, other)
				}
				listens = append(listens, listener{address, "connector " + cc.Name})
			})
		}
	}
	for i := range c.Connectors {
		cc := &c.Connectors[i]
		if len(cc.AllAddresses()) == 0 && !cc.IsHTTPSMSC() && cc.Transport() != Nowhere {
			what := "address"
			if cc.Direction == Out {
				what = "address or listen"
			}
			d.problem(fmt.Sprintf("connectors[%d]", i), "must have %s, written as host:port", what)
		}
		if cc.Listens() {
			continue
		}
		eachAddress(cc, i, func(path, address string) {
			d.address(path, address, false)
			if other := overlapping(listens, address); other != "" {
				d.problem(path, "%s is where this gateway itself listens, for %s: name the address of the SMSC", address, other)
			}
		})
	}
}

// eachAddress calls f for every address of connector i, with the path of its option.
func eachAddress(c *Connector, i int, f func(path, address string)) {
	if c.Listen != "" {
		f(fmt.Sprintf("connectors[%d].listen", i), c.Listen)
		return
	}
	if c.Address != "" {
		f(fmt.Sprintf("connectors[%d].address", i), c.Address)
	}
	for j, a := range c.Addresses {
		f(fmt.Sprintf("connectors[%d].addresses[%d]", i, j), a)
	}
}

// overlapping returns the owner of the listener that takes connections to the
// address, or "".
func overlapping(listens []listener, address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil || port == "0" {
		return "" // port 0 is a new port each time
	}
	for _, l := range listens {
		h, p, err := net.SplitHostPort(l.address)
		if err == nil && p == port && sameHost(h, host) {
			return l.owner
		}
	}
	return ""
}

// sameHost reports whether both hosts are addresses of this machine that one listener could serve. Host names are not resolved.
func sameHost(listen, host string) bool {
	if listen == host {
		return true
	}
	a, aok := hostAddress(listen)
	b, bok := hostAddress(host)
	switch {
	case !aok || !bok:
		return false
	case a.IsUnspecified():
		return b.IsLoopback() || b.IsUnspecified()
	case b.IsUnspecified():
		return a.IsLoopback()
	}
	return a == b
}

// hostAddress returns the address of a host, if it is known without a resolver.
func hostAddress(host string) (netip.Addr, bool) {
	switch host {
	case "":
		return netip.IPv4Unspecified(), true
	case "localhost":
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), true
	}
	a, err := netip.ParseAddr(host)
	return a.Unmap(), err == nil
}

// address checks a host:port. An address to listen on may omit the host, and port 0
// stands for any free port.
func (d *decoder) address(path, address string, listen bool) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		d.problem(path, "must be host:port, such as 192.0.2.1:2775 or [2001:db8::1]:2775, not %q", address)
		return
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 && !listen {
		d.problem(path, "must have a port from 1 to 65535, not %q", port)
	}
	if host == "" && !listen {
		d.problem(path, "must have a host before the port, not %q", address)
	}
}

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

// PeerLogsIn reports whether an SMSC that connects must show credentials.
func (c *Connector) PeerLogsIn() bool { return c.PeerSystemID != "" || c.PeerPassword != "" }

// IsPeer reports whether an SMSC that connects has given the right credentials.
func (c *Connector) IsPeer(systemID, password []byte) bool {
	return isGiven(c.PeerSystemID, systemID) && isGiven(c.PeerPassword, password)
}

// isGiven reports whether a peer has given the wanted value of an option, or no value is wanted. The duration
// does not depend on where the values differ.
func isGiven(want string, given []byte) bool {
	return want == "" || subtle.ConstantTimeCompare([]byte(want), given) == 1
}
