package httpcall

import (
	"fmt"
	"net/netip"
	"slices"
	"syscall"

	"code.dny.dev/ssrf"
)

// A Target defines which addresses a call may reach. The zero value is for a URL that a client has given:
// public addresses, and ports 80, 443 and those above 1023.
type Target struct {
	Trusted  bool           // the URL is from the configuration: any address and port is allowed
	Networks []netip.Prefix // addresses that a URL which is not trusted may reach although they are not public
}

// check returns why a URL is not called.
func (t *Target) check(url string) error {
	p, err := readURL(url)
	if err == nil && !t.Trusted {
		err = p.checkPort()
	}
	return err
}

// A notPublic is an address that a client's URL has led to, and may not reach.
type notPublic struct{ addr netip.Addr }

func (e *notPublic) Error() string { return fmt.Sprintf("its address %s is not public", e.addr) }

// guard returns a check of each address before the connection, after name resolution.
func guard(networks []netip.Prefix) Control {
	public := newGuardian(networks)
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("cannot read the address %q: %w", address, err)
		}
		return checkAddress(public, to.Addr())
	}
}

// newGuardian returns a guardian that allows the public addresses and some networks.
func newGuardian(networks []netip.Prefix) *ssrf.Guardian {
	six := slices.Clone(networks)
	four := slices.DeleteFunc(slices.Clone(networks), func(p netip.Prefix) bool { return p.Addr().Is6() })
	six = slices.DeleteFunc(six, func(p netip.Prefix) bool { return p.Addr().Is4() })
	return ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(four...), ssrf.WithAllowedV6Prefixes(six...))
}

// checkAddress returns an error unless the guardian allows an address. An IPv4 address in the form of IPv6 counts
// as an IPv4 address.
func checkAddress(g *ssrf.Guardian, addr netip.Addr) error {
	if g.SafeAddr(addr.Unmap()) != nil {
		return &notPublic{addr}
	}
	return nil
}
