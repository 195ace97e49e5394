package events

import (
	"bytes"

	"pmg/pdulog"
)

// AppendKeys appends the keys by which a line is found, and returns the line's time in microseconds: a
// logfile.Keyer. Keys are made as for pdu logs.
func AppendKeys(line []byte, keys []uint64) (all []uint64, at int64) {
	for rest := line; ; {
		var name, value []byte
		var ok bool
		if _, rest, ok = bytes.Cut(rest, []byte{'"'}); !ok {
			return keys, at
		}
		if name, rest, ok = bytes.Cut(rest, []byte{'"'}); !ok || len(rest) < 2 {
			return keys, at
		}
		if rest[0] != ':' || rest[1] != '"' { // a number
			continue
		}
		if value, rest, ok = cutText(rest[2:]); !ok {
			return keys, at
		}
		switch string(name) {
		case "id", "about", "client_id", "smsc_id":
			keys = append(keys, pdulog.IDHash(value))
		case "source", "destination":
			keys = append(keys, pdulog.NumberHash(value))
		case "ended_at":
			at = pdulog.Micros(value)
		}
	}
}

// cutText cuts off a string up to its quotation mark.
func cutText(rest []byte) (text, after []byte, ok bool) {
	for end := 0; ; end++ {
		n := bytes.IndexByte(rest[end:], '"')
		if n < 0 {
			return nil, nil, false
		}
		end += n
		slashes := 0
		for slashes < end && rest[end-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return rest[:end], rest[end+1:], true
		}
	}
}
