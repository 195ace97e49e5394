package loadtest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"pmg/protocols"
)

// The operations of UCP that load and sink know.
const (
	ucpAlert  = 31
	ucpSubmit = 51
	ucpMO     = 52
	ucpNotify = 53
	ucpLogin  = 60
)

// The frame: STX TT/LLLLL/O/OO/ fields /CC ETX.
const (
	stx       = 2
	etx       = 3
	ucpData   = 15 // offset of the fields
	ucpEnd    = 3  // the checksum and ETX
	ucpMin    = ucpData + len("/") + ucpEnd
	ucpFields = 33 // of operations 51 to 53
	trns      = 100
)

// The fields of operations 51 to 53 that load and sink know, by their place.
const (
	ucpAdC   = 0
	ucpOAdC  = 1
	ucpNRq   = 3
	ucpNT    = 5
	ucpSCTS  = 14
	ucpDst   = 15
	ucpRsn   = 16
	ucpDSCTS = 17
	ucpMT    = 18
	ucpMsg   = 20
	ucpMCLs  = 24
	ucpOTOA  = 28
	ucpXSer  = 30
)

// Error codes of negative results.
const (
	ecSyntax         = 2
	ecNotSupported   = 3
	ecNotAllowed     = 4
	ecAdC            = 6
	ecAuthentication = 7
	ecMessageType    = 23
)

const ucpTime = "020106150405" // DDMMYYHHmmss

// A ucpWire speaks EMI/UCP. Its sequence numbers are the TRNs, plus 1. Its message ids are
// times in Unix seconds, which with the recipient name a message.
type ucpWire struct {
	fields      [ucpFields][]byte // of the PDU being read
	text, name  []byte            // of the message being read
	octets, udh []byte
}

func (w *ucpWire) frame(b []byte) (int, error) {
	if len(b) < ucpData {
		return 0, nil
	}
	length, ok := digitsOf(b[4:9])
	if b[0] != stx || !ok || length < ucpMin-2 {
		return 0, fmt.Errorf("cannot find the next PDU: %q is not the beginning of a frame", b[:ucpData])
	}
	n := length + 2
	if len(b) < n {
		return 0, nil
	}
	if b[n-1] != etx {
		return 0, fmt.Errorf("cannot find the end of a PDU: LEN is %d", length)
	}
	sum := ucpChecksum(b[1 : n-ucpEnd])
	if high, low := upperHex[sum>>4], upperHex[sum&15]; b[n-3] != high || b[n-2] != low {
		return 0, fmt.Errorf("cannot read a PDU: its checksum is %s instead of %c%c", b[n-3:n-1], high, low)
	}
	return n, nil
}

func (w *ucpWire) header(pdu []byte) header {
	trn, _ := digitsOf(pdu[1:3])
	ot, _ := digitsOf(pdu[12:14])
	h := header{command: uint32(ot), sequence: uint32(trn) + 1}
	if pdu[10] == 'R' {
		h.kind = ucpAnswers(ot)
		if pdu[ucpData] != 'A' {
			_, ec, _ := bytes.Cut(pdu[ucpData:len(pdu)-ucpEnd], []byte{'/'}) // behind the N
			ec, _, _ = bytes.Cut(ec, []byte{'/'})
			n, _ := digitsOf(ec)
			h.status = uint32(max(1, n))
		}
		return h
	}
	switch ot {
	case ucpSubmit:
		h.kind = submitKind
	case ucpMO, ucpNotify:
		h.kind = deliverKind
	case ucpAlert:
		h.kind = keepAlive
	case ucpLogin:
		h.kind = loginKind
	}
	return h
}

// ucpAnswers returns the kind of the result of an operation.
func ucpAnswers(ot int) kind {
	switch ot {
	case ucpSubmit:
		return submitAnswer
	case ucpMO, ucpNotify:
		return deliverAnswer
	case ucpLogin:
		return loginAnswer
	}
	return unknownAnswer
}

