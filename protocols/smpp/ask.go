package smpp

import (
	"pmg/protocols"
	"pmg/sms"
)

// askedBy returns the command by which a peer is asked.
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
// others.
func (s *session) Ask(pdu protocols.PDU, r *protocols.Request, sequence uint32) {
	p, m := pdu.(*PDU), r.Message
	id := fit(r.PeerID, 65)
	from := m.Source()
	source := Source{TON: from.TON, NPI: from.NPI, Addr: fit(from.Addr, 21)}
	p.answer(askedBy(r), StatusOK)
	switch b := p.Other().(type) {
	case *Query:
		*b = Query{MessageID: id, Source: source}
	case *Cancel:
		to := m.Dest()
		*b = Cancel{MessageID: id, Source: source, DestTON: to.TON, DestNPI: to.NPI, DestAddr: fit(to.Addr, 21)}
	case *Replace:
		s.replacement(p, b, m)
		b.MessageID, b.Source = id, source
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
	p.putTimes(m, &b.ScheduleDeliveryTime, &b.ValidityPeriod)
	if text := m.Text(); len(text) > maxShort {
		n := len(p.scratch)
		p.scratch = AppendTLV(p.scratch, TagPayload, text[:min(len(text), maxTLV)])
		b.ShortMessage, p.withExtras().tlvs = nil, p.scratch[n:]
	}
}

// putTimes writes the times of a message, those that it has.
func (p *PDU) putTimes(m *sms.Message, deliver, expires *[]byte) {
	for _, t := range [...]struct {
		at    int64
		field *[]byte
	}{{m.DeliverAt, deliver}, {m.Expires, expires}} {
		if t.at != 0 {
			n := len(p.scratch)
			p.scratch = appendTime(p.scratch, t.at)
			*t.field = p.scratch[n:]
		}
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
