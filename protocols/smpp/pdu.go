package smpp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"pmg/protocols"
)

// HeaderLen is the size of the header (§3.2): command_length, command_id,
// command_status, sequence_number.
const HeaderLen = 16

// A PDU is an SMPP PDU. ID determines which of the bodies is used. A PDU must not be
// copied, because an answer's fields may point into storage inside it.
//
// Every message under way has two PDUs, so their size decides how many messages fit in the
// processor's cache. An answer uses only the first 64 octets. Fields that few PDUs have are
// in extras.
type PDU struct {
	ID             CommandID
	CommandStatus  uint32
	SequenceNumber uint32
	Body           bool     // the PDU is a response with a body
	hasExtras      bool     // extras is used
	long           bool     // the PDU is longer than a peer may send before it logs in
	extras         *extras  // made on first use, then reused
	SMResp         SMResp   // submit_sm_resp, deliver_sm_resp, data_sm_resp
	id             [16]byte // message_id of our response

	scratch []byte // storage of fields that do not point into the bytes the PDU came from
	SM      SM     // body of submit_sm, deliver_sm, data_sm, and of submit_multi without its destinations
}

// extras holds the fields that few PDUs have.
type extras struct {
	bind     Bind     // bind_receiver, bind_transmitter, bind_transceiver
	bindResp BindResp // bodies of the responses to binds
	dests    []byte   // destinations of submit_multi
	multi    multi    // progress of a submit_multi
	other    Fields   // the body of a rare command
	tlvs     []byte   // optional parameters that are not in the body
	rest     []byte   // octets after the last field, which have no meaning
	raw      []byte   // octets of a PDU that cannot be read
	err      *Error   // error of a PDU that cannot be read
}

