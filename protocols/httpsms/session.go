package httpsms

import (
	"sync/atomic"
	"time"

	"pmg/protocols"
	"pmg/protocols/http1"
	"pmg/sms"
)

// The time limits of a connection, which the general server has, too.
const (
	HeaderTimeout = 5 * time.Second // for the first request of a connection
	IdleTimeout   = time.Minute     // between two requests
)

// maxPartial is how many octets of an incomplete request are kept. The general server reads larger ones, and counts their memory.
const maxPartial = 8 << 10

// A session is a connection whose requests submit messages:
//
//	open ──first request, login──► bound ──request──► answering ──answer──► bound
//	  any ──a request for the general server, logout──► handed over, when no request is unanswered
//
// The connection has the login of its first request. A request with another login is for the general server.
type session struct {
	mayCall   func(url string) bool
	remote    string
	payloads  []*Payload // those of the connector's dialects
	number    uint32     // of the last request; the codec's
	posted    bool       // the last request is a POST; the codec's
	since     int64      // time of the connection, or of the last request
	answering bool
	leaving   bool                       // the session is to be logged out
	client    atomic.Pointer[KnownLogin] // the login of the first request; nil: none was right yet
}

// NewRequests implements protocols.RequestDriver.
func (d *Driver) NewRequests(o protocols.SessionOptions) protocols.Requests {
	s := &session{mayCall: o.MayCall, remote: o.Remote.String()}
	if options, ok := o.Options.(*ConnectorOptions); ok {
		s.payloads = payloadsOf(d.payloads, options.Dialects)
	}
	return s
}

// Frame implements protocols.Codec.
func (s *session) Frame(b []byte) (int, error) {
	n, foreign := http1.Extent(b)
	if foreign || n > len(b) && len(b) > maxPartial {
		return 0, protocols.ErrForeign
	}
	return n, nil
}

// Decode implements protocols.Codec.
func (s *session) Decode(pdu protocols.PDU, b []byte) error {
	p := pdu.(*PDU)
	s.number++
	if !p.read(b, s.payloads, s.remote, s.number) {
		p.in.forget()
		return protocols.ErrForeign
	}
	if c := s.client.Load(); c != nil {
		if p.in.fits = s.fits(c, &p.in.submission); !p.in.fits {
			p.in.forget()
			return protocols.ErrForeign
		}
	}
	s.posted = p.in.http.Post
	return nil
}

// maxLineEnds is how many octets of line ends the general server skips behind a POST: some clients send them.
const maxLineEnds = 4

// Unread implements protocols.Requests. The general server has not seen the POST.
func (s *session) Unread(b []byte) []byte {
	for n := 0; s.posted && n < maxLineEnds && len(b) > 0 && (b[0] == '\r' || b[0] == '\n'); n++ {
		b = b[1:]
	}
	return b
}

// fits reports whether a request has the session's login, and names no URL that may not be called.
func (s *session) fits(c *KnownLogin, r *Submission) bool {
	return c.Is(r.Name, r.Password) && (r.Calls == "" || s.mayCall(r.Calls))
}

// Start implements protocols.Session.
func (s *session) Start(now int64, _ protocols.PDU) protocols.Action {
	s.since = now
	return protocols.Action{}
}

// Receive implements protocols.Session.
func (s *session) Receive(now int64, pdu protocols.PDU) protocols.Action {
	p, c := pdu.(*PDU), s.client.Load()
	if s.leaving || !p.isOurs() || c != nil && !p.in.fits && !s.fits(c, &p.in.submission) {
		return protocols.Action{Kind: protocols.HandOver}
	}
	s.since, p.in.at = now, now
	if c != nil {
		return s.message()
	}
	return protocols.Action{Kind: protocols.Login, Credentials: p.Credentials()}
}

func (s *session) message() protocols.Action {
	s.answering = true
	return protocols.Action{Kind: protocols.Message}
}

// Login implements protocols.Session.
func (s *session) Login(_ int64, pdu protocols.PDU, code sms.Code) protocols.Action {
	p := pdu.(*PDU)
	if code == sms.OK {
		c := KnowLogin(p.in.submission.Name, p.in.submission.Password)
		s.client.Store(&c)
		if !s.fits(&c, &p.in.submission) {
			return protocols.Action{Kind: protocols.HandOver}
		}
		return s.message()
	}
	p.describe(p.Number) // without the message, which may be anything
	p.in.last = true
	if code == sms.Throttled {
		p.reply(p.in.payload.Busy())
	} else {
		p.reply(p.in.payload.Denied(&p.in.submission))
	}
	return protocols.Action{Kind: protocols.SendClose, Reason: "the login of a request was refused"}
}

// Message implements protocols.Session.
func (s *session) Message(now int64, pdu protocols.PDU, m *sms.Message) sms.Code {
	o := pdu.(*PDU).in.submission.orderAt(now)
	return o.Fill(m)
}

// Answer implements protocols.Session.
func (s *session) Answer(pdu protocols.PDU, code sms.Code, id uint64) {
	p := pdu.(*PDU)
	s.answering = false
	p.reply(p.in.payload.Answer(&p.in.submission, Result{ID: id, Code: code}))
}

// Tick implements protocols.Session.
func (s *session) Tick(now int64, _ protocols.PDU, listening bool) protocols.Action {
	if !listening {
		s.since = now
	}
	limit := int64(HeaderTimeout)
	if s.client.Load() != nil {
		limit = int64(IdleTimeout)
	}
	if !s.answering && (s.leaving || protocols.Late(now, s.since, limit)) {
		return protocols.Action{Kind: protocols.HandOver} // the general server ends silent connections, and loses no request
	}
	return protocols.Action{}
}

// Unbind implements protocols.Session. The general server ends connections as its clients expect.
func (s *session) Unbind(int64, protocols.PDU) protocols.Action {
	s.leaving = true
	if s.answering {
		return protocols.Action{} // Tick goes on
	}
	return protocols.Action{Kind: protocols.HandOver}
}

// Idle implements protocols.Session.
func (s *session) Idle(int64, protocols.PDU) protocols.Action { return protocols.Action{} }

// Encode implements protocols.Session: nothing is sent to clients.
func (s *session) Encode(int64, protocols.PDU, *sms.Message, uint32) {}

// NextSequence implements protocols.Session.
func (s *session) NextSequence() uint32 { return 0 }

// Bound implements protocols.Session.
func (s *session) Bound() protocols.BindType {
	if s.client.Load() == nil {
		return 0
	}
	return protocols.Transmitter
}

// Accepting implements protocols.Session.
func (s *session) Accepting() bool { return s.client.Load() != nil }
