package ucp

import (
	"fmt"
	"sync/atomic"
	"time"

	"pmg/protocols"
	"pmg/sms"
)

// A phase is a state of a session.
type phase uint8

const (
	open   phase = iota // connected, not logged in
	bound               // logged in
	closed              // the session has ended: nothing more is sent
)

// A session is the state of one connection:
//
//	       result of 60              silence, logout
//	open ──────────────────► bound ───────────────────► closed
//	  └── refused, no login in time, too much noise ──────┘
//
// UCP has no logout: who wants to end a session sends nothing more, waits for the
// results of what was sent, and closes the connection.
type session struct {
	o       protocols.SessionOptions
	options *ConnectorOptions
	zone    *time.Location
	peer    side

	at      phase
	since   int64 // time of the connection
	allowed protocols.Allowance
	noise   int    // number of octets outside frames since the last frame
	pending bool   // server: the gateway checks the credentials
	client  []byte // server: name with which the client has logged in
	leaving int64  // time since when we wait for results before the logout; 0: no logout
	message int64  // time of the last message, or of the last result of a message
	line    line
	theirs  [trns/64 + 1]uint64 // TRNs of the peer's unanswered messages, as bits

	// The encoder and other goroutines read these, too.
	ours      window
	bindType  atomic.Uint32 // protocols.BindType
	accepting atomic.Bool   // bound, and no logout has begun
}

// A line is the time of the peer's last PDU and of our keep-alive. Any PDU shows that the peer is alive.
type line struct {
	heard int64 // time of the peer's last PDU; later if the session was not read meanwhile
	asked int64 // time since when the result of our 31 is due; 0: none is due
}

// NewSession implements protocols.SessionDriver.
func (d *Driver) NewSession(o protocols.SessionOptions) protocols.Session {
	s := &session{o: o, peer: smt}
	if s.options, _ = o.Options.(*ConnectorOptions); s.options == nil {
		s.options = NewConnectorOptions()
	}
	s.zone = protocols.Zone(s.options.Timezone)
	if o.Role == protocols.Client {
		s.peer = smsc
	}
	return s
}

// Start implements protocols.Session.
func (s *session) Start(now int64, pdu protocols.PDU) protocols.Action {
	s.since = now
	if s.o.Role == protocols.Client && !s.o.Accepted {
		return s.sendLogin(pdu.(*PDU))
	}
	return protocols.Action{}
}

// Receive implements protocols.Session. It ignores octets outside frames, results without a request, and a message with the
// TRN of an unanswered message, because an answer could not be assigned to one of the two.
func (s *session) Receive(now int64, pdu protocols.PDU) protocols.Action {
	p := pdu.(*PDU)
	if s.at == closed {
		return protocols.Action{}
	}
	if reason := s.tooMuch(now, p); reason != "" {
		return s.close(reason)
	}
	err := p.Err()
	if err != nil && err.Silent {
		return protocols.Action{}
	}
	s.line.heard, s.line.asked = now, 0
	switch o := row(p.OT); {
	case p.Result:
		return s.result(now, p)
	case err != nil:
		return s.nack(p, err.EC, "")
	case o.use == refused:
		return s.nack(p, ecNotSupported, "")
	case o.use == login && s.o.Accepted:
		return s.receiveLogin(p)
	case o.by&s.peer == 0:
		return s.nack(p, ecNotAllowed, "")
	case o.use == login:
		return s.receiveLogin(p)
	case s.at == open && !s.begins():
		return s.nack(p, ecNotAllowed, "")
	}
	if s.at == open {
		s.enter(now, s.options.Traffic)
	}
	switch o := row(p.OT); {
	case o.use == keepLive:
		return s.answerAlert(p)
	case s.isUnanswered(p.TRN):
		return s.passOver(now)
	case s.peer == smt && !s.options.Traffic.CanSubmit():
		return s.nack(p, ecNotAllowed, "")
	}
	if ec, text := p.check(s.peer); ec != 0 {
		return s.nack(p, ec, text)
	}
	s.message = now
	s.theirs[p.TRN/64] |= 1 << (p.TRN % 64)
	return protocols.Action{Kind: protocols.Message, Messages: p.recipients()}
}

// passOver ignores a PDU, unless there are too many ignored PDUs.
func (s *session) passOver(now int64) protocols.Action {
	if reason := s.allowed.Take(now); reason != "" {
		return s.close(reason)
	}
	return protocols.Action{}
}

// isUnanswered reports whether a message of the peer with a TRN is not answered yet.
func (s *session) isUnanswered(trn uint8) bool { return s.theirs[trn/64]&(1<<(trn%64)) != 0 }

// result handles a result. Results are never answered, and ignored if they have no request or cannot be read.
func (s *session) result(now int64, p *PDU) protocols.Action {
	if p.Err() != nil {
		return protocols.Action{} // tooMuch has counted the octets
	}
	if !s.ours.answered(p.TRN, p.OT) {
		return s.passOver(now)
	}
	switch {
	case p.OT == OpenSession, s.at == open:
		return s.loginAnswered(now, p)
	case row(p.OT).use != message:
		return protocols.Action{} // the result of a 31 has shown that the peer lives
	}
	s.message = now
	a := protocols.Action{Kind: protocols.Answered, Sequence: p.Sequence()}
	if p.Nack {
		if a.Status, a.Code = uint32(p.EC), codeOf(p.EC); a.Code == sms.BindFailed {
			a.Code = sms.Rejected
		}
	}
	return a
}

