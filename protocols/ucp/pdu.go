package ucp

import (
	"fmt"

	"pmg/internal/smstext"
	"pmg/protocols"
	"pmg/sms"
)

// A PDU is an operation or a result. OT selects the body. It must not be copied, because fields may be stored inside it.
type PDU struct {
	text []byte // the characters of the fields: the frame, or buf
	buf  []byte // storage for fields that do not lie in a frame

	OT, TRN   uint8
	Result    bool // the PDU is the result of an operation
	hasExtras bool // extras is valid
	noise     bool // the octets are outside frames
	long      bool // the frame is longer than a peer may send before it logs in

	// Fields of a result.
	Nack        bool
	EC          uint8 // error code, if Nack
	elements    uint8 // number of elements after the A or N
	MVP, SysMsg Field // modified validity period, system message

	extras *extras // made on first use, then reused
	SM     SM      // operations 01, 02, 03, 30 and 51 to 58
}

// extras are the fields that few PDUs have.
type extras struct {
	login  Login
	alert  Alerting
	legacy Legacy
	raw    []byte // octets of a PDU that cannot be read
	err    *Error // error of a frame that cannot be read

	to      int    // index of the recipient of an operation 02 that is being handled
	refused uint32 // recipients that were refused, as bits
}

// rare returns the PDU's extras, and marks them as valid.
func (p *PDU) rare() *extras {
	if p.extras == nil {
		p.extras = new(extras)
	}
	p.hasExtras = true
	return p.extras
}

// dropExtras empties the PDU's extras.
func (p *PDU) dropExtras() {
	if p.hasExtras {
		*p.extras, p.hasExtras = extras{}, false
	}
}

// An Error is the reason why a PDU cannot be read.
type Error struct {
	EC     uint8 // error code of the answer to the PDU
	Silent bool  // the octets are outside frames, so that no answer is sent
	Text   string
}

// Error implements error.
func (e *Error) Error() string { return e.Text }

// Err returns the error of a PDU that cannot be read, or nil.
func (p *PDU) Err() *Error {
	if !p.hasExtras {
		return nil
	}
	return p.extras.err
}

// raw returns the octets of a PDU that cannot be read, otherwise nil.
func (p *PDU) raw() []byte {
	if !p.hasExtras {
		return nil
	}
	return p.extras.raw
}

// get returns the characters of a field.
func (p *PDU) get(f Field) []byte {
	return p.text[f.at : int(f.at)+int(f.n) : int(f.at)+int(f.n)]
}

// put sets a field to characters, which it copies to p.buf. The other fields must be in p.buf, too, because p.buf becomes p.text.
func (p *PDU) put(f *Field, v []byte) {
	at := len(p.buf)
	p.buf = append(p.buf, v...)
	p.end(f, at)
}

// end sets a field to the characters that were appended to the PDU's own storage from an index on.
func (p *PDU) end(f *Field, at int) {
	*f = Field{uint16(at), uint16(len(p.buf) - at)}
	p.text = p.buf
}

// number returns the value of a numeric field during a reading walk.
func (p *PDU) number(w *Walk, f Field) int {
	if w.mode != read {
		return 0
	}
	return digits(p.get(f))
}

// digits reads a decimal number, -1 for an invalid number.
func digits(b []byte) int {
	if len(b) == 0 {
		return -1
	}
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return -1
		}
		n = 10*n + int(c-'0')
	}
	return n
}

// fields passes w over the fields of the body.
func (p *PDU) fields(w *Walk) {
	if p.Result {
		p.walkResult(w)
		return
	}
	switch row(p.OT).body {
	case bodySM:
		p.walkSM(w)
	case bodyCall:
		p.walkCall(w)
	case bodyMultiple:
		p.walkMultiple(w)
	case bodySupplementary:
		p.walkSupplementary(w)
	case bodyTransfer:
		p.walkTransfer(w)
	case bodyAlert:
		p.walkAlert(w)
	case bodyLogin:
		p.walkLogin(w)
	case bodyList:
		p.walkList(w)
	}
}

// Decode reads the PDU that fills b. The fields point into b. A PDU that cannot be read keeps the readable part of its header,
// the octets and the error, which is an *Error.
func (p *PDU) Decode(b []byte) error {
	p.dropExtras()
	p.noise, p.long = false, len(b) > protocols.MaxEarlyPDU
	p.text, p.buf = b, p.buf[:0]
	if err := p.frame(b); err != nil {
		p.noise = err.Silent
		return p.fail(b, err)
	}
	if row(p.OT).ot == 0 && !p.Result {
		return p.fail(b, &Error{EC: ecNotSupported, Text: fmt.Sprintf("operation %02d is not known", p.OT)})
	}
	if !p.Result && !hasSM(p.OT) {
		p.SM = SM{} // some of these fields are missing in the frame
	}
	w := Walk{p: p, at: atData, end: len(b) - trailing}
	p.fields(&w)
	if w.err == nil && w.at != w.end {
		w.err = &Error{EC: ecSyntax, Text: fmt.Sprintf("has %d fields too many", w.left())}
	}
	if w.err != nil {
		return p.fail(b, w.err)
	}
	return nil
}