// split finds the fields of a PDU, and reports whether there are that many.
func (w *ucpWire) split(pdu []byte, want int) bool {
	data := pdu[ucpData : len(pdu)-ucpEnd] // each field has a slash behind it
	n := 0
	for len(data) > 0 && n < len(w.fields) {
		end := bytes.IndexByte(data, '/')
		if end < 0 {
			return false
		}
		w.fields[n] = data[:end]
		data = data[end+1:]
		n++
	}
	return n == want && len(data) == 0
}

func (w *ucpWire) idsAreTimes() bool { return true }

func (w *ucpWire) maxSequence() uint32 { return trns }

func (w *ucpWire) isThrottled(status uint32) bool { return status == ecNotAllowed }

func (w *ucpWire) isTemporary(status uint32) bool { return status == ecNotAllowed }

func (w *ucpWire) statusName(status uint32) string { return fmt.Sprintf("EC %02d", status) }

func (w *ucpWire) status(r refusal) uint32 {
	return [...]uint32{
		refuseLogin:       ecAuthentication,
		refuseSecondLogin: ecNotAllowed,
		refuseNotBound:    ecNotAllowed,
		refuseMalformed:   ecSyntax,
		refuseThrottled:   ecNotAllowed,
		refuseQueueFull:   ecNotAllowed,
		refuseSubmit:      ecMessageType,
		refuseDestination: ecAdC,
	}[r]
}

// A ucpFrame is a PDU being written.
type ucpFrame struct {
	b  []byte
	at int
}

func beginUCP(b []byte, sequence uint32, kind byte, ot uint32) ucpFrame {
	f := ucpFrame{b, len(b)}
	trn := sequence - 1
	f.b = append(f.b, stx, '0'+byte(trn/10), '0'+byte(trn%10), '/', '0', '0', '0', '0', '0', '/', kind, '/',
		'0'+byte(ot/10%10), '0'+byte(ot%10), '/')
	return f
}

// end completes the frame, whose fields have been appended with a slash behind each.
func (f *ucpFrame) end() []byte {
	n := len(f.b) - f.at - 1 + 2 // with the checksum, without STX
	putDigits(f.b[f.at+4:f.at+9], int64(n))
	sum := ucpChecksum(f.b[f.at+1:])
	return append(f.b, upperHex[sum>>4], upperHex[sum&15], etx)
}

// ucpChecksum is the sum of the octets, modulo 256. It adds eight at a time.
func ucpChecksum(b []byte) (sum byte) {
	const even = 0x00FF00FF00FF00FF
	var lanes uint64
	for ; len(b) >= 8; b = b[8:] {
		x := binary.LittleEndian.Uint64(b)
		lanes = (lanes + x&even + x>>8&even) & even
	}
	for ; lanes > 0; lanes >>= 16 {
		sum += byte(lanes)
	}
	for _, c := range b {
		sum += c
	}
	return sum
}

const upperHex = "0123456789ABCDEF"

// appendHexText appends characters of ASCII in the GSM alphabet, as pairs of digits.
func appendHexText(b, text []byte) []byte {
	for _, c := range text {
		switch i := strings.IndexByte(gsmExtended, c); {
		case i >= 0:
			b = appendHexOctet(append(b, "1B"...), gsmExtendedCodes[i])
		case c == '@':
			b = append(b, "00"...)
		case c == '$':
			b = append(b, "02"...)
		case c == '_':
			b = append(b, "11"...)
		default:
			b = appendHexOctet(b, c)
		}
	}
	return b
}

// The characters of ASCII that are two in the GSM alphabet, and the second one of these.
const (
	gsmExtended      = "^{}\\[~]|"
	gsmExtendedCodes = "\x14\x28\x29\x2F\x3C\x3D\x3E\x40"
)

func appendHexOctet(b []byte, c byte) []byte { return append(b, upperHex[c>>4], upperHex[c&15]) }

