package testsms

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"pmg/internal/logtext"
	"pmg/protocols"
	"pmg/sms"
)

// A PDU is a request or an answer as the pdu log has it.
type PDU struct {
	kind   int
	number uint32 // pairs a request with its answer
	status uint32 // of an answer: an sms.Code
	fields logtext.Fields
}

// Begin empties the PDU and makes it one of a command.
func (p *PDU) Begin(command int, number uint32, code sms.Code) {
	p.Reset()
	p.kind, p.number, p.status = command, number, uint32(code)
}

// Add adds a field, which is left out if it is empty.
func (p *PDU) Add(name, value string) { p.fields.Add(name, value) }

// AddText adds a field with the text of a message, which is shown where texts are.
func (p *PDU) AddText(name string, value []byte) { p.fields.AddText(name, value) }

// Command implements protocols.PDU.
func (p *PDU) Command() int { return p.kind }

// Status implements protocols.PDU.
func (p *PDU) Status() uint32 { return p.status }

// Sequence implements protocols.PDU.
func (p *PDU) Sequence() uint32 { return p.number }

// IsAnswer implements protocols.PDU.
func (p *PDU) IsAnswer() bool { return p.kind == SubmitAnswer || p.kind == DeliverAnswer }

// MessageID implements protocols.PDU.
func (p *PDU) MessageID() []byte { return nil }

// Text implements protocols.PDU. A line has texts as UTF-8.
func (p *PDU) Text() (protocols.Text, bool) {
	text := p.fields.Text()
	return protocols.Text{Field: "text", Octets: text, Alphabet: sms.DefaultUTF8}, text != nil
}

// LoginStep implements protocols.PDU.
func (p *PDU) LoginStep() protocols.LoginStep { return protocols.NoLogin }

// AppendWire implements protocols.PDU: there are no octets.
func (p *PDU) AppendWire(b []byte) []byte { return b }

// AppendLog implements protocols.PDU.
func (p *PDU) AppendLog(b []byte, full bool) []byte {
	b = append(b, commands[p.kind]...)
	b = strconv.AppendUint(append(b, " seq="...), uint64(p.number), 10)
	if p.IsAnswer() {
		if b = logtext.AppendName(b, "status"); p.status == uint32(sms.OK) {
			b = append(b, '0')
		} else {
			b = logtext.AppendCode(b, p.status, (*Driver)(nil).StatusName(p.status))
		}
	}
	return p.fields.Append(b, full)
}

// Reset implements protocols.PDU.
func (p *PDU) Reset() {
	p.kind, p.number, p.status = unknownCommand, 0, 0
	p.fields.Reset()
}

// ParseLog implements protocols.Driver. It finds what AppendLog has printed, and no octets: there are none.
func (*Driver) ParseLog(p protocols.PDU, line []byte) error {
	name, rest, _ := bytes.Cut(line, []byte(" "))
	kind := slices.Index(commands, string(name))
	if kind < 0 {
		return fmt.Errorf("%q is no command of protocol test", name)
	}
	q := p.(*PDU)
	q.Begin(kind, 0, sms.OK)
	for field := []byte(nil); len(rest) > 0; {
		field, rest = logtext.NextField(rest)
		switch name, value, _ := bytes.Cut(field, []byte("=")); string(name) {
		case "seq":
			_, _ = fmt.Sscanf(string(value), "%d", &q.number)
		case "status":
			_, _ = fmt.Sscanf(string(value), "0x%x", &q.status)
		default:
			q.fields.AddParsed(field, "text")
		}
	}
	return protocols.ErrHidden
}
