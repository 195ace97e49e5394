package gateway

import (
	"context"
	"net/netip"

	"pmg/connector"
	"pmg/flow"
	"pmg/sms"
)

// An Engine moves the gateway's bytes: the pipeline, or the classic architecture.
type Engine interface {
	// Listen opens a connector's listening sockets. Nobody is accepted before Attach.
	Listen(c *connector.Connector) error
	// Unlisten gives back what Listen opened, for a connector that is not attached.
	Unlisten(c *connector.Connector)
	// Attach takes a connector into service.
	Attach(c *connector.Connector)
	// Detach takes a connector out of service: nobody is accepted any more, what
	// waits in its queue is sent, its sessions are logged out.
	Detach(c *connector.Connector)
	// Addresses tells where a connector listens.
	Addresses(c *connector.Connector) []netip.AddrPort
	// Submit accepts a message that came by no session, as if it had arrived on from.
	// reply is called on a goroutine of the engine when the message is safe, or
	// refused; it must not wait.
	Submit(m *sms.Message, from *connector.Connector, reply func(id uint64, code sms.Code))
	// Drain stops accepting, waits for what was accepted to be sent and logs
	// everybody out, until ctx is done.
	Drain(ctx context.Context)
	// Failed returns a channel on which one error arrives when the engine cannot work any
	// more: the process should end. It may be nil.
	Failed() <-chan error
	// Close ends everything immediately.
	Close() error
	// Stats tells what each stage did so far; nil where there are none.
	Stats() []flow.Stats
	// Jobs is how many jobs are alive.
	Jobs() int64
	// Locks is how often locks were taken on the way of messages.
	Locks() int64
	// Refs is how often a handle's count was changed.
	Refs() int64
}
