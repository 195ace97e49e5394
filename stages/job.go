package stages

import (
	"net/netip"
	"sync/atomic"

	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/internal/sock"
	"pmg/protocols"
	"pmg/sms"
	"pmg/stages/flow"
)

// A Kind is the kind of a job.
type Kind uint8

// The kinds of job, each with the stages that send it and the stages that receive it.
const (
	Listen       Kind = iota // gateway → listener: a connector's listening sockets
	Unlisten                 // gateway → listener: stop accepting for a connector
	Admitted                 // gateway → listener: a connection that its Host has admitted
	Opened                   // listener, connecter → reader: a new socket to watch
	Bytes                    // reader → cipher → parser: octets that were read
	Turned                   // cipher → itself: a turn of a handshake has ended
	Over                     // reader → … → encoder: the session is over; comes after all octets that were read
	Drained                  // encoder → pdu logger → pdu builder: the session is over; comes after all PDUs to be sent
	Received                 // parser → pdu logger → builder: a PDU of the peer
	Foreign                  // reader, parser → … → builder: what follows is for the session's Host
	Send                     // builder, connecter, encoder → pdu logger → pdu builder → cipher → writer: a PDU of ours
	Store                    // builder → persister: a message that was accepted
	Committed                // gateway → persister → dispatcher: a commit has ended
	Stored                   // persister → builder: the message was stored, or could not be
	Message                  // builder → dispatcher: a message for a lane
	Bound                    // builder → dispatcher: the session can be given messages
	LoggingOut               // builder → dispatcher: the session must be given no more messages
	Answered                 // builder, pdu builder → dispatcher: the outcome of a message under way
	Quiet                    // dispatcher → builder: all our requests of a session that logs out have their outcome
	AnsweredLate             // builder → dispatcher: the outcome of a message that was given up as unanswered
	Unsent                   // pdu logger → dispatcher: a message that was not written
	Forward                  // dispatcher → encoder: a message and the slot it leaves by
	Dial                     // dispatcher → connecter: connect an instance
	Dialed                   // connecter → itself: the outcome of dialing
	Parked                   // connecter → dispatcher: an instance that is not needed any more
	Closed                   // any stage that releases the last reference → listener, dispatcher: the instance is free
	Hangup                   // any stage → reader: end this session
	Resume                   // any stage → reader: this connection may be read again
	Blocked                  // writer → reader: watch until the socket takes more octets
	Writable                 // reader → writer: the socket takes more octets
	Room                     // dispatcher → builder: a full lane has room
	Checked                  // builder → itself: a password was checked, or an operation carried out
	Barrier                  // gateway → builder: reply when all earlier messages have been counted
	Logout                   // gateway → builder: log out the sessions of a connector
	Rebind                   // gateway → builder: log out the sessions of a connector, which is then attached again
	Attach                   // gateway, builder → dispatcher: a new connector, or one whose sessions are logged out
	Detach                   // gateway → dispatcher → connecter: a connector was removed
	Connect                  // gateway → connecter: the instances of a connector must not rest any longer
	Call                     // gateway → dispatcher: call a function about a lane
	kinds
)

var kindNames = [kinds]string{
	"Listen", "Unlisten", "Admitted", "Opened", "Bytes", "Turned", "Over", "Drained", "Received", "Foreign", "Send", "Store",
	"Committed", "Stored", "Message", "Bound",
	"LoggingOut", "Answered", "Quiet", "AnsweredLate", "Unsent", "Forward", "Dial", "Dialed", "Parked", "Closed", "Hangup",
	"Resume", "Blocked", "Writable", "Room", "Checked", "Barrier", "Logout", "Rebind", "Attach", "Detach", "Connect", "Call",
}

// String returns the kind's name, for the log and for tests.
func (k Kind) String() string { return kindNames[k] }

