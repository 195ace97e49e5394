package connector

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pmg/config"
	"pmg/connector/streams"
	"pmg/internal/tlsfiles"
	"pmg/pdulog"
	"pmg/protocols"
	"pmg/sms"
	"pmg/sms/fit"
)

// A Connector is a named pool of sessions of one protocol.
type Connector struct {
	Name     string
	Index    int // index in the gateway's list; an index is not used again after the connector is removed
	Driver   protocols.Driver
	Protocol sms.Protocol
	Stats    *Stats
	PDULog   *pdulog.File // nil: PDUs are not logged

	// Removed reports that the configuration no longer has this connector.
	Removed atomic.Bool

	// Streams are the long-lasting requests of a connector without sessions.
	Streams streams.Table

	// Wanted is when an SMSC was last refused because no session was free.
	Wanted atomic.Int64

	cfg       atomic.Pointer[config.Connector]
	form      atomic.Pointer[fit.Form] // derived from cfg
	tls       atomic.Pointer[tlsfiles.Files]
	memory    *Memory
	online    atomic.Int64 // sessions that can be given messages
	clients   atomic.Int64 // clients that have logged in
	trouble   atomic.Pointer[Trouble]
	hold      atomic.Pointer[Hold]
	instances instances

	mu    sync.Mutex
	lanes []*Lane
}

// New makes a connector. memory counts the octets of the connector's messages.
func New(index int, cfg *config.Connector, driver protocols.Driver, memory *Memory) *Connector {
	c := &Connector{
		Name: cfg.Name, Index: index, Driver: driver, Stats: NewStats(cfg.Direction, len(driver.Commands())), memory: memory,
	}
	c.SetConfig(cfg)
	c.instances.limit = cfg.Instances
	return c
}

// Config returns the configuration in force.
func (c *Connector) Config() *config.Connector { return c.cfg.Load() }

// SetConfig puts a new configuration in force.
func (c *Connector) SetConfig(cfg *config.Connector) {
	c.cfg.Store(cfg)
	c.form.Store(cfg.Form())
}

// TLS returns the files with which the connector's sessions are encrypted, or nil if they are not.
func (c *Connector) TLS() *tlsfiles.Files { return c.tls.Load() }

// SetTLS sets the files by which the next sessions are encrypted. With nil they are not.
func (c *Connector) SetTLS(f *tlsfiles.Files) { c.tls.Store(f) }

// Form returns how messages must be encoded to fit the connector's peers.
func (c *Connector) Form() *fit.Form { return c.form.Load() }

// SetSockets changes how many sockets the connector may have at the same time. An in
// connector may have more sockets than instances, so that clients that have not logged in
// do not keep out clients that have.
func (c *Connector) SetSockets(n int) {
	c.instances.mu.Lock()
	defer c.instances.mu.Unlock()
	c.instances.limit = n
}

// NewSession returns the protocol's session for a new connection, and its codec; they are nil if the protocol has no
// sessions. o has what belongs to the connection; the rest is from the configuration.
func (c *Connector) NewSession(o protocols.SessionOptions) (protocols.Session, protocols.Codec) {
	cfg := c.Config()
	o.Role, o.Name = cfg.Role(), ourName(cfg)
	o.Accepted, o.Anonymous = cfg.Role() == protocols.Client && cfg.Listens(), !cfg.PeerLogsIn()
	o.SystemID, o.Password = cfg.SystemID, cfg.Password
	o.BindTimeout, o.EnquireInterval = int64(cfg.BindTimeout), int64(cfg.EnquireInterval)
	o.ResponseTimeout, o.IdleMax = int64(cfg.ResponseTimeout), int64(cfg.IdleMax)
	o.Payload, o.KeepPayload = c.Form().Long == fit.Payload, !c.Form().Cuts()
	o.Options = cfg.ProtocolOptions()
	switch d := c.Driver.(type) {
	case protocols.SessionDriver:
		return d.NewSession(o), d
	case protocols.RequestDriver:
		s := d.NewRequests(o)
		return s, s
	}
	return nil, nil
}

