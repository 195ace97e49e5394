package connector

import (
	"fmt"
	"net/netip"
	"sync/atomic"

	"pmg/config"
	"pmg/connector/account"
	"pmg/connector/autowindow"
	"pmg/internal/ratelimit"
	"pmg/internal/tlsfiles"
	"pmg/pdulog"
	"pmg/protocols"
	"pmg/sms"
)

// A Source is a peer: its account, its connector and its address. Messages come from a source or go
// to a source, with or without a session.
type Source struct {
	Connector *Connector
	Instance  *Instance // the instance of the session; nil: there is no session
	Remote    netip.AddrPort
	Account   *account.Account // the client's account; set before Session.Bound is not 0, and never changed afterwards
	Origin    *sms.Origin      // the origin of messages that arrive; set with Account
	LastShare *Share           // share of the last message; only the goroutine that accepts messages uses it
}

// CountRefused counts a message of the source that was refused. why is the code of the answer.
func (s *Source) CountRefused(why sms.Code) {
	s.Connector.Stats.Refused.Add(1)
	s.Origin.Tally.Refuse(why)
}

// A Link is the part of a connected instance's session that is the same in both architectures. Each
// architecture embeds it in its own type of connection. All goroutines may use the fields declared
// here directly: those that are not atomic are set before other goroutines see the link. The other
// fields are in three embedded parts; one goroutine owns each part.
type Link struct {
	Source
	Opened   int64 // Unix nanoseconds
	Session  protocols.Session
	Can      protocols.Abilities // abilities of the protocol session
	Codec    protocols.Codec     // only the goroutine that decodes the peer's PDUs may use it
	Hosted   Hosted
	Inflight Inflight
	Identity tlsfiles.Identity // the peer's identity from its certificate; only the goroutine that handles PDUs may use it
	Lane     *Lane             // the lane whose messages the session is given; nil: the session takes no messages

	Heard    atomic.Int64 // when the peer last sent something
	Partial  atomic.Int64 // when the incomplete PDU began; 0: no PDU is incomplete
	Pressing atomic.Bool  // the session sends on although its account has too many refusals
	closing  atomic.Bool  // the session was asked to end
	reason   atomic.Pointer[string]

	Dialogue
	Outlet
	Log
}

// A Hosted is the state of a session of protocols.Requests, whose connection was admitted by a Host. Its requests are handled
// one at a time, so that the answers keep their order. All but By belongs to the goroutine that handles PDUs.
type Hosted struct {
	By        Host // nil: the gateway's listener has admitted the connection
	Answering bool // a request is not answered yet; those that follow wait
	HandsOver bool // the Host gets the connection back, with all requests that follow

	// The login of the connection was checked against these accounts, and is checked again after a time.
	Accounts *account.Table
	Again    int64
}

// A Host admits connections whose requests are handled as those of a session. It counts a connection, and may get it back.
// Its methods do not wait.
type Host interface {
	// LogIn records the account of the connection. It reports false if the account has as many connections as it may.
	LogIn(account string) bool
	// Work records that a request begins, and Rest that it is answered.
	Work()
	Rest()
	// TakeBack takes the connection back when its session is over: its descriptor, and the octets that were read from it but
	// not handled.
	TakeBack(fd int, octets []byte)
	// Closing is called before the descriptor is closed.
	Closing()
}

// A Courier delivers the messages of a lane: a session, a webhook, or an SMSC that is called by
// HTTP. The lane does not know the courier's socket, session or sequence numbers. For each slot
// that it is given, the courier calls Lane.Answered or Lane.Unsent.
type Courier interface {
	// Give passes a slot to the courier, whose message or operation must be sent now.
	Give(now int64, s *Slot)
	// Quiet is called once, when the courier gets no more messages and none of its slots is under way.
	Quiet(now int64)
}

