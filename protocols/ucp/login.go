package ucp

import (
	"bytes"

	"pmg/protocols"
	"pmg/sms"
)

// Values of an operation 60.
const (
	stypOpen = "1"
	version  = "0100"
)

// sendLogin logs in. An SMSC without logins gets a keep-alive instead: any answer begins the session.
func (s *session) sendLogin(p *PDU) protocols.Action {
	if s.options.Login == loginNone {
		return s.ask(p)
	}
	s.request(p, OpenSession)
	l := &p.rare().login
	p.put(&l.OAdC, fit([]byte(s.o.SystemID), maxAddress))
	p.put(&l.OTON, []byte{'0' + byte(s.options.OTON%10)})
	p.put(&l.ONPI, []byte{'0' + byte(s.options.ONPI%10)})
	p.put(&l.STYP, []byte(stypOpen))
	at := len(p.buf)
	p.buf = appendPassword(p.buf, s.o.Password[:min(len(s.o.Password), maxPassword)])
	p.end(&l.PWD, at)
	p.put(&l.VERS, []byte(version))
	return protocols.Action{Kind: protocols.Send}
}

// loginAnswered handles the result of our login.
func (s *session) loginAnswered(now int64, p *PDU) protocols.Action {
	if s.at != open {
		return protocols.Action{}
	}
	if p.Nack && p.OT == OpenSession {
		return s.close("cannot log in: operation 60 answered with error " + p.describe())
	}
	s.enter(now, s.options.Traffic)
	return protocols.Action{Kind: protocols.Bound}
}

// begins reports whether the session of an SMSC that has connected begins with its first message or 31. UCP's documents do not
// mention that such an SMSC logs in.
func (s *session) begins() bool { return s.o.Accepted && s.o.Anonymous && !s.pending }

// receiveLogin handles a client's login; the gateway decides. It accepts only the opening of sessions: the gateway's
// configuration sets the passwords.
func (s *session) receiveLogin(p *PDU) protocols.Action {
	l := &p.rare().login
	switch {
	case s.at != open || s.pending:
		return s.nack(p, ecNotAllowed, "")
	case string(p.get(l.VERS)) != version, l.OAdC.n == 0, l.STYP.n == 0, !isHex(p.get(l.PWD)):
		return s.nack(p, ecSyntax, "")
	case string(p.get(l.STYP)) != stypOpen:
		return s.nack(p, ecNotAllowed, "")
	}
	s.pending, s.client = true, bytes.Clone(p.get(l.OAdC))
	at := len(p.buf)
	p.buf = decodePassword(p.buf, p.get(l.PWD))
	return protocols.Action{Kind: protocols.Login, Credentials: protocols.Credentials{
		SystemID: p.get(l.OAdC), Password: p.buf[at:], Bind: s.options.Traffic,
	}}
}

// Login implements protocols.Session. The connection of a refused client is closed, because otherwise trying another password
// would be cheap.
func (s *session) Login(now int64, pdu protocols.PDU, code sms.Code) protocols.Action {
	p := pdu.(*PDU)
	if s.at != open || !s.pending {
		return protocols.Action{}
	}
	s.pending = false
	p.answer(code)
	if code != sms.OK {
		return s.end(protocols.SendClose, "login refused: "+code.String())
	}
	s.enter(now, s.options.Traffic)
	return protocols.Action{Kind: protocols.Send}
}

func (s *session) enter(now int64, as protocols.BindType) {
	s.at, s.line.heard, s.message = bound, now, now
	s.bindType.Store(uint32(as))
	s.accepting.Store(true)
}
