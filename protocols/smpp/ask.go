package smpp

import (
	"pmg/protocols"
	"pmg/sms"
)

// askedBy returns the command for a request to the peer.
func askedBy(r *protocols.Request) CommandID {
	switch r.Kind {
	case protocols.Replace:
		return ReplaceSM
	case protocols.Cancel:
		return CancelSM
	}
	return QuerySM
}

// Ask implements protocols.Requester. Times of a replace_sm are absolute, because SMPP 3.3 has no
// others, unless the SMSC wants durations.
func (s *session) Ask(now int64, pdu protocols.PDU, r *protocols.Request, sequence uint32) {
	p, m := pdu.(*PDU), r.Message
	id := fit(r.PeerID, 65)
	from := m.Source()
	source := Source{TON: from.TON, NPI: from.NPI, Addr: s.options.written(from, 21)}
	p.answer(askedBy(r), StatusOK)
	switch b := p.Other().(type) {
	case *Query:
		*b = Query{MessageID: id, Source: source}
	case *Cancel:
		to := m.Dest()
		*b = Cancel{MessageID: id, Source: source, DestTON: to.TON, DestNPI: to.NPI, DestAddr: s.options.written(to, 21)}
	case *Replace:
		s.replacement(now, p, b, m)
		b.MessageID, b.Source = id, source
	}
	p.SequenceNumber = sequence
}

// replacement fills a replace_sm with the new form of a message. A text that is too long for short_message
// goes into message_payload, as in SMPP 5.0.
func (s *session) replacement(now int64, p *PDU, b *Replace, m *sms.Message) {
	head, _, _ := nativeOf(m)
	*b = Replace{RegisteredDelivery: registeredOf(m.Notify) | head[1], DefaultMsgID: head[4], ShortMessage: m.Text()}
	if !s.optional() {
		b.RegisteredDelivery = min(b.RegisteredDelivery&wantsReceipts, wantsAllEnds)
	}
	p.scratch = p.scratch[:0]
	if m.DeliverAt != 0 {
		p.scratch = appendTime(p.scratch, m.DeliverAt)
		b.ScheduleDeliveryTime = p.scratch
	}
	b.ValidityPeriod = p.validity(now, m, &s.options.Submit, false, s.optional())
	if text := m.Text(); len(text) > maxShort {
		n := len(p.scratch)
		p.scratch = AppendTLV(p.scratch, TagPayload, text[:min(len(text), maxTLV)])
		b.ShortMessage, p.withExtras().tlvs = nil, p.scratch[n:]
	}
}

// Outcome implements protocols.Requester.
func (s *session) Outcome(now int64, pdu protocols.PDU, asked *protocols.Request) (r protocols.Result, ok bool) {
	p := pdu.(*PDU)
	if p.ID != askedBy(asked)|Response {
		return r, false
	}
	if b, ok := p.Other().(*QueryResp); ok && p.Body {
		r.State, r.Error = StateOfNumber(b.MessageState), b.ErrorCode
		if at, ok := parseTime(b.FinalDate, now); ok {
			r.Since = at
		}
	}
	return r, true
}
