package loadtest

import (
	"bytes"
	"fmt"
	"time"
)

const (
	ucpInternational = "1139" // OTOA of a number
	ucpText          = "3"    // MT of characters
	ucpNumeric       = "2"    // MT of digits
	ucpOctets        = "4"    // MT of octets
	ucpClass1        = "1"    // MCLs of octets for the mobile itself
)

// The services in XSer that load and sink know: type, length and octets.
const (
	xserHeader = 1 // user data header
	xserDCS    = 2 // data coding scheme
	dcsUCS2    = 8
)

// readText reads the message of the PDU that was split.
func (w *ucpWire) readText(m *submitted) (err error) {
	msg, mt := w.fields[ucpMsg], string(w.fields[ucpMT])
	m.coding, m.header = GSMCoding, nil
	if mt == ucpNumeric {
		m.octets, m.text = msg, msg
		return nil
	}
	if mt == ucpOctets {
		m.coding = BinaryCoding
	}
	var ok bool
	if w.octets, ok = appendUnhex(w.octets[:0], msg); !ok {
		return fmt.Errorf("cannot read message %q: it is not hex", msg)
	}
	if xser := w.fields[ucpXSer]; len(xser) > 0 {
		if err := w.readXSer(m, xser); err != nil {
			return err
		}
	}
	m.octets = w.octets
	m.text = textOf(w.text[:0], w.octets, m.coding)
	return nil
}

func (w *ucpWire) readXSer(m *submitted, hex []byte) error {
	var ok bool
	if w.udh, ok = appendUnhex(w.udh[:0], hex); !ok {
		return fmt.Errorf("cannot read XSer %q: it is not hex", hex)
	}
	for rest := w.udh; len(rest) > 0; {
		if len(rest) < 2 || len(rest) < 2+int(rest[1]) {
			return fmt.Errorf("cannot read XSer %q: it ends early", hex)
		}
		service, value := rest[0], rest[2:2+int(rest[1])]
		rest = rest[2+len(value):]
		switch {
		case service == xserHeader:
			m.header = value
		case service == xserDCS && len(value) == 1 && value[0]&^0x10 == dcsUCS2:
			m.coding = UCS2Coding
		}
	}
	return nil
}

// The bits of NT.
const (
	ucpDelivered    = 1
	ucpNotDelivered = 2
)

func (w *ucpWire) submit(pdu []byte, m *submitted) error {
	if !w.split(pdu, ucpFields) {
		return fmt.Errorf("cannot read operation %q: it does not have %d fields", pdu, ucpFields)
	}
	*m = submitted{
		source:      address{digits: w.fields[ucpOAdC]},
		destination: address{digits: w.fields[ucpAdC]},
	}
	if string(w.fields[ucpNRq]) == "1" {
		nt, _ := digitsOf(w.fields[ucpNT])
		m.wantsSuccess, m.wantsFailure = nt == 0 || nt&ucpDelivered != 0, nt == 0 || nt&ucpNotDelivered != 0
	}
	return w.readText(m)
}

func (w *ucpWire) appendAccepted(b []byte, h header, m *submitted, id messageID) []byte {
	f := beginUCP(b, h.sequence, 'R', h.command)
	f.b = append(append(append(f.b, "A//"...), m.destination.digits...), ':')
	f.b = append(appendUCPTime(f.b, id.id), '/')
	return f.end()
}

// messageID returns AdC:SCTS.
func (w *ucpWire) messageID(pdu []byte) []byte {
	if !w.split(pdu, 3) {
		return nil
	}
	return w.fields[2]
}

// What has become of a message (Dst).
const (
	ucpDstDelivered = '0'
	ucpDstBuffered  = '1'
	ucpDstFailed    = '2'
)

const ucpRsnExpired = "010" // network time-out

// appendDelivery appends an operation 52 or 53.
func (w *ucpWire) appendDelivery(b []byte, sequence uint32, d *delivery, _ *ReceiptOptions) []byte {
	ot := uint32(ucpNotify)
	if d.mo {
		ot = ucpMO
	}
	f := beginUCP(b, sequence, 'O', ot)
	f.b = append(append(f.b, d.destination.get()...), '/')
	f.b = append(append(f.b, d.source.get()...), "/////////////"...) // up to SCTS
	if d.mo {
		f.b = time.Now().UTC().AppendFormat(f.b, ucpTime)
		f.b = append(f.b, "////3//"...)
		w.text = d.appendText(w.text[:0])
		f.b = appendHexText(f.b, w.text)
	} else {
		f.b = append(appendUCPTime(f.b, d.id), '/')
		dst, rsn := d.ucpOutcome()
		f.b = append(append(append(f.b, dst, '/'), rsn...), '/')
		f.b = time.Now().UTC().AppendFormat(f.b, ucpTime)
		f.b = append(f.b, "/3//"...)
		f.b = appendHexText(f.b, d.text[:d.textLen])
	}
	f.b = append(f.b, "/////////////"...) // twelve empty fields
	return f.end()
}

