package loadtest

import (
	"bytes"
	"fmt"
	"time"
)

const (
	ucpInternational = "1139" // OTOA of a number
	ucpText          = '3'    // MT of characters
	ucpNumeric       = '2'    // MT of digits
)

// readText reads the message of the PDU that was split.
func (w *ucpWire) readText() ([]byte, error) {
	msg, mt := w.fields[ucpMsg], w.fields[ucpMT]
	if len(mt) == 1 && mt[0] == ucpNumeric {
		return msg, nil
	}
	var ok bool
	if w.text, ok = appendUnhexText(w.text[:0], msg); !ok {
		return nil, fmt.Errorf("cannot read message %q: it is not hex", msg)
	}
	return w.text, nil
}

// The bits of NT.
const (
	ucpDelivered    = 1
	ucpNotDelivered = 2
)

func (w *ucpWire) submit(pdu []byte, m *submitted) (err error) {
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
	m.text, err = w.readText()
	return err
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
	f.b = append(f.b, "/////////////"...) // and twelve empty ones
	return f.end()
}

// ucpOutcome returns Dst and Rsn.
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
	d.to = bytes.TrimPrefix(w.fields[ucpAdC], []byte("00")) // which international numbers may begin with
	if d.text, err = w.readText(); err != nil || w.header(pdu).command == ucpMO {
		return d, err
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
	pdu         []byte
	number      int // offset of the hex of the message's number
	destination int // offset of the last destinationDigits digits of the destination
	sum         byte
}

func (w *ucpWire) newTemplate(o *LoadOptions) template {
	f := beginUCP(nil, 1, 'O', ucpSubmit)
	f.b = append(f.b, o.Destination...)
	t := &ucpTemplate{destination: len(f.b)}
	var digits [destinationDigits]byte
	putDigits(digits[:], 0)
	f.b = append(append(f.b, digits[:]...), '/')
	f.b = append(f.b, o.Source...)
	if o.Receipts {
		f.b = append(f.b, "//1//3/////////////3//"...)
	} else {
		f.b = append(f.b, "/////////////////3//"...)
	}
	t.number = len(f.b) + len("23")
	f.b = appendHexText(f.b, templateText(o))
	f.b = append(append(f.b, "////////"...), ucpInternational...)
	f.b = append(f.b, "/////"...)
	t.pdu = f.end()
	t.sum = ucpChecksum(t.pdu[1 : len(t.pdu)-ucpEnd])
	return t
}

func (t *ucpTemplate) append(b []byte, sequence uint32, number int64) []byte {
	at := len(b)
	b = append(b, t.pdu...)
	pdu := b[at:]
	sum := t.sum
	trn := sequence - 1
	pdu[1], pdu[2] = '0'+byte(trn/10), '0'+byte(trn%10)
	sum += byte(trn/10) + byte(trn%10)
	var digits [numberDigits]byte
	putDigits(digits[:], number)
	for i, c := range digits {
		pdu[t.number+2*i+1] = c // '3' is before it already
		sum += c - '0'
	}
	for i, c := range digits[numberDigits-destinationDigits:] {
		pdu[t.destination+i] = c
		sum += c - '0'
	}
	pdu[len(pdu)-3], pdu[len(pdu)-2] = upperHex[sum>>4], upperHex[sum&15]
	return b
}
