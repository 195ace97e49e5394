package loadtest

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"pmg/protocols"
	"pmg/protocols/smpp"
)

// statusSubmitFail is ESME_RSUBMITFAIL.
const statusSubmitFail = 0x45

// A header is the header of a PDU without the length.
type header struct {
	command  smpp.CommandID
	status   uint32
	sequence uint32
}

func headerOf(pdu []byte) header {
	return header{
		command:  smpp.CommandID(binary.BigEndian.Uint32(pdu[4:])),
		status:   binary.BigEndian.Uint32(pdu[8:]),
		sequence: binary.BigEndian.Uint32(pdu[12:]),
	}
}

// appendHeader appends a PDU that has no body.
func appendHeader(b []byte, command smpp.CommandID, status, sequence uint32) []byte {
	b = binary.BigEndian.AppendUint32(b, smpp.HeaderLen)
	b = binary.BigEndian.AppendUint32(b, uint32(command))
	b = binary.BigEndian.AppendUint32(b, status)
	return binary.BigEndian.AppendUint32(b, sequence)
}

// appendDeliverSMResp appends the answer to deliver_sm. Its message_id is unused, a
// single NUL.
func appendDeliverSMResp(b []byte, sequence uint32) []byte {
	at := len(b)
	b = append(appendHeader(b, smpp.DeliverSMResp, smpp.StatusOK, sequence), 0)
	binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at))
	return b
}

// statusName returns the name of a status for people.
func statusName(status uint32) string {
	if name := smpp.StatusName(status); name != "" {
		return name
	}
	return fmt.Sprintf("0x%08x", status)
}

// bindCommand returns the login command of a bind type.
func bindCommand(t protocols.BindType) smpp.CommandID {
	switch t {
	case protocols.Transmitter:
		return smpp.BindTransmitter
	case protocols.Receiver:
		return smpp.BindReceiver
	}
	return smpp.BindTransceiver
}

// bindType returns the bind type of a login command.
func bindType(command smpp.CommandID) protocols.BindType {
	switch command {
	case smpp.BindTransmitter:
		return protocols.Transmitter
	case smpp.BindReceiver:
		return protocols.Receiver
	}
	return protocols.Transceiver
}

func bindRequest(o *LoadOptions, sequence uint32) []byte {
	p := smpp.PDU{ID: bindCommand(o.Bind), SequenceNumber: sequence}
	*p.Bind() = smpp.Bind{SystemID: []byte(o.SystemID), Password: []byte(o.Password), InterfaceVersion: smpp.Version34}
	return p.AppendWire(nil)
}

const (
	international = 1 // type of number
	isdn          = 1 // numbering plan
)

// A template is a submit_sm that was encoded once. Only the fields that differ between
// messages are written into each copy.
type template struct {
	pdu         []byte
	number      int // offset of the digits of the message's number
	destination int // offset of the last destinationDigits digits of the destination
}

// destinationDigits is how many digits of a message's number are appended to its
// destination.
const destinationDigits = 7

func newTemplate(o *LoadOptions) template {
	own := bytes.Repeat([]byte{'0'}, destinationDigits)
	text := bytes.Repeat([]byte{'x'}, o.Size)
	copy(text, fmt.Sprintf("#%0*d ", numberDigits, 0))

	p := smpp.PDU{ID: smpp.SubmitSM}
	p.SM.SourceTON, p.SM.SourceNPI, p.SM.SourceAddr = international, isdn, []byte(o.Source)
	p.SM.DestTON, p.SM.DestNPI, p.SM.DestAddr = international, isdn, append([]byte(o.Destination), own...)
	p.SM.ShortMessage = text
	if o.Receipts {
		p.SM.RegisteredDelivery = 1
	}
	pdu := p.AppendWire(nil)
	source := smpp.HeaderLen + len("\x00\x01\x01") // after service_type, ton and npi
	return template{
		pdu:         pdu,
		number:      len(pdu) - len(text) + len("#"),
		destination: source + len(o.Source) + len("\x00\x01\x01") + len(o.Destination),
	}
}

// append appends the submit_sm that carries the message with that number.
func (t *template) append(b []byte, sequence uint32, number int64) []byte {
	at := len(b)
	b = append(b, t.pdu...)
	pdu := b[at:]
	binary.BigEndian.PutUint32(pdu[12:], sequence)
	digits := pdu[t.number : t.number+numberDigits]
	putDigits(digits, number)
	copy(pdu[t.destination:t.destination+destinationDigits], digits[numberDigits-destinationDigits:])
	return b
}

// receiptNumber returns the number of the message that a receipt is for: most
// SMSCs repeat the beginning of the text in the receipt's own "text:" field.
func receiptNumber(p *smpp.PDU, b []byte) (int64, bool) {
	if p.Decode(b) != nil || p.SM.ESMClass&smpp.ClassType != smpp.ClassReceipt {
		return 0, false
	}
	text := userText(&p.SM)
	const field = "ext:" // "text:" or "Text:"
	i := bytes.Index(text, []byte(field+"#"))
	if i < 0 {
		return 0, false
	}
	return parseNumber(text[i+len(field):])
}

// Optional parameters of a receipt (SMPP 3.4 §5.3.2).
const (
	tagReceiptedID  = 0x001E
	tagMessageState = 0x0427
	stateDelivered  = 2
)
