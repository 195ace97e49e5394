package numbers

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A line of the journal is a sign, an entry, and where the change came from. Tabs separate the fields, because names of senders
// may have blanks; empty fields at the end are left out. Lines of earlier versions end behind the entry.
//
//	+46701740605 ⇥ 2026-11-30T09:14:03Z ⇥ stop ⇥ operator ⇥ 6392a1b0c4d5e
//	-46701740605 ⇥ 2026-12-01T10:00:00Z ⇥ page ⇥ user anna ⇥ ⇥ asked by letter
const between = '\t'

// Limits of a line's fields, in octets.
const (
	MaxReason = 200
	maxWho    = 100
	maxID     = 32
	maxSource = 16
)

// A Source says what has changed a list.
type Source string

// The sources.
const (
	Stop    Source = "stop"    // a mobile, with a word of stop
	Start   Source = "start"   // a mobile, with a word of start
	Command Source = "command" // pmg list, on the machine of the list
	API     Source = "api"
	Page    Source = "page"
)

// An Origin is where a change came from.
type Origin struct {
	At     time.Time // to the second; zero: unknown, because an earlier version wrote the line
	Source Source
	Who    string // the operator, or the connector that brought the message of a mobile
	ID     string // the message of a mobile; empty: no message
	Reason string // empty: no reason was given
}

// A Change is a number or the name of a sender that the journal adds to a list or removes from it, whatever the list's file
// contains.
type Change struct {
	Entry string
	On    bool
	Origin
}

// checked returns an origin that a line can have, or the error of its reason.
func (o Origin) checked() (Origin, error) {
	if o.At = o.At.UTC().Truncate(time.Second); o.At.Unix() <= 0 || o.At.Year() > 9999 {
		o.At = time.Time{} // of a clock that was never set
	}
	o.Who = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || c == utf8.RuneError {
			return '?'
		}
		return c
	}, o.Who)
	for len(o.Who) > maxWho {
		_, size := utf8.DecodeLastRuneInString(o.Who)
		o.Who = o.Who[:len(o.Who)-size]
	}
	o.Reason = strings.TrimSpace(o.Reason)
	switch {
	case len(o.Reason) > MaxReason:
		return o, BadEntry{fmt.Errorf("a reason has %d octets at most", MaxReason)}
	case !utf8.ValidString(o.Reason) || strings.ContainsFunc(o.Reason, unicode.IsControl):
		return o, BadEntry{errors.New("a reason is one line of UTF-8 without control characters")}
	}
	return o, nil
}

// appendTo appends the fields of a line behind its entry.
func (o *Origin) appendTo(line []byte) []byte {
	if o.At.IsZero() {
		return line
	}
	line = o.At.UTC().AppendFormat(append(line, between), time.RFC3339)
	for _, field := range [...]string{string(o.Source), o.Who, o.ID, o.Reason} {
		line = append(append(line, between), field...)
	}
	return bytes.TrimRight(line, string(between))
}

func signOf(on bool) byte {
	if on {
		return '+'
	}
	return '-'
}

// Note returns a change without its entry, as the nodes of a cluster store it.
func (c *Change) Note() []byte { return c.appendTo([]byte{signOf(c.On)}) }

// ReadNote returns the change of an entry that Note has made. Where only the sign can be read, the origin is unknown.
func ReadNote(entry string, note []byte) Change {
	c := Change{Entry: entry, On: len(note) > 0 && note[0] == '+'}
	var r record
	if len(note) > 2 && note[1] == between && r.readOrigin(note[2:]) {
		c.Origin = r.origin()
	}
	return c
}

// A record is a line of the journal as it was read. Its fields point into the line.
type record struct {
	entry           entry
	on              bool
	at              int64 // in seconds since 1970; 0: unknown
	source, who, id []byte
	reason          []byte
}

// read reads a line without its end. It reports false for one that is invalid.
func (r *record) read(line []byte, room *[maxName]byte) bool {
	*r = record{}
	if len(line) < 2 || line[0] != '+' && line[0] != '-' {
		return false
	}
	text, origin, hasOrigin := bytes.Cut(line[1:], []byte{between})
	e, err := parse(text, room)
	if err != nil || e.prefix {
		return false
	}
	r.entry, r.on = e, line[0] == '+'
	return !hasOrigin || r.readOrigin(origin)
}

// readOrigin reads the fields behind the entry.
func (r *record) readOrigin(text []byte) bool {
	fields := [...]*[]byte{new([]byte), &r.source, &r.who, &r.id, &r.reason}
	more := true
	for _, field := range fields {
		if !more {
			break
		}
		*field, text, more = bytes.Cut(text, []byte{between})
	}
	at := *fields[0]
	t, err := time.Parse(time.RFC3339, string(at))
	if r.at = t.Unix(); err != nil || r.at <= 0 || len(at) != len("2026-11-30T09:14:03Z") || at[len(at)-1] != 'Z' {
		return false
	}
	return !more && isWord(r.source, maxSource) && isWord(r.id, maxID) && isLine(r.who, maxWho) &&
		isLine(r.reason, MaxReason)
}

// isWord reports whether a text has letters and digits alone.
func isWord(text []byte, most int) bool {
	for _, c := range text {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return len(text) <= most
}

// isLine reports whether a text is one line.
func isLine(text []byte, most int) bool {
	return len(text) <= most && utf8.Valid(text) && bytes.IndexFunc(text, unicode.IsControl) < 0
}

// origin returns where the change came from.
func (r *record) origin() Origin {
	if r.at == 0 {
		return Origin{}
	}
	return Origin{time.Unix(r.at, 0).UTC(), Source(r.source), string(r.who), string(r.id), string(r.reason)}
}

// change returns the change of the line.
func (r *record) change() Change { return Change{string(r.entry.appendTo(nil)), r.on, r.origin()} }
