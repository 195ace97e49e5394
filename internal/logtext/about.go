package logtext

import "bytes"

// idLen is the length of a message's id.
const idLen = 16

// An About is the fields at the end of a line that follow the PDU. Fields that the line lacks are nil.
type About struct {
	Reason  []byte // why the gateway has refused the message
	ID      []byte // id of the message
	Account []byte // quoted if necessary
}

// CutAbout cuts off the fields at the end of a line that name the message of a PDU, the account, and the reason of a refusal:
//
//	reason=throttled(flood) id=1a1fb0c12c230d41 account=acme
//
// No text of a PDU can be taken for them,
// because a value with a space ends in a quotation mark, and each quotation mark inside of
// a value follows a backslash.
func CutAbout(line []byte) (pdu []byte, a About) {
	rest := line
	if n := len(rest); n > 0 && rest[n-1] == '"' {
		if i := bytes.LastIndex(rest, []byte(` account="`)); i >= 0 {
			if field, after := NextField(rest[i+1:]); len(field) == n-i-1 && after == nil {
				rest, a.Account = rest[:i], field[len("account="):]
			}
		}
	} else if i := bytes.LastIndexByte(rest, ' '); i >= 0 && bytes.HasPrefix(rest[i+1:], []byte("account=")) {
		rest, a.Account = rest[:i], rest[i+1+len("account="):]
	}
	const idField = " id="
	if i := len(rest) - idLen - len(idField); i >= 0 && string(rest[i:i+len(idField)]) == idField && IsID(rest[i+len(idField):]) {
		rest, a.ID = rest[:i], rest[i+len(idField):]
	}
	if i := bytes.LastIndexByte(rest, ' '); i >= 0 && bytes.HasPrefix(rest[i:], []byte(Reason)) {
		rest, a.Reason = rest[:i], rest[i+len(Reason):]
	}
	if i := len(rest) - TextHashLen - len(TextHash); i >= 0 && string(rest[i:i+len(TextHash)]) == TextHash &&
		IsID(rest[i+len(TextHash):]) {
		rest = rest[:i]
	}
	return rest, a
}

// Reason stands before why a message was refused.
const Reason = " reason="

// A hash may follow a PDU in place of the message's text, before the other fields.
const (
	TextHash    = " text_hash="
	TextHashLen = idLen // hexadecimal digits
)

// IsID reports whether b is the id of a message: 16 hexadecimal digits.
func IsID(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(b) == idLen
}
