package stages

import (
	"errors"

	"pmg/protocols"
	"pmg/sms"
)

// A toy is a protocol whose PDUs begin with their length in one octet, or with 255 and
// their length in two. The length 0 is a loss of framing. The next octet is the action of
// the session that receives the PDU.
type toy struct{}

func (toy) Name() string                         { return "toy" }
func (toy) Commands() []string                   { return []string{"pdu"} }
func (toy) StatusName(uint32) string             { return "" }
func (toy) Protocol() sms.Protocol               { return 0 }
func (toy) Losses() []protocols.Loss             { return nil }
func (toy) Leave(*sms.Message) protocols.Lost    { return protocols.Lost{} }
func (toy) NewPDU() protocols.PDU                { return &toyPDU{} }
func (toy) ParseLog(protocols.PDU, []byte) error { return nil }

func (toy) Lacks(*sms.Message, protocols.Options) (lost protocols.Lost) { return lost }

func (toy) Decode(p protocols.PDU, b []byte) error {
	if len(b) > 1 && b[1] == '!' {
		panic("toy")
	}
	p.(*toyPDU).b = b
	return nil
}

func (toy) Frame(b []byte) (int, error) {
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

func (toy) NewSession(o protocols.SessionOptions) protocols.Session {
	return &toySession{taken: o.Taken}
}

type toyPDU struct {
	b    []byte
	step protocols.LoginStep
}

func (p *toyPDU) Command() int                      { return 0 }
func (p *toyPDU) Status() uint32                    { return 0 }
func (p *toyPDU) IsAnswer() bool                    { return false }
func (p *toyPDU) Sequence() uint32                  { return 0 }
func (p *toyPDU) MessageID() []byte                 { return nil }
func (p *toyPDU) Text() (protocols.Text, bool)      { return protocols.Text{}, false }
func (p *toyPDU) LoginStep() protocols.LoginStep    { return p.step }
func (p *toyPDU) AppendWire(b []byte) []byte        { return append(b, p.b...) }
func (p *toyPDU) AppendLog(b []byte, _ bool) []byte { return append(b, p.b...) }
func (p *toyPDU) Reset()                            { p.b = nil }

// A toySession has no state except for the login.
type toySession struct {
	taken    func(uint32) bool
	bound    protocols.BindType
	sequence uint32
}

func (s *toySession) Start(int64, protocols.PDU) protocols.Action { return protocols.Action{} }

func (s *toySession) Receive(_ int64, p protocols.PDU) protocols.Action {
	b := p.(*toyPDU).b
	switch b[1] {
	case 'e':
		return protocols.Action{Kind: protocols.Send}
	case 'l':
		return protocols.Action{Kind: protocols.Login, Credentials: protocols.Credentials{
			SystemID: []byte("load"), Password: b[2:], Bind: protocols.Transceiver,
		}}
	case 'm':
		return protocols.Action{Kind: protocols.Message}
	case 'a':
		return protocols.Action{Kind: protocols.Answered, Sequence: uint32(b[2] - '0')}
	case 'u':
		return protocols.Action{Kind: protocols.SendClose, Reason: "logged out"}
	case 'c':
		return protocols.Action{Kind: protocols.Close, Reason: "closed"}
	case 'x':
		panic("toy")
	}
	return protocols.Action{}
}

func (s *toySession) Tick(int64, protocols.PDU, bool) protocols.Action { return protocols.Action{} }
func (s *toySession) Idle(int64, protocols.PDU) protocols.Action       { return protocols.Action{} }
func (s *toySession) Accepting() bool                                  { return s.bound != 0 }
func (s *toySession) Unbind(int64, protocols.PDU) protocols.Action {
	return protocols.Action{Kind: protocols.Close, Reason: "told to"}
}

func (s *toySession) Login(_ int64, p protocols.PDU, code sms.Code) protocols.Action {
	s.answer(p, code)
	if code != sms.OK {
		return protocols.Action{Kind: protocols.SendClose, Reason: "login refused"}
	}
	s.bound = protocols.Transceiver
	return protocols.Action{Kind: protocols.Send}
}

func (s *toySession) answer(p protocols.PDU, code sms.Code) {
	t := p.(*toyPDU)
	t.b = append(append([]byte(nil), t.b[1:]...), " "+code.String()...)
}

func (s *toySession) Message(_ int64, p protocols.PDU, m *sms.Message) sms.Code {
	m.Set(sms.Address{}, sms.Address{}, p.(*toyPDU).b[2:])
	return sms.OK
}

func (s *toySession) Answer(p protocols.PDU, code sms.Code, _ uint64) { s.answer(p, code) }

func (s *toySession) Encode(_ int64, p protocols.PDU, m *sms.Message, _ uint32) {
	p.(*toyPDU).b = m.Text()
}

func (s *toySession) NextSequence() uint32 {
	for s.sequence++; s.taken(s.sequence); {
		s.sequence++
	}
	return s.sequence
}
func (s *toySession) Bound() protocols.BindType { return s.bound }
