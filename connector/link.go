package connector

import (
	"fmt"
	"net/netip"
	"sync/atomic"

	"pmg/connector/account"
	"pmg/internal/ratelimit"
	"pmg/internal/tlsfiles"
	"pmg/pdulog"
	"pmg/protocols"
	"pmg/sms"
)

// A Source is a peer: its account, its connector and its address. Messages come from it, or go to it, with a session or
// without.
type Source struct {
	Connector *Connector
	Instance  *Instance // of a session; nil: there is none
	Remote    netip.AddrPort
	Account   *account.Account // of the client; set before Session.Bound is not 0, and never changed then
	Origin    *sms.Origin      // of the messages that arrive; set with Account
	LastShare *Share           // where the last message went; only who takes messages in uses it
}

// CountRefused counts a message of the session that was not accepted.
func (s *Source) CountRefused(why sms.Code) {
	s.Connector.Stats.Refused.Add(1)
	s.Origin.Tally.Refuse(why)
}

// A Link is the part of a connected instance's session that is the same in both
// architectures. Each architecture embeds it in its own type of connection. Its own fields are
// for all goroutines: those that are not atomic are set before others can see them. The rest
// is in three parts, each of which has one owner.
type Link struct {
	Source
	Opened   int64 // Unix nanoseconds
	Session  protocols.Session
	Can      protocols.Abilities // of Session
	Inflight Inflight
	Identity tlsfiles.Identity // the peer by its certificate; only who handles its PDUs may use it
	Lane     *Lane             // the lane that gives the session messages; nil: it takes none

	Heard    atomic.Int64 // when the peer last sent something
	Partial  atomic.Int64 // when the incomplete PDU began; 0: there is none
	Pressing atomic.Bool  // it goes on although its account is refused too much
	closing  atomic.Bool  // the session was asked to end
	reason   atomic.Pointer[string]

	Dialogue
	Outlet
	Log
}

// A Courier delivers the messages of a lane: it is the session's part of an architecture, a webhook, or
// an SMSC that is called by HTTP. A lane knows nothing of its socket, session or sequence numbers.
// Lane.Answered or Lane.Unsent follows for each slot.
type Courier interface {
	// Give is given a slot whose message, or operation, is to leave now.
	Give(now int64, s *Slot)
	// Quiet informs it, once, that it gets no more messages and that none of its slots is under
	// way.
	Quiet(now int64)
}

// An Outlet is what the lane's dispatching goroutine knows of a session, or of another way out: its
// courier, and how many more requests it takes.
type Outlet struct {
	Courier  Courier
	home     *Connector // that counts it
	link     *Link      // the session; nil: there is none
	window   int        // the configured window when the session began
	slots    []*Slot
	aside    []*Slot // free slots that must not be taken now
	frozen   []*Slot // slots whose requests were not answered in time
	suspect  *Slot   // the slot of a suspect under way; the session is reserved
	used     int     // slots under way
	unused   int     // slots of the window that are not made yet
	atEnd    int     // slots under way when the session ended
	supply   supply
	reserved bool  // its free slots are set aside for suspects
	balanced bool  // messages are balanced over the lane's sessions
	boundAt  int64 // Dialogue.BoundAt; 0: the lane does not know the session yet
}

// A supply is whether a session is given messages.
//
//	given ──LoggingOut──► leaving ──no request is under way──► stopped
//	  └──Over──────────────────────────────────────────────────▲
type supply uint8

const (
	given   supply = iota
	leaving        // none, and the lane must report when no request is under way
	stopped        // none
)

// takesMore reports whether the session may be given messages.
func (o *Outlet) takesMore() bool { return o.supply == given }

// A Log is what the goroutine that logs a session's PDUs knows of it.
type Log struct {
	Login  pdulog.Login
	logged logged
}

// RefusalRate is how many refusals of a session are answered a second.
const RefusalRate = 200

// Open begins the session of an instance. courier is what embeds the link.
func (l *Link) Open(i *Instance, remote netip.AddrPort, now int64, courier Courier) {
	l.Connector, l.Instance, l.Remote, l.Opened = i.Connector, i, remote, now
	l.Courier, l.home, l.link = courier, i.Connector, l
	l.Heard.Store(now)
	window := i.Connector.Config().Window
	l.window = window
	l.Refusals.SetRate(RefusalRate, 1)
	l.Session = i.Connector.NewSession(func(n uint32) bool { return !l.Inflight.Free(n, window) }, l.load, l.wanted, l.client)
	l.Can = protocols.AbilitiesOf(l.Session)
}

// load returns how full the queue is to which the session's last message went, in percent.
func (l *Link) load() int {
	if l.LastShare == nil {
		return 0
	}
	lane := l.LastShare.Lane
	return int(min(lane.Queued.Load()*100/int64(lane.Config().MaxQueue), 100))
}

