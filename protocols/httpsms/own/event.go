package own

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"time"

	"pmg/internal/smstext"
	"pmg/protocols/httpsms"
	"pmg/sms"
	"pmg/sms/userdata"
)

// An Event is the body of a call to a webhook, in the form of Standard Webhooks.
type Event struct {
	ID        string    `json:"id,omitempty"` // id of an event in a batch; a single event has it in the header webhook-id
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      any       `json:"data"`
}

// A Status is the state of a message: the data of an event whose type is "message." and the state.
type Status struct {
	ID           string `json:"id"`
	Reference    string `json:"client_reference,omitempty"`
	From         string `json:"from"`
	To           string `json:"to"`
	State        string `json:"state"`
	Sequence     int    `json:"sequence"`                // an event with a lower number than an earlier one is out of date
	Reason       string `json:"reason,omitempty"`        // name of the SMSC's status, or why the gateway gave the message up
	SMSCStatus   uint32 `json:"smsc_status,omitempty"`   // the SMSC's answer
	NetworkError string `json:"network_error,omitempty"` // error as the SMSC has written it
	SMSCID       string `json:"smsc_id,omitempty"`
	Parts        int    `json:"parts,omitempty"`
	Connector    string `json:"connector,omitempty"`
	Network      string `json:"network,omitempty"` // network of the recipient, MCC and MNC
	Quote
	AcceptedAt *time.Time `json:"accepted_at,omitempty"`
	At         time.Time  `json:"at"` // when the message came to this state
}

// A Received is a message from a mobile: the data of an event of type "inbound.received".
type Received struct {
	ID         string    `json:"id"`
	From       string    `json:"from"`
	To         string    `json:"to"`
	Encoding   string    `json:"encoding"`
	Text       *string   `json:"text,omitempty"`   // nil if the message has no readable text
	Binary     string    `json:"binary,omitempty"` // octets of a message without text, in base64
	UDH        string    `json:"udh,omitempty"`    // user data header with its length octet, in base64
	Part       *Part     `json:"part,omitempty"`   // nil: the message is no part
	Connector  string    `json:"connector,omitempty"`
	Network    string    `json:"network,omitempty"` // network of the sender, MCC and MNC
	ReceivedAt time.Time `json:"received_at"`
}

// A Part is which part of a long message a message is.
type Part struct {
	Reference uint16 `json:"reference"`
	Number    uint8  `json:"number"` // from 1
	Parts     uint8  `json:"parts"`
}

// Tell returns the call for one event.
func Tell(e *httpsms.Event) *httpsms.Call { return tell(e.Context.URL, EventOf(e)) }

// TellAll returns one call for several events: the events are the data of an event of the call itself.
func TellAll(url string, at int64, events []Event) *httpsms.Call {
	return tell(url, Event{Type: batchType, Timestamp: wall(at), Data: events})
}

// Test returns the call that shows whether a webhook of an account works.
func Test(url, account string, at int64) *httpsms.Call {
	return tell(url, Event{Type: TestType, Timestamp: wall(at), Data: struct {
		Account string `json:"account"`
	}{account}})
}

// LowBalance returns the call that informs a client that its balance is below the threshold of its account.
func LowBalance(url, account string, balance, low sms.Money, at int64) *httpsms.Call {
	return tell(url, Event{Type: lowType, Timestamp: wall(at), Data: struct {
		Account string `json:"account"`
		Balance string `json:"balance"`
		Low     string `json:"low"`
	}{account, balance.String(), low.String()}})
}

// lowType is the type of an event about a low balance.
const lowType = "balance.low"

// TestType is the type of an event that only tests a webhook.
const TestType = "webhook.test"

// EventOf returns the event in the form of a webhook.
func EventOf(e *httpsms.Event) Event {
	if e.Message != nil {
		return inbound(e)
	}
	return report(e)
}

