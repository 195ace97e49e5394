package loadtest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"pmg/protocols"
	"pmg/protocols/smpp"
)

const (
	statusTemporary = 0x64    // ESME_RX_T_APPN
	maxPDU          = 1 << 20 // a longer PDU means that the framing is lost
)

// An smppWire speaks SMPP 3.4.
type smppWire struct {
	pdu        smpp.PDU // the PDU being decoded or encoded
	text, tlvs []byte   // of a receipt being encoded
}

func (w *smppWire) frame(b []byte) (int, error) {
	if len(b) < 4 {
		return 0, nil
	}
	length := binary.BigEndian.Uint32(b)
	if length < smpp.HeaderLen || length > maxPDU {
		return 0, fmt.Errorf("cannot find the next PDU: its command_length is %d", length)
	}
	if uint32(len(b)) < length {
		return 0, nil
	}
	return int(length), nil
}

func (w *smppWire) header(pdu []byte) header {
	h := header{
		command:  binary.BigEndian.Uint32(pdu[4:]),
		status:   binary.BigEndian.Uint32(pdu[8:]),
		sequence: binary.BigEndian.Uint32(pdu[12:]),
	}
	h.kind = smppKind(smpp.CommandID(h.command))
	return h
}

func smppKind(command smpp.CommandID) kind {
	switch command {
	case smpp.SubmitSM:
		return submitKind
	case smpp.SubmitSMResp, smpp.GenericNack:
		return submitAnswer
	case smpp.DeliverSM:
		return deliverKind
	case smpp.DeliverSMResp:
		return deliverAnswer
	case smpp.EnquireLink:
		return keepAlive
	case smpp.Unbind:
		return logout
	case smpp.UnbindResp:
		return logoutAnswer
	}
	switch {
	case command.IsBind():
		return loginKind
	case command.IsResponse() && (command &^ smpp.Response).IsBind():
		return loginAnswer
	case command.IsResponse():
		return unknownAnswer
	}
	return unknownRequest
}

func (w *smppWire) idsAreTimes() bool { return false }

func (w *smppWire) maxSequence() uint32 { return smpp.MaxSequence }

func (w *smppWire) isThrottled(status uint32) bool {
	return status == smpp.StatusThrottled || status == smpp.StatusMsgQFul
}

func (w *smppWire) isTemporary(status uint32) bool {
	return w.isThrottled(status) || status == statusTemporary || status == smpp.StatusSysErr
}

func (w *smppWire) statusName(status uint32) string {
	if name := smpp.StatusName(status); name != "" {
		return name
	}
	return fmt.Sprintf("0x%08x", status)
}

func (w *smppWire) status(r refusal) uint32 {
	return [...]uint32{
		refuseLogin:       smpp.StatusBindFail,
		refuseSecondLogin: smpp.StatusAlyBnd,
		refuseNotBound:    smpp.StatusInvBndSts,
		refuseMalformed:   smpp.StatusInvCmdLen,
		refuseThrottled:   smpp.StatusThrottled,
		refuseQueueFull:   smpp.StatusMsgQFul,
		refuseSubmit:      smpp.StatusSubmitFail,
		refuseDestination: smpp.StatusInvDstAdr,
	}[r]
}

// appendSMPP appends a PDU that has no body.
func appendSMPP(b []byte, command smpp.CommandID, status, sequence uint32) []byte {
	b = binary.BigEndian.AppendUint32(b, smpp.HeaderLen)
	b = binary.BigEndian.AppendUint32(b, uint32(command))
	b = binary.BigEndian.AppendUint32(b, status)
	return binary.BigEndian.AppendUint32(b, sequence)
}

// appendDeliverAnswer appends a deliver_sm_resp. Its message_id is unused, a single NUL.
func (w *smppWire) appendDeliverAnswer(b []byte, h header, _ []byte) []byte {
	at := len(b)
	b = append(appendSMPP(b, smpp.DeliverSMResp, smpp.StatusOK, h.sequence), 0)
	binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at))
	return b
}

