// Package classic moves the gateway's bytes as servers usually do: with a reader
// and a writer goroutine per connection, and locks around what they share. It is
// the baseline that the pipeline (package stages) is compared with, so it is
// built to be good at it: what is decided, it asks the same packages.
//
//	client ─► reader ─┬─► answer ─► writer ─► client
//	                  │ message
//	                  ▼
//	          lane: shares, slots ──► slot ─► writer ─► SMSC
//	                  ▲ answered                         │
//	                  └───────────── reader ◄────────────┘
//
// A reader reads, cuts what it read into PDUs, runs the session and puts its
// answers behind the octets that the writer is to write. A message goes to its lane,
// which pairs it with a slot immediately, if there is one, and leaves both to the
// writer of that slot's session, which encodes and writes. A writer writes all
// there is in one piece, while its reader goes on.
//
// # Goroutines
//
// Two per connection, one per listening socket, one per instance that is being
// connected (it becomes the reader), and one per connector, the keeper, that checks
// timers and lets in submits that wait for room. A connection is closed by its
// reader only, when its writer has ended.
//
// # Locks
//
// In the order in which they are taken:
//
//	conn.session   one session's state
//	lane.mu        a lane's queues and slots
//	group.mu       a connector's acceptor
//	conn.mu        what one writer is to write
//	pduLog.mu      a connector's pdu log
//
// All count how often they are taken, and so does the waking of a writer, which
// is a send on a channel. Those of shared packages (an account's rate) are counted
// for neither architecture. There are no handles, and so no counts of them.
//
// # Delayed answers
//
// An answer that is to be sent later (send_after) waits in its connection's
// gateway.Conversation, and a timer of the connection sends it; others overtake it.
//
// # Start reading
//
// engine.go, group.go and lane.go (what connections share), conn.go (one connection),
// then reader.go, session.go (a connection as a gateway.Port) and writer.go.
package classic