// appendHex appends octets as pairs of digits.
func appendHex(b, octets []byte) []byte {
	for _, c := range octets {
		b = appendHexOctet(b, c)
	}
	return b
}

// appendUnhex is the opposite of appendHex. It reports false if b is not hex.
func appendUnhex(octets, b []byte) ([]byte, bool) {
	if len(b)%2 != 0 {
		return octets, false
	}
	for ; len(b) > 0; b = b[2:] {
		high, low := nibble(b[0]), nibble(b[1])
		if high|low > 15 {
			return octets, false
		}
		octets = append(octets, high<<4|low)
	}
	return octets, true
}

// appendGSMText appends characters of the GSM alphabet that are in ASCII.
func appendGSMText(text, octets []byte) []byte {
	escaped := false
	for _, c := range octets {
		switch i := strings.IndexByte(gsmExtendedCodes, c); {
		case escaped && i >= 0:
			c = gsmExtended[i]
		case escaped:
		case c == 0x1B:
			escaped = true
			continue
		case c == 0:
			c = '@'
		case c == 2:
			c = '$'
		case c == 0x11:
			c = '_'
		}
		escaped = false
		text = append(text, c)
	}
	return text
}

func nibble(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	}
	return 0xFF
}

// digitsOf reads a decimal number.
func digitsOf(b []byte) (n int, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, len(b) > 0
}

func appendUCPTime(b []byte, seconds uint64) []byte {
	return time.Unix(int64(seconds), 0).UTC().AppendFormat(b, ucpTime)
}

func (w *ucpWire) appendLogin(b []byte, sequence uint32, l *loginRequest) []byte {
	f := beginUCP(b, sequence, 'O', ucpLogin)
	f.b = append(append(f.b, l.SystemID...), "/6/5/1/"...) // a short number, open a session
	f.b = appendHexText(f.b, []byte(l.Password))
	f.b = append(f.b, "//0100//////"...)
	return f.end()
}

// ucpLoginFields is how many fields a login has.
const ucpLoginFields = 12

func (w *ucpWire) login(pdu []byte) (loginRequest, error) {
	password, ok := []byte(nil), w.split(pdu, ucpLoginFields)
	if ok {
		password, ok = appendUnhex(nil, w.fields[4])
	}
	if !ok {
		return loginRequest{}, fmt.Errorf("cannot read login %q", pdu)
	}
	return loginRequest{Account{string(w.fields[0]), string(appendGSMText(nil, password))}, protocols.Transceiver}, nil
}

// appendUCPResult appends a result with fields that have slashes behind them.
func appendUCPResult(b []byte, h header, fields string) []byte {
	f := beginUCP(b, h.sequence, 'R', h.command)
	f.b = append(f.b, fields...)
	return f.end()
}

func (w *ucpWire) appendLoginAnswer(b []byte, h header, status uint32) []byte {
	if status != 0 {
		return w.appendRefused(b, h, status)
	}
	return appendUCPResult(b, h, "A//")
}

func (w *ucpWire) appendRefused(b []byte, h header, status uint32) []byte {
	f := beginUCP(b, h.sequence, 'R', h.command)
	f.b = append(f.b, 'N', '/', '0'+byte(status/10%10), '0'+byte(status%10), '/', '/')
	return f.end()
}

func (w *ucpWire) appendDeliverAnswer(b []byte, h header, _ []byte) []byte {
	return appendUCPResult(b, h, "A///")
}

func (w *ucpWire) appendKeepAliveAnswer(b []byte, h header) []byte {
	return appendUCPResult(b, h, "A/0000/")
}

func (w *ucpWire) appendNotUnderstood(b []byte, h header) []byte {
	return w.appendRefused(b, h, ecNotSupported)
}

// UCP has no logout, and does not answer what is no frame.
func (w *ucpWire) appendLogout(b []byte, _ uint32) []byte       { return b }
func (w *ucpWire) appendLogoutAnswer(b []byte, _ header) []byte { return b }
func (w *ucpWire) appendUnreadable(b []byte) []byte             { return b }
