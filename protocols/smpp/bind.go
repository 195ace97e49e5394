package smpp

import (
	"fmt"

	"pmg/protocols"
	"pmg/sms"
)

// A bind is the login of a session (§4.1).
type bind struct {
	since    int64  // when the connection began
	pending  bool   // server: the gateway checks the credentials
	version  uint8  // server: the client's interface_version
	sequence uint32 // client: of our bind
	id       CommandID
}

// bindTypes returns the bind type of a bind, and the state that it leads to.
func bindTypes(id CommandID) (protocols.BindType, state) {
	switch id {
	case BindTransmitter:
		return protocols.Transmitter, tx
	case BindReceiver:
		return protocols.Receiver, rx
	}
	return protocols.Transceiver, trx
}

// sendBind sends our login.
func (s *session) sendBind(p *PDU) protocols.Action {
	id := BindTransceiver
	switch s.options.Bind {
	case protocols.Transmitter:
		id = BindTransmitter
	case protocols.Receiver:
		id = BindReceiver
	}
	a := s.request(p, id)
	*p.Bind() = Bind{
		SystemID:         []byte(s.o.SystemID),
		Password:         []byte(s.o.Password),
		SystemType:       []byte(s.options.SystemType),
		AddressRange:     []byte(s.options.AddressRange),
		InterfaceVersion: s.options.version(),
		AddrTON:          uint8(s.options.BindTON),
		AddrNPI:          uint8(s.options.BindNPI),
	}
	s.bind.id, s.bind.sequence = id, p.SequenceNumber
	return a
}

// bindAnswered handles the answer to our login. There is only one login, so the answer's
// sequence_number is ignored: go-smpp's smpptest sends another one.
func (s *session) bindAnswered(now int64, p *PDU) protocols.Action {
	switch {
	case p.ID != s.bind.id|Response:
		return protocols.Action{}
	case p.CommandStatus != StatusOK:
		return s.bindRefused(p)
	case p.Err() != nil && !p.Err().Behind:
		return s.close(protocols.Close, fmt.Sprintf("cannot log in: %s cannot be read: %s", p.ID, p.Err().Text))
	}
	// According to §3.4 a server that does not send its version supports no optional
	// parameters. Many servers support them and do not send a version, and a message without
	// its parameters means something else. So only a server that sends a lower version gets
	// no parameters.
	version := uint8(Version34)
	if v, ok := FindTLV(p.BindResp().TLVs, TagVersion); ok && len(v) == 1 {
		version = v[0]
	}
	s.enter(now, s.bind.id, version)
	return protocols.Action{Kind: protocols.Bound}
}

func (s *session) bindRefused(p *PDU) protocols.Action {
	return s.close(protocols.Close, fmt.Sprintf("cannot log in: %s answered with status %s",
		s.bind.id, appendStatus(nil, p.CommandStatus)))
}

// receiveBind handles a client's login. The gateway decides about the login.
func (s *session) receiveBind(p *PDU) protocols.Action {
	b := p.Bind()
	if len(b.SystemID) > s.options.systemIDLimit() {
		return s.send(p, p.ID|Response, StatusInvSysID)
	}
	if len(b.Password) > s.options.passwordLimit() {
		return s.send(p, p.ID|Response, StatusInvPaswd)
	}
	s.bind.pending, s.bind.id, s.bind.version = true, p.ID, b.InterfaceVersion
	as, _ := bindTypes(p.ID)
	return protocols.Action{Kind: protocols.Login, Credentials: protocols.Credentials{
		SystemID: b.SystemID, Password: b.Password, SystemType: b.SystemType,
		Bind: as, Version: b.InterfaceVersion,
	}}
}

// outbound handles the outbind of an SMSC that has connected (§4.1.7). The gateway decides about its
// credentials. Nothing answers an outbind, so that an unreadable outbind ends the session.
func (s *session) outbound(p *PDU) protocols.Action {
	switch {
	case s.state != open || s.bind.pending || s.bind.id != 0:
		return protocols.Action{} // our bind was sent, or is accepted
	case p.Err() != nil:
		return s.close(protocols.Close, "cannot read outbind: "+p.Err().Text)
	}
	s.bind.pending = true
	b := p.Other().(*OutbindBody)
	return protocols.Action{Kind: protocols.Login, Credentials: protocols.Credentials{
		SystemID: b.SystemID, Password: b.Password, Bind: s.options.Bind,
	}}
}

// Login implements protocols.Session. It closes the connection of a refused client, so that trying another
// password costs a connection. Our bind is the answer to an outbind.
func (s *session) Login(now int64, pdu protocols.PDU, code sms.Code) protocols.Action {
	p := pdu.(*PDU)
	if s.state != open || !s.bind.pending {
		return protocols.Action{}
	}
	s.bind.pending = false
	if s.o.Role == protocols.Client {
		if code != sms.OK {
			return s.close(protocols.Close, "outbind refused: "+code.String())
		}
		return s.sendBind(p)
	}
	p.answer(s.bind.id|Response, statusOf(code))
	if code != sms.OK {
		return s.close(protocols.SendClose, "login refused: "+code.String())
	}
	s.enter(now, s.bind.id, s.bind.version)
	name := s.o.Name
	p.scratch = append(p.scratch[:0], name[:min(len(name), 15)]...)
	p.Body = true
	b := p.BindResp()
	b.SystemID = p.scratch
	if s.optional() {
		n := len(p.scratch)
		p.scratch = AppendTLV(p.scratch, TagVersion, []byte{uint8(s.version.Load())})
		b.TLVs = p.scratch[n:]
	}
	return protocols.Action{Kind: protocols.Send}
}

// enter puts the session into a bound state. Both sides use the lower of their versions.
func (s *session) enter(now int64, id CommandID, version uint8) {
	as, state := bindTypes(id)
	s.state, s.keepalive.heard, s.message = state, now, now
	s.version.Store(s.options.spoken(version))
	s.boundAs.Store(uint32(as))
	s.accepting.Store(true)
}

// optional reports whether the peer supports optional parameters.
func (s *session) optional() bool { return s.version.Load() >= Version34 }
