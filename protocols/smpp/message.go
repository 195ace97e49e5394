package smpp

import (
	"bytes"
	"slices"

	"pmg/protocols"
	"pmg/sms"
)

// Bits of esm_class (§5.2.12).
const (
	classMode         = 0x03 // messaging mode of a submit; not used in a delivery
	ClassType         = 0x3C
	ClassReceipt      = 0x04
	classIntermediate = 0x20
	ClassHeader       = 0x40 // the text begins with a user data header
	classReplyPath    = 0x80
)

// Bits of registered_delivery (§5.2.17).
const (
	wantsReceipts  = 0x03 // 1: of success and failure, 2: of failure, 3 (SMPP 5.0): of success
	wantsAllEnds   = 0x01
	wantsFailure   = 0x02
	wantsSuccess   = 0x03
	wantsProgress  = 0x10
	registeredSelf = wantsReceipts | wantsProgress // the bits that sms.Notify represents
)

// maxShort is the longest text that is sent in short_message (§5.2.21). A longer text is
// sent in message_payload.
const maxShort = 254

// single returns the length of the longest text that is one short message: 140 octets, of
// which each septet of the default alphabet takes seven bits.
func single(m *sms.Message) int {
	if m.Alphabet.IsDefault() && m.Alphabet != sms.DefaultUCS2 && m.Alphabet != sms.DefaultPacked {
		return 160
	}
	return 140
}

// The highest values of priority_flag with a meaning.
const (
	maxPriority   = 4 // SMPP 5.0
	maxPriority33 = 1 // limit of SMPP 3.3, whose registered_delivery is 0 or 1 as well
)

// Message implements protocols.Session.
func (s *session) Message(now int64, pdu protocols.PDU, m *sms.Message) sms.Code {
	p := pdu.(*PDU)
	b := &p.SM
	m.PID = b.ProtocolID
	m.Priority = min(b.PriorityFlag, maxPriority)
	m.Alphabet, m.Class = codingOf(b.DataCoding)
	m.Notify = notifyOf(b.RegisteredDelivery)
	m.Flags = flagsOf(b.ESMClass)

	if p.ID == SubmitMulti {
		to := &p.withExtras().multi.to
		if b.DestTON, b.DestNPI, b.DestAddr = to.TON, to.NPI, to.Addr; to.Flag == flagList {
			return sms.Rejected
		}
	}
	text := b.ShortMessage
	payload, found := FindTLV(b.TLVs, TagPayload)
	both := len(payload) > 0 && len(text) > 0
	if len(payload) > 0 { // an empty message_payload besides a short_message is ignored
		text = payload
	}
	if m.Kind = s.kindOf(p, text); m.Kind == sms.MO && b.ESMClass&ClassType == 0 && len(payload) == 0 &&
		s.looksLikeReceipt(text, nil) {
		m.Kind, m.Flags = sms.Receipt, m.Flags|sms.ByText
	}
	source := s.options.addressOf(b.SourceTON, b.SourceNPI, b.SourceAddr)
	dest := s.options.addressOf(b.DestTON, b.DestNPI, b.DestAddr)
	if m.Kind != sms.Receipt || !s.setReport(p, m, source, dest, text) {
		m.Set(source, dest, text)
	}
	inPayload := len(payload) > 0 && p.ID != DataSM && m.Flags&sms.HasReport == 0
	s.setNative(p, m, found, inPayload)
	if m.Kind != sms.Submit {
		return sms.OK // an SMSC's message is not refused: delivering it with odd values is better than losing it
	}
	if both || m.Flags&sms.HasHeader != 0 && !hasHeader(text) {
		return sms.BadLength
	}
	if len(b.DestAddr) == 0 {
		return sms.BadDestination
	}
	if p.ID == DataSM {
		return timeToLive(now, b, m)
	}
	return s.times(now, b, m)
}

// kindOf returns the kind of the message in a PDU of the peer.
func (s *session) kindOf(p *PDU, text []byte) sms.Kind {
	switch t := p.SM.ESMClass & ClassType; {
	case s.peer == esme:
		return sms.Submit
	case t == ClassReceipt, t == classIntermediate, t == 0 && hasParameters(p.SM.TLVs),
		s.options.ReceiptsBy == receiptsByText && s.looksLikeReceipt(text, p.SM.TLVs):
		return sms.Receipt
	}
	return sms.MO
}

func flagsOf(esmClass uint8) (f sms.Flags) {
	if esmClass&ClassHeader != 0 {
		f |= sms.HasHeader
	}
	if esmClass&classReplyPath != 0 {
		f |= sms.ReplyPath
	}
	return f
}

