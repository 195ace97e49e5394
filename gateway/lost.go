package gateway

import (
	"iter"

	"pmg/connector"
	"pmg/protocols"
	"pmg/sms"
)

// A message that leaves by another protocol than it came by may lose fields. Each is counted
// for the connector that it leaves by, and the log has the first. An out connector with
// strict: true gets no such message: it is refused when it comes, or rejected when it comes to
// the connector later, because it was routed again.

// driverOf returns the driver of a protocol, or nil if no connector speaks it.
func (r *routes) driverOf(p sms.Protocol) protocols.Driver {
	if int(p) < len(r.drivers) {
		return r.drivers[p]
	}
	return nil
}

// addDriver notes who speaks a protocol.
func (r *routes) addDriver(d protocols.Driver) {
	p := int(d.Protocol())
	if p >= len(r.drivers) {
		r.drivers = append(r.drivers, make([]protocols.Driver, p+1-len(r.drivers))...)
	}
	r.drivers[p] = d
}

// cross makes a message that comes in ready for a lane whose peers speak another protocol. With
// a code other than OK the message is to be refused.
func (g *Gateway) cross(lane *connector.Lane, m *sms.Message) sms.Code {
	home := lane.Home()
	if m.Protocol() == home.Protocol {
		return sms.OK
	}
	from, left := g.leave(m)
	if !home.Config().Strict || m.Kind == sms.Receipt {
		return sms.OK
	}
	return g.checkLost(home, m, from, left)
}

// Refuses returns the code with which a message ends that must not leave by a session,
// or sms.OK.
func (g *Gateway) Refuses(l *connector.Link, m *sms.Message) sms.Code {
	c := l.Connector
	if m.Protocol() == c.Protocol || !c.Config().Strict || m.Kind == sms.Receipt {
		return sms.OK
	}
	own := g.Messages.Copy(m)
	defer own.Release()
	from, left := g.leave(own)
	if g.checkLost(c, own, from, left) != sms.OK {
		return sms.Rejected
	}
	return sms.OK
}

// crossing returns a copy of a message that is ready for a connector of another protocol, and
// counts what it loses. The message itself stays as it is, because its size is counted while it
// is queued.
func (g *Gateway) crossing(c *connector.Connector, m *sms.Message) *sms.Message {
	own := g.Messages.Copy(m)
	from, left := g.leave(own)
	for loss := range lost(c, own, from, left) {
		if c.Stats.Lost.Add(loss) {
			g.Log.Warn().Str("connector", c.Name).Str("id", MessageID(m.ID)).Str("field", loss.Field).
				Msg("a message has lost a field that " + c.Driver.Name() + " lacks; further ones are only counted, see docs/conversion.md")
		}
	}
	return own
}

// leave makes a message ready for a peer of another protocol. It returns the driver of its
// own, nil if there is none, and the fields that remain in its native part.
func (g *Gateway) leave(m *sms.Message) (from protocols.Driver, left protocols.Lost) {
	if from = g.routes.Load().driverOf(m.Protocol()); from != nil {
		left = from.Leave(m)
	}
	return from, left
}

// checkLost returns the code to refuse a message with that loses fields, and logs one of them.
func (g *Gateway) checkLost(c *connector.Connector, m *sms.Message, from protocols.Driver, left protocols.Lost) sms.Code {
	for loss := range lost(c, m, from, left) {
		if g.isNews("strict: " + c.Name) {
			g.Log.Warn().Str("connector", c.Name).Str("account", m.Account()).Str("field", loss.Field).
				Msg("message refused: it would lose a field that " + c.Driver.Name() + " lacks, and the connector is strict")
		}
		return sms.BadParameter
	}
	return sms.OK
}

// lost yields the fields that a message loses: those that remain in its native part, and those
// that the connector's protocol lacks.
func lost(c *connector.Connector, m *sms.Message, from protocols.Driver, left protocols.Lost) iter.Seq[*protocols.Loss] {
	return func(yield func(*protocols.Loss) bool) {
		if left != (protocols.Lost{}) && !each(from.Losses(), left, yield) {
			return
		}
		if lacks := c.Driver.Lacks(m, c.Config().ProtocolOptions()); lacks != (protocols.Lost{}) {
			each(c.Driver.Losses(), lacks, yield)
		}
	}
}

// each calls f with rows of a table until it returns false.
func each(rows []protocols.Loss, which protocols.Lost, f func(*protocols.Loss) bool) bool {
	for n := range which.All() {
		if !f(&rows[n]) {
			return false
		}
	}
	return true
}
