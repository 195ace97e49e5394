package smpp

import (
	"sync/atomic"
	"time"

	"pmg/protocols"
	"pmg/sms"
)

// MaxSequence is the highest sequence_number of a request (§5.1.4).
const MaxSequence = 0x7FFFFFFF

// A session is the state of one connection (§2.2):
//
//	        bind accepted                unbind_resp, framing lost, silence
//	open ───────────────────► tx rx trx ────────────────────────────────► closed
//	  └── bind refused, no bind in time, framing lost ──────────────────────┘
//
// During a logout the session stays in the bound state until the logout is answered, whichever
// side began it. Until then it sends no new messages, but handles answers to earlier ones.
type session struct {
	o       protocols.SessionOptions
	options *ConnectorOptions
	zone    *time.Location // zone of times in receipts
	usual   usual          // usual fields of submits
	peer    side

	state     state
	bind      bind
	keepalive keepalive
	allowance protocols.Allowance
	ours      logout // our unbind
	theirs    logout // the peer's unbind
	message   int64  // time of the last message, or of the last answer to a message

	// These are also read by other goroutines, such as the encoder's.
	sequence  atomic.Uint64 // number of our requests so far
	boundAs   atomic.Uint32 // protocols.BindType
	version   atomic.Uint32 // the lower interface_version of the client and the server
	accepting atomic.Bool   // the session is bound, and no side has begun to log out
}

// NewSession implements protocols.SessionDriver.
func (d *Driver) NewSession(o protocols.SessionOptions) protocols.Session {
	s := &session{o: o, state: open, peer: esme}
	if s.options, _ = o.Options.(*ConnectorOptions); s.options == nil {
		s.options = NewConnectorOptions()
	}
	if o.Role == protocols.Client {
		s.peer = smsc
	}
	s.zone = protocols.Zone(s.options.ReceiptTimezone)
	s.usual = s.options.Submit.usual()
	return s
}

// Start implements protocols.Session.
func (s *session) Start(now int64, pdu protocols.PDU) protocols.Action {
	s.bind.since = now
	if s.o.Role == protocols.Client && !s.o.Accepted {
		return s.sendBind(pdu.(*PDU))
	}
	return protocols.Action{}
}

// Receive implements protocols.Session. It reacts as §2.9 and the section of each command
// require.
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
	s.keepalive.alive(now)
	c := &commands[p.Command()]
	if reason := s.tooMuch(now, c, p); reason != "" {
		return s.close(protocols.Close, reason)
	}
	switch {
	case p.ID.IsResponse():
		return s.response(now, c, p)
	case p.ID == Outbind && s.o.Accepted:
		return s.outbound(p)
	case !p.ID.isAnswered():
		return s.unanswered(c, p)
	case c.id == 0, s.lacks(c):
		return s.send(p, GenericNack, StatusInvCmdID)
	case s.illegal(c) != StatusOK:
		return s.send(p, p.ID|Response, s.illegal(c))
	case p.Err() != nil && !s.takesPart(p):
		return s.send(p, p.ID|Response, p.Err().Status)
	case c.carriesMessage():
		if status := s.badMessage(p); status != StatusOK {
			return s.send(p, p.ID|Response, status)
		}
		s.message = now
		if s.options.in != nil {
			p.rewrite(s.options.in)
		}
		return protocols.Action{Kind: protocols.Message, Messages: p.recipients(), Partly: p.Err() != nil}
	case c.refusal != 0:
		return s.operation(now, c, p)
	case p.ID == EnquireLink:
		return s.send(p, EnquireLinkResp, StatusOK)
	case p.ID == Unbind:
		return s.unbound(now, p)
	}
	return s.receiveBind(p)
}

// unanswered handles a request that has no response. An outbind is not acted on, because our
// bind is on its way. An alert_notification that cannot be read, or that must not be sent now,
// is ignored.
func (s *session) unanswered(c *command, p *PDU) protocols.Action {
	if p.ID != AlertNotification || p.Err() != nil || s.illegal(c) != StatusOK {
		return protocols.Action{}
	}
	return protocols.Action{Kind: protocols.Alert}
}

