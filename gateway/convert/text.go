package convert

import (
	"pmg/connector"
	"pmg/sms"
	"pmg/sms/fit"
)

// Fit converts the text of a message for the peers of a lane, and returns the code of a refusal or
// OK. It does not convert a text that is certainly too long.
func (d *Converter) Fit(lane *connector.Lane, m *sms.Message) (code sms.Code) {
	f := lane.Home().Form()
	if f.Splits(m) && f.LeastParts(m) > d.mostParts(m) {
		return sms.BadLength
	}
	if !f.Takes.Has(m.Alphabet) && m.Kind != sms.Receipt {
		switch d.convert(f, m, m.Kind == sms.Submit) {
		case fit.Refused:
			return sms.BadParameter
		case fit.TooLong:
			return sms.BadLength
		case fit.PartTooLong:
			if m.Kind == sms.Submit {
				return sms.BadLength
			}
		}
	}
	switch {
	case f.Splits(m):
		m.Parts, code = d.parts(f, m)
	case m.Kind != sms.Receipt && !f.HasRoom(m):
		return sms.BadLength
	case m.Kind == sms.Submit:
		return d.countWhole(lane, m)
	}
	return code
}

// Whole returns how many short messages the SMSC makes of a text that it receives whole. code is
// sms.BadLength if the number exceeds the limit. lane is nil if no route leads to a lane.
func (d *Converter) Whole(lane *connector.Lane, m *sms.Message) (n uint8, code sms.Code) {
	if len(m.Text()) <= fit.AnyRoom || m.Kind != sms.Submit || m.Parts > 1 {
		return 1, sms.OK
	}
	cut := *d.unrouted
	if lane != nil {
		cut = *lane.Home().Form()
	}
	if cut.Long = fit.Split8; !cut.Splits(m) {
		return 1, sms.OK
	}
	if cut.LeastParts(m) > d.mostParts(m) {
		return 0, sms.BadLength
	}
	return d.parts(&cut, m)
}

// countWhole records how many short messages the SMSC makes of a text that it receives whole,
// because the client is informed of the number.
func (d *Converter) countWhole(lane *connector.Lane, m *sms.Message) sms.Code {
	n, code := d.Whole(lane, m)
	if n < 2 {
		n = 0
	}
	if code == sms.OK && fit.Counts(m) && n != sms.PartsOf(m.Context()) {
		c, _ := sms.ReadContext(m.Context())
		c.Parts = n
		m.SetNative(sms.WithContext, c.Append(nil))
	}
	return code
}

// suited returns a message with a text that the peers of a connector can read: m itself, or a copy
// if the text must change and m is the stored message. A copy is needed only if the message came to
// its lane from another one, the options have changed since, or an account is logged in on
// connectors with different texts.
func (d *Converter) suited(to *connector.Connector, stored, m *sms.Message) *sms.Message {
	f := to.Form()
	if f.Reads.Has(m.Alphabet) || m.Kind == sms.Receipt {
		return m
	}
	if m == stored {
		m = d.node.Messages.Copy(m)
	}
	d.convert(f, m, false)
	return m
}

// convert converts the text of a message. If mayRefuse is false, a text that would be refused is
// converted to UCS-2: the message was already accepted or comes from an SMSC, so it is better
// delivered in UCS-2 than lost. A part of a long message in UCS-2 stays so if it can, because
// mobiles join parts of one alphabet.
func (d *Converter) convert(f *fit.Form, m *sms.Message, mayRefuse bool) fit.Result {
	c := d.converters.Get().(*fit.Converter)
	defer d.converters.Put(c)
	if f.Missing == fit.Refuse && !mayRefuse {
		other := *f
		other.Missing = fit.UseUCS2
		f = &other
	}
	_, _, isPart := d.table.PartOf(m)
	switch {
	case isPart && m.Alphabet == sms.UCS2 && f.Reads.Has(sms.UCS2):
		return fit.Left
	case isPart:
		return c.ConvertPart(f, m)
	}
	return c.Convert(f, m)
}

// Join joins the parts of a long message into m, and reports whether the parts fit together.
func (d *Converter) Join(parts []*sms.Message, m *sms.Message) bool {
	c := d.converters.Get().(*fit.Converter)
	defer d.converters.Put(c)
	return c.Join(parts, m)
}
