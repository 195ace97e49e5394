// Package toy is a protocol driver for tests of code that uses drivers. A PDU contains the action of its session, so that a
// test can bring a session into any state without a protocol.
//
// # Start reading
//
// PDU, then Session. A test fills PDU.Action, or passes it in octets to the driver's Decode.
package toy

import (
	"errors"

	"pmg/protocols"
	"pmg/sms"
)

// A driver implements as much of a protocol as the tests need. It has the name of a real protocol, so that a configuration can
// select it.
//
// A PDU is its length, a letter for the action, and the action's data. The length is one octet, or 255 and two octets. The
// length 0 is a loss of framing.
type driver struct{ protocols.SessionDriver }

// New returns a driver.
func New() protocols.SessionDriver { return driver{} }

func (driver) Name() string                                                { return "smpp" }
func (driver) Commands() []string                                          { return []string{"pdu"} }
func (driver) StatusName(uint32) string                                    { return "" }
func (driver) Protocol() sms.Protocol                                      { return protocols.SMPP }
func (driver) Losses() []protocols.Loss                                    { return nil }
func (driver) Leave(*sms.Message) (lost protocols.Lost)                    { return lost }
func (driver) Lacks(*sms.Message, protocols.Options) (lost protocols.Lost) { return lost }
func (driver) NewPDU() protocols.PDU                                       { return &PDU{} }

func (driver) NewSession(o protocols.SessionOptions) protocols.Session {
	return &Session{taken: o.Taken}
}

func (driver) Frame(b []byte) (int, error) {
	switch {
	case b[0] == 0:
		return 0, errors.New("no length")
	case b[0] < 255:
		return int(b[0]), nil
	case len(b) < 3:
		return 3, nil
	}
	return int(b[1])<<8 | int(b[2]), nil
}

// Decode panics at '!'. At 'x' the session panics.
func (driver) Decode(p protocols.PDU, b []byte) error {
	t := p.(*PDU)
	*t = PDU{Octets: b}
	if len(b) < 2 {
		return nil
	}
	switch b[1] {
	case '!':
		panic("toy")
	case 'x':
		t.panics = true
	case 'e':
		t.Action.Kind = protocols.Send
	case 'l':
		t.Action.Kind = protocols.Login
		t.Action.Credentials = protocols.Credentials{SystemID: []byte("load"), Password: b[2:], Bind: protocols.Transceiver}
	case 'm':
		t.Action.Kind, t.Content = protocols.Message, b[2:]
	case 'a':
		t.Action.Kind, t.Action.Sequence = protocols.Answered, uint32(b[len(b)-1]-'0')
	case 'u':
		t.Action.Kind, t.Action.Reason = protocols.SendClose, "logged out"
	case 'c':
		t.Action.Kind, t.Action.Reason = protocols.Close, "closed"
	}
	return nil
}

// A PDU is the action of a session that receives it, and its answer.
type PDU struct {
	header
	Action  protocols.Action
	Octets  []byte
	Number  uint32
	IsReply bool
	Step    protocols.LoginStep
	panics  bool

	// The message.
	Kind      sms.Kind
	DeliverAt int64
	Content   []byte // nil: "text"
	Alphabet  sms.Alphabet
	Header    bool // the content begins with a header
	Op        protocols.Operation

	// The answer.
	Answered bool
	Code     sms.Code
	ID       uint64
	Refused  []int // indexes of refused recipients
	to       int   // index of the recipient that Session.To has selected
}

// A header implements the methods that are the same for all PDUs.
type header struct{}

func (header) Command() int                 { return 0 }
func (header) Status() uint32               { return 0 }
func (header) MessageID() []byte            { return nil }
func (header) Text() (protocols.Text, bool) { return protocols.Text{}, false }

// Sequence returns Number.
func (p *PDU) Sequence() uint32 { return p.Number }

// IsAnswer returns IsReply.
func (p *PDU) IsAnswer() bool { return p.IsReply }

// LoginStep returns Step.
func (p *PDU) LoginStep() protocols.LoginStep { return p.Step }

// Reset clears all fields.
func (p *PDU) Reset() { *p = PDU{} }

