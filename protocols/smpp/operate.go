package smpp

import (
	"bytes"
	"strconv"

	"pmg/protocols"
	"pmg/sms"
)

// Operation implements protocols.Operations.
func (s *session) Operation(_ int64, pdu protocols.PDU) (o protocols.Operation, code sms.Code) {
	p := pdu.(*PDU)
	var id []byte
	switch b := p.Other().(type) {
	case *Query:
		o.Kind, id, o.Source = protocols.Query, b.MessageID, b.Source.address()
	case *Cancel:
		o.Kind, id, o.Source = protocols.Cancel, b.MessageID, b.Source.address()
		o.Dest = sms.Address{TON: b.DestTON, NPI: b.DestNPI, Addr: b.DestAddr}
		if len(b.ServiceType) > 0 {
			o.Fits = func(m *sms.Message) bool {
				_, service, _ := nativeOf(m)
				return bytes.Equal(service, b.ServiceType)
			}
		}
		if len(id) == 0 {
			if len(b.DestAddr) == 0 {
				return o, sms.BadDestination
			}
			return o, sms.OK
		}
	case *Replace:
		o.Kind, id, o.Source = protocols.Replace, b.MessageID, b.Source.address()
		o.Change = func(now int64, m *sms.Message) sms.Code { return b.change(now, p.Parameters(), m) }
	}
	var ok bool
	if o.ID, o.Modulo, ok = parseID(id); !ok {
		return o, sms.UnknownMessage
	}
	return o, sms.OK
}

func (m *Source) address() sms.Address { return sms.Address{TON: m.TON, NPI: m.NPI, Addr: m.Addr} }

// shortIDs is the number of possible short ids.
const shortIDs = 36 * 36 * 36 * 36 * 36 * 36 * 36 * 36

// parseID reads a message_id that messageID has written. Of a short one only the remainder
// modulo shortIDs is known. It reports false if the gateway writes no such id.
func parseID(b []byte) (id, modulo uint64, ok bool) {
	if len(b) == shortLen {
		id, err := strconv.ParseUint(string(b), 36, 64)
		return id, shortIDs, err == nil
	}
	id, err := sms.ParseID(string(b))
	return id, 0, err == nil && id != 0
}

// change applies a replace_sm to a message (§4.10.1). The coding of the text stays that of the message. Empty
// times leave the message's times unchanged.
func (b *Replace) change(now int64, params []byte, m *sms.Message) sms.Code {
	deliver, expires := m.DeliverAt, m.Expires
	if len(b.ScheduleDeliveryTime) > 0 {
		at, ok := parseTime(b.ScheduleDeliveryTime, now)
		if !ok {
			return sms.BadSchedule
		}
		if deliver = at; at <= now {
			deliver = 0
		}
	}
	flags := m.Flags
	if n := len(b.ValidityPeriod); n > 0 {
		at, ok := parseTime(b.ValidityPeriod, now)
		if !ok {
			return sms.BadValidity
		}
		if expires, flags = at, flags&^sms.RelativeValidity; b.ValidityPeriod[n-1] == 'R' {
			flags |= sms.RelativeValidity
		}
	}
	if expires != 0 && expires <= max(now, deliver) {
		return sms.BadValidity
	}
	text := b.ShortMessage
	payload, _ := FindTLV(params, TagPayload)
	if len(payload) > 0 {
		if len(text) > 0 {
			return sms.BadLength
		}
		text = payload
	}
	if m.Flags&sms.HasHeader != 0 && !hasHeader(text) {
		return sms.BadLength
	}
	m.DeliverAt, m.Expires, m.Flags, m.Notify = deliver, expires, flags, notifyOf(b.RegisteredDelivery)
	head, service, carried := nativeOf(m)
	head[1], head[4] = b.RegisteredDelivery&^registeredSelf, b.DefaultMsgID
	carried, _ = bytes.CutPrefix(carried, []byte(emptyPayload)) // the new text came in short_message, or else
	if len(payload) > 0 {
		service = append(append([]byte(nil), service...), emptyPayload...)
	}
	native := append(append(head[:], service...), carried...)
	m.Set(m.Source(), m.Dest(), text)
	putNative(m, native)
	return sms.OK
}

// AnswerOperation implements protocols.Operations. A refusal has no body.
func (s *session) AnswerOperation(pdu protocols.PDU, code sms.Code, r *protocols.Result) {
	p := pdu.(*PDU)
	request, asked := p.ID, p.Other()
	status := statusOf(code)
	if code == sms.Rejected {
		status = commands[request.row()].refusal
	}
	p.answer(request|Response, status)
	if code != sms.OK {
		return
	}
	p.scratch = p.scratch[:0]
	if b, ok := p.Other().(*QueryResp); ok {
		p.Body = true
		b.MessageID = asked.(*Query).MessageID // the id as the client has written it
		b.MessageState, b.ErrorCode = s.stateNumber(r.State), r.Error
		if r.Since != 0 {
			p.scratch = appendTime(p.scratch, r.Since)
			b.FinalDate = p.scratch
		}
	}
}

// stateNumber returns the message_state of a state. The message_state of a scheduled message exists since SMPP 5.0.
func (s *session) stateNumber(state sms.State) uint8 {
	if state == sms.StateScheduled && s.version.Load() < Version50 {
		state = sms.StateEnroute
	}
	return NumberOfState(state)
}
