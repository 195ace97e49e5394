package loadtest

import (
	"bytes"
	"time"

	"pmg/protocols/smpp"
)

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
