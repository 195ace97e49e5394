package pdulog

import (
	"bytes"

	"pmg/internal/logtext"
	"pmg/protocols"
	"pmg/sms"
)

// About is what a line says besides its PDU.
type About struct {
	ID      uint64 // of the message that the PDU is about; 0: none
	Account string // of the client; empty: none
}

// append appends the fields behind those of the PDU. The id is left out where the
// PDU itself shows it, as an answer to a client of SMPP 3.4 does.
func (a *About) append(b []byte, p protocols.PDU) []byte {
	if a.ID != 0 {
		at := len(b)
		b = sms.AppendID(append(b, " id="...), a.ID)
		if string(b[len(b)-sms.IDLen:]) == string(p.MessageID()) {
			b = b[:at]
		}
	}
	if a.Account != "" {
		b = logtext.AppendValue(append(b, " account="...), []byte(a.Account))
	}
	return b
}

// cutAbout cuts off what About.append has appended to a PDU. No text can look like
// it: a value with a space ends in a quotation mark, and inside of it each
// quotation mark stands behind a backslash.
func cutAbout(pdu []byte) (rest, id, account []byte) {
	rest = pdu
	if n := len(rest); n > 0 && rest[n-1] == '"' {
		if i := bytes.LastIndex(rest, []byte(` account="`)); i >= 0 {
			if field, after := logtext.NextField(rest[i+1:]); len(field) == n-i-1 && after == nil {
				rest, account = rest[:i], field[len("account="):]
			}
		}
	} else if i := bytes.LastIndexByte(rest, ' '); i >= 0 && bytes.HasPrefix(rest[i+1:], []byte("account=")) {
		rest, account = rest[:i], rest[i+1+len("account="):]
	}
	const idField = " id="
	if i := len(rest) - sms.IDLen - len(idField); i >= 0 && string(rest[i:i+len(idField)]) == idField && isID(rest[i+len(idField):]) {
		rest, id = rest[:i], rest[i+len(idField):]
	}
	return rest, id, account
}

func isID(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(b) == sms.IDLen
}
