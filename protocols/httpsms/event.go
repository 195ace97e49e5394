package httpsms

import (
	"encoding/binary"
	"fmt"
	"strings"

	"pmg/sms"
)

// A Request is a request as it was read, from which a dialect makes Orders.
type Request struct {
	Method, Path, Query string // parts of the URL; Query is the part behind the '?'
	Header              map[string][]string
	Body                []byte
}

// Get returns a header; name is in its canonical form, as Content-Type.
func (r *Request) Get(name string) string {
	if v := r.Header[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// An Answer is the answer to a request.
type Answer struct {
	Status      int
	ContentType string
	Header      [][2]string // further header fields
	Body        []byte
}

// Later returns an answer with the time after which the client may retry.
func Later(a *Answer) *Answer {
	a.Header = append(a.Header, [2]string{"Retry-After", "5"})
	return a
}

// A Result is the result of an Order.
type Result struct {
	ID    uint64   // id of the message, if Code is OK
	Code  sms.Code // OK, or the reason of the refusal
	Step  string   // step that has refused the message: one of the steps for messages that come in
	Parts int      // number of short messages
}

// An Event is the content of a call to a client: the outcome of a message, or a message for the client.
type Event struct {
	ID        uint64 // id of the message, as the client knows it
	Attempt   uint64 // number of the event, which stays the same when the event is sent again
	Account   string
	Connector string // public_name of the connector by which the message or report came; "": clients do not see the name
	Network   string // network of the mobile, MCC and MNC; "": unknown, or hidden from the client
	At        int64  // Unix nanoseconds

	// Report is the outcome of a message, for the client that wrote From and To. Its State is
	// sms.StateEnroute when an SMSC has accepted the message; then Report.ID is the SMSC's id, if clients see
	// ids, and Status is the SMSC's answer.
	Report   *sms.Report // the outcome of a message; nil: the event is a message from a mobile
	From, To sms.Address
	Status   uint32
	Reason   string // name of the status, or why the gateway gave the message up
	Taken    bool   // an SMSC has accepted the message, and no receipt has come
	Context  sms.Context

	Message *sms.Message // message from a mobile
}

// AnswerOf reads sms.Report.Answer: the status with which an SMSC has refused a message, and its name; or the
// reason why the gateway has given the message up.
func AnswerOf(answer []byte) (status uint32, reason string) {
	if len(answer) < 4 {
		return 0, ""
	}
	return binary.BigEndian.Uint32(answer), string(answer[4:])
}

// A Call is a request that brings an event to a client.
type Call struct {
	Method, URL string
	Header      [][2]string
	Body        []byte
	Taken       func(status int, body []byte) bool // reports whether an answer means that the client has the event

	Replied func(mediaType string, body []byte) // gets a taken call's answer body, up to 64 KiB; nil: the body is not used
}

// UUID returns the id of a message as a UUID of version 8, for clients whose columns have 36 characters.
func UUID(id uint64) string {
	return fmt.Sprintf("%08x-%04x-8%03x-8%03x-%012x", id>>32, id>>16&0xFFFF, id>>4&0xFFF, id&0xF, uint64(uuidNode))
}

const uuidNode = 0x706d67000000 // "pmg"

// ParseID reads the id of a message in either form: 16 hexadecimal digits, or as UUID writes it.
func ParseID(text string) (uint64, error) {
	if len(text) != 36 {
		return sms.ParseID(text)
	}
	d := strings.ReplaceAll(strings.ToLower(text), "-", "")
	if len(d) != 32 || d[12] != '8' || d[16] != '8' || d[17] != '0' || d[18] != '0' {
		return 0, fmt.Errorf("%q is not the id of a message", text)
	}
	id, err := sms.ParseID(d[:12] + d[13:16] + d[19:20])
	if err != nil || UUID(id) != strings.ToLower(text) {
		return 0, fmt.Errorf("%q is not the id of a message", text)
	}
	return id, nil
}
