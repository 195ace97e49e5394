package pdulog

import (
	"pmg/internal/logtext"
	"pmg/protocols"
	"pmg/sms"
)

// About holds the fields of a line that follow its PDU.
type About struct {
	ID      uint64 // of the message that the PDU is about; 0: none
	Account string // of the client; empty: none

	Pressing bool // the session goes on although it is refused too much, so that its lines are limited
}

// append appends the fields after those of the PDU. It leaves out the id if the PDU itself
// shows it, as an answer to a client of SMPP 3.4 does.
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
