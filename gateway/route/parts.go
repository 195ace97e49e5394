package route

import (
	"pmg/protocols"
	"pmg/sms"
	"pmg/sms/fit"
	"pmg/sms/userdata"
)

// togetherOf returns a number that the parts of one long message have in common, so that a
// weighted route picks the same target for all of them; 0 for a message that is whole. A
// mobile cannot join parts that come by way of different SMSCs, because some SMSCs change the
// reference.
func (t *Table) togetherOf(m *sms.Message) uint64 {
	if m.Parts > 1 {
		return hashOf(m, m.WholeID())
	}
	if p, _, ok := fit.PartOf(m); ok {
		return hashOf(m, uint64(p.Reference))
	}
	if namer := t.PartNamer(m); namer != nil {
		if p, ok := namer.Part(m); ok {
			return hashOf(m, uint64(p.Reference))
		}
	}
	return 0
}

// hashOf returns a number that messages with the same account, addresses and reference have in
// common. It is not 0.
func hashOf(m *sms.Message, reference uint64) uint64 {
	const offset, prime = 0xcbf29ce484222325, 0x100000001b3 // constants of FNV-1a
	h := uint64(offset)
	add := func(b byte) { h = (h ^ uint64(b)) * prime }
	for i := range len(m.Origin.Account) {
		add(m.Origin.Account[i])
	}
	add(0)
	for _, b := range m.Source().Addr {
		add(b)
	}
	add(0)
	for _, b := range m.Dest().Addr {
		add(b)
	}
	for range 8 {
		add(byte(reference))
		reference >>= 8
	}
	return max(h, 1)
}

// PartOf returns which part of a long message a message is, and its text without the header.
// It returns false for one that is whole.
func (t *Table) PartOf(m *sms.Message) (p userdata.Part, text []byte, ok bool) {
	if p, text, ok = fit.PartOf(m); ok || m.Flags&sms.HasHeader != 0 {
		return p, text, ok
	}
	if namer := t.PartNamer(m); namer != nil {
		p, ok = namer.Part(m)
	}
	return p, m.Text(), ok && p.Total > 1
}

// PartNamer returns the PartNamer that can read a message's native part, or nil.
func (t *Table) PartNamer(m *sms.Message) protocols.PartNamer {
	p, native := m.NativePart()
	if len(native) == 0 {
		return nil
	}
	return t.routes.Load().partsOf(p)
}
