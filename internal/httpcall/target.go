package httpcall

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// A Target says which addresses a call may reach, and by which credentials. The zero value is for a URL that a client
// has given: public addresses, and ports 80, 443 and those above 1023.
type Target struct {
	Trusted  bool           // the URL is one of the configuration: any address and port
	Networks []netip.Prefix // if it is not: addresses that may be reached although they are not public
	// TLS has the certificate of this side, and the authorities and pins of the other, for a trusted URL. It must be
	// the same pointer for each call, because connections are kept by it; nil: as Options say.
	TLS *tls.Config
}

// A class is the calls that may share connections: those whose targets may reach the same addresses.
type class struct {
	trusted  bool
	networks string
	tls      *tls.Config
}

// maxClasses is how many classes have connections that are kept: each changed configuration may leave one behind.
const maxClasses = 64

func (c *Caller) transport(to Target) *http.Transport {
	key := class{trusted: to.Trusted}
	if to.Trusted {
		key.tls = to.TLS
	} else if len(to.Networks) > 0 {
		key.networks = fmt.Sprint(to.Networks)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.transports[key]
	if t == nil {
		if len(c.transports) >= maxClasses {
			c.forget()
		}
		t = c.newTransport(to)
		c.transports[key] = t
	}
	return t
}

// forget drops all transports. Connections that are in use close when they have waited for idleFor.
func (c *Caller) forget() {
	for _, t := range c.transports {
		t.CloseIdleConnections()
	}
	clear(c.transports)
}

func (c *Caller) newTransport(to Target) *http.Transport {
	dialer := &net.Dialer{Timeout: c.options.Timeout, Resolver: c.options.Resolver}
	secure := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.options.Authorities}
	if !to.Trusted {
		dialer.Control = guard(to.Networks)
	} else if to.TLS != nil {
		secure = to.TLS.Clone()
		secure.InsecureSkipVerify = false
	}
	return &http.Transport{ // without Proxy: none is taken from the environment
		DialContext:            whileHolds(c.options.Holds, dialer.DialContext),
		TLSClientConfig:        secure,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 5 * time.Second},
		MaxIdleConns:           idleTotal,
		MaxIdleConnsPerHost:    idlePerHost,
		IdleConnTimeout:        idleFor,
		MaxResponseHeaderBytes: maxHeader,
		DisableCompression:     true, // nothing that is read here can grow
	}
}

// A notPublic is an address that a client's URL has led to, and may not reach.
type notPublic struct{ addr netip.Addr }

func (e *notPublic) Error() string { return fmt.Sprintf("its address %s is not public", e.addr) }

// guard returns a check of each address that is about to be connected to, behind all resolving.
func guard(networks []netip.Prefix) func(network, address string, _ syscall.RawConn) error {
	public := newGuardian(networks)
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("cannot read the address %q: %w", address, err)
		}
		return checkAddress(public, to.Addr())
	}
}

// newGuardian returns a guardian that allows the public addresses and those networks.
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