func ourName(cfg *config.Connector) string {
	if cfg.SystemID == "" {
		return "pmg"
	}
	return cfg.SystemID
}

// ReadLimit returns how many requests of a session may be under way before the session is not read
// any more: the window in both directions, and some PDUs without a message.
func (c *Connector) ReadLimit() int { return 2*c.Config().MostRequests() + 16 }

// Allowed returns how many requests may be under way, over the sessions that can be given messages.
func (c *Connector) Allowed() int {
	cfg := c.Config()
	if cfg.Window != config.Auto {
		return int(cfg.Window) * c.Online()
	}
	sum := 0
	c.Links(func(l *Link) {
		if l.Session.Bound() != 0 {
			sum += l.Outlet.Allowed()
		}
	})
	return sum
}

// Online returns how many sessions can be given messages.
func (c *Connector) Online() int { return int(c.online.Load()) }

func (c *Connector) addLane(l *Lane) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.lanes, l) {
		c.lanes = append(c.lanes, l)
	}
}

// Lanes calls f for every lane whose home the connector is.
func (c *Connector) Lanes(f func(*Lane)) {
	c.mu.Lock()
	lanes := c.lanes // lanes are only added, never removed
	c.mu.Unlock()
	for _, l := range lanes {
		if l.Home() == c {
			f(l)
		}
	}
}

// Queued returns how many accepted messages wait or are under way, without scheduled
// messages.
func (c *Connector) Queued() (n int64) {
	c.Lanes(func(l *Lane) { n += l.Queued.Load() })
	return n
}

// Oldest returns the due time of the message that has waited longest, or 0 if no message waits. It
// ignores messages to clients that are not connected; their accounts count those messages.
func (c *Connector) Oldest() (oldest int64) {
	c.Lanes(func(l *Lane) {
		if !l.ToClient() || l.Window.Online() > 0 {
			oldest = sms.Earlier(oldest, l.Queues.Oldest())
		}
	})
	return oldest
}

// Fullest returns how many messages wait or are under way in the fullest of the connector's lanes.
// max_queue limits each lane. An in connector has one lane for each account.
func (c *Connector) Fullest() (n int64) {
	c.Lanes(func(l *Lane) { n = max(n, l.Queued.Load()) })
	return n
}

// A Hold stops messages from leaving by an out connector, at the request of an operator. The
// sessions stay open, so that messages, receipts and answers of the SMSC are still received. A Hold
// is immutable.
type Hold struct {
	Since int64
	Until int64  // when the hold ends; 0: when the operator ends it
	By    string // the operator's address
}

// Hold returns the hold in force, or nil if messages may leave. It is safe for concurrent use.
func (c *Connector) Hold() *Hold { return c.hold.Load() }

// SetHold puts a hold in force. With nil, messages leave again at the lane's next dispatch. It is
// safe for concurrent use.
func (c *Connector) SetHold(h *Hold) { c.hold.Store(h) }

// A Trouble is the reason why a connector has no session, or too few: the last failure of
// a connection, login or session. It is immutable.
type Trouble struct {
	Reason string
	Since  int64         // time of the first of consecutive failures with this reason; Unix nanoseconds
	Down   int64         // since when no session is logged in, for whatever reason; 0: a session is logged in
	At     int64         // time of the last failure
	Rest   time.Duration // time from At until the next attempt
	Said   int64         // when the trouble was last logged
	Times  int64         // failures since Said, which were not logged
}

// Trouble returns the connector's trouble, or nil if the connector has none. It is safe for
// concurrent use.
func (c *Connector) Trouble() *Trouble { return c.trouble.Load() }

// SetTrouble replaces the trouble old by t, and reports whether it did. It returns false, without a
// change, if the trouble is no longer old.
func (c *Connector) SetTrouble(old, t *Trouble) bool { return c.trouble.CompareAndSwap(old, t) }