// TypeOf returns the type of an event.
func TypeOf(e *httpsms.Event) string {
	if e.Message != nil {
		return inboundType
	}
	return "message." + reported(e)
}

// inboundType is the type of an event that brings a message from a mobile.
const inboundType = "inbound.received"

// batchType is the type of an event that brings others.
const batchType = "batch"

// report returns the event of a message's outcome.
func report(e *httpsms.Event) Event {
	r := e.Report
	d := Status{
		ID: sms.FormatID(e.ID), Reference: e.Context.Reference, From: httpsms.Number(e.From), To: httpsms.Number(e.To),
		State: reported(e), Reason: e.Reason, SMSCStatus: e.Status, NetworkError: string(r.AppendError(nil)),
		SMSCID: string(r.ID),
		Parts:  int(max(r.Parts, e.Context.Parts)), Connector: e.Connector, Network: e.Network, At: wall(e.At),
		Quote: QuoteOf(e.Context.Quote),
	}
	d.Sequence = sequence(d.State)
	if d.Reason == "" {
		d.Reason = string(r.Word)
	}
	if r.Accepted != 0 {
		at := wall(r.Accepted)
		d.AcceptedAt = &at
	}
	if r.Done != 0 {
		d.At = wall(r.Done)
	}
	return Event{Type: TypeOf(e), Timestamp: wall(e.At), Data: d}
}

// reported returns the state that an event shows. A receipt for a message that is still under way only means
// that the network has the message.
func reported(e *httpsms.Event) string {
	switch s := e.Report.State; {
	case e.Taken:
		return sent
	case s == sms.NoState: // the state is the SMSC's own word, which may mean anything
		return unknown
	case !s.Final():
		return buffered
	default:
		return StateOf(s, !e.Report.Untaken)
	}
}

// inbound returns the event with a message from a mobile.
func inbound(e *httpsms.Event) Event {
	m := e.Message
	d := Received{
		ID: sms.FormatID(e.ID), From: httpsms.Number(m.Source()), To: httpsms.Number(m.Dest()), Encoding: encodingOf(m.Alphabet),
		Connector: e.Connector, Network: e.Network, ReceivedAt: wall(e.At),
	}
	octets, hasHeader := m.Text(), m.Flags&sms.HasHeader != 0
	if head, rest, ok := userdata.Cut(octets); hasHeader && ok {
		d.UDH = base64.StdEncoding.EncodeToString(head)
		if h, err := userdata.Parse(head); err == nil && h.Part.Valid() {
			d.Part = &Part{h.Part.Reference, h.Part.Number, h.Part.Total}
		}
		octets = rest
	}
	if text, ok := smstext.Decode(m.Alphabet, hasHeader, m.Text()); ok {
		d.Text = &text
	} else {
		d.Binary = base64.StdEncoding.EncodeToString(octets)
	}
	return Event{Type: inboundType, Timestamp: wall(e.At), Data: d}
}

// encodingOf returns the encoding of texts in an alphabet, by the name that messages are sent with.
func encodingOf(a sms.Alphabet) string {
	switch a {
	case sms.Default, sms.DefaultPacked:
		return "gsm7"
	case sms.ASCII, sms.DefaultASCII, sms.Latin1, sms.DefaultLatin1:
		return "latin1"
	case sms.UCS2, sms.DefaultUCS2, sms.DefaultUTF8, sms.Cyrillic, sms.Hebrew:
		return "ucs2"
	}
	return "binary"
}

func tell(url string, e Event) *httpsms.Call {
	body, _ := json.Marshal(e) // marshalling cannot fail: these types have only values that JSON has
	return &httpsms.Call{Method: http.MethodPost, URL: url, Header: [][2]string{{"Content-Type", "application/json"}}, Body: body}
}

// wall returns a time in the form for JSON: in UTC, with milliseconds.
func wall(nanoseconds int64) time.Time {
	return time.Unix(0, nanoseconds).UTC().Truncate(time.Millisecond)
}
