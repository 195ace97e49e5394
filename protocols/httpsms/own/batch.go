package own

import (
	"strconv"
	"time"
)

// An Item is a message of a batch: what was read, or why it cannot be.
type Item struct {
	Message *Message
	Problem *Problem
	Body    []byte // its part of the document
}

// ReadBatch reads a batch of most messages at most: an object with the members that all of its messages have, and
// messages, each of which may have others. now is the wall clock's time. Each message that is not valid has its own
// problem; the batch as a whole has one only if it cannot be read.
func ReadBatch(body []byte, now time.Time, most int) ([]Item, *Problem) {
	s := &scanner{b: body}
	shared := Message{}
	type piece struct{ from, to int }
	var pieces []piece
	s.object(func(name string) {
		switch {
		case name == "messages":
			s.array(func(int) {
				s.blanks()
				from := s.at
				s.pass()
				pieces = append(pieces, piece{from, s.at})
			})
		case !shared.member(s, name):
			s.unknown()
		}
	})
	s.end()
	switch {
	case s.broken != "":
		return nil, NewProblem("malformed-json", s.broken)
	case len(pieces) == 0:
		s.path = []byte("/messages")
		s.wrong("missing", "must have messages")
	case len(pieces) > most:
		s.path = []byte("/messages")
		s.wrong("too-many", "must have at most %d messages", most)
	}
	if len(s.found) > 0 {
		return nil, invalid(s.found)
	}
	all := make([]Item, len(pieces))
	for i, p := range pieces {
		all[i] = readItem(body[p.from:p.to], i, shared, now)
	}
	return all, nil
}

// readItem reads message i of a batch, which has the members of shared where it has no others.
func readItem(body []byte, i int, shared Message, now time.Time) Item {
	m := shared
	s := &scanner{b: body, path: []byte("/messages/" + strconv.Itoa(i))}
	m.read(s)
	if m.complete(s, now); len(s.found) > 0 {
		return Item{Problem: invalid(s.found), Body: body}
	}
	return Item{Message: &m, Body: body}
}
