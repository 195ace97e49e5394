package convert

import (
	"slices"

	"pmg/connector"
	"pmg/gateway/node"
	"pmg/protocols"
	"pmg/sms"
)

// A message that leaves by another protocol than it came by may lose fields. Each lost field is
// counted for the connector by which the message leaves. The first loss is logged.

// Cross prepares an incoming message for a lane whose peers speak another protocol. If the code is
// not OK, the message must be refused.
func (d *Converter) Cross(lane *connector.Lane, m *sms.Message) sms.Code {
	home := lane.Home()
	if m.Protocol() == home.Protocol {
		return misnamed(home, m)
	}
	_, lacks := d.leave(home, m)
	return refusal(home.Driver, lacks)
}

// Refuses returns OK if the message of a slot may leave by the slot, or the code with which the
// message must be answered. It ignores the length, because Settle cuts messages that are too long.
func (d *Converter) Refuses(slot *connector.Slot) sms.Code {
	c, m := leavesBy(slot), slot.Leaving()
	if d.mustCut(slot) {
		return sms.BadLength
	}
	if m.Protocol() == c.Protocol || m.Kind == sms.Receipt {
		return sms.OK
	}
	if refusal(c.Driver, c.Driver.Lacks(m, c.Config().ProtocolOptions())) != sms.OK {
		return sms.Rejected
	}
	return sms.OK
}

// refusal returns OK if a message can be sent without the fields that a driver lacks, or otherwise
// the reason.
func refusal(driver protocols.Driver, lacks protocols.Lost) sms.Code {
	for row := range lacks.All() {
		if code := driver.Losses()[row].Refuse; code != sms.OK {
			return code
		}
	}
	return sms.OK
}

// misnamed checks a client's message whose sender is a name, which rules or a plugin may have set.
// It returns the reason if the connector's protocol cannot write the name, so that the peer would
// see no sender or a wrong one. Otherwise it returns sms.OK. Every protocol can write a sender of
// digits.
func misnamed(c *connector.Connector, m *sms.Message) sms.Code {
	if m.Kind != sms.Submit || !slices.ContainsFunc(m.Source().Addr, func(c byte) bool { return c < '0' || c > '9' }) {
		return sms.OK
	}
	return refusal(c.Driver, c.Driver.Lacks(m, c.Config().ProtocolOptions()))
}

// countDropped counts the fields that a message loses because its peer speaks an older version of
// the protocol.
func (d *Converter) countDropped(l *connector.Link, m *sms.Message) {
	dropper, ok := l.Session.(protocols.Dropper)
	if !ok {
		return
	}
	loss := dropper.Drops(m)
	if loss != nil && l.Connector.Stats.FieldsLost.Add(loss) {
		node.OfSession(d.node.Log.Warn(), l).Str("id", sms.FormatID(m.ID)).Str("field", loss.Field).
			Msg(
				"a message has lost a field, because the peer says that it speaks an older version; further ones are " +
					"only counted, see version_at_least",
			)
	}
}

// crossing returns a message that is ready for a connector of another protocol, and counts what the
// message loses. The result is m, or a copy if m has a native part. m stays unchanged, because the
// size of m is counted while m is queued.
func (d *Converter) crossing(c *connector.Connector, m *sms.Message) *sms.Message {
	if _, native := m.NativePart(); len(native) > 0 {
		m = d.node.Messages.Copy(m)
	}
	left, lacks := d.leave(c, m)
	if from := d.table.DriverOf(m.Protocol()); from != nil {
		d.countLost(c, m, from.Losses(), left)
	}
	d.countLost(c, m, c.Driver.Losses(), lacks)
	return m
}

// countLost counts the losses that rows of a driver's table describe.
func (d *Converter) countLost(c *connector.Connector, m *sms.Message, rows []protocols.Loss, lost protocols.Lost) {
	for n := range lost.All() {
		if loss := &rows[n]; c.Stats.FieldsLost.Add(loss) {
			d.node.Log.Warn().Str("connector", c.Name).Str("id", sms.FormatID(m.ID)).Str("field", loss.Field).
				Msg(
					"a message has lost a field that " + c.Driver.Name() +
						" lacks; further ones are only counted, see docs/conversion.md",
				)
		}
	}
}

// leave prepares a message for the peers of a connector of another protocol. left is what remains
// in the native part. lacks is what the connector's driver cannot write.
func (d *Converter) leave(c *connector.Connector, m *sms.Message) (left, lacks protocols.Lost) {
	if from := d.table.DriverOf(m.Protocol()); from != nil { // a connector still speaks the message's protocol
		left = from.Leave(m)
	}
	return left, c.Driver.Lacks(m, c.Config().ProtocolOptions())
}