// An Outlet is the state of a session, or of another way out, in the lane's dispatching goroutine:
// its courier, and how many more requests it takes.
type Outlet struct {
	Courier  Courier
	home     *Connector // the connector whose counters include the outlet
	link     *Link      // the session; nil: the outlet is not a session
	size     sizing     // how many requests may be under way
	slots    []*Slot
	aside    []*Slot // free slots that must not be taken now
	frozen   []*Slot // slots whose requests were not answered in time
	suspect  *Slot   // the slot of the suspect that is under way; the session is reserved for suspects
	used     int     // slots under way
	unused   int     // slots of the window that are not created yet
	atEnd    int     // slots under way when the session ended
	supply   supply
	reserved bool  // the outlet's free slots are reserved for suspects
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
	leaving        // the session gets no more messages, and the lane must report when no request is under way
	stopped        // the session gets no more messages
)

// A sizing is how many requests of an outlet may be under way.
type sizing struct {
	most    int                // from the configuration when the session began
	auto    *autowindow.Window // how many of them are allowed now; nil: all
	allowed atomic.Int64       // size of auto; 0: no auto
	surplus int                // slots under way that are dropped when they are put back, because fewer are allowed now
}

// firstSize returns how many requests of a new session may be under way.
func firstSize(cfg *config.Connector) int {
	if cfg.Window == config.Auto {
		return min(cfg.MostRequests(), autowindow.First)
	}
	return int(cfg.Window)
}

// Allowed returns how many requests may be under way now. It is safe for concurrent use.
func (o *Outlet) Allowed() int {
	if n := o.size.allowed.Load(); n != 0 {
		return int(n)
	}
	return o.size.most
}

// takesMore reports whether the session may be given messages.
func (o *Outlet) takesMore() bool { return o.supply == given }

// A Log is the state of a session in the goroutine that logs its PDUs.
type Log struct {
	Login  pdulog.Login
	logged logged
}

// RefusalRate is how many refusals of one session are answered per second.
const RefusalRate = 200

// Open begins the session of an instance. courier is the type that embeds the link.
func (l *Link) Open(i *Instance, remote netip.AddrPort, now int64, courier Courier) {
	l.Connector, l.Instance, l.Remote, l.Opened = i.Connector, i, remote, now
	l.Courier, l.home, l.link = courier, i.Connector, l
	l.Heard.Store(now)
	cfg := i.Connector.Config()
	window := cfg.MostRequests()
	l.size.most = window
	if cfg.Window == config.Auto {
		l.size.auto = autowindow.New(window)
		l.size.allowed.Store(int64(l.size.auto.Size()))
	}
	l.Refusals.SetRate(RefusalRate, 1)
	l.Session, l.Codec = i.Connector.NewSession(protocols.SessionOptions{
		Remote: remote, Taken: func(n uint32) bool { return !l.Inflight.Free(n, window) },
		Load: l.load, Wanted: l.wanted, Client: l.client, MayCall: l.mayCall,
	})
	l.Can = protocols.AbilitiesOf(l.Session)
}

// load returns how full the queue of the session's last message is, in percent.
func (l *Link) load() int {
	if l.LastShare == nil {
		return 0
	}
	lane := l.LastShare.Lane
	return int(min(lane.Queued.Load()*100/int64(lane.Config().MaxQueue), 100))
}

// client returns the options of the client's account for sessions of the protocol. It returns nil
// if the account has no such options.
func (l *Link) client() any {
	if l.Account == nil {
		return nil
	}
	return l.Account.Config().ProtocolOptions(l.Connector.Protocol)
}

// mayCall reports whether the messages of the client's account may name a URL to be called.
func (l *Link) mayCall(url string) bool {
	return l.Account != nil && l.Account.Config().MayCall(url) == nil
}

// wanted reports whether the session's place is needed: the peer has been silent for a while, and
// since then a login of the account, or of the SMSC, was refused for want of a session.
func (l *Link) wanted(now int64) bool {
	since := l.Connector.Wanted.Load()
	if l.Account != nil {
		since = l.Account.Wanted()
	}
	heard := l.Heard.Load()
	return since > heard && now-heard >= int64(protocols.WantedPatience)
}

