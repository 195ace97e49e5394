package events

import (
	"pmg/pdulog"
	"pmg/sms"
)

// A Line contains the fields of an event's line that are counted and summed up. Texts are slices of the line, with its escapes.
type Line struct {
	Number                 uint64
	Kind, State, Reason    []byte
	Account, ToAccount     []byte
	Connector, ToConnector []byte
	Source, Destination    []byte
	Network, Delivery      []byte
	Accepted, Ended        int64 // microseconds since 1970; 0: unknown
	Part                   int   // number of the part, from 1
	Shorts                 int   // number of short messages that Price and Cost are for
	Price, Refund, Cost    sms.Money
}

// Read reads the line of an event, as Printer makes it. It reports false for other lines.
func (l *Line) Read(b []byte) bool {
	*l = Line{Part: 1, Shorts: 1}
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
			return len(b) == 1 && l.Number != 0
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

func (l *Line) count(name []byte, n uint64) {
	switch string(name) {
	case "number":
		l.Number = n
	case "part":
		l.Part = int(n)
	case "short_messages":
		l.Shorts = int(n)
	}
}

func (l *Line) text(name, text []byte) {
	switch string(name) {
	case "kind":
		l.Kind = text
	case "state":
		l.State = text
	case "reason":
		l.Reason = text
	case "account":
		l.Account = text
	case "to_account":
		l.ToAccount = text
	case "connector":
		l.Connector = text
	case "to_connector":
		l.ToConnector = text
	case "source":
		l.Source = text
	case "destination":
		l.Destination = text
	case "network":
		l.Network = text
	case "delivery":
		l.Delivery = text
	case "price":
		l.Price, _ = sms.ReadMoney(string(text))
	case "refund":
		l.Refund, _ = sms.ReadMoney(string(text))
	case "cost":
		l.Cost, _ = sms.ReadMoney(string(text))
	case "accepted_at":
		l.Accepted = pdulog.Micros(text)
	case "ended_at":
		l.Ended = pdulog.Micros(text)
	}
}