func (d *delivery) ucpOutcome() (dst byte, rsn string) {
	switch {
	case d.state == stateDelivered:
		return ucpDstDelivered, "000"
	case !d.state.isFinal():
		return ucpDstBuffered, "000"
	case d.state == stateExpired:
		return ucpDstFailed, ucpRsnExpired
	}
	return ucpDstFailed, string(d.err[:])
}

// delivery reads an operation 52 or 53.
func (w *ucpWire) delivery(pdu []byte) (d delivered, err error) {
	if !w.split(pdu, ucpFields) {
		return d, fmt.Errorf("cannot read operation %q: it does not have %d fields", pdu, ucpFields)
	}
	d.to = bytes.TrimPrefix(w.fields[ucpAdC], []byte("00")) // international numbers may begin with 00
	var m submitted
	if err := w.readText(&m); err != nil {
		return d, err
	}
	if d.text = m.text; w.header(pdu).command == ucpMO {
		return d, nil
	}
	w.name = append(append(append(w.name[:0], w.fields[ucpOAdC]...), ':'), w.fields[ucpSCTS]...)
	d.receipt, d.id = true, w.name
	switch dst := w.fields[ucpDst]; {
	case len(dst) != 1:
		return d, fmt.Errorf("cannot read notification %q: it has no Dst", pdu)
	case dst[0] == ucpDstDelivered:
		d.state = stateDelivered
	case dst[0] == ucpDstBuffered:
		d.state = stateEnroute
	case string(w.fields[ucpRsn]) == ucpRsnExpired:
		d.state = stateExpired
	default:
		d.state = stateUndeliverable
	}
	d.final = d.state.isFinal()
	return d, nil
}

// A ucpTemplate is an operation 51. Only the fields that differ between messages are written
// into each copy. Then the difference that they make is added to the checksum.
type ucpTemplate struct {
	content     Content
	pdu         []byte
	number      int // offset of the last hex digit of the first digit of the message's number
	step        int // from one of those to the next
	header      int // offset of the user data header
	destination int // offset of the last destinationDigits digits of the destination
	sum         byte
}

func (w *ucpWire) newTemplate(o *LoadOptions) template {
	t := &ucpTemplate{content: o.Content, step: 2 * o.step()}
	f := beginUCP(nil, 1, 'O', ucpSubmit)
	f.b = append(f.b, o.Destination...)
	t.destination = len(f.b)
	var digits [destinationDigits]byte
	putDigits(digits[:], 0)
	f.b = append(append(f.b, digits[:]...), '/')
	f.b = append(append(f.b, o.Source...), "//"...)
	if o.Receipts {
		f.b = append(f.b, "1//3"...)
	} else {
		f.b = append(f.b, "//"...)
	}
	f.b = append(f.b, "/////////////"...)
	text := o.octets()
	if o.Coding.wire() == GSMCoding {
		f.b = append(append(f.b, ucpText...), "//"...)
	} else {
		f.b = append(append(f.b, ucpOctets...), '/')
		f.b = fmt.Appendf(f.b, "%04d/", 8*len(text))
	}
	t.number = len(f.b) + 2*t.step - 1 // behind the #
	if o.Coding == PlainCoding {
		f.b = appendHexText(f.b, text)
	} else {
		f.b = appendHex(f.b, text)
	}
	f.b = append(f.b, "////"...) // up to MCLs
	if o.Coding == BinaryCoding {
		f.b = append(f.b, ucpClass1...)
	}
	f.b = append(append(f.b, "////"...), ucpInternational...)
	f.b = append(f.b, "//"...)
	if o.Coding == UCS2Coding {
		f.b = appendHex(f.b, []byte{xserDCS, 1, dcsUCS2})
	}
	if o.isLong() {
		f.b = appendHex(f.b, []byte{xserHeader, userDataHeader})
		t.header = len(f.b)
		f.b = appendHex(f.b, o.header(nil, 0))
	}
	f.b = append(f.b, "///"...)
	t.pdu = f.end()
	t.sum = ucpChecksum(t.pdu[1 : len(t.pdu)-ucpEnd])
	return t
}

func (t *ucpTemplate) append(b []byte, sequence uint32, number int64) []byte {
	at := len(b)
	b = append(b, t.pdu...)
	pdu := b[at:]
	trn := sequence - 1
	pdu[1], pdu[2] = '0'+byte(trn/10), '0'+byte(trn%10)
	sum := t.sum + byte(trn/10) + byte(trn%10)
	var digits [numberDigits]byte
	putDigits(digits[:], number)
	for i, c := range digits {
		pdu[t.number+i*t.step] = c // '3' is before it already
		sum += c - '0'
	}
	putDigits(digits[:destinationDigits], t.content.destination(number))
	for i, c := range digits[:destinationDigits] {
		pdu[t.destination+i] = c
		sum += c - '0'
	}
	if t.content.isLong() {
		var header [userDataHeader]byte
		appendHex(pdu[t.header:t.header], t.content.header(header[:0], number))
		sum = ucpChecksum(pdu[1 : len(pdu)-ucpEnd])
	}
	pdu[len(pdu)-3], pdu[len(pdu)-2] = upperHex[sum>>4], upperHex[sum&15]
	return b
}
