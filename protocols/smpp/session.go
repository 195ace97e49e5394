package smpp

import (
	"sync/atomic"
	"time"

	"pmg/protocols"
	"pmg/sms"
)

// version34 is the interface_version that we speak (§5.2.4). A peer that tells a
// lower one is sent no optional parameters.
const version34 = 0x34

// A session is the state of one connection (§2.2):
//
//	        bind accepted                unbind, framing lost, silence
//	open ───────────────────► tx rx trx ────────────────────────────► closed
//	  └── bind refused, no bind in time, framing lost ─────────────────┘
//
// Our own logout does not leave the bound state until it is answered, so what
// the peer sent before it saw the unbind is handled as ever.
type session struct {
	o    protocols.SessionOptions
	peer side

	state state
	bind  bind
	line  line
	out   logout
	quiet int64 // when a message or an answer to one last came

	// These are read by the encoder and others, too.
	sequence atomic.Uint64 // of our requests so far
	as       atomic.Uint32 // protocols.BindType
	version  atomic.Uint32 // lower of both sides' interface_version
}

// NewSession implements protocols.Driver.
func (d *Driver) NewSession(o protocols.SessionOptions) protocols.Session {
	s := &session{o: o, state: open, peer: esme}
	if o.Client {
		s.peer = smsc
	}
	return s
}

// Start implements protocols.Session.
func (s *session) Start(now int64, pdu protocols.PDU) protocols.Action {
	s.bind.since = now
	if s.o.Client {
		return s.sendBind(pdu.(*PDU))
	}
	return protocols.Action{}
}

// Receive implements protocols.Session. Reactions are those of §2.9 and of each
// command's section.
func (s *session) Receive(now int64, pdu protocols.PDU) protocols.Action {
	p := pdu.(*PDU)
	if s.state == closed {
		return protocols.Action{}
	}
	if err := p.Err(); err != nil && err.Lost {
		reason := "cannot find next pdu: " + err.Text
		p.answer(GenericNack, StatusInvCmdLen)
		return s.close(protocols.SendClose, reason)
	}
	s.line.alive(now)
	c := &commands[p.Command()]
	switch {
	case p.ID.IsResponse():
		return s.response(now, c, p)
	case c.id == 0:
		return s.send(p, GenericNack, StatusInvCmdID)
	case s.illegal(c) != StatusOK:
		return s.send(p, p.ID|Response, s.illegal(c))
	case p.Err() != nil:
		return s.send(p, p.ID|Response, p.Err().Status)
	}
	switch p.ID {
	case EnquireLink:
		return s.send(p, EnquireLinkResp, StatusOK)
	case Unbind:
		return s.unbound(p)
	case SubmitSM, DeliverSM:
		s.quiet = now
		return protocols.Action{Kind: protocols.Message}
	}
	return s.receiveBind(p)
}

// illegal gives the status for a request that the peer may not send now.
func (s *session) illegal(c *command) uint32 {
	switch {
	case c.by&s.peer == 0:
		return StatusInvBndSts
	case c.id.IsBind() && (s.state != open || s.bind.pending):
		return StatusAlyBnd
	case c.in&s.state == 0:
		return StatusInvBndSts
	}
	return StatusOK
}

// response takes what is no request. It is never answered; one that cannot be
// meant is ignored. A body that cannot be read takes nothing from the status.
func (s *session) response(now int64, c *command, p *PDU) protocols.Action {
	if c.by&s.peer == 0 || c.in&s.state == 0 {
		return protocols.Action{}
	}
	switch p.ID {
	case GenericNack:
		return s.nacked(now, p)
	case SubmitSMResp, DeliverSMResp:
		s.quiet = now
		return protocols.Action{Kind: protocols.Answered, Sequence: p.SequenceNumber,
			Code: codeOf(p.CommandStatus), Status: p.CommandStatus, ID: p.SMResp.MessageID}
	case BindReceiverResp, BindTransmitterResp, BindTransceiverResp:
		return s.bindAnswered(now, p)
	case UnbindResp:
		return s.unbindAnswered(p)
	}
	return protocols.Action{} // enquire_link_resp: that it came is all it says
}

// nacked takes a generic_nack (§4.3.1), which answers whatever has its sequence.
func (s *session) nacked(now int64, p *PDU) protocols.Action {
	switch n := p.SequenceNumber; {
	case s.state == open:
		if s.o.Client && n == s.bind.sequence {
			return s.bindRefused(p)
		}
		return protocols.Action{}
	case n == s.line.sequence:
		return protocols.Action{} // it does not know enquire_link, but it lives
	case s.out.since != 0 && n == s.out.sequence:
		return s.close(protocols.Close, "logged out")
	}
	code := codeOf(p.CommandStatus)
	if code == sms.OK { // a nack is a nack
		code = sms.Rejected
	}
	s.quiet = now
	return protocols.Action{Kind: protocols.Answered, Sequence: p.SequenceNumber, Code: code, Status: p.CommandStatus}
}

// Tick implements protocols.Session.
func (s *session) Tick(now int64, pdu protocols.PDU) protocols.Action {
	p := pdu.(*PDU)
	switch {
	case s.state == closed:
	case s.state == open:
		if late(now, s.bind.since, s.o.BindTimeout) {
			return s.close(protocols.Close, "not logged in after "+time.Duration(s.o.BindTimeout).String())
		}
	case s.out.since != 0:
		if late(now, s.out.since, s.o.ResponseTimeout) {
			return s.close(protocols.Close, "unbind unanswered for "+time.Duration(s.o.ResponseTimeout).String())
		}
	case late(now, s.quiet, s.o.IdleMax):
		return s.Unbind(now, p)
	default:
		return s.checkLine(now, p)
	}
	return protocols.Action{}
}

// late tells whether a timer that was started at since has run out; a timer of 0
// never does.
func late(now, since, timer int64) bool { return timer > 0 && now-since >= timer }

// NextSequence implements protocols.Session: 1 to 0x7FFFFFFF, then 1 again
// (§5.1.4).
func (s *session) NextSequence() uint32 {
	return uint32((s.sequence.Add(1)-1)%0x7FFFFFFF) + 1
}

// Bound implements protocols.Session.
func (s *session) Bound() protocols.BindType { return protocols.BindType(s.as.Load()) }

// send turns p into the given answer to it.
func (s *session) send(p *PDU, id CommandID, status uint32) protocols.Action {
	p.answer(id, status)
	return protocols.Action{Kind: protocols.Send}
}

// request makes p a request of ours without a body.
func (s *session) request(p *PDU, id CommandID) protocols.Action {
	p.answer(id, 0)
	p.SequenceNumber = s.NextSequence()
	return protocols.Action{Kind: protocols.Send}
}

// close ends the session.
func (s *session) close(kind protocols.ActionKind, reason string) protocols.Action {
	s.state = closed
	s.as.Store(0)
	return protocols.Action{Kind: kind, Reason: reason}
}

// answer makes p a PDU with that header, no body and p's own sequence.
func (p *PDU) answer(id CommandID, status uint32) {
	p.dropExtras()
	p.ID, p.CommandStatus = id, status
	p.Body, p.SMResp = false, SMResp{}
}
