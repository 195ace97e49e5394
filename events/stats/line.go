package stats

import (
	"pmg/pdulog"
	"pmg/sms"
)

// A line contains the fields of an event's line that are counted. Texts are slices of the line.
type line struct {
	number                 uint64
	kind, state, reason    []byte
	account, toAccount     []byte
	connector, toConnector []byte
	network, delivery      []byte
	accepted, ended        int64 // microseconds since 1970; 0: unknown
	part                   int   // number of the part, from 1
	price, refund          sms.Money
}

// read reads the line of an event, as events.Printer makes it. It reports false for other lines.
func (l *line) read(b []byte) bool {
	*l = line{part: 1}
	if len(b) < 2 || b[0] != '{' || b[len(b)-1] != '}' {
		return false
	}
	for b = b[1:]; ; b = b[1:] {
		name, rest, ok := quoted(b)
		if !ok || len(rest) < 2 || rest[0] != ':' {
			return false
		}
		var text []byte
		switch b = rest[1:]; b[0] {
		case '"':
			if text, b, ok = quoted(b); ok {
				l.text(name, text)
			}
		case '[':
			_, b, ok = list(b)
		default:
			var n uint64
			if n, b, ok = number(b); ok {
				l.count(name, n)
			}
		}
		switch {
		case !ok || len(b) == 0:
			return false
		case b[0] == '}':
			return len(b) == 1 && l.number != 0
		case b[0] != ',':
			return false
		}
	}
}

// quoted returns the quoted string at the start of b, with its escapes, and the octets behind it.
func quoted(b []byte) (text, rest []byte, ok bool) {
	if len(b) == 0 || b[0] != '"' {
		return nil, nil, false
	}
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return b[1:i], b[i+1:], true
		}
	}
	return nil, nil, false
}

// list cuts a list of strings off.
func list(b []byte) (text, rest []byte, ok bool) {
	for rest = b[1:]; ; rest = rest[1:] {
		if _, rest, ok = quoted(rest); !ok || len(rest) == 0 {
			return nil, nil, false
		}
		switch rest[0] {
		case ']':
			return b, rest[1:], true
		case ',':
		default:
			return nil, nil, false
		}
	}
}

// number cuts a number off.
func number(b []byte) (n uint64, rest []byte, ok bool) {
	i := 0
	for i < len(b) && b[i] >= '0' && b[i] <= '9' && i < 19 {
		n = n*10 + uint64(b[i]-'0')
		i++
	}
	return n, b[i:], i > 0
}

func (l *line) count(name []byte, n uint64) {
	switch string(name) {
	case "number":
		l.number = n
	case "part":
		l.part = int(n)
	}
}

func (l *line) text(name, text []byte) {
	switch string(name) {
	case "kind":
		l.kind = text
	case "state":
		l.state = text
	case "reason":
		l.reason = text
	case "account":
		l.account = text
	case "to_account":
		l.toAccount = text
	case "connector":
		l.connector = text
	case "to_connector":
		l.toConnector = text
	case "network":
		l.network = text
	case "delivery":
		l.delivery = text
	case "price":
		l.price, _ = sms.ReadMoney(string(text))
	case "refund":
		l.refund, _ = sms.ReadMoney(string(text))
	case "accepted_at":
		l.accepted = pdulog.Micros(text)
	case "ended_at":
		l.ended = pdulog.Micros(text)
	}
}
