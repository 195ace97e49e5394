package loadtest

import (
	"encoding/binary"
	"time"

	"pmg/protocols/smpp"
)

// An answer to a submit carries a message id of sixteen digits.
const (
	idLength     = 16
	answerLength = smpp.HeaderLen + idLength + 1
)

func appendSubmitSMResp(b []byte, sequence uint32, id uint64) []byte {
	at := len(b)
	b = appendHeader(b, smpp.SubmitSMResp, smpp.StatusOK, sequence)
	binary.BigEndian.PutUint32(b[at:], answerLength)
	return append(appendID(b, id), 0)
}

func appendID(b []byte, id uint64) []byte {
	const hex = "0123456789abcdef"
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, hex[id>>shift&15])
	}
	return b
}

// A receipt is a deliver_sm and its parts, which are reused.
type receipt struct {
	pdu        smpp.PDU
	text, tlvs []byte
}

// textBegin is how much of a message its receipt repeats (SMPP 3.4 appendix B).
const textBegin = 20

// append appends the receipt for m, which says that m was delivered immediately.
func (r *receipt) append(b []byte, sequence uint32, id uint64, m *smpp.SM) []byte {
	const minutes = "0601021504"
	now := time.Now().UTC()
	t := appendID(append(r.text[:0], "id:"...), id)
	t = append(t, " sub:001 dlvrd:001 submit date:"...)
	t = now.AppendFormat(t, minutes)
	t = append(t, " done date:"...)
	t = now.AppendFormat(t, minutes)
	t = append(t, " stat:DELIVRD err:000 text:"...)
	text := userText(m)
	r.text = append(t, text[:min(textBegin, len(text))]...)

	r.tlvs = smpp.AppendTLV(r.tlvs[:0], tagMessageState, []byte{stateDelivered})
	var nul [idLength + 1]byte
	r.tlvs = smpp.AppendTLV(r.tlvs, tagReceiptedID, append(appendID(nul[:0], id), 0))

	r.pdu.ID, r.pdu.SequenceNumber = smpp.DeliverSM, sequence
	r.pdu.SM = smpp.SM{
		SourceTON: m.DestTON, SourceNPI: m.DestNPI, SourceAddr: m.DestAddr,
		DestTON: m.SourceTON, DestNPI: m.SourceNPI, DestAddr: m.SourceAddr,
		ESMClass: smpp.ClassReceipt, ShortMessage: r.text, TLVs: r.tlvs,
	}
	return r.pdu.AppendWire(b)
}
