package pdulog

import "pmg/protocols"

// A Standing is how far a session's login has come when a PDU passes the log.
type Standing uint8

// The standings.
const (
	Stranger  Standing = iota // no login has passed
	LoggingIn                 // a login has passed, and it was not accepted, or not yet
	LoggedIn
)

// A Login finds the standing of one session from the PDUs that pass the log. The
// session's own state does not tell: when a PDU passes, the session may not have seen
// the login before it, or may have ended meanwhile. The zero value is a session
// without a login. It belongs to whatever logs the session's PDUs.
type Login struct {
	standing Standing
	byPeer   bool // the login was received
}

// Pass notes a PDU that is about to be logged and returns the session's standing. Only
// the other side than the one that asked can accept a login.
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

// maxEarlyLine is how long a line may be that shows a text before the login is accepted.
const maxEarlyLine = 1024

// append appends a PDU with as much of it as may be shown. What a stranger sends may
// be a misplaced password. A message that can be read and comes behind a login is
// none: clients need not wait for the answer to their login.
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