// client returns the options that the client's account has for sessions of the protocol, nil if it has none.
func (l *Link) client() any {
	if l.Account == nil {
		return nil
	}
	return l.Account.Config().ProtocolOptions(l.Connector.Protocol)
}

// wanted reports whether a login of the account, or of the SMSC, was refused for want of a session
// after the peer was last heard, which is a while ago.
func (l *Link) wanted(now int64) bool {
	since := l.Connector.Wanted.Load()
	if l.Account != nil {
		since = l.Account.Wanted()
	}
	heard := l.Heard.Load()
	return since > heard && now-heard >= int64(protocols.WantedPatience)
}

// BeginClosing asks the session to end. Only the first call has an effect: it keeps its
// reason, unless Explain has set one, and returns true.
func (l *Link) BeginClosing(reason string) bool {
	if !l.closing.CompareAndSwap(false, true) {
		return false
	}
	l.reason.CompareAndSwap(nil, &reason)
	return true
}

// Explain sets why the session ends. Its reason is that of a PDU, so it replaces that of
// BeginClosing: a peer that refuses a login or logs out may close the connection before the
// PDU is read.
func (l *Link) Explain(reason string) { l.reason.Store(&reason) }

// Closing reports whether the session has been asked to end.
func (l *Link) Closing() bool { return l.closing.Load() }

// Reason returns why the session ended.
func (l *Link) Reason() string {
	if r := l.reason.Load(); r != nil {
		return *r
	}
	return ""
}

// String returns the session's name in logs: connector/instance.
func (l *Link) String() string { return fmt.Sprintf("%s/%d", l.Connector.Name, l.Instance.Number) }

// A Dialogue is what the goroutine that runs a session knows of it.
type Dialogue struct {
	Phase     Phase
	BoundAt   int64 // when it logged in, in Unix nanoseconds; 0: it has not
	LeavingAt int64 // when our logout was asked for, which waits for the answers to our requests; 0: it was not

	// These stay true however the life of the session goes on.
	Place        Place
	LoggedOut    bool   // we are logging out, or have logged out, so that its end is no failure
	Revoked      bool   // its account may not use it any more: its requests are refused until it ends
	TakesNothing bool   // the peer takes no message in this session, which is closed without a logout
	EndReason    string // why it ended, if our last PDU is the delayed answer to a login

	Undecided      bool              // whether a login or a message is accepted is not decided yet; PDUs wait behind it
	WaitingForRoom int               // submits that wait for room
	Storing        int               // messages that wait for their commit, and operations under way
	Operating      int               // operations under way
	Refusals       ratelimit.Limiter // of what it is refused
	late           late
}

// A Place is how the session of a peer that has connected counts towards the limits of sessions.
type Place struct {
	Admitted bool // counted by Connector.BindClient
	Replaced bool // not counted by its account any more: another session has its place there
}

// A Phase is how far the life of a session has come. Only a login that is refused in an open
// session leads back.
//
//	            login              accepted        our logout waits       it is sent
//	Connected ─────────► LoggingIn ────────► Bound ────────────────► Leaving ────────► LoggingOut
//	    ▲    refused         │                 │                        │                   │
//	    └────────────────────┘                 └────────────────────────┴───────────────────┤
//	                                                                     the peer logs out  ▼
//	                                                                                     Draining
//	any ──our last PDU, or the end of the connection, is on its way──► Ended
//	any ──all that was read is handled──► Over
type Phase uint8

// The phases. Where we log in, Bound follows Connected.
const (
	Connected  Phase = iota
	LoggingIn        // a login of the peer is not decided yet
	Bound            // logged in
	Leaving          // we give it no more messages, and log out when it has answered those that it has
	LoggingOut       // our logout is on its way
	Draining         // the peer logs out, or we do without a PDU for that: nothing but the answer to that is still sent
	Ended            // our last PDU is on its way; requests are not answered any more
	Over             // no more PDUs follow
)

// Enter records the phase of the session, unless it is in a later one.
func (d *Dialogue) Enter(p Phase) { d.Phase = max(d.Phase, p) }

// LoginDecided ends the phase LoggingIn. Others follow if the login was accepted, or if the
// session ends because it was not.
func (d *Dialogue) LoginDecided() {
	if d.Phase == LoggingIn {
		d.Phase = Connected
	}
}

// HasEnded reports whether our last PDU is on its way, or the session is over.
func (d *Dialogue) HasEnded() bool { return d.Phase >= Ended }

// WasBound reports whether the session has ever been logged in.
func (d *Dialogue) WasBound() bool { return d.BoundAt != 0 }