func notifyOf(registered uint8) (n sms.Notify) {
	switch registered & wantsReceipts {
	case wantsAllEnds:
		n = sms.NotifySuccess | sms.NotifyFailure
	case wantsFailure:
		n = sms.NotifyFailure
	case wantsSuccess:
		n = sms.NotifySuccess
	}
	if registered&wantsProgress != 0 {
		n |= sms.NotifyProgress
	}
	return n
}

// registeredOf is the inverse of notifyOf.
func registeredOf(n sms.Notify) (registered uint8) {
	switch n & (sms.NotifySuccess | sms.NotifyFailure) {
	case sms.NotifySuccess | sms.NotifyFailure:
		registered = wantsAllEnds
	case sms.NotifyFailure:
		registered = wantsFailure
	case sms.NotifySuccess:
		registered = wantsSuccess
	}
	if n&sms.NotifyProgress != 0 {
		registered |= wantsProgress
	}
	return registered
}

// The native part of a message from SMPP holds the values for which sms.Message has no
// field. Most messages have no native part. It consists of five fields, service_type after
// its length, and the optional parameters. An empty message_payload is the first of these if the
// text came in that:
//
//	+-----------+---------------------+-------------+---------+------------+---+--------------+------+
//	| esm_class | registered_delivery | data_coding | replace | default id | n | service_type | TLVs |
//	+-----------+---------------------+-------------+---------+------------+---+--------------+------+
const nativeHead = 6

// emptyPayload is a message_payload without a text.
const emptyPayload = "\x04\x24\x00\x00"

// setNative sets the native part, if the message needs one.
func (s *session) setNative(p *PDU, m *sms.Message, hasPayload, inPayload bool) {
	b := &p.SM
	params := b.TLVs
	lives := p.ID == DataSM && m.Kind == sms.Submit
	if hasPayload || lives {
		params = p.carried(lives, inPayload)
	}
	head := [nativeHead]byte{
		b.ESMClass &^ (ClassHeader | classReplyPath),
		b.RegisteredDelivery &^ registeredSelf,
		0,
		b.ReplaceIfPresent,
		b.DefaultMsgID,
		uint8(len(b.ServiceType)),
	}
	if m.Kind == sms.Receipt {
		head[0] &^= ClassType &^ classIntermediate // Message.Kind has the class
	}
	if dcsOf(m.Alphabet, m.Class) != b.DataCoding {
		head[2] = b.DataCoding
	}
	if head == [nativeHead]byte{} && len(params) == 0 {
		m.SetNative(protocols.SMPP, nil)
		return
	}
	at := len(p.scratch)
	p.scratch = append(append(append(p.scratch, head[:]...), b.ServiceType...), params...)
	m.SetNative(protocols.SMPP, p.scratch[at:])
}

// Drops implements protocols.Dropper. The parts of a text keep their place, in a header.
func (s *session) Drops(m *sms.Message) *protocols.Loss {
	if s.optional() {
		return nil
	}
	_, _, params := nativeOf(m)
	for tag := range TLVs(params) {
		switch tag {
		// those of a part become a header, and the text is in short_message
		case tagSARReference, tagSARTotal, tagSARNumber, TagPayload:
		default:
			return &losses[lostOptional]
		}
	}
	return nil
}

// nativeOf returns the native part of a message: its five fields and a length, service_type
// and the optional parameters, which point into the message.
func nativeOf(m *sms.Message) (head [nativeHead]byte, service, params []byte) {
	if b := m.Native(protocols.SMPP); len(b) >= nativeHead && len(b) >= nativeHead+int(b[5]) {
		copy(head[:], b)
		service = b[nativeHead : nativeHead+int(head[5])]
		params = b[nativeHead+int(head[5]):]
	}
	return head, service, params
}

// nativeWithout returns a copy of the native part of a message without some of its optional
// parameters.
func nativeWithout(m *sms.Message, tags ...uint16) []byte {
	head, service, params := nativeOf(m)
	b := append(append(make([]byte, 0, nativeHead+len(service)+len(params)), head[:]...), service...)
	for tag, v := range TLVs(params) {
		if !slices.Contains(tags, tag) {
			b = AppendTLV(b, tag, v)
		}
	}
	return b
}

// putNative sets the native part of a message. A part in which all is zero is left out.
func putNative(m *sms.Message, native []byte) {
	if len(native) == nativeHead && [nativeHead]byte(native) == [nativeHead]byte{} {
		native = nil
	}
	m.SetNative(protocols.SMPP, native)
}

// hasHeader reports whether text is as long as the user data header at its beginning
// requires.
func hasHeader(text []byte) bool { return len(text) > 0 && int(text[0]) < len(text) }

