package sms

// SetAddresses replaces the addresses and keeps the rest of the message. The new addresses must not point into the message.
func (m *Message) SetAddresses(source, dest Address) {
	src, dst := source.Addr[:min(len(source.Addr), maxAddress)], dest.Addr[:min(len(dest.Addr), maxAddress)]
	rest := m.octets()[m.textAt():] // with the tail
	b := m.room(len(src) + len(dst) + len(rest))
	copy(b[len(src)+len(dst):], rest) // copied first, because longer addresses would overwrite it
	copy(b[copy(b, src):], dst)
	m.SourceTON, m.SourceNPI, m.source = source.TON, source.NPI, uint8(len(src))
	m.DestTON, m.DestNPI, m.dest = dest.TON, dest.NPI, uint8(len(dst))
}

// CopyBare returns a copy of m from the pool, without the text.
func (p *Pool) CopyBare(m *Message) *Message {
	c := p.Get()
	spill := c.spill
	*c = *m
	c.pool, c.spill, c.text, c.native, c.source, c.dest = p, spill, 0, 0, 0, 0
	c.protocol &^= inTail
	c.SetAddresses(m.Source(), m.Dest())
	c.SetNative(m.NativePart())
	c.putTail(m.tail())
	return c
}

// Copy returns a copy of m from the pool, with octets of its own.
func (p *Pool) Copy(m *Message) *Message {
	c := p.Get()
	spill := c.spill
	*c = *m
	c.pool, c.spill = p, spill
	if m.isSpilled() {
		copy(c.room(len(*m.spill)), *m.spill)
	}
	return c
}
