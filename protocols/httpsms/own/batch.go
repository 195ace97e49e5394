package own

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
)

// MaxOctets limits the total size of a batch's messages. Few octets of shared values can become many.
const MaxOctets = 8 << 20

// A Batch is a batch of messages, which are read one by one.
type Batch struct {
	reader *Reader
	shared Message
	pieces [][]byte // the messages
	octets int      // octets of the messages that were read
}

// An Item is a message of a batch, or the reason why it cannot be read.
type Item struct {
	Message *Message
	Problem *Problem
	Body    []byte // the message's part of the document
}

// Batch reads a batch of at most most messages: an object with the members that all messages share, and
// messages, each of which may override members. A problem is returned only if the batch as a whole cannot be
// read.
func (r *Reader) Batch(body []byte, most int) (*Batch, *Problem) {
	s := r.scanner(body, "")
	defer r.release(s)
	b := &Batch{reader: r, shared: Message{last: &encoded{}}}
	tooMany := false
	s.object(func(name string) {
		switch {
		case name == "messages":
			s.array(func(i int) {
				if i == most {
					tooMany = true
					s.breaks(s.in.InputOffset(), "there are more messages than a batch may have")
					return
				}
				from := s.in.InputOffset()
				s.pass()
				b.pieces = append(b.pieces, bytes.TrimLeft(body[from:s.in.InputOffset()], between))
			})
		case !b.shared.member(s, name):
			s.unknown()
		}
	})
	s.end()
	switch {
	case tooMany:
		s.note("/messages", "too-many", "must have at most %d messages", most)
	case s.broken != "":
		return nil, NewProblem("malformed-json", s.broken)
	case len(b.pieces) == 0:
		s.note("/messages", "missing", "must have messages")
	}
	if len(s.found) > 0 {
		return nil, invalid(s.found)
	}
	return b, nil
}

// Len returns how many messages the batch has.
func (b *Batch) Len() int { return len(b.pieces) }

// Item reads message i, which takes missing members from the batch. now is the wall clock's time. The
// messages must be read in order: messages beyond a total of MaxOctets are refused.
func (b *Batch) Item(i int, now time.Time) Item {
	body := b.pieces[i]
	if b.octets > MaxOctets {
		return Item{
			Problem: NewProblem("too-large", fmt.Sprintf("the messages of a batch have more than %d octets together", MaxOctets)),
			Body:    body,
		}
	}
	m := b.shared
	s := b.reader.scanner(body, "/messages/"+strconv.Itoa(i))
	defer b.reader.release(s)
	m.read(s)
	if m.complete(s, now); len(s.found) > 0 {
		return Item{Problem: invalid(s.found), Body: body}
	}
	b.octets += m.octets()
	return Item{Message: &m, Body: body}
}