// BeginClosing asks the session to end. Only the first call has an effect: it records the reason,
// unless Explain has set a reason, and returns true.
func (l *Link) BeginClosing(reason string) bool {
	if !l.closing.CompareAndSwap(false, true) {
		return false
	}
	l.reason.CompareAndSwap(nil, &reason)
	return true
}

// Explain sets the reason why the session ends, as a PDU gives it. It replaces the reason of
// BeginClosing, because a peer that refuses a login or logs out may close the connection before its
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

// A Dialogue is the state of a session in the goroutine that runs the session.
type Dialogue struct {
	Phase     Phase
	BoundAt   int64 // when the session logged in, in Unix nanoseconds; 0: it has not logged in
	LeavingAt int64 // when our logout was requested, which waits for answers to our requests; 0: no logout was requested

	// The flags below stay true once they are set, in whatever phase the session is.
	Place        Place
	LoggedOut    bool   // we are logging out or have logged out, so the end of the session is not a failure
	Revoked      bool   // the account may not use the session any more: its requests are refused until the session ends
	TakesNothing bool   // the peer takes no messages in this session, which is closed without a logout
	EndReason    string // why the session ended, if our last PDU is the delayed answer to a login

	Undecided      bool              // a decision about a login or a message is pending; PDUs that follow wait
	WaitingForRoom int               // submits that wait for room
	Storing        int               // messages that wait for their commit, and operations under way
	Operating      int               // operations under way
	Refusals       ratelimit.Limiter // limits the answers to refused requests
	late           late
}

// A Place records how the session of a connected peer counts towards the limits of sessions.
type Place struct {
	Admitted bool // the session is counted by Connector.BindClient
	Replaced bool // the account does not count the session any more: another session has taken its place

	// lasts is BoundAt while the session is logged in, and -BoundAt after another session has taken its place. It is 0
	// before the login, and from the logout on.
	lasts atomic.Int64
}

// Lasts returns since when the session is in the phase Bound, or 0 if it is not, or has lost its place. If the
// result is not 0, the session's account may be read. Any goroutine may call it.
func (p *Place) Lasts() (since int64) { return max(p.lasts.Load(), 0) }

// Take takes the place for another session, unless the session has ended or lost the place since Lasts has
// returned since. Any goroutine may call it.
func (p *Place) Take(since int64) bool { return p.lasts.CompareAndSwap(since, -since) }

// Leave undoes Take.
func (p *Place) Leave() {
	if since := p.lasts.Load(); since < 0 {
		p.lasts.CompareAndSwap(since, -since)
	}
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
	LoggingIn        // a login of the peer is being decided
	Bound            // the session is logged in
	Leaving          // the peer is given no more messages; we log out when it has answered all our requests
	LoggingOut       // our logout is sent
	Draining         // the peer logs out, or we end without a logout PDU; only the answer to the logout is still sent
	Ended            // our last PDU is sent; requests are not answered any more
	Over             // no more PDUs follow
)

// Enter sets the session's phase, unless the session is already in a later phase.
func (d *Dialogue) Enter(p Phase) {
	if p > Bound && d.Phase <= Bound {
		d.Place.lasts.Store(0)
	}
	d.Phase = max(d.Phase, p)
}

// Bind enters the phase Bound, and records since when the session is logged in.
func (d *Dialogue) Bind(now int64) {
	d.Enter(Bound)
	d.BoundAt = now
	if d.Phase == Bound {
		d.Place.lasts.Store(now)
	}
}

// LoginDecided ends the phase LoggingIn. Another phase follows if the login was accepted, or if the
// session ends because the login was refused.
func (d *Dialogue) LoginDecided() {
	if d.Phase == LoggingIn {
		d.Phase = Connected
	}
}

// HasEnded reports whether our last PDU is sent or the session is over.
func (d *Dialogue) HasEnded() bool { return d.Phase >= Ended }

// WasBound reports whether the session has ever been logged in.
func (d *Dialogue) WasBound() bool { return d.BoundAt != 0 }
