package prototest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"pmg/protocols"
	"pmg/sms"
)

// The credentials of the account that may log in to a Session.
const (
	AccountID       = "acme"
	AccountPassword = "s3cret"
)

// epoch is the time at which every Session begins.
const epoch = int64(1_700_000_000_000_000_000)

// A Session is a Subject: a driver's session with the minimum of a gateway around it. It has
// one account, accepts every message that the session accepts, and numbers messages from 1.
// Messages wait forever, so that operations find them.
// Its time passes only in Wait. Its commands are
//
//	message dest=46700000001 text=hello    # send a message to the peer
//	unbind                                 # log out
//	pause                                  # stop reading: octets of the peer wait
//	resume                                 # read again
//	want                                   # refuse a login for want of the session's place
type Session struct {
	Now    int64 // in Unix nanoseconds
	Closed bool  // the session is over

	driver   protocols.SessionDriver
	session  protocols.Session
	can      protocols.Abilities
	p        protocols.PDU
	in, out  []byte
	events   []string
	id       uint64
	awaiting map[uint32]bool // requests that wait for answers, by sequence number
	paused   bool
	wanted   bool           // a login was refused for a lack of places, and the peer has sent nothing since then
	heard    int64          // time when the session last sent something
	waiting  []*sms.Message // accepted messages; they never leave
}

// NewSession begins a session.
func NewSession(d protocols.SessionDriver, o protocols.SessionOptions) *Session {
	s := &Session{Now: epoch, driver: d, p: d.NewPDU(), awaiting: map[uint32]bool{}}
	o.Taken = func(sequence uint32) bool { return s.awaiting[sequence] }
	o.Wanted = func(now int64) bool { return s.wanted && now-s.heard >= int64(protocols.WantedPatience) }
	s.session = d.NewSession(o)
	s.can = protocols.AbilitiesOf(s.session)
	s.do(s.session.Start(s.Now, s.p))
	return s
}

// Write implements Subject. It cuts the octets into PDUs as the parser stage does.
func (s *Session) Write(b []byte) {
	s.in = append(s.in, b...)
	s.wanted, s.heard = false, s.Now
	s.read()
}

func (s *Session) read() {
	for !s.Closed && !s.paused && len(s.in) > 0 {
		n, err := s.driver.Frame(s.in)
		if err != nil {
			n = len(s.in)
		} else if n > len(s.in) {
			return
		}
		_ = s.driver.Decode(s.p, s.in[:n]) // the session answers the error
		s.do(s.session.Receive(s.Now, s.p))
		s.in = bytes.Clone(s.in[n:])
	}
}

// Read implements Subject.
func (s *Session) Read() []byte {
	b := s.out
	s.out = nil
	return b
}

// Events implements Subject.
func (s *Session) Events() []string {
	e := s.events
	s.events = nil
	return e
}

// Wait implements Subject. The session is ticked every second.
func (s *Session) Wait(d time.Duration) {
	for end := s.Now + int64(d); s.Now < end; {
		s.Now = min(end, s.Now+int64(time.Second))
		if !s.Closed {
			s.do(s.session.Tick(s.Now, s.p, !s.paused))
		}
	}
}

// Command implements Subject.
func (s *Session) Command(text string) error {
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "unbind":
		s.do(s.session.Unbind(s.Now, s.p))
	case "message":
		m, err := messageOf(rest)
		if err == nil {
			s.message(m)
		}
		return err
	case "pause":
		s.paused = true
	case "want":
		s.wanted = true
	case "resume":
		s.paused = false
		s.read()
	default:
		return fmt.Errorf("cannot do %q", word)
	}
	return nil
}

// messageOf makes a message of the fields of a command.
func messageOf(fields string) (*sms.Message, error) {
	var source, dest sms.Address
	var text []byte
	for _, f := range strings.Fields(fields) {
		key, value, _ := strings.Cut(f, "=")
		switch key {
		case "source":
			source.Addr = []byte(value)
		case "dest":
			dest.Addr = []byte(value)
		case "text":
			text = []byte(value)
		default:
			return nil, fmt.Errorf("cannot set %q of a message", key)
		}
	}
	m := &sms.Message{}
	m.Set(source, dest, text)
	return m, nil
}