// times sets the delivery time and the expiry of a message. A delivery time in the past
// means now.
func (s *session) times(now int64, b *SM, m *sms.Message) sms.Code {
	at, ok := parseTime(b.ScheduleDeliveryTime, now)
	if !ok {
		return sms.BadSchedule
	}
	if at > now {
		m.DeliverAt = at
	}
	m.Expires, ok = parseTime(b.ValidityPeriod, now)
	if !ok || m.Expires != 0 && m.Expires <= max(now, m.DeliverAt) {
		return sms.BadValidity
	}
	if n := len(b.ValidityPeriod); n > 0 && b.ValidityPeriod[n-1] == 'R' {
		m.Flags |= sms.RelativeValidity
	}
	return sms.OK
}

// carried returns the optional parameters without those whose values the message has fields
// for: message_payload and, with lives, qos_time_to_live.
// With inPayload an empty message_payload is in front of them.
func (p *PDU) carried(lives, inPayload bool) []byte {
	n := len(p.scratch)
	if inPayload {
		p.scratch = append(p.scratch, emptyPayload...)
	}
	for tag, value := range TLVs(p.SM.TLVs) {
		if tag != TagPayload && (tag != TagTimeToLive || !lives) {
			p.scratch = AppendTLV(p.scratch, tag, value)
		}
	}
	return p.scratch[n:]
}

// Answer implements protocols.Session. A refusal has no body (§4.4.2), but a peer of SMPP 5.0 gets the reason.
func (s *session) Answer(pdu protocols.PDU, code sms.Code, id uint64) {
	p := pdu.(*PDU)
	status := statusOf(code)
	if (code == sms.Rejected || code == sms.Blocked || code == sms.OptedOut) && s.peer == smsc {
		status = StatusRxRAppn // because RSUBMITFAIL does not fit a delivery
	}
	var unsuccess []byte
	if p.ID == SubmitMulti {
		x := p.withExtras()
		unsuccess = x.multi.unsuccess
		if first, ok := x.multi.refusal(); ok && code == sms.Rejected {
			status = first
		}
	}
	p.answer(p.ID|Response, status)
	switch {
	case code == sms.QueueFull && s.version.Load() >= Version50:
		p.congested(congestionFull)
		return
	case code != sms.OK:
		return
	}
	p.Body = true
	switch {
	case s.peer == smsc: // message_id of the answer to a delivery is not used
	case p.ID == SubmitMultiResp:
		b := p.Other().(*MultiResp)
		b.MessageID, b.Unsuccess = s.messageID(&p.id, id), unsuccess
	default:
		p.SMResp.MessageID = s.messageID(&p.id, id)
	}
	if s.o.Load != nil && s.peer == esme && s.version.Load() >= Version50 {
		if load := s.o.Load(); load >= congestionTold {
			p.congested(uint8(min(load, congestionFull-1)))
		}
	}
}

// The values of congestion_state (SMPP 5.0). Below congestionTold the load is low, and answers need
// not say so.
const (
	congestionTold = 30
	congestionFull = 100 // nothing more is taken
)

// congested gives an answer a body that says how full the queue is.
func (p *PDU) congested(load uint8) {
	p.Body = true
	p.scratch = AppendTLV(p.scratch[:0], TagCongestion, []byte{load})
	p.withExtras().tlvs = p.scratch
}