func (w *smppWire) appendRefused(b []byte, h header, status uint32) []byte {
	return appendSMPP(b, smpp.CommandID(h.command)|smpp.Response, status, h.sequence)
}

func (w *smppWire) appendKeepAliveAnswer(b []byte, h header) []byte {
	return appendSMPP(b, smpp.EnquireLinkResp, smpp.StatusOK, h.sequence)
}

func (w *smppWire) appendLogout(b []byte, sequence uint32) []byte {
	return appendSMPP(b, smpp.Unbind, smpp.StatusOK, sequence)
}

func (w *smppWire) appendLogoutAnswer(b []byte, h header) []byte {
	return appendSMPP(b, smpp.UnbindResp, smpp.StatusOK, h.sequence)
}

func (w *smppWire) appendNotUnderstood(b []byte, h header) []byte {
	return appendSMPP(b, smpp.GenericNack, smpp.StatusInvCmdID, h.sequence)
}

func (w *smppWire) appendUnreadable(b []byte) []byte {
	return appendSMPP(b, smpp.GenericNack, smpp.StatusInvCmdLen, 0)
}

func (w *smppWire) appendLogin(b []byte, sequence uint32, l *loginRequest) []byte {
	p := smpp.PDU{ID: smpp.BindTransceiver, SequenceNumber: sequence}
	switch l.bind {
	case protocols.Transmitter:
		p.ID = smpp.BindTransmitter
	case protocols.Receiver:
		p.ID = smpp.BindReceiver
	}
	*p.Bind() = smpp.Bind{SystemID: []byte(l.SystemID), Password: []byte(l.Password), InterfaceVersion: smpp.Version34}
	return p.AppendWire(b)
}

func (w *smppWire) login(pdu []byte) (loginRequest, error) {
	if err := w.pdu.Decode(pdu); err != nil {
		return loginRequest{}, err
	}
	bind := w.pdu.Bind()
	l := loginRequest{Account{string(bind.SystemID), string(bind.Password)}, protocols.Transceiver}
	switch w.pdu.ID {
	case smpp.BindTransmitter:
		l.bind = protocols.Transmitter
	case smpp.BindReceiver:
		l.bind = protocols.Receiver
	}
	return l, nil
}

func (w *smppWire) appendLoginAnswer(b []byte, h header, status uint32) []byte {
	p := smpp.PDU{ID: smpp.CommandID(h.command) | smpp.Response, CommandStatus: status, SequenceNumber: h.sequence}
	if status == smpp.StatusOK {
		p.Body = true
		p.BindResp().SystemID = []byte("pmg-sink")
		p.BindResp().TLVs = smpp.AppendTLV(nil, smpp.TagVersion, []byte{smpp.Version34})
	}
	return p.AppendWire(b)
}

// registered_delivery (SMPP 3.4 §5.2.17, and 5.0 for success alone).
const (
	wantsAll     = 1
	wantsFailure = 2
	wantsSuccess = 3
	wantsMask    = 3
)

func (w *smppWire) submit(pdu []byte, m *submitted) error {
	if err := w.pdu.Decode(pdu); err != nil {
		return err
	}
	sm := &w.pdu.SM
	wants := sm.RegisteredDelivery & wantsMask
	*m = submitted{
		source:       address{sm.SourceTON, sm.SourceNPI, sm.SourceAddr},
		destination:  address{sm.DestTON, sm.DestNPI, sm.DestAddr},
		coding:       smppCoding(sm.DataCoding),
		wantsSuccess: wants == wantsAll || wants == wantsSuccess,
		wantsFailure: wants == wantsAll || wants == wantsFailure,
	}
	m.header, m.octets = splitText(sm)
	m.text = textOf(w.text[:0], m.octets, m.coding)
	return nil
}

// The values of data_coding that load and sink know (SMPP 3.4 §5.2.19).
const (
	codingDefault = 0
	codingBinary  = 4
	codingUCS2    = 8
)