// AppendWire appends the octets. For an answer it appends the octets after the length, and the code.
func (p *PDU) AppendWire(b []byte) []byte {
	if p.Answered && len(p.Octets) > 0 {
		return append(append(append(b, p.Octets[1:]...), ' '), p.Code.String()...)
	}
	return append(b, p.Octets...)
}

// AppendLog appends the same as AppendWire.
func (p *PDU) AppendLog(b []byte, _ bool) []byte { return p.AppendWire(b) }

// A Session performs the actions of its PDUs. It has no timers.
type Session struct {
	timers
	As     protocols.BindType // type of the login; 0: the session is not logged in
	Number uint32             // number of the last request
	taken  func(uint32) bool
}

type timers struct{}

func (timers) Start(int64, protocols.PDU) (a protocols.Action)      { return a }
func (timers) Tick(int64, protocols.PDU, bool) (a protocols.Action) { return a }

// Receive returns the action of a PDU.
func (s *Session) Receive(_ int64, p protocols.PDU) protocols.Action {
	if p.(*PDU).panics {
		panic("toy")
	}
	return p.(*PDU).Action
}

// Login answers a login.
func (s *Session) Login(_ int64, p protocols.PDU, code sms.Code) protocols.Action {
	s.Answer(p, code, 0)
	if code != sms.OK {
		return protocols.Action{Kind: protocols.SendClose, Reason: "login refused"}
	}
	s.As = protocols.Transceiver
	return protocols.Action{Kind: protocols.Send}
}

// Unbind makes a PDU a logout.
func (s *Session) Unbind(_ int64, p protocols.PDU) protocols.Action {
	if s.As == 0 {
		return protocols.Action{Kind: protocols.Close, Reason: "not logged in"}
	}
	p.(*PDU).Action = protocols.Action{Kind: protocols.Logout}
	return p.(*PDU).Action
}

// Idle answers the peer's logout.
func (s *Session) Idle(int64, protocols.PDU) protocols.Action {
	return protocols.Action{Kind: protocols.SendClose, Reason: "peer logged out"}
}

// Message makes a message of a PDU, for 491701234567.
func (s *Session) Message(_ int64, p protocols.PDU, m *sms.Message) sms.Code {
	t, text := p.(*PDU), p.(*PDU).Content
	if text == nil {
		text = []byte("text")
	}
	m.Set(sms.Address{}, sms.Address{Addr: []byte("491701234567")}, text)
	m.Kind, m.Alphabet, m.DeliverAt = t.Kind, t.Alphabet, t.DeliverAt
	if t.Header {
		m.Flags |= sms.HasHeader
	}
	return sms.OK
}

// Answer records an answer.
func (s *Session) Answer(p protocols.PDU, code sms.Code, id uint64) {
	t := p.(*PDU)
	t.Answered, t.Code, t.ID = true, code, id
}

// Encode makes the text of a message the octets of a PDU.
func (s *Session) Encode(_ int64, p protocols.PDU, m *sms.Message, _ uint32) {
	p.(*PDU).Octets = m.Text()
}

// NextSequence returns the next number that is not taken.
func (s *Session) NextSequence() uint32 {
	for s.Number++; s.taken != nil && s.taken(s.Number); {
		s.Number++
	}
	return s.Number
}

// Bound returns As.
func (s *Session) Bound() protocols.BindType { return s.As }

// Accepting reports whether the session is logged in.
func (s *Session) Accepting() bool { return s.As != 0 }

// To selects a recipient.
func (s *Session) To(p protocols.PDU, i int) { p.(*PDU).to = i }

// Refuse records the selected recipient as refused.
func (s *Session) Refuse(p protocols.PDU, _ sms.Code) {
	p.(*PDU).Refused = append(p.(*PDU).Refused, p.(*PDU).to)
}

// Operation returns the operation of a PDU.
func (s *Session) Operation(_ int64, p protocols.PDU) (protocols.Operation, sms.Code) {
	return p.(*PDU).Op, sms.OK
}

// AnswerOperation records an answer, with the id of the message that the operation was about.
func (s *Session) AnswerOperation(p protocols.PDU, code sms.Code, r *protocols.Result) {
	s.Answer(p, code, 0)
	if r != nil {
		p.(*PDU).ID = r.ID
	}
}
