package httpsms

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"pmg/internal/logtext"
	"pmg/protocols"
	"pmg/sms"
)

// A PDU is a request or an answer in the form of the pdu log: without the octets on the wire, and
// without secrets.
type PDU struct {
	Kind   int    // a command
	Number uint32 // number that a request and its answer share
	Code   uint32 // status of an answer
	fields logtext.Fields
	in     *incoming // request of a session, and its answer; nil: the PDU has only the form of the pdu log
}

// Begin empties the PDU and sets its command.
func (p *PDU) Begin(command int, number, status uint32) {
	p.begin(command, number, status)
}

// Add adds a field, which is left out if it is empty.
func (p *PDU) Add(name, value string) { p.fields.Add(name, value) }

// AddText adds a field with the text of a message, which is shown where texts are.
func (p *PDU) AddText(name string, value []byte) { p.fields.AddText(name, value) }

// Command implements protocols.PDU.
func (p *PDU) Command() int { return p.Kind }

// Status implements protocols.PDU. Success is 0, as in other protocols.
func (p *PDU) Status() uint32 {
	if p.Code != NoAnswer && p.Code < http.StatusMultipleChoices {
		return 0
	}
	return p.Code
}

// Sequence implements protocols.PDU.
func (p *PDU) Sequence() uint32 { return p.Number }

// IsAnswer implements protocols.PDU.
func (p *PDU) IsAnswer() bool {
	return p.Kind == SubmitAnswer || p.Kind == AskAnswer || p.Kind == ToldAnswer || p.Kind == DeliverAnswer
}

// MessageID implements protocols.PDU.
func (p *PDU) MessageID() []byte { return nil }

// Text implements protocols.PDU. A line has texts as UTF-8.
func (p *PDU) Text() (protocols.Text, bool) {
	text := p.fields.Text()
	return protocols.Text{Field: "text", Octets: text, Alphabet: sms.DefaultUTF8}, text != nil
}

// LoginStep implements protocols.PDU: each request has its credentials, and no request is logged before its
// credentials were accepted.
func (p *PDU) LoginStep() protocols.LoginStep { return protocols.NoLogin }

// AppendLog implements protocols.PDU.
func (p *PDU) AppendLog(b []byte, full bool) []byte {
	b = append(b, commands[p.Kind]...)
	b = strconv.AppendUint(append(b, " seq="...), uint64(p.Number), 10)
	if p.IsAnswer() {
		b = strconv.AppendUint(logtext.AppendName(b, "status"), uint64(p.Status()), 10)
		b = strconv.AppendUint(append(b, '('), uint64(p.Code), 10)
		b = append(append(append(b, '-'), (*Driver)(nil).StatusName(p.Code)...), ')')
	}
	return p.fields.Append(b, full)
}

// Reset implements protocols.PDU.
func (p *PDU) Reset() {
	p.begin(0, 0, 0)
	if p.in != nil {
		p.in.forget()
	}
}

// begin empties the form of the pdu log.
func (p *PDU) begin(command int, number, status uint32) {
	p.Kind, p.Number, p.Code = command, number, status
	p.fields.Reset()
}

// ParseLog implements protocols.Driver. It reads the output of AppendLog. The protocol has no octets.
func (*Driver) ParseLog(p protocols.PDU, line []byte) error {
	name, rest, _ := bytes.Cut(line, []byte(" "))
	kind := slices.Index(commands, string(name))
	if kind < 0 {
		return fmt.Errorf("%q is no command of HTTP", name)
	}
	q := p.(*PDU)
	q.Begin(kind, 0, 0)
	for field := []byte(nil); len(rest) > 0; {
		field, rest = logtext.NextField(rest)
		q.addParsed(field)
	}
	return protocols.ErrHidden
}

// addParsed adds a field of a line.
func (p *PDU) addParsed(field []byte) {
	name, value, _ := bytes.Cut(field, []byte("="))
	switch string(name) {
	case "seq":
		_, _ = fmt.Sscanf(string(value), "%d", &p.Number)
		return
	case "status":
		_, _ = fmt.Sscanf(string(value), "0(%d", &p.Code)
		if p.Code == 0 {
			_, _ = fmt.Sscanf(string(value), "%d", &p.Code)
		}
		return
	}
	p.fields.AddParsed(field, "text", "answer")
}
