package logtext

import "bytes"

// idLen is the length of a message's id.
const idLen = 16

// CutAbout cuts off the fields at the end of a line that name the message of a PDU and its
// account:
//
//	id=1a1fb0c12c230d41 account=acme
//
// Each of them may be missing and is nil then. No text of a PDU can be taken for them,
// because a value with a space ends in a quotation mark, and each quotation mark inside of
// a value follows a backslash.
func CutAbout(line []byte) (pdu, id, account []byte) {
	rest := line
	if n := len(rest); n > 0 && rest[n-1] == '"' {
		if i := bytes.LastIndex(rest, []byte(` account="`)); i >= 0 {
			if field, after := NextField(rest[i+1:]); len(field) == n-i-1 && after == nil {
				rest, account = rest[:i], field[len("account="):]
			}
		}
	} else if i := bytes.LastIndexByte(rest, ' '); i >= 0 && bytes.HasPrefix(rest[i+1:], []byte("account=")) {
		rest, account = rest[:i], rest[i+1+len("account="):]
	}
	const idField = " id="
	if i := len(rest) - idLen - len(idField); i >= 0 && string(rest[i:i+len(idField)]) == idField && IsID(rest[i+len(idField):]) {
		rest, id = rest[:i], rest[i+len(idField):]
	}
	if i := len(rest) - TextHashLen - len(TextHash); i >= 0 && string(rest[i:i+len(TextHash)]) == TextHash &&
		IsID(rest[i+len(TextHash):]) {
		rest = rest[:i]
	}
	return rest, id, account
}

// A hash may stand behind a PDU in the place of its text, before the other fields.
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
