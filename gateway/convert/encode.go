package convert

import (
	"pmg/connector"
	"pmg/protocols"
	"pmg/sms"
)

// Message decodes a session's PDU into a message. It returns the code of a refusal, or OK.
func (d *Converter) Message(now int64, l *connector.Link, p protocols.PDU, m *sms.Message) sms.Code {
	ahead := d.node.Clock.Ahead()
	code := l.Session.Message(now+ahead, p, m)
	if m.Kind != sms.Receipt {
		nameAlphabet(l.Connector, m)
	}
	if m.DeliverAt != 0 {
		m.DeliverAt -= ahead
	}
	if m.Expires != 0 {
		m.Expires -= ahead
	}
	return code
}

// Unreport turns a receipt of a connector's peer into a message from a mobile.
func (d *Converter) Unreport(from *connector.Connector, m *sms.Message) {
	m.Unreport()
	nameAlphabet(from, m)
}

// nameAlphabet sets the alphabet of an incoming message to the one that its peer means.
func nameAlphabet(from *connector.Connector, m *sms.Message) {
	switch f := from.Form(); m.Alphabet {
	case sms.Default:
		m.Alphabet = f.Default
	case sms.ASCII:
		m.Alphabet = f.ASCII
	}
}

// Leaving returns the message to send to a peer: m, or a copy with the fields, the addresses and
// the text that its connector makes of it. The caller releases it. The caller is the only user of m
// during the call. The session, which is not needed here, makes the PDU of the result.
func (d *Converter) Leaving(to *connector.Source, m *sms.Message) *sms.Message {
	out := m
	if m.Protocol() != to.Connector.Protocol {
		out = d.crossing(to.Connector, m)
	}
	return d.suited(to.Connector, m, d.outgoing(to, m, out))
}

// Encode fills p with the request that carries m to the peer of a session. The caller is
// the only user of m during the call. p's slices point into m, or into the copy of it that
// Encode returns, which the caller releases when it does not use p any more.
func (d *Converter) Encode(now int64, l *connector.Link, p protocols.PDU, m *sms.Message, sequence uint32) (copied *sms.Message) {
	if _, native := m.NativePart(); len(native) > 0 && m.Protocol() == l.Connector.Protocol {
		d.countDropped(l, m)
	}
	if out := d.Leaving(&l.Source, m); out != m {
		m, copied = out, out
	}
	if m.Kind == sms.Submit {
		notify := m.Notify
		m.Notify = asksFor(l.Connector, m)
		defer func() { m.Notify = notify }()
	}
	ahead := d.node.Clock.Ahead()
	if ahead == 0 || m.Expires == 0 {
		l.Session.Encode(now, p, m, sequence)
		return copied
	}
	m.Expires += ahead
	l.Session.Encode(now+ahead, p, m, sequence)
	m.Expires -= ahead
	return copied
}

// EncodeSlot fills p with the request of a slot that is about to leave: the PDU of its message, as
// Encode says, or an operation.
func (d *Converter) EncodeSlot(now int64, slot *connector.Slot, p protocols.PDU) (copied *sms.Message) {
	l, m := slot.Link, slot.Leaving()
	if slot.Inquiry == nil {
		return d.Encode(now, l, p, m, slot.Sequence)
	}
	r := slot.Inquiry.Request
	if out := d.outgoing(&l.Source, m, m); out != m {
		r.Message, copied = out, out
	}
	if r.Kind == protocols.Replace {
		r.Message.Notify = asksFor(l.Connector, r.Message)
	}
	l.Can.Requester.Ask(now+d.node.Clock.Ahead(), p, &r, slot.Sequence)
	return copied
}
