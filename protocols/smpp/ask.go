package smpp

import (
	"pmg/protocols"
	"pmg/sms"
)

// Ask implements protocols.Session. Times of a replace_sm are absolute, because SMPP 3.3 has no
// others.
func (s *session) Ask(pdu protocols.PDU, r *protocols.Request, sequence uint32) {
	p, m := pdu.(*PDU), r.Message
	id := fit(r.PeerID, 65)
	from := m.Source()
	source := Source{TON: from.TON, NPI: from.NPI, Addr: fit(from.Addr, 21)}
	switch r.Kind {
	case protocols.Cancel:
		p.answer(CancelSM, StatusOK)
		to := m.Dest()
		*p.Other().(*Cancel) = Cancel{MessageID: id, Source: source, DestTON: to.TON, DestNPI: to.NPI, DestAddr: fit(to.Addr, 21)}
	case protocols.Replace:
		p.answer(ReplaceSM, StatusOK)
		b := p.Other().(*Replace)
		s.replacement(p, b, m)
		b.MessageID, b.Source = id, source
	default:
		p.answer(QuerySM, StatusOK)
		*p.Other().(*Query) = Query{MessageID: id, Source: source}
	}
	p.SequenceNumber = sequence
}

// replacement fills a replace_sm with what a message becomes. A text that is too long for
// short_message goes into message_payload, as SMPP 5.0 has it.
func (s *session) replacement(p *PDU, b *Replace, m *sms.Message) {
	head, _, _ := nativeOf(m)
	*b = Replace{RegisteredDelivery: registeredOf(m.Notify) | head[1], DefaultMsgID: head[4], ShortMessage: m.Text()}
	if !s.optional() {
		b.RegisteredDelivery = min(b.RegisteredDelivery&wantsReceipts, wantsAllEnds)
	}
	p.scratch = p.scratch[:0]
	for _, t := range [...]struct {
		at    int64
		field *[]byte
	}{{m.DeliverAt, &b.ScheduleDeliveryTime}, {m.Expires, &b.ValidityPeriod}} {
		if t.at != 0 {
			n := len(p.scratch)
			p.scratch = appendTime(p.scratch, t.at)
			*t.field = p.scratch[n:]
		}
	}
	if text := m.Text(); len(text) > maxShort {
		n := len(p.scratch)
		p.scratch = AppendTLV(p.scratch, TagPayload, text[:min(len(text), 0xFFFF)])
		b.ShortMessage, p.withExtras().tlvs = nil, p.scratch[n:]
	}
}

// Outcome implements protocols.Session.
func (s *session) Outcome(now int64, pdu protocols.PDU) (r protocols.Result) {
	p := pdu.(*PDU)
	b, ok := p.Other().(*QueryResp)
	if !ok || !p.Body {
		return r
	}
	r.State, r.Error = StateOfNumber(b.MessageState), b.ErrorCode
	if at, ok := parseTime(b.FinalDate, now); ok {
		r.Since = at
	}
	return r
}
