package events

import (
	"bytes"

	"pmg/pdulog"
)

// removed replaces values that were removed from an event.
const removed = `"*"`

// AppendRedacted appends a line without the numbers that are to be removed, and reports whether the line has
// changed. The line stays an event with its own number. Events contain no texts.
func AppendRedacted(b, line []byte, r *pdulog.Redaction) (_ []byte, changed bool) {
	var name []byte
	for rest := line; ; {
		n := bytes.IndexByte(rest, '"')
		if n < 0 {
			return append(b, rest...), changed
		}
		text, after, ok := cutText(rest[n+1:])
		if !ok {
			return append(b, rest...), changed
		}
		isName := len(after) > 0 && after[0] == ':'
		switch b = append(b, rest[:n]...); {
		case !isName && string(text) != "*" && hides(r, name, text):
			b, changed = append(b, removed...), true
		default:
			b = append(b, rest[n:len(rest)-len(after)]...)
		}
		if isName {
			name = text
		}
		rest = after
	}
}

// hides reports whether a string is hidden.
func hides(r *pdulog.Redaction, name, text []byte) bool {
	switch string(name) {
	case "id", "client_id", "about", "accepted_at", "sent_at", "ended_at":
		return false
	case "source", "destination", "smsc_id", "about_smsc_id":
		if r.Numbers && pdulog.IsMobile(text) {
			return true
		}
	}
	if r.Of == nil {
		return false
	}
	if bytes.IndexByte(text, '\\') >= 0 { // digits after an escape do not belong to it
		text = []byte(Unescape(text))
	}
	isAddress := string(name) == "source" || string(name) == "destination" // an event does not contain the types of addresses
	return r.Of.IsNumber(text, isAddress) || r.Of.IsIn(text)
}
