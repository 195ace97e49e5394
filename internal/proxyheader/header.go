// Package proxyheader reads the header of the PROXY protocol, of version 1 or 2, with which a proxy begins a
// connection. The header names the client for which the proxy speaks.
//
// # Start reading
//
// header.go (Extent, then Client).
package proxyheader

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/pires/go-proxyproto"
)

// MaxHeader is the maximum size of a header in octets. A header with a client's certificate has about 2,000.
const MaxHeader = 4 << 10

const (
	fixed2  = 16  // octets of the fixed part of version 2; the last two are the length of the rest
	longest = 107 // maximum octets of version 1, with CR and LF
)

var begin1 = []byte("PROXY ")

// Begins reports whether the first octets of a connection begin a header.
func Begins(b []byte) bool {
	return bytes.HasPrefix(b, begin1) || bytes.HasPrefix(b, proxyproto.SIGV2)
}

// Extent returns the number of octets at the beginning of a connection that belong to its header, and whether they are the
// whole header. It returns an error as soon as the octets cannot be the beginning of a header.
func Extent(b []byte) (n int, whole bool, err error) {
	switch {
	case agree(b, begin1):
		line := b[:min(len(b), longest)]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			return end + 1, true, nil
		}
		if len(line) == longest {
			return 0, false, fmt.Errorf("the first line has more than %d octets", longest)
		}
		return len(b), false, nil
	case agree(b, proxyproto.SIGV2):
		if len(b) < fixed2 {
			return len(b), false, nil
		}
		n = fixed2 + int(binary.BigEndian.Uint16(b[fixed2-2:]))
		if n > MaxHeader {
			return 0, false, fmt.Errorf("it has %d octets, but at most %d are allowed", n, MaxHeader)
		}
		return min(n, len(b)), len(b) >= n, nil
	}
	return 0, false, errors.New("it is missing")
}

// agree reports whether one of two slices is a prefix of the other.
func agree(b, begin []byte) bool {
	n := min(len(b), len(begin))
	return bytes.Equal(b[:n], begin[:n])
}

// Client returns the address of the client in a complete header. It is not valid if the connection is the proxy's own, such as
// a health check (LOCAL), or if the proxy does not know the client (UNKNOWN).
func Client(header []byte) (netip.AddrPort, error) {
	r := bufio.NewReaderSize(bytes.NewReader(header), len(header))
	h, err := proxyproto.Read(r)
	if err == nil {
		_, err = h.TLVs()
	}
	if err != nil {
		return netip.AddrPort{}, errors.New(strings.ReplaceAll(err.Error(), "proxyproto: ", ""))
	}
	if h.Command.IsLocal() {
		return netip.AddrPort{}, nil
	}
	source, _, ok := h.TCPAddrs()
	if !ok {
		return netip.AddrPort{}, errors.New("it has no TCP address")
	}
	a := source.AddrPort()
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()), nil
}