// fail makes p a malformed PDU with an error.
func (p *PDU) fail(b []byte, e *Error) error {
	ot, trn, result, noise, long := p.OT, p.TRN, p.Result, p.noise, p.long
	p.Reset()
	p.SM = SM{}
	if p.noise, p.long = noise, long; !noise {
		p.OT, p.TRN, p.Result = ot, trn, result
	}
	x := p.rare()
	x.raw, x.err = b, e
	return e
}

// Command implements protocols.Header.
func (p *PDU) Command() int {
	switch n := 2 * int(rows[min(p.OT, 99)]); {
	case p.noise:
		return noiseCommand
	case p.Result:
		return n + 1
	default:
		return n
	}
}

// Status implements protocols.Header: the error code of a negative result.
func (p *PDU) Status() uint32 {
	if !p.Result || !p.Nack {
		return 0
	}
	return uint32(p.EC)
}

// Sequence implements protocols.Header: the TRN.
func (p *PDU) Sequence() uint32 { return uint32(p.TRN) }

// IsAnswer implements protocols.Header.
func (p *PDU) IsAnswer() bool { return p.Result }

// MessageID implements protocols.PDU: the system message of the result of a submit,
// AdC:SCTS.
func (p *PDU) MessageID() []byte {
	if !p.Result || p.Nack || p.SysMsg.n == 0 || !isSubmit(p.OT) {
		return nil
	}
	return p.get(p.SysMsg)
}

// hasSM reports whether an operation has all the fields of an SM.
func hasSM(ot uint8) bool { return ot >= Submit && ot <= DeleteAnswer }

// isSubmit reports whether an operation submits a message to the SMSC.
func isSubmit(ot uint8) bool {
	switch ot {
	case CallInput, MultipleCall, Supplementary, Transfer, Submit:
		return true
	}
	return false
}

// Text implements protocols.PDU. It does not include the user data header.
func (p *PDU) Text() (protocols.Text, bool) {
	if p.Result || p.Err() != nil || p.SM.Msg.n == 0 {
		return protocols.Text{}, false
	}
	v := p.get(p.SM.Msg)
	t := protocols.Text{Field: p.textName(), Octets: v}
	if !p.isHex() || !isUpperHex(v) {
		if t.Field = "Msg"; p.OT == Transfer {
			t.Field = transferRaw
		}
		if !p.isHex() {
			return t, true
		}
	}
	if t.Alphabet, _, _ = p.coding(); t.Alphabet == sms.Default && p.isType('4') {
		t.Alphabet = sms.DefaultPacked
	}
	t.Octets = appendUnhex(make([]byte, 0, len(v)/2), v)
	return t, true
}

// LoginStep implements protocols.PDU.
func (p *PDU) LoginStep() protocols.LoginStep {
	switch {
	case p.OT != OpenSession || p.Err() != nil:
	case !p.Result:
		return protocols.LoginRequest
	case !p.Nack:
		return protocols.LoginAccepted
	}
	return protocols.NoLogin
}

// keepOwn is the maximum size of a PDU's own storage that is kept for its next use.
const keepOwn = 4096

// Reset implements protocols.PDU.
func (p *PDU) Reset() {
	p.dropExtras()
	if p.buf = p.buf[:0]; cap(p.buf) > keepOwn {
		p.buf = nil
	}
	p.text, p.OT, p.TRN, p.Result, p.noise = nil, 0, 0, false, false
	p.Nack, p.EC, p.elements = false, 0, 0
	p.MVP, p.SysMsg = Field{}, Field{}
}

// Visit calls f with the name and the value of each field of the header and the body, in order.
func (p *PDU) Visit(f func(name string, value any)) {
	wire := p.AppendWire(nil)
	if !p.noise {
		f("TRN", p.TRN)
		f("LEN", len(wire)-2)
		f("OR", map[bool]string{false: "O", true: "R"}[p.Result])
		f("OT", string(appendTwo(nil, p.OT)))
	}
	if err := p.Err(); err != nil {
		f("error", err.Text)
		return
	}
	f("checksum", string(wire[len(wire)-trailing:len(wire)-1]))
	w := Walk{p: p, mode: visit, call: f}
	p.fields(&w)
	p.visitDecoded(f)
}

// visitDecoded calls f with the decoded value of each coded field.
func (p *PDU) visitDecoded(f func(name string, value any)) {
	if t, ok := p.Text(); ok {
		if text, ok := smstext.Decode(t.Alphabet, t.Header, t.Octets); ok {
			f("text", text)
		}
	}
	if hasSM(p.OT) && !p.Result && p.isAlphanumeric() {
		if name, ok := decodeName(nil, p.get(p.SM.OAdC)); ok {
			f("originator", string(name))
		}
	}
	if p.Result || row(p.OT).use != login {
		return
	}
	l := &p.rare().login
	for _, password := range []struct {
		name string
		at   Field
	}{{"password", l.PWD}, {"new_password", l.NPWD}} {
		if password.at.n > 0 {
			f(password.name, string(decodePassword(nil, p.get(password.at))))
		}
	}
}
