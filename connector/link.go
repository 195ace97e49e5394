package connector

import (
	"fmt"
	"net/netip"
	"sync/atomic"

	"pmg/account"
	"pmg/pdulog"
	"pmg/protocols"
	"pmg/sms"
)

// A Link is the session of a connected instance, as far as it does not matter
// what reads and writes its socket. Each architecture embeds it in its own record
// of a connection.
type Link struct {
	Connector *Connector
	Instance  *Instance
	Remote    netip.AddrPort
	Opened    int64 // Unix nanoseconds
	Session   protocols.Session
	Inflight  Inflight
	Lane      *Lane // by which the session is given messages; nil: it takes none
	Owner     any   // what it is embedded in: the pipeline's handle, or a connection of the classic architecture

	Heard   atomic.Int64 // when the peer last sent something
	Partial atomic.Int64 // when the PDU began that has not come whole; 0: none
	closing atomic.Bool  // something wants the session to end
	reason  atomic.Pointer[string]

	Login pdulog.Login // belongs to whatever writes the pdu log

	// These belong to whatever runs the session.
	Account   *account.Account // of the client; set before Session.Bound reports it and never after
	Origin    *sms.Origin      // of the messages that arrive on it
	Bound     bool             // logged in
	BoundAt   int64            // Unix nanoseconds
	LoggedOut bool             // we log out, or have
	Draining  bool             // the peer logs out: it is told nothing more but the answer to that
	Ended     bool             // our last PDU is on its way; requests are not answered any more
	EndReason string           // why, where that PDU is the delayed answer to a login
	Over      bool             // the session is over
	LoggingIn bool             // the outcome of a login is not known yet
	Held      int              // submits that wait for room
	Storing   int              // messages that wait for their commit
	LastShare *Share           // where its last message went
	PDUs      int64            // PDUs of the peer, in place of a clock for the work this session made
	late      late
	logged    logged // belongs to whatever logs the session's PDUs

	// These belong to whatever owns the lane's slots.
	window   int // as it was configured when the session began
	slots    []*Slot
	aside    []*Slot // free slots that are not to be taken now
	frozen   []*Slot // slots whose requests were not answered in time
	suspect  *Slot   // the slot by which a suspect is under way; the session is held
	used     int     // slots under way
	unused   int     // slots of the window that were not made yet
	atEnd    int     // slots under way when the session ended
	held     bool    // its free slots are set aside
	dropped  bool    // it is given no more messages
	leaving  bool    // the lane is to say when none of its requests is under way any more
	balanced bool    // messages are balanced over the lane's sessions
	boundAt  int64   // BoundAt; 0: the lane has not been told yet
}

// Open begins the session of an instance.
func (l *Link) Open(i *Instance, remote netip.AddrPort, now int64, owner any) {
	l.Connector, l.Instance, l.Remote, l.Opened, l.Owner = i.Connector, i, remote, now, owner
	l.Heard.Store(now)
	window := i.Connector.Config().Window
	l.window = window
	l.Session = i.Connector.NewSession(func(n uint32) bool { return !l.Inflight.Free(n, window) })
}

// CountRefused counts a message of the session that was not accepted.
func (l *Link) CountRefused() {
	l.Connector.Stats.Refused.Add(1)
	l.Origin.Tally.Refused.Add(1)
}

// BeginClosing keeps the reason why the session is to end. It reports whether the
// caller is the first that wants it to.
func (l *Link) BeginClosing(reason string) bool {
	if !l.closing.CompareAndSwap(false, true) {
		return false
	}
	l.reason.Store(&reason)
	return true
}

// Closing reports whether the session has been asked to end.
func (l *Link) Closing() bool { return l.closing.Load() }

// Reason returns why the session ended.
func (l *Link) Reason() string {
	if r := l.reason.Load(); r != nil {
		return *r
	}
	return ""
}

// String names the session as logs do: connector/instance.
func (l *Link) String() string { return fmt.Sprintf("%s/%d", l.Connector.Name, l.Instance.Number) }
