package gateway

import (
	"context"
	"net/netip"

	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/stages/flow"
)

// An Engine moves the gateway's octets. It is the pipeline, or an engine of a test.
type Engine interface {
	keep.Engine
	Service
	// Drain stops accepting clients and messages, waits for what was accepted to be
	// sent and logs every session out, until ctx is done.
	Drain(ctx context.Context)
	// Counters returns what the engine has counted so far.
	Counters() Counters
	// Failed returns a channel that receives one error when the engine cannot go on, and
	// the process should end. The channel may be nil.
	Failed() <-chan error
	// Close ends all sessions immediately.
	Close() error
}

// A Service takes connectors into and out of service.
type Service interface {
	// Listen opens a connector's listening sockets. No client is accepted before Attach.
	Listen(c *connector.Connector) error
	// Unlisten closes what Listen opened, for a connector that is not attached.
	Unlisten(c *connector.Connector)
	// Attach takes a connector into service.
	Attach(c *connector.Connector)
	// Detach takes a connector out of service: no client is accepted any more, the
	// messages in its queue are sent, its sessions are logged out.
	Detach(c *connector.Connector)
	// Rebind logs out the sessions of an out connector and connects as many instances as
	// are configured, because its options have changed. The new sessions send the waiting
	// messages.
	Rebind(c *connector.Connector)
	// Connect connects those instances of an out connector now that rest after a failure.
	Connect(c *connector.Connector)
	// Logout begins to log out the sessions for which match reports true. It is called
	// where the session's fields may be read.
	Logout(match func(*connector.Link) bool)
	// Addresses returns the addresses on which a connector listens.
	Addresses(c *connector.Connector) []netip.AddrPort
}

// A Pipeline is the load of one of the pipelines that share the sessions.
type Pipeline struct {
	Clients, SMSCs int64   // numbers of sessions
	Busy           float64 // working time of its stages, in nanoseconds
}

// Counters are the counters of an engine since its start.
type Counters struct {
	Now       int64        // the engine's clock, which never goes back; times of sessions and messages are in this clock
	Stages    []flow.Stats // in the order of the pipeline; nil: the engine has no stages
	Pipelines []Pipeline   // how the sessions are shared; nil: the engine has no stages
	Jobs      int64        // number of live jobs: the memory that the engine holds for messages under way
	Locks     int64        // locks taken on the way of messages
	Refs      int64        // changes of handles' reference counts
}