// A Job is the unit of work that stages pass to each other. The kind of a job determines which
// fields are used.
type Job struct {
	flow.Ref
	Kind     Kind
	Code     sms.Code     // code of an outcome
	Last     bool         // Send: the session ends after this PDU is written
	Closing  bool         // Send: no request of ours follows on this session
	unlogged bool         // Received, then Send: the request is logged with its answer
	protocol sms.Protocol // protocol of PDU
	refs     int32        // references that the job holds on Handle
	Handle   *handle      // the session to which the job belongs
	PDU      protocols.PDU
	copied   *sms.Message // Send: a copied message that belongs to the job, with PDU pointing into it; nil: PDU points elsewhere
	Bytes    []byte       // Received: the octets of the PDU
	Octets   *buffer      // Bytes: octets that were read; Send, after the pdu builder: octets to write

	ID      uint64      // Send: id of the message that PDU is about, 0: none; Committed: token of the position
	Refusal sms.Refusal // Send: the reason for which the answer refuses a message
	After   int64       // Store, Stored: the answer is not sent before this time
	Slot    *connector.Slot
	Message *sms.Message
	Share   *connector.Share // the share of Message
	*extras                  // nil for most jobs
}

// extras are the fields that few jobs have. They are separate so that jobs stay small.
type extras struct {
	Reason    string                     // reason for the end, if Last is true
	Connector *connector.Connector       // Listen, Unlisten, Admitted, Attach, Detach, Logout, Rebind
	Admitted  admitted                   // Admitted
	Match     func(*connector.Link) bool // Logout: selects sessions; nil: all sessions
	Lane      *connector.Lane            // Room, Call
	Call      func(now int64)            // Call
	Instance  *connector.Instance        // Dial, Parked
	Sockets   []sock.Listening           // Listen
	Attempt   *attempt                   // Dialed
	Then      func(now int64)            // Checked
	Done      chan<- struct{}            // Barrier
	left      atomic.Int32               // Committed, Rebind, Barrier: how many groups have not got their job yet
	More      []keep.Accepted            // Store, Stored: further messages of the same PDU
	Late      connector.Unanswered       // AnsweredLate
}

// An admitted connection is one that its Host has admitted.
type admitted struct {
	fd     int
	remote netip.AddrPort
	host   connector.Host
}

// more returns the further messages that are stored together with Message.
func (j *Job) more() []keep.Accepted {
	if j.extras == nil {
		return nil
	}
	return j.More
}

// isLast reports whether the job is the last one of those that each group got. It must be called once for each of them.
func (j *Job) isLast() bool { return j.extras == nil || j.left.Add(-1) <= 0 }

// keepBytes is the size of the largest buffer that a job keeps for its next use.
const keepBytes = 1024

// NewPool makes the pool of jobs.
func NewPool() *flow.Pool[Job] {
	return flow.NewPool(func() *Job { return &Job{} }, reset, func(j *Job) *flow.Ref { return &j.Ref })
}

// reset clears a job. It keeps the job's PDU and the storage of its octets for the next use.
func reset(j *Job) {
	if j.PDU != nil {
		j.PDU.Reset()
	}
	if j.copied != nil {
		j.copied.Release()
		j.copied = nil
	}
	if cap(j.Bytes) > keepBytes {
		j.Bytes = nil
	}
	j.Handle, j.refs, j.Last, j.Closing, j.unlogged, j.Code = nil, 0, false, false, false, sms.OK
	j.ID, j.Refusal, j.Message, j.Share, j.Slot = 0, sms.Refusal{}, nil, nil, nil
	j.extras = nil
	j.Bytes, j.Octets = j.Bytes[:0], nil
}

// pdu returns the job's PDU: an empty PDU of the connector's protocol.
func (j *Job) pdu(c *connector.Connector) protocols.PDU {
	if p := c.Protocol; j.PDU == nil || j.protocol != p {
		j.PDU, j.protocol = c.Driver.NewPDU(), p
	}
	return j.PDU
}

// retain makes the job hold one reference on its handle. The caller must know that the
// handle is not closed.
func (j *Job) retain(h *handle) {
	h.retain(1)
	j.Handle, j.refs = h, 1
}
