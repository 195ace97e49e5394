package intake

import "pmg/sms"

// stepDuplicates is taken behind the rules for addresses, so that a number is the same in whatever
// form it was submitted, and before any conversion of the text. If equal messages come at the same
// time, one of them is accepted and the others are refused.
func stepDuplicates(d *Checker, now int64, s *Submission) Verdict {
	client := s.From.Account
	if client == nil {
		return Pass
	}
	w := client.Duplicates()
	if w == nil {
		return Pass
	}
	m, first := s.Message, false
	hash := w.Hash(m, d.partNumber(m))
	if s.Preview {
		first = !w.Has(m.Arrived, hash)
	} else {
		m.Claim, first = w.Claim(m.Arrived, hash)
	}
	if first {
		return Pass
	}
	return s.invalid(
		d, now, sms.Rejected,
		"message refused: its account has submitted it before, with the same sender, recipient and text (duplicates): ",
	)
}

// partNumber returns a number for the part of a long message: which part it is, and the reference
// of the long message. It ignores the text.
func (d *Checker) partNumber(m *sms.Message) uint32 {
	if p, _, ok := d.table.PartOf(m); ok {
		return uint32(p.Reference)<<8 | uint32(p.Number)
	}
	return 0
}
