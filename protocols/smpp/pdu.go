package smpp

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// headerLen is the size of the header (§3.2): command_length, command_id,
// command_status, sequence_number.
const headerLen = 16

// A PDU is an SMPP PDU. ID says which of the bodies counts. It must not be
// copied: an answer's fields may lie in storage inside it.
type PDU struct {
	ID             CommandID
	CommandStatus  uint32
	SequenceNumber uint32
	SM             SM     // submit_sm, deliver_sm
	SMResp         SMResp // and their answers
	Rest           []byte // octets after the last field; they mean nothing

	err *Error
	raw []byte   // of a PDU that cannot be read
	own []byte   // fields that do not lie in the bytes the PDU came from
	id  [16]byte // message_id of an answer of ours

	Bind     Bind     // bind_receiver, bind_transmitter, bind_transceiver
	BindResp BindResp // and their answers; at the end and mostly untouched, to save cache
}

// An Error says why a PDU cannot be read.
type Error struct {
	Status uint32 // command_status to answer it with
	Lost   bool   // nobody can tell where the next PDU begins
	Text   string
}

// Error implements error.
func (e *Error) Error() string { return e.Text }

// Err is why the PDU cannot be read, nil if it can.
func (p *PDU) Err() *Error { return p.err }

// Command implements protocols.PDU.
func (p *PDU) Command() int { return p.ID.row() }

// Status implements protocols.PDU. What some peers put there in requests is
// ignored (§5.1.3).
func (p *PDU) Status() uint32 {
	if p.ID.IsResponse() {
		return p.CommandStatus
	}
	return 0
}

// Sequence implements protocols.PDU.
func (p *PDU) Sequence() uint32 { return p.SequenceNumber }

// keepOwn is the largest storage of its own that a PDU keeps for its next use.
const keepOwn = 4096

// Reset implements protocols.PDU. It leaves the body of a message as it is: whoever
// makes the PDU one again sets all of its fields.
func (p *PDU) Reset() {
	if p.ID == 0 && p.err == nil {
		return // it was not used
	}
	p.clearBind()
	if p.own = p.own[:0]; cap(p.own) > keepOwn {
		p.own = nil
	}
	if len(p.SM.ShortMessage)+len(p.SM.TLVs) > keepOwn { // do not keep what they lie in
		p.SM = SM{}
	}
	p.ID, p.CommandStatus, p.SequenceNumber = 0, 0, 0
	p.SMResp, p.Rest = SMResp{}, nil
	p.err, p.raw = nil, nil
}

// clearBind empties the bodies of logins, if the PDU is one.
func (p *PDU) clearBind() {
	if (p.ID &^ Response).IsBind() {
		p.Bind, p.BindResp = Bind{}, BindResp{}
	}
}

// fields leads w along the body.
func (p *PDU) fields(w *Walk) {
	switch commands[p.ID.row()].body {
	case bodySM:
		p.SM.walk(w)
	case bodySMResp:
		p.SMResp.walk(w)
	case bodyBind:
		p.Bind.walk(w)
	case bodyBindResp:
		p.BindResp.walk(w)
	}
	w.rest(&p.Rest)
}

// Decode reads the one PDU that fills b. The fields point into b. A PDU that
// cannot be read keeps its header as far as there is one, the octets and the
// error, which is an *Error.
func (p *PDU) Decode(b []byte) error {
	p.err, p.raw = nil, nil
	if len(b) < headerLen || binary.BigEndian.Uint32(b) != uint32(len(b)) {
		return p.lost(b)
	}
	p.header(b)
	if p.Command() == 0 {
		return p.fail(b, &Error{Status: StatusInvCmdID, Text: fmt.Sprintf("command_id 0x%08x is not known", uint32(p.ID))})
	}
	w := Walk{b: b, at: headerLen}
	p.fields(&w)
	if w.err != nil {
		return p.fail(b, w.err)
	}
	return nil
}

func (p *PDU) header(b []byte) {
	p.ID = CommandID(binary.BigEndian.Uint32(b[4:]))
	p.CommandStatus = binary.BigEndian.Uint32(b[8:])
	p.SequenceNumber = binary.BigEndian.Uint32(b[12:])
}

// fail makes p a PDU that cannot be read.
func (p *PDU) fail(b []byte, e *Error) error {
	id, status, sequence := p.ID, p.CommandStatus, p.SequenceNumber
	p.Reset()
	p.SM = SM{}
	p.ID, p.CommandStatus, p.SequenceNumber = id, status, sequence
	p.raw, p.err = b, e
	return e
}

// lost makes p a PDU whose length is not right, so that the next one cannot be
// found. Only the header is kept: what follows may be any part of anything.
func (p *PDU) lost(b []byte) error {
	p.Reset()
	text := fmt.Sprintf("header of %d octets is not complete", len(b))
	if len(b) >= headerLen {
		b = b[:headerLen]
		p.header(b)
		text = fmt.Sprintf("command_length %d is not valid", binary.BigEndian.Uint32(b))
	}
	return p.fail(b, &Error{Status: StatusInvCmdLen, Lost: true, Text: text})
}

// AppendWire implements protocols.PDU. One that could not be read is appended
// as it came.
func (p *PDU) AppendWire(b []byte) []byte {
	if p.raw != nil {
		return append(b, p.raw...)
	}
	at := len(b)
	b = slices.Grow(b, headerLen)[:at+headerLen]
	h := b[at:]
	binary.BigEndian.PutUint32(h[4:], uint32(p.ID))
	binary.BigEndian.PutUint32(h[8:], p.CommandStatus)
	binary.BigEndian.PutUint32(h[12:], p.SequenceNumber)
	w := Walk{b: b, mode: write}
	p.fields(&w)
	binary.BigEndian.PutUint32(w.b[at:], uint32(len(w.b)-at))
	return w.b
}

// Visit hands the header's and the body's fields to f, by name and in order.
// Texts and values of optional parameters are in hex.
func (p *PDU) Visit(f func(name string, value any)) {
	n := len(p.AppendWire(nil))
	f("command_length", n)
	f("command_id", fmt.Sprintf("0x%08X", uint32(p.ID)))
	f("command", p.ID.String())
	f("command_status", fmt.Sprintf("0x%08X", p.CommandStatus))
	f("sequence_number", p.SequenceNumber)
	if p.err != nil {
		f("error", p.err.Text)
		return
	}
	w := Walk{mode: visit, call: f}
	p.fields(&w)
}