// Encode implements protocols.Session. schedule_delivery_time stays empty, because the
// gateway itself has waited for it. If the sender gave the validity as a duration, the
// remaining duration is sent.
func (s *session) Encode(now int64, pdu protocols.PDU, m *sms.Message, sequence uint32) {
	p := pdu.(*PDU)
	p.answer(DeliverSM, 0)
	p.SequenceNumber = sequence
	source, dest, text := m.Source(), m.Dest(), m.Text()
	head, service, params := nativeOf(m)
	params, inPayload := bytes.CutPrefix(params, []byte(emptyPayload))
	p.SM = SM{
		ServiceType: fit(service, 6),
		SourceAddr:  s.options.written(source, 21), SourceTON: source.TON, SourceNPI: source.NPI,
		DestAddr: s.options.written(dest, 21), DestTON: dest.TON, DestNPI: dest.NPI,
		ESMClass: esmClass(m, head[0]), ProtocolID: m.PID, PriorityFlag: m.Priority,
		RegisteredDelivery: registeredOf(m.Notify) | head[1], DataCoding: dataCoding(m, head[2]),
		ShortMessage: text,
	}
	p.scratch = p.scratch[:0]
	optional := s.optional()
	if s.peer == smsc {
		p.ID = SubmitSM
		p.SM.ReplaceIfPresent, p.SM.DefaultMsgID = head[3], head[4]
		p.SM.ValidityPeriod = p.validity(now, m, &s.options.Submit, m.Flags&sms.RelativeValidity != 0, optional)
		s.usual.fill(&p.SM)
	} else {
		p.SM.ESMClass &^= classMode
	}
	if optional {
		p.SM.TLVs = params
	} else {
		if part, ok := partOf(params); ok && m.Flags&sms.HasHeader == 0 {
			p.putHeader(part)
		}
		p.SM.PriorityFlag = min(p.SM.PriorityFlag, maxPriority33)
		p.SM.RegisteredDelivery = min(p.SM.RegisteredDelivery&wantsReceipts, wantsAllEnds)
	}
	if m.Flags&sms.HasReport != 0 {
		text = s.reportText(p, m)
		p.SM.ShortMessage = text
	}
	switch {
	case optional && needsData(source.Addr, dest.Addr):
		s.makeData(now, p, m, text)
	case len(text) > maxShort, optional && s.o.Payload &&
		len(text) > single(m), optional && s.o.KeepPayload && inPayload && m.Parts <= 1 && len(text) > 0:
		p.setPayload(text)
	}
	if octets := m.Origin.Added(); octets != nil && optional && s.peer == smsc {
		addMissing(p, octets)
	}
	if optional && s.options.out != nil {
		p.rewrite(s.options.out)
	}
}

// usual contains the values of submits whose messages set no other values (§5.2.11 to §5.2.14).
type usual struct {
	service             []byte
	mode, pid, priority uint8
}

func (o *Submit) usual() usual {
	return usual{[]byte(o.ServiceType), modes[o.Mode], uint8(o.ProtocolID), uint8(o.Priority)}
}

func (u *usual) fill(b *SM) {
	if len(b.ServiceType) == 0 {
		b.ServiceType = u.service
	}
	if b.ESMClass&classMode == 0 {
		b.ESMClass |= u.mode
	}
	if b.ProtocolID == 0 {
		b.ProtocolID = u.pid
	}
	if b.PriorityFlag == 0 {
		b.PriorityFlag = u.priority
	}
}

func esmClass(m *sms.Message, native uint8) uint8 {
	if m.Kind == sms.Receipt && native&classIntermediate == 0 {
		native |= ClassReceipt
	}
	if m.Flags&sms.HasHeader != 0 {
		native |= ClassHeader
	}
	if m.Flags&sms.ReplyPath != 0 {
		native |= classReplyPath
	}
	return native
}

// setPayload puts a text into message_payload. A peer that does not support optional
// parameters will refuse the message, which is better than cutting its text.
func (p *PDU) setPayload(text []byte) {
	n := len(p.scratch)
	p.scratch = append(p.scratch, p.SM.TLVs...)
	p.scratch = AppendTLV(p.scratch, TagPayload, text[:min(len(text), maxTLV)])
	p.SM.TLVs, p.SM.ShortMessage = p.scratch[n:], nil
}

// validity returns the validity_period of a message that leaves now, nil if the message has none: an absolute
// time, or the remaining duration, as the SMSC expects. SMPP 3.3 has no durations.
func (p *PDU) validity(now int64, m *sms.Message, o *Submit, asDuration, hasDurations bool) []byte {
	expires := o.expiry(now, m)
	if expires == 0 {
		return nil
	}
	left := expires - now
	switch o.Validity {
	case validityAbsolute:
		asDuration = false
	case validityRelative:
		asDuration, left = true, min(left, maxDuration-1)
	}
	n := len(p.scratch)
	if asDuration && hasDurations && left < maxDuration {
		p.scratch = appendDuration(p.scratch, left)
	} else {
		p.scratch = appendTime(p.scratch, expires)
	}
	return p.scratch[n:]
}

// expiry returns the time at which a message that leaves now expires at the SMSC, 0 if the SMSC does not get the time.
func (o *Submit) expiry(now int64, m *sms.Message) int64 {
	switch {
	case m.Expires == 0 || o.Validity == validityNone:
		return 0
	case o.MaxValidity > 0:
		return min(m.Expires, now+int64(o.MaxValidity))
	}
	return m.Expires
}

// fit returns the string if it fits into a field of size octets with its NUL, and nothing otherwise. The peer
// refuses an empty address, but a truncated address would be another subscriber's.
func fit(v []byte, size int) []byte {
	if len(v) >= size || bytes.IndexByte(v, 0) >= 0 {
		return nil
	}
	return v
}