// takesPart reports whether a message counts although the octets after it cannot be read. A deliver of an
// SMSC counts, because otherwise it would be lost, or come again and again. A submit of a client is refused,
// unless the unreadable octets are only NULs, which some clients write behind each text.
func (s *session) takesPart(p *PDU) bool {
	e := p.Err()
	return e.Behind && commands[p.ID.row()].carriesMessage() && (s.peer == smsc || e.Padded)
}

// lacks reports whether the client's version of SMPP does not have a command. All commands of an
// SMSC are accepted, whatever the SMSC's version is.
func (s *session) lacks(c *command) bool {
	return c.only != 0 && s.peer == esme && s.state&bound != 0 && !c.only.has(s.version.Load())
}

// operation passes a client's request about its messages to the gateway, or refuses it.
func (s *session) operation(now int64, c *command, p *PDU) protocols.Action {
	if !c.operates {
		return s.send(p, p.ID|Response, p.refusal(c))
	}
	if status := badTLV(p.Parameters()); status != StatusOK {
		return s.send(p, p.ID|Response, status)
	}
	s.message = now
	return protocols.Action{Kind: protocols.Operate}
}

// refusal returns the status for a valid request that the gateway does not offer.
func (p *PDU) refusal(c *command) uint32 {
	if status := badTLV(p.Parameters()); status != StatusOK {
		return status
	}
	return c.refusal
}

// badMessage returns the status with which a client's message must be refused before its
// values are checked, or StatusOK.
func (s *session) badMessage(p *PDU) uint32 {
	if s.peer == smsc || len(p.SM.TLVs) == 0 && p.ID != SubmitMulti { // the usual case
		return StatusOK
	}
	if status := badTLV(p.SM.TLVs); status != StatusOK || p.ID != SubmitMulti {
		return status
	}
	if listLen(*p.Dests()) == 0 {
		return StatusInvNumDests
	}
	return StatusOK
}

// illegal returns the status for a request that the peer must not send now, or StatusOK. A
// peer that has logged out must not send messages.
func (s *session) illegal(c *command) uint32 {
	switch in := c.in[s.peer]; {
	case in == 0:
		return StatusInvBndSts
	case c.id.IsBind() && (s.state != open || s.bind.pending):
		return StatusAlyBnd
	case in&s.state == 0, s.theirs.begun() && in&open == 0:
		return StatusInvBndSts
	}
	return StatusOK
}

// response handles a response. A response is never answered, and it is ignored if it belongs
// to no request. Its status is valid even if its body cannot be read.
func (s *session) response(now int64, c *command, p *PDU) protocols.Action {
	if c.in[s.peer]&s.state == 0 {
		return protocols.Action{}
	}
	switch p.ID {
	case GenericNack:
		return s.nacked(now, p)
	case SubmitSMResp, DeliverSMResp, DataSMResp, QuerySMResp, CancelSMResp, ReplaceSMResp:
		if s.peer == esme {
			p.SMResp.MessageID = nil // the message_id of a data_sm_resp has no meaning in a delivery
		}
		s.message = now
		a := s.answered(p, s.options.codeOf(p.CommandStatus))
		a.Partly = p.Err() != nil && s.peer == smsc
		a.Asked = c.body != bodySMResp
		return a
	case BindReceiverResp, BindTransmitterResp, BindTransceiverResp:
		return s.bindAnswered(now, p)
	case UnbindResp:
		if s.ours.answeredBy(p) {
			return s.loggedOut(p)
		}
	}
	return protocols.Action{} // any PDU, such as an enquire_link_resp, shows that the peer is alive
}

