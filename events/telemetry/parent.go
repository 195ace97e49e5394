package telemetry

import (
	"encoding/hex"
	"strings"
)

// A Parent is a span of a trace that a client has begun, or that a server continues: W3C Trace Context, header traceparent.
//
//	version - trace id                         - parent id        - flags
//	00      - 4bf92f3577b34da6a3ce929d0e0e4736 - 00f067aa0ba902b7 - 01
type Parent struct {
	Trace [16]byte
	Span  [8]byte
}

const (
	parentLength = 55  // length of a header of version 00; later versions may have more fields after another '-'
	mostParent   = 256 // maximum octets of a header
	parentOctets = 24
)

// ParseParent parses a header traceparent. It reports false if the header is malformed, or if its flags do not mean that the
// caller records the trace.
func ParseParent(header string) (p Parent, sampled bool) {
	if len(header) < parentLength || len(header) > mostParent || header[2] != '-' || header[35] != '-' || header[52] != '-' {
		return p, false
	}
	var version, flags [1]byte
	if !readHex(version[:], header[:2]) || !readHex(p.Trace[:], header[3:35]) || !readHex(p.Span[:], header[36:52]) ||
		!readHex(flags[:], header[53:55]) {
		return p, false
	}
	switch {
	case version[0] == 0xff, p.Trace == [16]byte{}, p.Span == [8]byte{}:
		return p, false
	case len(header) > parentLength && (version[0] == 0 || header[parentLength] != '-'):
		return p, false
	}
	return p, flags[0]&1 != 0
}

// readHex reads hexadecimal digits, which must be lower case.
func readHex(to []byte, digits string) bool {
	n, err := hex.Decode(to, []byte(digits))
	return err == nil && n == len(to) && strings.ToLower(digits) == digits
}

// Header returns the header traceparent for calls within the span.
func (p Parent) Header() string {
	return "00-" + hex.EncodeToString(p.Trace[:]) + "-" + hex.EncodeToString(p.Span[:]) + "-01"
}

// Octets returns the parent as it is stored with a message: its trace, then its span.
func (p Parent) Octets() string { return string(append(p.Trace[:], p.Span[:]...)) }

// ParentOf parses the output of Octets. It reports false for other octets.
func ParentOf(b []byte) (p Parent, ok bool) {
	if len(b) != parentOctets {
		return p, false
	}
	copy(p.Span[:], b[copy(p.Trace[:], b):])
	return p, true
}
