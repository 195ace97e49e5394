package convert

import (
	"iter"

	"pmg/connector"
	"pmg/gateway/node"
	"pmg/protocols"
	"pmg/sms"
)

// A message that leaves by another protocol than it came by may lose fields. Each is counted
// for the connector that it leaves by, and the log has the first. An out connector with
// strict: true gets no such message: it is refused when it comes, or rejected when it comes to
// the connector later, because it was routed again.

// Cross makes a message that comes in ready for a lane whose peers speak another protocol. With
// a code other than OK the message must be refused.
func (d *Desk) Cross(lane *connector.Lane, m *sms.Message) sms.Code {
	home := lane.Home()
	if m.Protocol() == home.Protocol {
		return sms.OK
	}
	lost := d.leave(home, m)
	if code := refusal(home.Driver, lost.lacks); code != sms.OK {
		return code
	}
	if !home.Config().Strict || m.Kind == sms.Receipt {
		return sms.OK
	}
	return d.checkLost(home, m, &lost)
}

// Refuses returns the code with which the message of a slot is answered if it must not leave by the
// session, or sms.OK. One that is too long is cut in Settle.
func (d *Desk) Refuses(slot *connector.Slot) sms.Code {
	l, m := slot.Link, slot.Message
	c := l.Connector
	if m.Flags&sms.Broadcast != 0 {
		if d.News.Is("broadcast") {
			d.Log.Warn().Str("id", sms.FormatID(m.ID)).Str("account", m.Account()).
				Msg("a broadcast that an earlier version has accepted is given up: this version sends none")
		}
		return sms.Unsupported
	}
	if d.mustCut(slot) {
		return sms.BadLength
	}
	if m.Protocol() == c.Protocol || m.Kind == sms.Receipt {
		return sms.OK
	}
	if refusal(c.Driver, c.Driver.Lacks(m, c.Config().ProtocolOptions())) != sms.OK {
		return sms.Rejected
	}
	if !c.Config().Strict {
		return sms.OK
	}
	own := d.Messages.Copy(m)
	defer own.Release()
	if lost := d.leave(c, own); d.checkLost(c, own, &lost) != sms.OK {
		return sms.Rejected
	}
	return sms.OK
}

// refusal returns why a message cannot be sent without the fields that a driver lacks, or sms.OK.
func refusal(driver protocols.Driver, lacks protocols.Lost) sms.Code {
	for row := range lacks.All() {
		if code := driver.Losses()[row].Refuse; code != sms.OK {
			return code
		}
	}
	return sms.OK
}

// countDropped counts what a message loses because its peer speaks an older version of the protocol.
func (d *Desk) countDropped(l *connector.Link, m *sms.Message) {
	dropper, ok := l.Session.(protocols.Dropper)
	if !ok {
		return
	}
	loss := dropper.Drops(m)
	if loss != nil && l.Connector.Stats.Lost.Add(loss) {
		node.OfSession(d.Log.Warn(), l).Str("id", sms.FormatID(m.ID)).Str("field", loss.Field).
			Msg("a message has lost a field, because the peer says that it speaks an older version; further ones are only counted, see version_at_least")
	}
}

// crossing returns a message that is ready for a connector of another protocol, and counts what
// it loses: m, or a copy if it has a native part. The message itself stays as it is, because its
// size is counted while it is queued.
func (d *Desk) crossing(c *connector.Connector, m *sms.Message) *sms.Message {
	if _, native := m.NativePart(); len(native) > 0 {
		m = d.Messages.Copy(m)
	}
	lost := d.leave(c, m)
	if lost.isNone() {
		return m
	}
	for loss := range lost.all() {
		if c.Stats.Lost.Add(loss) {
			d.Log.Warn().Str("connector", c.Name).Str("id", sms.FormatID(m.ID)).Str("field", loss.Field).
				Msg("a message has lost a field that " + c.Driver.Name() + " lacks; further ones are only counted, see docs/conversion.md")
		}
	}
	return m
}

// checkLost returns the code to refuse a message with that loses fields, and logs one of them.
func (d *Desk) checkLost(c *connector.Connector, m *sms.Message, lost *lostFields) sms.Code {
	if lost.isNone() {
		return sms.OK
	}
	for loss := range lost.all() {
		if d.News.Is("strict: " + c.Name) {
			d.Log.Warn().Str("connector", c.Name).Str("account", m.Account()).Str("field", loss.Field).
				Msg("message refused: it would lose a field that " + c.Driver.Name() + " lacks, and the connector is strict")
		}
		break
	}
	return sms.BadParameter
}

// lostFields are the fields that a message loses between two protocols.
type lostFields struct {
	from, to    protocols.Driver // from is nil if nobody speaks the message's protocol
	left, lacks protocols.Lost   // what remains in the native part; what to cannot write
}

// leave makes a message ready for the peers of a connector of another protocol.
func (d *Desk) leave(c *connector.Connector, m *sms.Message) lostFields {
	f := lostFields{from: d.DriverOf(m.Protocol()), to: c.Driver}
	if f.from != nil {
		f.left = f.from.Leave(m)
	}
	f.lacks = f.to.Lacks(m, c.Config().ProtocolOptions())
	return f
}

func (f *lostFields) isNone() bool { return f.left == protocols.Lost{} && f.lacks == protocols.Lost{} }

// all yields the rows of the drivers' tables.
func (f *lostFields) all() iter.Seq[*protocols.Loss] {
	return func(yield func(*protocols.Loss) bool) {
		if f.from != nil && !each(f.from.Losses(), f.left, yield) {
			return
		}
		each(f.to.Losses(), f.lacks, yield)
	}
}

// each calls f with rows of a table until it returns false, and returns what it returned last.
func each(rows []protocols.Loss, which protocols.Lost, f func(*protocols.Loss) bool) bool {
	for n := range which.All() {
		if !f(&rows[n]) {
			return false
		}
	}
	return true
}
