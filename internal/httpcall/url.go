package httpcall

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A place is the destination of a URL, in a form that can be compared with others.
type place struct {
	scheme, host string
	port         uint16
	path         string // decoded
	addr         netip.Addr
	further      bool // a query or a fragment follows the path
}

// readURL reads a URL that is to be called. The error describes the requirement, without the URL, which may contain secrets.
func readURL(text string) (p place, err error) {
	u, err := url.Parse(text)
	if err != nil {
		return p, errors.New("cannot be read")
	}
	p = place{scheme: u.Scheme, path: u.Path, further: u.RawQuery != "" || u.ForceQuery || u.Fragment != ""}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return p, errors.New("must begin with http:// or https://")
	case u.User != nil:
		return p, errors.New("must not have a user or a password")
	}
	if err := p.readHost(u); err != nil {
		return p, err
	}
	return p, p.readPath(u)
}

func (p *place) readHost(u *url.URL) (err error) {
	p.host = strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if p.addr, err = netip.ParseAddr(p.host); err == nil {
		if p.addr = p.addr.Unmap(); p.addr.Zone() != "" {
			return errors.New("must not have a zone in its address")
		}
		p.host = p.addr.String()
	} else if p.host == "" || strings.Trim(p.host, "abcdefghijklmnopqrstuvwxyz0123456789-._") != "" {
		return errors.New(
			"must have a host name of letters, digits, dots and hyphens, or an address; other letters are written as xn--",
		)
	}
	switch port := u.Port(); {
	case port != "":
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return errors.New("must have a port from 1 to 65535")
		}
		p.port = uint16(n)
	case p.scheme == "http":
		p.port = 80
	default:
		p.port = 443
	}
	return nil
}

// readPath checks that the path of a URL means the same to every server.
func (p *place) readPath(u *url.URL) error {
	if p.path == "" {
		p.path = "/"
	}
	if raw := strings.ToLower(u.EscapedPath()); strings.Contains(raw, "%2f") || strings.Contains(p.path, `\`) {
		return errors.New("must not have encoded slashes, or backslashes, in its path")
	}
	for segment := range strings.SplitSeq(p.path, "/") {
		if name, _, _ := strings.Cut(segment, ";"); name == "." || name == ".." {
			return errors.New("must not have . or .. in its path")
		}
	}
	return nil
}

// checkPort returns an error for a port that clients' URLs may not name: the ports of services other than HTTP.
func (p *place) checkPort() error {
	if p.port != 80 && p.port != 443 && p.port < 1024 {
		return fmt.Errorf("must have port 80, 443, or one from 1024, not %d", p.port)
	}
	return nil
}

// isUnder reports whether a place is equal to another place, or below it.
func (p *place) isUnder(other *place) bool {
	rest, under := strings.CutPrefix(p.path, other.path)
	return under && p.scheme == other.scheme && p.host == other.host && p.port == other.port &&
		(rest == "" || rest[0] == '/' || strings.HasSuffix(other.path, "/"))
}

// CheckURL returns the error of a URL that cannot be called.
func CheckURL(text string) error {
	_, err := readURL(text)
	return err
}

// CheckPrefix returns the error of an element of the prefixes of Allowed.
func CheckPrefix(text string) error {
	if _, err := netip.ParsePrefix(text); err == nil {
		return nil
	}
	p, err := readURL(text)
	if err == nil && p.further {
		return errors.New("must end with its path")
	}
	return err
}

// CheckPortOf returns the reason why URLs that begin with a prefix are never called because of the port, nil
// if they may be called.
func CheckPortOf(prefix string) error {
	if p, err := readURL(prefix); err == nil {
		return p.checkPort()
	}
	return nil
}

// Allowed returns how a client's URL may be called, or an error for the client with the reason why it may
// not. A URL with escapes is checked again after they are filled in.
//
// The prefixes are URLs and networks. Unless public is true, the client's URL must be below one of the URLs. It may lead to
// public addresses, to addresses in the networks, such as 10.1.0.0/16, and to the address in a prefix that it is below.
func Allowed(prefixes []string, public bool, text string) (to Target, err error) {
	p, err := readURL(text)
	if err == nil {
		err = p.checkPort()
	}
	if err != nil {
		return to, err
	}
	allowed := public
	for _, prefix := range prefixes {
		if network, err := netip.ParsePrefix(prefix); err == nil {
			to.Networks = append(to.Networks, network)
			continue
		}
		other, err := readURL(prefix)
		if err != nil || !p.isUnder(&other) {
			continue
		}
		if allowed = true; other.addr.IsValid() {
			to.Networks = append(to.Networks, netip.PrefixFrom(other.addr, other.addr.BitLen()))
		}
	}
	if !allowed {
		return Target{}, errors.New("is not among the URLs and networks that the account allows")
	}
	slices.SortFunc(to.Networks, netip.Prefix.Compare)
	if p.addr.IsValid() {
		err = checkAddress(newGuardian(to.Networks), p.addr)
	}
	return to, err
}

// WithoutQuery returns a URL without the query, in which the client may have written a password.
func WithoutQuery(url string) string {
	before, _, _ := strings.Cut(url, "?")
	return before
}
