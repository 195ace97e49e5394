package connector

import (
	"fmt"
	"net/netip"
	"sync/atomic"

	"pmg/account"
	"pmg/protocols"
)

// A Link is the session of a connected instance, as far as it does not matter
// who reads and writes its socket. Each architecture embeds it in what it keeps
// of a connection.
type Link struct {
	Connector *Connector
	Instance  *Instance
	Remote    netip.AddrPort
	Opened    int64 // Unix nanoseconds
	Session   protocols.Session
	Inflight  Inflight
	Owner     any // what it is embedded in: a *Handle, or a connection of the classic architecture

	Heard   atomic.Int64 // when the peer last sent something
	Partial atomic.Int64 // when the PDU began that has not come whole; 0: none
	closing atomic.Bool  // somebody wants the session to end
	reason  atomic.Pointer[string]

	// These belong to whoever runs the session.
	Account *account.Account // who has logged in; set before Session.Bound tells of it and never after
	Bound   bool             // logged in
	PDUs    int64            // PDUs of the peer, in place of a clock for the work this session made

	// These belong to whoever owns the connector's slots.
	slots   []*Slot
	unused  int  // slots of the window that were not made yet
	dropped bool // the session is over
}

// Open begins the session of an instance.
func (l *Link) Open(i *Instance, remote netip.AddrPort, now int64, owner any) {
	l.Connector, l.Instance, l.Remote, l.Opened, l.Owner = i.Connector, i, remote, now, owner
	l.Heard.Store(now)
	l.Session = i.Connector.NewSession()
}

// FreeSequence gives the next sequence number with which a request can be put in flight.
func (l *Link) FreeSequence() uint32 {
	n := l.Session.NextSequence()
	for window := l.Connector.Config().Window; !l.Inflight.Free(n, window); {
		n = l.Session.NextSequence()
	}
	return n
}

// BeginClosing tells whether the caller is the first who wants the session to
// end, and keeps its reason.
func (l *Link) BeginClosing(reason string) bool {
	if !l.closing.CompareAndSwap(false, true) {
		return false
	}
	l.reason.Store(&reason)
	return true
}

// Closing tells whether the session has been asked to end.
func (l *Link) Closing() bool { return l.closing.Load() }

// Reason tells why the session ended.
func (l *Link) Reason() string {
	if r := l.reason.Load(); r != nil {
		return *r
	}
	return ""
}

// String names the session as logs do: connector/instance.
func (l *Link) String() string { return fmt.Sprintf("%s/%d", l.Connector.Name, l.Instance.Number) }
