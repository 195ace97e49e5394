package smpp

import (
	"bytes"

	"pmg/protocols"
	"pmg/sms"
)

// broadcast takes a broadcast_sm (SMPP 5.0): a message without a recipient. A broadcast that is
// to replace one which was sent before is refused.
func (s *session) broadcast(now int64, p *PDU) protocols.Action {
	b := p.Other().(*Broadcast)
	params := p.Parameters()
	status := badTLV(params)
	switch {
	case status != StatusOK:
	case !hasTLVs(params, TagBroadcastArea, TagBroadcastType, TagBroadcastNumber, TagBroadcastInterval):
		status = StatusMissingParam
	case len(b.MessageID) > 0 && b.ReplaceIfPresent != 0:
		status = StatusBcastFail
	}
	if status != StatusOK {
		return s.send(p, BroadcastSMResp, status)
	}
	p.SM = SM{
		ServiceType: b.ServiceType, SourceTON: b.Source.TON, SourceNPI: b.Source.NPI, SourceAddr: b.Source.Addr,
		PriorityFlag: b.PriorityFlag, ScheduleDeliveryTime: b.ScheduleDeliveryTime, ValidityPeriod: b.ValidityPeriod,
		ReplaceIfPresent: b.ReplaceIfPresent, DataCoding: b.DataCoding, DefaultMsgID: b.DefaultMsgID, TLVs: params,
	}
	s.message = now
	if s.options.in != nil {
		p.rewrite(s.options.in)
	}
	return protocols.Action{Kind: protocols.Message}
}

// TakesBroadcasts implements protocols.Session.
func (s *session) TakesBroadcasts() bool { return s.peer == smsc && s.version.Load() >= Version50 }

// makeBroadcast makes a submit_sm a broadcast_sm.
func (s *session) makeBroadcast(p *PDU, text []byte) {
	if len(text) > 0 {
		p.setPayload(text)
	}
	if s.options.out != nil {
		p.rewrite(s.options.out)
	}
	p.ID = BroadcastSM
	*p.Other().(*Broadcast) = Broadcast{
		ServiceType: p.SM.ServiceType, Source: Source{TON: p.SM.SourceTON, NPI: p.SM.SourceNPI, Addr: p.SM.SourceAddr},
		PriorityFlag: p.SM.PriorityFlag, ValidityPeriod: p.SM.ValidityPeriod,
		ReplaceIfPresent: p.SM.ReplaceIfPresent, DataCoding: p.SM.DataCoding, DefaultMsgID: p.SM.DefaultMsgID,
	}
	p.withExtras().tlvs = p.SM.TLVs
}

// noSuccess says that it is not known what part of an area was reached.
const noSuccess = 255

// broadcastState returns the optional parameters of the answer about a broadcast in a state. That
// of one that waits has its areas, of which none was reached yet.
func broadcastState(state uint8, r *protocols.Result) (tlvs []byte) {
	tlvs = append(AppendTLV(nil, TagMessageState, []byte{state}), r.Areas...)
	_, _, params := nativeOf(&r.Read)
	for tag, value := range TLVs(params) {
		if tag == TagBroadcastArea {
			tlvs = AppendTLV(tlvs, tag, value)
			tlvs = AppendTLV(tlvs, TagBroadcastSuccess, []byte{noSuccess})
		}
	}
	return tlvs
}

// broadcastOutcome returns what the answer of an SMSC says of a broadcast.
func (p *PDU) broadcastOutcome() (r protocols.Result) {
	for tag, value := range TLVs(p.Parameters()) {
		switch tag {
		case TagMessageState:
			if len(value) == 1 {
				r.State = StateOfNumber(value[0])
			}
		case TagBroadcastArea, TagBroadcastSuccess, TagBroadcastEnd:
			r.Areas = AppendTLV(r.Areas, tag, value)
		}
	}
	return r
}

// isBroadcastOf reports whether a broadcast has the service and the content type that a
// cancel_broadcast_sm names, if it names them.
func isBroadcastOf(m *sms.Message, service, content []byte) bool {
	_, its, params := nativeOf(m)
	has, _ := FindTLV(params, TagBroadcastType)
	return (len(service) == 0 || bytes.Equal(its, service)) && (content == nil || bytes.Equal(has, content))
}
