package stages

import (
	"net/netip"

	"pmg/connector"
	"pmg/flow"
	"pmg/gateway"
	"pmg/internal/sock"
	"pmg/protocols"
	"pmg/sms"
)

// A Kind tells what a job is about.
type Kind uint8

// The kinds of job, and who sends them to whom.
const (
	Listen   Kind = iota // gateway → listener: a connector's listening sockets
	Unlisten             // gateway → listener: stop accepting for a connector
	Opened               // listener, connecter → reader: a new socket to watch
	Bytes                // reader → parser: what was read
	Over                 // reader → … → encoder: the session is over; passes behind everything read before
	Spent                // encoder → pdu logger → pdu builder: the same, behind everything that was to be sent
	Received             // parser → pdu logger → builder: a PDU of the peer
	Send                 // builder, connecter, encoder → pdu logger → pdu builder → writer: a PDU of ours
	Message              // builder → dispatcher: a message for a connector's queue
	Bound                // builder → dispatcher: the session can be given messages
	Answered             // builder, pdu builder → dispatcher: the outcome of a message under way
	Forward              // dispatcher → encoder: a message and the slot it leaves by
	Dial                 // dispatcher → connecter: connect an instance
	Resolved             // connecter → itself: addresses of a host
	Parked               // connecter → dispatcher: an instance is not needed any more
	Closed               // whoever saw the count reach 0 → listener, dispatcher: the instance is free
	Hangup               // anyone → reader: end this session
	Resume               // anyone → reader: this connection may be read again
	Blocked              // writer → reader: tell me when the socket takes more
	Writable             // reader → writer: the socket takes more
	Room                 // dispatcher → builder: a full queue has shrunk
	LoggedIn             // builder → itself: outcome of a login that took time
	Logout               // gateway → builder: log out the sessions of a connector
	Attach               // gateway → dispatcher: a new out connector
	Detach               // gateway → dispatcher → connecter: a connector that is no more
)

// A Job is what stages pass to each other.
type Job struct {
	flow.Ref
	Kind      Kind
	Code      sms.Code
	Last      bool              // close the session when it is written
	Handle    *connector.Handle // the session it belongs to
	refs      int               // references on Handle that it holds
	PDU       protocols.PDU
	protocol  string // of PDU
	Bytes     []byte // what was read; for a PDU, its own bytes
	Wire      []byte // what is to be written
	SendAfter int64  // Send: not before this time

	Message   *sms.Message
	Connector *connector.Connector
	Instance  *connector.Instance
	Slot      *connector.Slot
	*Rare     // nil for most
}

// Rare is what few jobs carry: apart, since jobs are to fit into the cache.
type Rare struct {
	Reason    string           // why, for Last
	Sockets   []sock.Listening // Listen
	Addresses []netip.AddrPort // Resolved
	Err       error            // Resolved
	Login     *gateway.Login   // LoggedIn
}

// keepBytes is the largest buffer a job keeps for its next use.
const keepBytes = 4096

// NewPool makes the pool of jobs.
func NewPool() *flow.Pool[Job] {
	return flow.NewPool(func() *Job { return &Job{} }, reset, func(j *Job) *flow.Ref { return &j.Ref })
}

// reset empties a job but keeps its buffers and its PDU for the next use.
func reset(j *Job) {
	if j.PDU != nil {
		j.PDU.Reset()
	}
	if cap(j.Bytes) > keepBytes {
		j.Bytes = nil
	}
	if cap(j.Wire) > keepBytes {
		j.Wire = nil
	}
	j.Handle, j.refs, j.Last, j.SendAfter = nil, 0, false, 0
	j.Message, j.Connector, j.Instance, j.Slot, j.Code = nil, nil, nil, nil, sms.OK
	j.Rare = nil
	j.Bytes, j.Wire = j.Bytes[:0], j.Wire[:0]
}

// pdu gives the job an empty PDU of the connector's protocol.
func (j *Job) pdu(c *connector.Connector) protocols.PDU {
	if name := c.Driver.Name(); j.protocol != name {
		j.PDU, j.protocol = c.Driver.NewPDU(), name
	}
	return j.PDU
}

// retain makes the job hold one reference on its handle. The caller is sure that
// the handle is alive.
func (j *Job) retain(h *connector.Handle) {
	h.Retain(1)
	j.Handle, j.refs = h, 1
}