// message sends a message to the peer, if the session accepts one.
func (s *Session) message(m *sms.Message) {
	if !s.session.Accepting() {
		s.event("unsent")
		return
	}
	n := s.session.NextSequence()
	s.awaiting[n] = true
	s.session.Encode(s.Now, s.p, m, n)
	s.send()
}

// idle calls Session.Idle when the session has drained.
func (s *Session) idle() {
	if len(s.awaiting) == 0 {
		s.do(s.session.Idle(s.Now, s.p))
	}
}

func (s *Session) send() { s.out = s.p.AppendWire(s.out) }

func (s *Session) event(format string, args ...any) {
	s.events = append(s.events, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

func (s *Session) do(a protocols.Action) {
	switch a.Kind {
	case protocols.Send, protocols.Logout:
		s.send()
	case protocols.Leave:
		s.do(s.session.Unbind(s.Now, s.p))
	case protocols.Drain:
		s.idle()
	case protocols.SendClose:
		s.send()
		s.close(a.Reason)
	case protocols.Close:
		s.close(a.Reason)
	case protocols.Login:
		code := sms.BindFailed
		if string(a.Credentials.SystemID) == AccountID && string(a.Credentials.Password) == AccountPassword {
			code = sms.OK
		}
		s.do(s.session.Login(s.Now, s.p, code))
	case protocols.Bound:
		s.event("bound %s", s.session.Bound())
	case protocols.Message:
		s.accept(a.Messages)
	case protocols.Operate:
		s.operate()
	case protocols.Alert:
		s.event("alerted")
	case protocols.Answered:
		s.event("answered seq=%d %s %s", a.Sequence, a.Code, s.p.MessageID())
		if s.awaiting[a.Sequence] {
			delete(s.awaiting, a.Sequence)
			s.idle()
		}
	}
}

func (s *Session) close(reason string) {
	s.Closed = true
	s.event("closed %s", reason)
}

// accept accepts the messages of a PDU, one for each recipient; recipients 0: a single message.
func (s *Session) accept(recipients int) {
	var first uint64
	refusal := sms.OK
	for i := range max(recipients, 1) {
		if recipients > 0 {
			s.can.Recipients.To(s.p, i)
		}
		m := &sms.Message{}
		code := s.session.Message(s.Now, s.p, m)
		if code == sms.OK {
			s.id++
			m.ID = s.id
			if first == 0 {
				first = m.ID
			}
			m.Offset = uint16(m.ID - first)
			s.waiting = append(s.waiting, m)
			continue
		}
		if recipients > 0 {
			s.can.Recipients.Refuse(s.p, code)
		}
		if refusal == sms.OK {
			refusal = code
		}
	}
	if first != 0 {
		refusal = sms.OK
	} else {
		s.id++
	}
	s.session.Answer(s.p, refusal, first)
	s.send()
}

func (s *Session) operate() {
	o, code := s.can.Operations.Operation(s.Now, s.p)
	var r protocols.Result
	if code == sms.OK {
		code = s.carryOut(&o, &r)
	}
	s.can.Operations.AnswerOperation(s.p, code, &r)
	s.send()
}

func (s *Session) carryOut(o *protocols.Operation, r *protocols.Result) sms.Code {
	code := sms.Rejected
	s.waiting = slices.DeleteFunc(s.waiting, func(m *sms.Message) bool {
		if o.ID != 0 && o.ID != m.KnownID() || !bytes.Equal(o.Source.Addr, m.Source().Addr) ||
			o.Dest.Addr != nil && !bytes.Equal(o.Dest.Addr, m.Dest().Addr) || o.Fits != nil && !o.Fits(m) {
			return false
		}
		code = sms.OK
		r.ID, r.State = m.ID, sms.StateEnroute
		switch o.Kind {
		case protocols.Cancel:
			return true
		case protocols.Replace:
			code = o.Change(s.Now, m)
		}
		if m.DeliverAt > s.Now {
			r.State = sms.StateScheduled
		}
		return false
	})
	return code
}
