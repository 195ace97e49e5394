package smpp

import (
	"bytes"

	"pmg/protocols"
	"pmg/sms"
)

// setReport makes m the receipt that a PDU of an SMSC carries. It reports false if the PDU
// does not say of which message it is or what became of that, so that it is no receipt that
// can be understood.
func (s *session) setReport(p *PDU, m *sms.Message, source, dest sms.Address, text []byte) bool {
	in, ok := ParseReceipt(text, p.SM.TLVs, s.zone)
	if !ok {
		return false
	}
	r := sms.Report{
		ID: in.ID, Submitted: in.Submitted, Done: in.Done, Seconds: in.Seconds,
		Parts: partsOf(in.Parts), Delivered: partsOf(in.Delivered),
		Err: in.Err, Network: in.Network.Type, NetworkError: in.Network.Code,
		Text: in.Text, Original: text,
	}
	if !bytes.Equal(in.TextID, in.ID) {
		r.TextID = in.TextID
	}
	if r.State = s.options.stateOf(in.Word, in.State); r.State == sms.NoState {
		r.Word = in.Word
	}
	m.SetReport(source, dest, &r)
	return true
}

// partsOf returns a number of parts as sms.Report has it.
func partsOf(n int) uint8 { return uint8(min(max(n, 0), 0xFF)) }

// reportText returns the text of a receipt, and completes the PDU by what is not in the
// text. A receipt of a message that the peer does not know by an id of ours is relayed as it
// came.
func (s *session) reportText(p *PDU, m *sms.Message) []byte {
	r, ok := m.Report()
	if !ok || r.Known == 0 && (r.Original != nil || m.Native(protocols.SMPP) != nil) {
		return r.Original
	}
	out := Receipt{
		ID: r.ID, State: r.State, Word: r.Word, Submitted: r.Submitted, Done: r.Done, Seconds: r.Seconds,
		Parts: int(r.Parts), Delivered: int(r.Delivered),
		Err: r.Err, Network: NetworkError{r.Network, r.NetworkError}, Text: r.Text,
	}
	if r.Known != 0 {
		out.ID = s.messageID(&p.id, r.Known)
	}
	if out.Parts == 0 {
		out.Parts = -1
	}
	if out.Delivered == 0 {
		out.Delivered = -1
	}
	if m.Native(protocols.SMPP) == nil && r.State != sms.NoState && r.State != sms.StateAccepted && !r.State.Final() {
		p.SM.ESMClass = p.SM.ESMClass&^ClassType | classIntermediate
	}
	switch m.Alphabet {
	case sms.Default, sms.ASCII, sms.Latin1:
		p.SM.DataCoding = dcsOf(m.Alphabet, m.Class)
	default:
		p.SM.DataCoding = 0 // the text is made anew
	}
	if s.optional() {
		p.SM.TLVs = p.reportTLVs(&out)
	}
	n := len(p.scratch)
	p.scratch = out.AppendText(p.scratch, s.zone)
	return p.scratch[n:]
}

// reportTLVs returns the optional parameters of a receipt: its own, and those of the PDU
// that say something else.
func (p *PDU) reportTLVs(r *Receipt) []byte {
	n := len(p.scratch)
	for tag, value := range TLVs(p.SM.TLVs) {
		switch tag {
		case TagReceiptedID, TagMessageState, TagNetworkError:
		default:
			p.scratch = AppendTLV(p.scratch, tag, value)
		}
	}
	p.scratch = r.AppendTLVs(p.scratch)
	return p.scratch[n:]
}
