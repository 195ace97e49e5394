package events

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"pmg/sms"
)

// A State is how a message has ended. docs/events.md describes each.
type State uint8

// The states.
const (
	Sent     State = iota // the peer has accepted the message
	Failed                // given up: the peer could not take the message at any attempt
	Rejected              // the peer has permanently refused the message
	Unknown               // given up: the message was sent, and no answer came
	Expired               // the validity ended before a peer accepted the message
	Deleted               // an operator has deleted the message, or the client has cancelled it
	Joined                // the message was a part of a long message that is sent whole, as another message
	Cut                   // the message is sent in parts, which are other messages
	states
)

var stateNames = [states]string{"sent", "failed", "rejected", "unknown", "expired", "deleted", "joined", "cut"}

// String returns the state's name, as events show it.
func (s State) String() string { return stateNames[s] }

// StateOf returns the state of a message that is settled with a code.
func StateOf(c sms.Code) State {
	switch c {
	case sms.OK:
		return Sent
	case sms.Expired:
		return Expired
	case sms.Timeout, sms.Lost:
		return Unknown
	case sms.Deleted:
		return Deleted
	}
	if c.Retryable() {
		return Failed
	}
	return Rejected
}

// kindName returns the name of a kind of message.
func kindName(k sms.Kind) string {
	switch k {
	case sms.MO:
		return "mo"
	case sms.Receipt:
		return "receipt"
	}
	return "submit"
}

// An Event describes how a message has ended. Empty fields are left out of the line. Times are Unix
// nanoseconds by the wall clock; 0 means unknown.
type Event struct {
	Number uint64
	ID     uint64 // id of the message
	Kind   sms.Kind
	State  State
	Reason sms.Code

	Account, Connector     string // where the message came from
	ToConnector, ToAccount string // the lane of the message, in which it was last: one of the fields is set
	Source, Destination    []byte

	Accepted, Sent, Ended int64
	Attempts, Sends       int

	Answered   bool   // Status counts
	Status     uint32 // the protocol's number
	StatusName string
	PeerID     []byte // the SMSC's id of the message

	Delivery *Delivery // content of a receipt; nil: the message is no receipt, or the content is unknown

	ClientID    uint64 // id of the message, as the client knows it; 0: ID is that id
	Tags        []byte // tags of the message, separated by a space; the last is the plugin and its verdict
	Network     sms.Network
	Charge      Charge
	Part, Parts uint8 // with Parts > 1, the message is part number Part, from 0, of a split message
}

// A Charge is what a message costs.
type Charge struct {
	Price  sms.Money // what the account was charged
	Cost   sms.Money // what the SMSC charges
	Shorts uint8     // number of short messages that both are for; 0: one
}

// append appends the fields of a charge.
func (c *Charge) append(b []byte) []byte {
	if c.Price != 0 {
		b = append(c.Price.Append(append(b, `,"price":"`...)), '"')
	}
	if c.Cost != 0 {
		b = append(c.Cost.Append(append(b, `,"cost":"`...)), '"')
	}
	if c.Shorts > 1 && c.Price|c.Cost != 0 {
		b = strconv.AppendUint(append(b, `,"short_messages":`...), uint64(c.Shorts), 10)
	}
	return b
}

// A BalanceEvent is a change of an account's balance other than by prices: a charge for a message was given
// back, or the balance has become low. At is by the wall clock.
type BalanceEvent struct {
	Number  uint64
	ID      uint64 // id of the message; 0: the balance is low
	Account string
	Network sms.Network
	Refund  sms.Money
	Balance sms.Money // balance after the event
	At      int64
}

// A Delivery is the content of a receipt about another message.
type Delivery struct {
	Client       uint64 // id of the message, as the client knows it; 0: unknown
	Peer         []byte // the SMSC's id of the message, if Client is 0
	State        sms.State
	Error        []byte // error as the SMSC has written it
	Network      uint8
	NetworkError uint16
}

// append appends the fields of a receipt.
func (d *Delivery) append(b []byte) []byte {
	if d.Client != 0 {
		b = append(sms.AppendID(append(b, `,"about":"`...), d.Client), '"')
	} else {
		b = appendText(b, `,"about_smsc_id":"`, d.Peer)
	}
	if d.State != sms.NoState {
		b = append(append(append(b, `,"delivery":"`...), d.State.String()...), '"')
	}
	b = appendText(b, `,"error":"`, d.Error)
	if d.Network != 0 {
		b = strconv.AppendUint(append(b, `,"network_type":`...), uint64(d.Network), 10)
		b = strconv.AppendUint(append(b, `,"network_error":`...), uint64(d.NetworkError), 10)
	}
	return b
}

// A Printer makes lines of events. It keeps the texts of seconds, which many events share.
type Printer struct{ accepted, sent, ended clock }