func smppCoding(dataCoding uint8) Coding {
	switch dataCoding {
	case codingDefault:
		return GSMCoding
	case codingUCS2:
		return UCS2Coding
	case codingBinary, 2, 0xF4, 0xF5, 0xF6, 0xF7: // the last four with a message class
		return BinaryCoding
	}
	return otherCoding
}

func (w *smppWire) appendAccepted(b []byte, h header, _ *submitted, id messageID) []byte {
	at := len(b)
	b = appendSMPP(b, smpp.SubmitSMResp, smpp.StatusOK, h.sequence)
	b = append(id.append(b), 0)
	binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at))
	return b
}

func (w *smppWire) messageID(pdu []byte) []byte {
	id, _, _ := bytes.Cut(pdu[smpp.HeaderLen:], []byte{0})
	return id
}

// splitText returns the user data header of a message, and the text behind it.
func splitText(m *smpp.SM) (header, text []byte) {
	text = m.ShortMessage
	if len(text) == 0 {
		text, _ = smpp.FindTLV(m.TLVs, smpp.TagPayload)
	}
	if m.ESMClass&smpp.ClassHeader != 0 && len(text) > 0 {
		n := min(1+int(text[0]), len(text))
		return text[:n], text[n:]
	}
	return nil, text
}

const (
	international = 1 // type of number
	isdn          = 1 // numbering plan
)

// An smppTemplate is a submit_sm. Only the fields that differ between messages are written
// into each copy.
type smppTemplate struct {
	content     Content
	pdu         []byte
	text        int // offset of the text and its header
	destination int // offset of the last destinationDigits digits of the destination
}

func (w *smppWire) newTemplate(o *LoadOptions) template {
	own := bytes.Repeat([]byte{'0'}, destinationDigits)
	text := append(o.header(nil, 0), o.octets()...)
	p := smpp.PDU{ID: smpp.SubmitSM}
	p.SM.SourceTON, p.SM.SourceNPI, p.SM.SourceAddr = international, isdn, []byte(o.Source)
	p.SM.DestTON, p.SM.DestNPI, p.SM.DestAddr = international, isdn, append([]byte(o.Destination), own...)
	p.SM.ShortMessage = text
	switch o.Coding {
	case UCS2Coding:
		p.SM.DataCoding = codingUCS2
	case BinaryCoding:
		p.SM.DataCoding = codingBinary
	}
	if o.isLong() {
		p.SM.ESMClass = smpp.ClassHeader
	}
	if o.Receipts {
		p.SM.RegisteredDelivery = wantsAll
	}
	pdu := p.AppendWire(nil)
	source := smpp.HeaderLen + len("\x00\x01\x01") // after service_type, ton and npi
	return &smppTemplate{
		content:     o.Content,
		pdu:         pdu,
		text:        len(pdu) - len(text),
		destination: source + len(o.Source) + len("\x00\x01\x01") + len(o.Destination),
	}
}

func (t *smppTemplate) append(b []byte, sequence uint32, number int64) []byte {
	at := len(b)
	b = append(b, t.pdu...)
	pdu := b[at:]
	binary.BigEndian.PutUint32(pdu[12:], sequence)
	text := pdu[t.text:]
	if t.content.isLong() {
		t.content.header(text[:0], number)
		text = text[userDataHeader:]
	}
	putDigits(pdu[t.destination:t.destination+destinationDigits], t.content.destination(number))
	if t.content.Coding != UCS2Coding {
		putDigits(text[1:1+numberDigits], number)
		return b
	}
	for i := numberDigits; i > 0; i-- {
		text[2*i+1] = byte('0' + number%10)
		number /= 10
	}
	return b
}

