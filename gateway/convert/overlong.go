package convert

import (
	"pmg/connector"
	"pmg/protocols"
	"pmg/sms"
	"pmg/sms/fit"
)

// mustCut reports whether the message of a slot is too long for its peer. This happens if the
// message was accepted for another peer, if the options have changed since, or if the session's
// protocol version has no field for long texts. Other long messages were already cut when they were
// accepted.
func (d *Converter) mustCut(slot *connector.Slot) bool {
	m := slot.Leaving()
	if slot.Inquiry != nil || m.Parts > 1 || m.Kind == sms.Receipt {
		return false
	}
	if l := slot.Link; l != nil && l.Can.Limited != nil && len(m.Text()) > protocols.AnyText &&
		!l.Can.Limited.HasRoom(len(m.Text())) {
		return true
	}
	f := leavesBy(slot).Form()
	switch {
	case slot.Share == nil || len(m.Text()) <= fit.AnyRoom || !slot.Share.Lane.Queues.MayBeUnfit(m.ID):
		return false
	case !f.HasRoom(m):
		return true
	}
	parts := d.CutFor(f, m)
	for _, p := range parts {
		p.Release()
	}
	return len(parts) > 0
}

// leavesBy returns the connector to whose peer the message of a slot is sent.
func leavesBy(slot *connector.Slot) *connector.Connector {
	if slot.Link != nil {
		return slot.Link.Connector
	}
	return slot.Share.Lane.Home()
}

// CutFor returns the parts of a message, converted for peers of a form. It returns no parts if the
// message need not or cannot be cut.
func (d *Converter) CutFor(f *fit.Form, m *sms.Message) (parts []*sms.Message) {
	whole := d.node.Messages.Copy(m)
	defer func() {
		if len(parts) == 0 {
			whole.Release()
		}
	}()
	if !f.Takes.Has(whole.Alphabet) {
		d.convert(f, whole, false)
	}
	c := d.converters.Get().(*fit.Converter)
	n, ok := c.Parts(f, whole)
	d.converters.Put(c)
	if !ok || n < 2 {
		return nil
	}
	whole.Parts = uint8(n)
	return d.partsFor(f, whole)
}

// FitsAlone converts a message for the peer of a slot. It reports whether the result fits in one
// message.
func (d *Converter) FitsAlone(slot *connector.Slot, m *sms.Message) bool {
	parts := m.Parts
	if d.Fit(slot.Share.Lane, m) != sms.OK || m.Parts != parts {
		return false
	}
	l := slot.Link
	return l == nil || l.Can.Limited == nil || l.Can.Limited.HasRoom(len(m.Text()))
}
