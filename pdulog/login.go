package pdulog

import "pmg/protocols"

// A Standing is the state of a session's login when a PDU is logged.
type Standing uint8

// The standings.
const (
	Stranger  Standing = iota // no login was logged
	LoggingIn                 // a login was logged, and was not accepted, or not yet
	LoggedIn
)

// A Login finds the standing of one session from its logged PDUs. The session's own state
// cannot be used: when a PDU is logged, the session may not have handled an earlier login
// yet, or may have ended already. The zero value is a session without a login. A Login
// belongs to the goroutine that logs the session's PDUs.
type Login struct {
	standing Standing
	byPeer   bool // the login was received
}

// Pass records a PDU that is about to be logged and returns the session's standing. Only an
// answer in the other direction than the login's can accept it.
func (l *Login) Pass(received bool, p protocols.PDU) Standing {
	if l.standing == LoggedIn {
		return LoggedIn
	}
	switch p.LoginStep() {
	case protocols.LoginRequest:
		if l.standing == Stranger {
			l.standing, l.byPeer = LoggingIn, received
		}
	case protocols.LoginAccepted:
		if l.standing == LoggingIn && l.byPeer != received {
			l.standing = LoggedIn
		}
	}
	return l.standing
}

// maxEarlyLine is the longest line that shows a text before the login is accepted.
const maxEarlyLine = 1024

// append appends a PDU, without the parts that must not be shown. Octets of a stranger may
// be a misplaced password. A valid message after a login is not one, because clients need
// not wait for the answer to the login.
func (s Standing) append(b []byte, p protocols.PDU, texts bool) []byte {
	if s != LoggingIn || !texts {
		return p.AppendLog(b, s == LoggedIn && texts)
	}
	at := len(b)
	if _, ok := p.Text(); ok {
		if b = p.AppendLog(b, true); len(b)-at <= maxEarlyLine {
			return b
		}
	}
	return p.AppendLog(b[:at], false)
}