// appendDelivery appends a deliver_sm.
func (w *smppWire) appendDelivery(b []byte, sequence uint32, d *delivery, o *ReceiptOptions) []byte {
	w.tlvs = w.tlvs[:0]
	p := &w.pdu
	p.ID, p.SequenceNumber = smpp.DeliverSM, sequence
	p.SM = smpp.SM{
		SourceTON: d.source.ton, SourceNPI: d.source.npi, SourceAddr: d.source.get(),
		DestTON: d.destination.ton, DestNPI: d.destination.npi, DestAddr: d.destination.get(),
	}
	if d.mo {
		w.text = d.appendText(w.text[:0])
	} else {
		p.SM.ESMClass = smpp.ClassReceipt
		w.receipt(d, o)
	}
	p.SM.ShortMessage, p.SM.TLVs = w.text, w.tlvs
	return p.AppendWire(b)
}

// receipt fills in the text and the optional parameters of a receipt.
func (w *smppWire) receipt(d *delivery, o *ReceiptOptions) {
	w.text = w.text[:0]
	var room [maxID + 1]byte
	id := messageID{d.id, o.receiptForm()}.append(room[:0])
	if o.Format != ReceiptTLV {
		w.text = appendReceiptText(w.text, id, d)
	}
	if o.Format != ReceiptText {
		w.tlvs = smpp.AppendTLV(w.tlvs, smpp.TagMessageState, []byte{byte(d.state)})
		w.tlvs = smpp.AppendTLV(w.tlvs, smpp.TagReceiptedID, append(id, 0))
	}
}

// appendReceiptText appends the text of a receipt (SMPP 3.4 appendix B).
func appendReceiptText(b, id []byte, d *delivery) []byte {
	const minutes = "0601021504"
	b = append(append(b, "id:"...), id...)
	b = append(b, " sub:001 dlvrd:00"...)
	reached := byte('0')
	if d.state == stateDelivered {
		reached = '1'
	}
	b = append(b, reached)
	b = append(b, " submit date:"...)
	b = d.submitted.AppendFormat(b, minutes)
	b = append(b, " done date:"...)
	b = time.Now().UTC().AppendFormat(b, minutes)
	b = append(append(b, " stat:"...), d.state.word()...)
	b = append(append(b, " err:"...), d.err[:]...)
	return append(append(b, " text:"...), d.text[:d.textLen]...)
}

// delivery reads a deliver_sm.
func (w *smppWire) delivery(pdu []byte) (d delivered, err error) {
	if err := w.pdu.Decode(pdu); err != nil {
		return d, err
	}
	sm := &w.pdu.SM
	d.to = sm.DestAddr
	_, d.text = splitText(sm)
	if sm.ESMClass&smpp.ClassType != smpp.ClassReceipt {
		return d, nil
	}
	d.receipt = true
	d.id, d.state, d.text = parseReceiptText(d.text)
	if id, ok := smpp.FindTLV(sm.TLVs, smpp.TagReceiptedID); ok {
		d.id = bytes.TrimRight(id, "\x00")
	}
	if s, ok := smpp.FindTLV(sm.TLVs, smpp.TagMessageState); ok && len(s) == 1 {
		d.state = state(s[0])
	}
	d.final = d.state.isFinal()
	return d, nil
}

// parseReceiptText reads the text of a receipt in the form of appendix B.
func parseReceiptText(t []byte) (id []byte, s state, text []byte) {
	fields, text, _ := bytes.Cut(t, []byte(" text:"))
	if len(fields) == len(t) {
		fields, text, _ = bytes.Cut(t, []byte(" Text:"))
	}
	return wordAfter(fields, "id:"), stateOf(wordAfter(fields, "stat:")), text
}

// wordAfter returns the word that follows a name, nil if the name does not begin a word.
func wordAfter(fields []byte, name string) []byte {
	for rest := fields; ; {
		i := bytes.Index(rest, []byte(name))
		if i < 0 {
			return nil
		}
		if i == 0 || rest[i-1] == ' ' {
			word, _, _ := bytes.Cut(rest[i+len(name):], []byte{' '})
			return word
		}
		rest = rest[i+len(name):]
	}
}
