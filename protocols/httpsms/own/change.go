package own

import (
	"bytes"
	"time"

	"pmg/sms"
)

// A Change is a client's request to change a waiting message. Members that it does not name stay unchanged.
type Change struct{ m Message }

// Change reads a change: a JSON object. now is the wall clock's time.
func (r *Reader) Change(body []byte, now time.Time) (*Change, *Problem) {
	s := r.scanner(body, "")
	defer r.release(s)
	c := &Change{}
	named := 0
	s.object(func(name string) {
		switch named++; name {
		case "text", "encoding", "send_at", "validity", "expires_at":
			c.m.member(s, name)
		default:
			s.unknown()
		}
	})
	s.end()
	if s.broken != "" {
		return nil, NewProblem("malformed-json", s.broken)
	}
	wrong := s.wrongAt
	switch {
	case named == 0:
		s.wrong("missing", "must name what is to be changed")
	case c.m.hasText && c.m.text == "" && !c.m.unread:
		wrong("text", "missing", "must not be empty")
	case c.m.hasText:
		c.m.fillText(wrong)
		c.m.encode(wrong)
	case c.m.Encoding != "":
		wrong("encoding", "conflict", "must be given with text")
	}
	c.m.times(now, wrong)
	if len(s.found) > 0 {
		return nil, invalid(s.found)
	}
	return c, nil
}

// Apply makes the change to a message whose times, like now, are by the wall clock.
func (c *Change) Apply(now int64, m *sms.Message) sms.Code {
	deliver, expires := m.DeliverAt, m.Expires
	if c.m.sendAt != "" {
		deliver = c.m.DeliverAt
	}
	if c.m.Expires != 0 {
		expires = c.m.Expires
	}
	switch {
	case expires != 0 && expires <= max(now, deliver):
		return sms.BadValidity
	case c.m.hasText && m.Flags&sms.HasHeader != 0:
		return sms.BadLength
	}
	m.DeliverAt, m.Expires = deliver, expires
	if c.m.Expires != 0 {
		m.Flags &^= sms.RelativeValidity
	}
	if c.m.hasText {
		spoken, native := m.NativePart()
		native = bytes.Clone(native)
		m.Alphabet = c.m.Alphabet
		m.Set(m.Source(), m.Dest(), c.m.Text)
		m.SetNative(spoken, native)
	}
	return sms.OK
}
