package ucp

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// The octets at the beginning and the end of a frame.
const (
	stx = 2
	etx = 3
)

// Offsets in a frame: STX TT/LLLLL/O/OO/data/CC ETX.
const (
	atTRN    = 1
	atLEN    = 4
	atOR     = 10
	atOT     = 12
	atData   = 15
	trailing = 3                 // the checksum and ETX
	minFrame = atData + trailing // without any field
	maxFrame = 4096              // a frame with 640 characters and 400 digits of XSer stays below 2048
	maxLEN   = 99999             // five digits
	prefix   = "00/00000/O/00/"  // the octets between STX and the data
)

// Frame implements protocols.Codec. It finds frames by STX and ETX, because this works even after a wrong LEN. Octets before
// an STX, and a frame that is interrupted by another STX, are noise, which is a PDU of its own.
func (d *Driver) Frame(b []byte) (int, error) {
	if len(b) == 0 {
		return 1, nil
	}
	b = b[:min(len(b), d.max)]
	if b[0] != stx {
		if n := bytes.IndexByte(b, stx); n > 0 {
			return n, nil
		}
		return len(b), nil
	}
	end := bytes.IndexByte(b, etx)
	body := b[1:]
	if end >= 0 {
		body = b[1:end]
	}
	if n := bytes.IndexByte(body, stx); n >= 0 {
		return 1 + n, nil
	}
	switch {
	case end >= 0:
		return end + 1, nil
	case len(b) == d.max:
		return len(b), nil
	}
	return len(b) + 1, nil
}

// frame reads the frame around the fields, and returns an error if it is invalid.
func (p *PDU) frame(b []byte) *Error {
	switch {
	case len(b) < minFrame || b[0] != stx || b[len(b)-1] != etx:
		return &Error{Silent: true, Text: "is no frame"}
	case !isHeader(b):
		return &Error{Silent: true, Text: "has no header that can be read"}
	}
	p.TRN, p.OT, p.Result = two(b[atTRN:]), two(b[atOT:]), b[atOR] == 'R'
	said := int(two(b[atLEN:]))*1000 + int(two(b[atLEN+2:]))*10 + int(b[atLEN+4]-'0')
	if n := len(b) - 2; said != n {
		return &Error{EC: ecSyntax, Text: fmt.Sprintf("LEN is %d and there are %d characters", said, n)}
	}
	sum := checksum(b[1 : len(b)-trailing])
	if high, low := nibbles[b[len(b)-3]], nibbles[b[len(b)-2]]; high|low == noNibble || high<<4|low != sum {
		return &Error{EC: ecChecksum, Text: fmt.Sprintf("checksum is %q and should be %02X", b[len(b)-3:len(b)-1], sum)}
	}
	if b[len(b)-trailing-1] != '/' {
		return &Error{EC: ecSyntax, Text: "has no slash before the checksum"}
	}
	return nil
}

// isHeader reports whether a frame begins with a header.
func isHeader(b []byte) bool {
	for i, c := range []byte(prefix) {
		switch got := b[1+i]; c {
		case '0':
			if got < '0' || got > '9' {
				return false
			}
		case 'O':
			if got != 'O' && got != 'R' {
				return false
			}
		default:
			if got != c {
				return false
			}
		}
	}
	return true
}

// two returns the value of two digits.
func two(b []byte) uint8 { return (b[0]-'0')*10 + b[1] - '0' }

// appendTwo appends a number below 100.
func appendTwo(b []byte, n uint8) []byte { return append(b, '0'+n/10%10, '0'+n%10) }

// checksum returns the sum of the octets, modulo 256. It adds eight octets at a time, in four lanes of 16 bits.
func checksum(b []byte) (sum byte) {
	const even = 0x00FF00FF00FF00FF
	var lanes uint64
	for ; len(b) >= 8; b = b[8:] {
		x := binary.LittleEndian.Uint64(b)
		lanes += x&even + x>>8&even
		lanes &= even // drop the bits that do not matter modulo 256
	}
	sum = byte(lanes) + byte(lanes>>16) + byte(lanes>>32) + byte(lanes>>48)
	for _, c := range b {
		sum += c
	}
	return sum
}

// AppendWire implements protocols.PDU. A PDU that could not be read is appended as it was received.
func (p *PDU) AppendWire(b []byte) []byte {
	if raw := p.raw(); raw != nil {
		return append(b, raw...)
	}
	at := len(b)
	b = appendTwo(append(b, stx), p.TRN)
	kind := byte('O')
	if p.Result {
		kind = 'R'
	}
	b = append(append(b, "/00000/"...), kind, '/')
	b = append(appendTwo(b, p.OT), '/')
	w := Walk{p: p, b: b, mode: write}
	p.fields(&w)
	b = w.b
	n := min(len(b)-at+1, maxLEN)
	digits := b[at+atLEN:]
	for i := 4; i >= 0; i-- {
		digits[i] = '0' + byte(n%10)
		n /= 10
	}
	sum := checksum(b[at+1:])
	return append(b, upper[sum>>4], upper[sum&15], etx)
}