// withExtras returns the PDU's extras, which are used from now on.
func (p *PDU) withExtras() *extras {
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

// Bind returns the body of bind_receiver, bind_transmitter and bind_transceiver.
func (p *PDU) Bind() *Bind { return &p.withExtras().bind }

// BindResp returns the body of the responses to a bind.
func (p *PDU) BindResp() *BindResp { return &p.withExtras().bindResp }

// Dests returns the destinations of submit_multi, in wire format with their number.
func (p *PDU) Dests() *[]byte { return &p.withExtras().dests }

// Other returns the body of a rare command, whose type depends on the command. It returns nil
// if the command has none.
func (p *PDU) Other() Fields {
	c := &commands[p.ID.row()]
	if c.other == nil {
		return nil
	}
	x := p.withExtras()
	if x.other == nil {
		x.other = c.other()
	}
	return x.other
}

// Parameters returns the optional parameters in wire format. Function TLVs iterates over the parameters.
func (p *PDU) Parameters() []byte {
	switch {
	case commands[p.ID.row()].carriesMessage():
		return p.SM.TLVs
	case !p.hasExtras:
		return nil
	case p.extras.bindResp.TLVs != nil:
		return p.extras.bindResp.TLVs
	}
	return p.extras.tlvs
}

// An Error is the reason why a PDU cannot be read.
type Error struct {
	Status uint32 // command_status of the answer to the PDU
	Lost   bool   // the beginning of the next PDU is not known
	Behind bool   // the unreadable octets follow the message or the id, which are readable
	Padded bool   // the unreadable octets are NULs
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

// Command implements protocols.PDU.
func (p *PDU) Command() int { return p.ID.row() }

// Status implements protocols.PDU. It ignores a status in a request (§5.1.3), which some
// peers send.
func (p *PDU) Status() uint32 {
	if p.ID.IsResponse() {
		return p.CommandStatus
	}
	return 0
}

// MessageID implements protocols.PDU. The message_id of a deliver_sm_resp is not used.
func (p *PDU) MessageID() []byte {
	if p.ID != SubmitSMResp && p.ID != DataSMResp || !p.Body || len(p.SMResp.MessageID) == 0 {
		return nil
	}
	return p.SMResp.MessageID
}

// Text implements protocols.PDU. It returns message_payload if short_message is empty.
func (p *PDU) Text() (protocols.Text, bool) {
	if !commands[p.ID.row()].carriesMessage() || p.Err() != nil {
		return protocols.Text{}, false
	}
	t := protocols.Text{Field: "short_message", Octets: p.SM.ShortMessage, Header: p.SM.ESMClass&ClassHeader != 0}
	t.Alphabet, _ = codingOf(p.SM.DataCoding)
	if len(t.Octets) == 0 {
		t.Field = "message_payload"
		t.Octets, _ = FindTLV(p.SM.TLVs, TagPayload)
	}
	return t, len(t.Octets) > 0
}

// LoginStep implements protocols.PDU.
func (p *PDU) LoginStep() protocols.LoginStep {
	switch {
	case p.Err() != nil:
	case p.ID.IsBind():
		return protocols.LoginRequest
	case (p.ID &^ Response).IsBind() && p.CommandStatus == StatusOK:
		return protocols.LoginAccepted
	}
	return protocols.NoLogin
}

// Sequence implements protocols.PDU.
func (p *PDU) Sequence() uint32 { return p.SequenceNumber }

// IsAnswer implements protocols.PDU.
func (p *PDU) IsAnswer() bool { return p.ID.IsResponse() }

// keepOwn is the size of the largest storage that a PDU keeps for its next use.
const keepOwn = 4096

// Reset implements protocols.PDU. It does not clear the body of a message, because all of
// its fields are set when the PDU becomes a message again.
func (p *PDU) Reset() {
	if p.ID == 0 && !p.hasExtras {
		return // the PDU was not used
	}
	p.dropExtras()
	if p.scratch = p.scratch[:0]; cap(p.scratch) > keepOwn {
		p.scratch = nil
	}
	if len(p.SM.ShortMessage)+len(p.SM.TLVs) > keepOwn { // frees the large storage of the slices
		p.SM = SM{}
	}
	p.ID, p.CommandStatus, p.SequenceNumber = 0, 0, 0
	p.Body, p.SMResp = false, SMResp{}
}

// fields walks w over the fields of the body.
func (p *PDU) fields(w *Walk) {
	body := commands[p.ID.row()].body
	switch body {
	case bodySM:
		p.SM.walk(w, nil)
	case bodySMResp:
		if w.Body(&p.Body) {
			w.CString("message_id", 65, StatusInvMsgID, &p.SMResp.MessageID)
		}
	case bodyData:
		p.SM.walkData(w)
	case bodyMulti:
		p.SM.walk(w, p.Dests())
	case bodyBind:
		p.Bind().walk(w)
	case bodyBindResp:
		if w.Body(&p.Body) {
			p.BindResp().walk(w)
		}
	case bodyOther:
		if !p.ID.IsResponse() || w.Body(&p.Body) {
			other := *w // a copy, as in Walk.List
			p.Other().walk(&other)
			*w = other
		}
	}
	if p.goesOn(w) {
		if (body == bodySMResp || body == bodyOther) && (p.Body || !p.ID.IsResponse()) {
			w.TLVs(&p.withExtras().tlvs)
		}
		w.rest(&p.withExtras().rest)
	}
}

// goesOn reports whether w has to continue with p's extras.
func (p *PDU) goesOn(w *Walk) bool {
	switch w.mode {
	case read:
		return w.at < len(w.b)
	case scan:
		return w.line.More()
	}
	return p.hasExtras
}

// Decode decodes the one PDU that fills b. The fields point into b. A PDU that cannot be read
// keeps the octets, the error, which is an *Error, and the part of its header that is there.
func (p *PDU) Decode(b []byte) error {
	p.dropExtras()
	p.long = len(b) > protocols.MaxEarlyPDU
	if len(b) < HeaderLen || binary.BigEndian.Uint32(b) != uint32(len(b)) {
		return p.lost(b)
	}
	p.header(b)
	if p.Command() == 0 {
		return p.fail(b, &Error{Status: StatusInvCmdID, Text: fmt.Sprintf("command_id 0x%08x is not known", uint32(p.ID))})
	}
	w := Walk{b: b, at: HeaderLen}
	p.fields(&w)
	if w.err != nil {
		return p.readable(b, w.err)
	}
	return nil
}

// readable makes p a PDU that cannot be read, with those fields that are readable: those of a message in
// front of its optional parameters, the id in an answer to a message, and the version in an answer to a
// login. Some SMSCs write NULs behind the text, or an id without its NUL, or a parameter that is longer than
// the PDU.
func (p *PDU) readable(b []byte, e *Error) error {
	_ = p.fail(b, e)
	body := commands[p.ID.row()].body
	if body != bodySM && body != bodyData && body != bodySMResp && body != bodyBindResp {
		return e
	}
	w := Walk{b: b, at: HeaderLen, lenient: true}
	switch body {
	case bodySM:
		p.SM.walk(&w, nil)
	case bodyData:
		p.SM.walkData(&w)
	case bodyBindResp: // the name of the body is not needed
		id, rest, _ := bytes.Cut(b[HeaderLen:], []byte{0})
		if len(id) > maxID {
			return e
		}
		rest = bytes.TrimLeft(rest, "\x00")
		n := wholeTLVs(rest)
		p.Body, p.BindResp().SystemID, p.BindResp().TLVs = true, id, rest[:n:n]
	case bodySMResp:
		id := b[HeaderLen:min(len(b), HeaderLen+maxID)]
		if n := bytes.IndexByte(id, 0); n >= 0 {
			id = id[:n]
		} else if len(b) > HeaderLen+maxID {
			return e
		}
		p.Body, p.SMResp.MessageID = true, id[:len(id):len(id)]
	}
	if e.Behind = w.err == nil; !e.Behind {
		p.SM = SM{}
	}
	e.Padded = e.Behind && body != bodySMResp && body != bodyBindResp && len(bytes.Trim(b[len(b)-w.behind:], "\x00")) == 0
	return e
}

// maxID is the length of the longest message_id.
const maxID = 64

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
	x := p.withExtras()
	x.raw, x.err = b, e
	return e
}

// lost makes p a PDU with a wrong length, so that the next one cannot be found. It keeps only
// the header, because the octets after it have no known meaning.
func (p *PDU) lost(b []byte) error {
	p.Reset()
	text := fmt.Sprintf("header of %d octets is not complete", len(b))
	if len(b) >= HeaderLen {
		b = b[:HeaderLen]
		p.header(b)
		text = lengthError(binary.BigEndian.Uint32(b))
	}
	return p.fail(b, &Error{Status: StatusInvCmdLen, Lost: true, Text: text})
}

// lengthError returns the error of a wrong command_length. It does not show a value that is
// too large, because after a loss of framing that may be any four octets, even of a password.
func lengthError(n uint32) string {
	if n < HeaderLen {
		return fmt.Sprintf("command_length %d is less than %d", n, HeaderLen)
	}
	return "command_length is larger than a PDU may be" + looksLike(n)
}

// looksLike returns the protocol that a peer may speak instead of SMPP, if its first four octets are n.
func looksLike(n uint32) string {
	what := ""
	switch string(binary.BigEndian.AppendUint32(nil, n)) {
	case "GET ", "POST", "HEAD", "PUT ", "OPTI", "HTTP":
		what = "HTTP"
	case "SSH-":
		what = "SSH"
	default:
		switch {
		case n>>16 == 0x1603:
			what = "TLS"
		case n>>24 == 0x02 && n&0xFF == '/':
			what = "UCP"
		default:
			return ""
		}
	}
	return "; it looks like " + what
}

// AppendWire implements protocols.PDU. It appends a PDU that cannot be read as it came.
func (p *PDU) AppendWire(b []byte) []byte {
	if raw := p.raw(); raw != nil {
		return append(b, raw...)
	}
	at := len(b)
	b = slices.Grow(b, HeaderLen)[:at+HeaderLen]
	h := b[at:]
	binary.BigEndian.PutUint32(h[4:], uint32(p.ID))
	binary.BigEndian.PutUint32(h[8:], p.CommandStatus)
	binary.BigEndian.PutUint32(h[12:], p.SequenceNumber)
	w := Walk{b: b, mode: write}
	p.fields(&w)
	binary.BigEndian.PutUint32(w.b[at:], uint32(len(w.b)-at))
	return w.b
}

// Visit calls f with the name and value of each field of the header and the body, in order.
// Texts and values of optional parameters are in hex.
func (p *PDU) Visit(f func(name string, value any)) {
	n := len(p.AppendWire(nil))
	f("command_length", n)
	f("command_id", fmt.Sprintf("0x%08X", uint32(p.ID)))
	f("command", p.ID.String())
	f("command_status", fmt.Sprintf("0x%08X", p.CommandStatus))
	f("sequence_number", p.SequenceNumber)
	if err := p.Err(); err != nil {
		f("error", err.Text)
		return
	}
	w := Walk{mode: visit, call: f}
	p.fields(&w)
}