// Append appends the line of an event, without its end.
func (p *Printer) Append(b []byte, e *Event) []byte {
	b = strconv.AppendUint(append(b, prefix...), e.Number, 10)
	b = append(sms.AppendID(append(b, `,"id":"`...), e.ID), '"')
	b = append(append(append(b, `,"kind":"`...), kindName(e.Kind)...), '"')
	b = append(append(append(b, `,"state":"`...), e.State.String()...), '"')
	if e.State != Deleted {
		b = append(append(append(b, `,"reason":"`...), e.Reason.String()...), '"')
	}
	b = appendText(b, `,"account":"`, e.Account)
	b = appendText(b, `,"connector":"`, e.Connector)
	b = appendText(b, `,"to_connector":"`, e.ToConnector)
	b = appendText(b, `,"to_account":"`, e.ToAccount)
	b = appendText(b, `,"source":"`, e.Source)
	b = appendText(b, `,"destination":"`, e.Destination)
	b = p.accepted.append(b, `,"accepted_at":"`, e.Accepted)
	b = p.sent.append(b, `,"sent_at":"`, e.Sent)
	b = p.ended.append(b, `,"ended_at":"`, e.Ended)
	b = strconv.AppendInt(append(b, `,"attempts":`...), int64(e.Attempts), 10)
	b = strconv.AppendInt(append(b, `,"sends":`...), int64(e.Sends), 10)
	if e.Answered {
		b = strconv.AppendUint(append(b, `,"status":`...), uint64(e.Status), 10)
		b = appendText(b, `,"status_name":"`, e.StatusName)
	}
	b = appendText(b, `,"smsc_id":"`, e.PeerID)
	if e.ClientID != 0 {
		b = append(sms.AppendID(append(b, `,"client_id":"`...), e.ClientID), '"')
	}
	if e.Delivery != nil {
		b = e.Delivery.append(b)
	}
	if e.Network != 0 {
		b = append(e.Network.Append(append(b, `,"network":"`...)), '"')
	}
	b = e.Charge.append(b)
	if len(e.Tags) > 0 {
		b = appendTags(b, string(e.Tags))
	}
	if e.Parts > 1 {
		b = strconv.AppendUint(append(b, `,"part":`...), uint64(e.Part)+1, 10)
	}
	return append(strconv.AppendUint(append(b, `,"parts":`...), uint64(max(e.Parts, 1)), 10), '}')
}

// AppendBalance appends the line of an event about a balance, without its end.
func (p *Printer) AppendBalance(b []byte, e *BalanceEvent) []byte {
	b = strconv.AppendUint(append(b, prefix...), e.Number, 10)
	if e.ID == 0 {
		b = append(b, `,"kind":"low_balance"`...)
	} else {
		b = append(sms.AppendID(append(b, `,"id":"`...), e.ID), `","kind":"refund","refund":"`...)
		b = append(e.Refund.Append(b), '"')
	}
	b = appendText(b, `,"account":"`, e.Account)
	if e.Network != 0 {
		b = append(e.Network.Append(append(b, `,"network":"`...)), '"')
	}
	b = append(e.Balance.Append(append(b, `,"balance":"`...)), '"')
	return append(p.ended.append(b, `,"ended_at":"`, e.At), '}')
}

// appendTags appends the tags, and the last mark as the plugin and its verdict.
func appendTags(b []byte, tags string) []byte {
	before, mark, by := `,"tags":[`, sms.Mark(""), ""
	for tag := range strings.FieldsSeq(tags) {
		if k, name := sms.ReadMark(tag); k != "" {
			mark, by = k, name
			continue
		}
		b = appendText(b, before+`"`, tag)
		before = ","
	}
	if before == "," {
		b = append(b, ']')
	}
	if mark != "" {
		b = appendText(appendText(b, `,"plugin":"`, by), `,"verdict":"`, mark.Verdict())
	}
	return b
}

// Escape returns a text as it stands in lines.
func Escape(text string) string { return strings.TrimSuffix(string(appendText(nil, "", text)), `"`) }

// Unescape returns the text of what stands in a line.
func Unescape(text []byte) string {
	var s string
	if err := json.Unmarshal(slices.Concat([]byte{'"'}, text, []byte{'"'}), &s); err != nil {
		return string(text)
	}
	return s
}

// appendText appends a field that is a string, unless it is empty. Octets above 0x7f that are not UTF-8 are the characters of
// Latin-1 with these numbers.
func appendText[T string | []byte](b []byte, name string, text T) []byte {
	const digits = "0123456789abcdef"
	if len(text) == 0 {
		return b
	}
	b = append(b, name...)
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf {
			if r, n := utf8.DecodeRuneInString(string(text[i:min(i+utf8.UTFMax, len(text))])); n > 1 {
				b = utf8.AppendRune(b, r)
				i += n - 1
				continue
			}
		}
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < 0x20 || c >= 0x7f:
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// secondLayout is RFC 3339 up to the second.
const secondLayout = "2006-01-02T15:04:05"

// A clock prints times, most of which are in the same second as the previous one.
type clock struct {
	second int64
	text   [len(secondLayout) + 4]byte // room for a year beyond 9999
	n      int
}

// append appends a field that is a time in UTC with microseconds, unless it is 0.
func (c *clock) append(b []byte, name string, at int64) []byte {
	if at == 0 {
		return b
	}
	second, rest := at/int64(time.Second), at%int64(time.Second)
	if rest < 0 {
		second, rest = second-1, rest+int64(time.Second)
	}
	if second != c.second || c.n == 0 {
		c.second = second
		c.n = len(time.Unix(second, 0).UTC().AppendFormat(c.text[:0], secondLayout))
	}
	b = append(append(b, name...), c.text[:c.n]...)
	micro := rest / 1000
	b = append(b, '.', '0', '0', '0', '0', '0', '0', 'Z', '"')
	for i := len(b) - 3; micro > 0; i-- {
		b[i] = byte('0' + micro%10)
		micro /= 10
	}
	return b
}