// Tick implements protocols.Session.
func (s *session) Tick(now int64, pdu protocols.PDU, listening bool) protocols.Action {
	if !listening {
		s.deaf(now)
	}
	switch {
	case s.at == closed:
	case s.at == open:
		if protocols.Late(now, s.since, s.o.BindTimeout) {
			return s.close("not logged in after " + time.Duration(s.o.BindTimeout).String())
		}
	case s.leaving != 0:
		if protocols.Late(now, s.leaving, s.o.DrainTime()) {
			return s.close("logged out, with results missing after " + time.Duration(s.o.DrainTime()).String())
		}
	case protocols.Late(now, s.message, s.o.IdleMax):
		return protocols.Action{Kind: protocols.Leave}
	default:
		return s.checkLine(now, pdu.(*PDU))
	}
	return protocols.Action{}
}

// deaf restarts the timers for the peer's PDUs, because octets may have arrived that were not read.
func (s *session) deaf(now int64) {
	s.line.heard = now
	for _, since := range []*int64{&s.line.asked, &s.leaving} {
		if *since != 0 {
			*since = now
		}
	}
}

// checkLine sends a keep-alive to a silent peer, and ends the session if the peer does not answer it.
func (s *session) checkLine(now int64, p *PDU) protocols.Action {
	silence, answer := s.o.Patience(now)
	switch {
	case s.line.asked != 0:
		if protocols.Late(now, s.line.asked, answer) {
			return s.close("cannot hear from peer: operation 31 unanswered for " + time.Duration(answer).String())
		}
	case protocols.Late(now, s.line.heard, silence):
		s.line.asked = now
		return s.ask(p)
	}
	return protocols.Action{}
}

// ask sends a keep-alive.
func (s *session) ask(p *PDU) protocols.Action {
	s.request(p, Alert)
	a := &p.rare().alert
	p.put(&a.AdC, fit(s.address(), maxAddress))
	p.put(&a.PID, []byte(s.options.AlertPID))
	return protocols.Action{Kind: protocols.Send}
}

// address returns our address in operation 31.
func (s *session) address() []byte {
	if s.o.Role == protocols.Client {
		return []byte(s.o.SystemID)
	}
	return []byte(s.o.Name)
}

// fit returns a string if it fits into a field of a size, otherwise nothing.
func fit(v []byte, size int) []byte {
	if len(v) > size {
		return nil
	}
	return v
}

// answerAlert answers the peer's operation 31 with "no messages wait", because messages are delivered without a request.
func (s *session) answerAlert(p *PDU) protocols.Action {
	p.answer(sms.OK)
	if s.peer == smt {
		p.put(&p.SysMsg, []byte("0000"))
	}
	return protocols.Action{Kind: protocols.Send}
}

// Unbind implements protocols.Session.
func (s *session) Unbind(now int64, _ protocols.PDU) protocols.Action {
	switch {
	case s.at == closed || s.leaving != 0:
		return protocols.Action{}
	case s.at == open:
		return s.close("not logged in")
	}
	s.leaving = now
	s.accepting.Store(false)
	return protocols.Action{Kind: protocols.Drain}
}

// Idle implements protocols.Session.
func (s *session) Idle(int64, protocols.PDU) protocols.Action {
	if s.at == closed || s.leaving == 0 {
		return protocols.Action{}
	}
	return s.close("logged out")
}

// NextSequence implements protocols.Session: a TRN.
func (s *session) NextSequence() uint32 { return s.ours.next(s.o.Taken) }

// Bound implements protocols.Session.
func (s *session) Bound() protocols.BindType { return protocols.BindType(s.bindType.Load()) }

// Accepting implements protocols.Session.
func (s *session) Accepting() bool { return s.accepting.Load() }

func (s *session) close(reason string) protocols.Action { return s.end(protocols.Close, reason) }

func (s *session) end(kind protocols.ActionKind, reason string) protocols.Action {
	s.at = closed
	s.accepting.Store(false)
	s.bindType.Store(0)
	return protocols.Action{Kind: kind, Reason: reason}
}

// nack turns the operation p into the negative result, which is sent.
func (s *session) nack(p *PDU, ec uint8, text string) protocols.Action {
	p.refuse(ec, text)
	return protocols.Action{Kind: protocols.Send}
}

// request makes p an operation of ours, without fields.
func (s *session) request(p *PDU, ot uint8) {
	trn := uint8(s.NextSequence())
	p.Reset()
	p.SM = SM{}
	p.OT, p.TRN = ot, trn
	s.ours.asks(uint32(trn), ot)
}

// answer turns the operation p into the result, which is positive if code is sms.OK.
func (p *PDU) answer(code sms.Code) {
	if code != sms.OK {
		p.refuse(ecOf(code), "")
		return
	}
	ot, trn := p.OT, p.TRN
	p.Reset()
	p.OT, p.TRN, p.Result = ot, trn, true
	p.elements = p.usual()
}

// refuse turns the operation p into the negative result.
func (p *PDU) refuse(ec uint8, text string) {
	ot, trn := p.OT, p.TRN
	p.Reset()
	p.OT, p.TRN, p.Result, p.Nack, p.EC, p.elements = ot, trn, true, true, ec, maxNackElements
	if text != "" {
		p.put(&p.SysMsg, []byte(text))
	}
}

// describe returns the result of a login as text for the log.
func (p *PDU) describe() string {
	text := fmt.Sprintf("%02d", p.EC)
	if name := StatusName(uint32(p.EC)); name != "" {
		text += " (" + name + ")"
	}
	if p.SysMsg.n > 0 {
		text += fmt.Sprintf(" %q", p.get(p.SysMsg))
	}
	return text
}
