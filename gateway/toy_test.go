package gateway

import (
	"pmg/connector"
	"pmg/protocols"
	"pmg/sms"
)

// A pdu holds the action that follows when a session of these tests receives it. After it
// was answered, code is the code of the answer.
type pdu struct {
	protocols.PDU
	action   protocols.Action
	deliver  int64 // the delivery time of its message
	kind     sms.Kind
	text     []byte // of its message; nil: a short one
	alphabet sms.Alphabet
	to       int   // the recipient that Session.To has named
	refused  []int // recipients that were refused
	op       protocols.Operation
	answered bool
	code     sms.Code
	id       uint64
}

func (p *pdu) Status() uint32                 { return 0 }
func (p *pdu) MessageID() []byte              { return nil }
func (p *pdu) Text() (protocols.Text, bool)   { return protocols.Text{}, false }
func (p *pdu) LoginStep() protocols.LoginStep { return protocols.NoLogin }
func (p *pdu) IsAnswer() bool                 { return false }

// A session does what its PDUs say.
type session struct {
	protocols.Session
	bound    protocols.BindType
	sequence uint32
}

func (s *session) Receive(_ int64, p protocols.PDU) protocols.Action { return p.(*pdu).action }

func (s *session) Login(_ int64, p protocols.PDU, code sms.Code) protocols.Action {
	p.(*pdu).answered, p.(*pdu).code = true, code
	if code != sms.OK {
		return protocols.Action{Kind: protocols.SendClose, Reason: "login refused"}
	}
	s.bound = protocols.Transceiver
	return protocols.Action{Kind: protocols.Send}
}

func (s *session) Message(_ int64, p protocols.PDU, m *sms.Message) sms.Code {
	m.DeliverAt = p.(*pdu).deliver
	text := p.(*pdu).text
	if text == nil {
		text = []byte("text")
	}
	m.Set(sms.Address{}, sms.Address{Addr: []byte("491701234567")}, text)
	m.Kind, m.Alphabet = p.(*pdu).kind, p.(*pdu).alphabet
	return sms.OK
}

func (s *session) To(p protocols.PDU, i int) { p.(*pdu).to = i }
func (s *session) Refuse(p protocols.PDU, _ sms.Code) {
	p.(*pdu).refused = append(p.(*pdu).refused, p.(*pdu).to)
}

func (s *session) Answer(p protocols.PDU, code sms.Code, id uint64) {
	p.(*pdu).answered, p.(*pdu).code, p.(*pdu).id = true, code, id
}

func (s *session) Operation(_ int64, p protocols.PDU) (protocols.Operation, sms.Code) {
	return p.(*pdu).op, sms.OK
}

func (s *session) AnswerOperation(p protocols.PDU, code sms.Code, r *protocols.Result) {
	p.(*pdu).answered, p.(*pdu).code = true, code
	if r != nil {
		p.(*pdu).id = r.ID
	}
}

func (s *session) Unbind(_ int64, p protocols.PDU) protocols.Action {
	if s.bound == 0 {
		return protocols.Action{Kind: protocols.Close, Reason: "not logged in"}
	}
	p.(*pdu).action = protocols.Action{Kind: protocols.Logout}
	return p.(*pdu).action
}

func (s *session) Idle(int64, protocols.PDU) protocols.Action {
	return protocols.Action{Kind: protocols.SendClose, Reason: "peer logged out"}
}

func (s *session) Tick(int64, protocols.PDU, bool) protocols.Action { return protocols.Action{} }
func (s *session) NextSequence() uint32                             { s.sequence++; return s.sequence }
func (s *session) Bound() protocols.BindType                        { return s.bound }
func (s *session) Accepting() bool                                  { return s.bound != 0 }

// occupy takes n places of a share and no memory, or, if n is negative, gives them back.
func occupy(s *connector.Share, n int64) {
	var m sms.Message
	s.Use(-n * m.Size())
	for ; n > 0; n-- {
		s.Enter(&m, 0)
	}
	for ; n < 0; n++ {
		s.Leave(&m)
	}
}