// nacked handles a generic_nack (§4.3.1), which answers any request with its sequence_number. Without
// one, for a request that could not be read, it answers our login or logout if that is under way.
// Otherwise the gateway knows how many requests it may be about.
func (s *session) nacked(now int64, p *PDU) protocols.Action {
	switch n := p.SequenceNumber; {
	case s.state == open:
		if s.o.Role == protocols.Client && (n == s.bind.sequence || n == 0 && s.bind.sequence != 0) {
			return s.bindRefused(p)
		}
		return protocols.Action{}
	case n != 0 && n == s.keepalive.sequence:
		return protocols.Action{} // the peer does not know enquire_link, but it is alive
	case s.ours.answeredBy(p), n == 0 && s.ours.begun():
		return s.loggedOut(p)
	case n == 0 && s.keepalive.unread:
		return protocols.Action{}
	}
	code := s.options.codeOf(p.CommandStatus)
	if code == sms.OK { // a generic_nack is never a success, whatever its status
		code = sms.Rejected
	}
	s.message = now
	a := s.answered(p, code)
	a.NoNumber = p.SequenceNumber == 0
	return a
}

// Tick implements protocols.Session.
func (s *session) Tick(now int64, pdu protocols.PDU, listening bool) protocols.Action {
	p := pdu.(*PDU)
	if !listening {
		s.restartTimers(now)
	}
	switch {
	case s.state == closed:
	case s.state == open:
		if protocols.Late(now, s.bind.since, s.o.BindTimeout) {
			return s.close(protocols.Close, "not logged in after "+time.Duration(s.o.BindTimeout).String())
		}
	case s.theirs.begun():
		if protocols.Late(now, s.theirs.since, s.o.DrainTime()) {
			return s.Idle(now, p)
		}
	case s.ours.begun():
		if protocols.Late(now, s.ours.since, s.o.ResponseTimeout) {
			return s.close(protocols.Close, "unbind unanswered for "+time.Duration(s.o.ResponseTimeout).String())
		}
	case protocols.Late(now, s.message, s.o.IdleMax):
		return protocols.Action{Kind: protocols.Leave}
	default:
		return s.checkAlive(now, p)
	}
	return protocols.Action{}
}

// restartTimers restarts the timers that wait for PDUs of the peer, because PDUs may have
// come that were not read.
func (s *session) restartTimers(now int64) {
	s.keepalive.heard = now
	for _, since := range []*int64{&s.keepalive.asked, &s.ours.since, &s.theirs.since} {
		if *since != 0 {
			*since = now
		}
	}
}

// NextSequence implements protocols.Session: 1 to 0x7FFFFFFF, then 1 again
// (§5.1.4). The session's own requests are answered long before their numbers are used again.
func (s *session) NextSequence() uint32 {
	for {
		n := uint32((s.sequence.Add(1)-1)%MaxSequence) + 1
		if s.o.Taken == nil || !s.o.Taken(n) {
			return n
		}
	}
}

// Bound implements protocols.Session.
func (s *session) Bound() protocols.BindType { return protocols.BindType(s.boundAs.Load()) }

// Accepting implements protocols.Session.
func (s *session) Accepting() bool { return s.accepting.Load() }

// send turns p into the given answer to it.
func (s *session) send(p *PDU, id CommandID, status uint32) protocols.Action {
	p.answer(id, status)
	return protocols.Action{Kind: protocols.Send}
}

// request makes p one of our requests without a body.
func (s *session) request(p *PDU, id CommandID) protocols.Action {
	p.answer(id, 0)
	p.SequenceNumber = s.NextSequence()
	return protocols.Action{Kind: protocols.Send}
}

// close ends the session.
func (s *session) close(kind protocols.ActionKind, reason string) protocols.Action {
	s.state = closed
	s.accepting.Store(false)
	s.boundAs.Store(0)
	return protocols.Action{Kind: kind, Reason: reason}
}

// answer makes p a PDU with that header, no body and p's own sequence.
func (p *PDU) answer(id CommandID, status uint32) {
	p.dropExtras()
	p.ID, p.CommandStatus = id, status
	p.Body, p.SMResp = false, SMResp{}
}
