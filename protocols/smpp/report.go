package smpp

import (
	"bytes"

	"pmg/protocols"
	"pmg/sms"
)

// setReport makes m the receipt that a PDU of an SMSC carries. It reports false if the PDU names
// no message or no state, so that it cannot be understood as a receipt.
func (s *session) setReport(p *PDU, m *sms.Message, source, dest sms.Address, text []byte) bool {
	plain := text
	if isWide(text) {
		n := len(p.scratch)
		p.scratch = appendNarrow(p.scratch, text)
		plain = p.scratch[n:]
	}
	in, ok := ParseReceipt(plain, p.SM.TLVs, s.zone)
	if !ok {
		return false
	}
	r := sms.Report{
		ID: in.ID, Submitted: in.Submitted, Done: in.Done, Seconds: in.Seconds,
		Parts: partsOf(in.Parts), Delivered: partsOf(in.Delivered),
		Err: in.Err, Network: in.Network.Type, NetworkError: in.Network.Code,
		Extra: in.Extra, Text: in.Text, Original: text,
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

// isWide reports whether the text of a receipt is in UCS-2.
func isWide(text []byte) bool {
	return len(text) >= 2 && len(text)%2 == 0 && text[0] == 0 && text[1] != 0
}

// appendNarrow appends a text in UCS-2 as ASCII, with ? for characters that ASCII lacks.
func appendNarrow(b, text []byte) []byte {
	for i := 0; i < len(text); i += 2 {
		c := text[i+1]
		if text[i] != 0 || c >= 0x80 {
			c = '?'
		}
		b = append(b, c)
	}
	return b
}

// hasParameters reports whether a message has the optional parameters that receipts alone have. The SMSC sets them, and no
// mobile.
func hasParameters(tlvs []byte) bool {
	id, _ := FindTLV(tlvs, TagReceiptedID)
	state, _ := FindTLV(tlvs, TagMessageState)
	return len(bytes.TrimRight(id, "\x00")) > 0 && len(state) == 1 && StateOfNumber(state[0]) != sms.NoState
}

// looksLikeReceipt reports whether a message of an SMSC can only be a receipt, whatever its
// esm_class says. It is stricter than ParseReceipt, because people write texts too. Either both
// parameters of a receipt must be there, or the text must begin as in appendix B, with a known word
// as its state, or a word beside a time.
func (s *session) looksLikeReceipt(text, tlvs []byte) bool {
	if hasParameters(tlvs) {
		return true
	}
	if !beginsAsReceipt(text) {
		return false
	}
	p := receiptParser{zone: s.zone}
	p.parse(bytes.TrimRight(text, "\x00"))
	return p.seen&(1<<keyStat) != 0 && len(p.r.ID) > 0 && len(p.r.Word) > 0 &&
		(p.r.Done != 0 || s.options.stateOf(p.r.Word, p.r.State) != sms.NoState)
}

// beginsAsReceipt reports whether a text begins with an id of one word, and another field behind it.
func beginsAsReceipt(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	key, n := findKey(text)
	if key != keyID {
		return false
	}
	_, rest := cutWord(text[n:])
	if rest = trimGaps(rest); len(rest) == 0 {
		return false
	}
	key, _ = findKey(rest)
	return key != noKey && key != keyID && key != keyText
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
		Err: r.Err, Network: NetworkError{r.Network, r.NetworkError}, Extra: r.Extra, Text: r.Text,
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
		p.SM.DataCoding = 0 // default alphabet: the text of the receipt is written below, in ASCII
	}
	if s.optional() {
		p.SM.TLVs = p.reportTLVs(&out)
	}
	n := len(p.scratch)
	p.scratch = clientOf(&s.o).write(p.scratch, &out, s.zone)
	return p.scratch[n:]
}

// reportTLVs returns the optional parameters of a receipt: its own, and those of the PDU with other meanings.
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
