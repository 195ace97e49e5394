// Package classic moves the gateway's octets as servers usually do: with a reader
// and a writer goroutine per connection, and locks around shared state. It is the
// baseline for measuring the pipeline (package stages), so it is written to be fast
// too. Both leave all decisions to the same packages.
//
//	client ─► reader ─┬─► answer ─► writer ─► client
//	                  │ message
//	                  ▼
//	          lane: shares, slots ──► slot ─► writer ─► SMSC
//	                  ▲ answered                         │
//	                  └───────────── reader ◄────────────┘
//
// A reader reads, cuts the octets into PDUs, runs the session and appends its answers
// to the octets for the writer. A message goes to its lane. If there is a free slot, the
// lane pairs both immediately and hands them to the writer of the slot's session, which
// encodes and writes. A writer writes all waiting octets in one piece, while its reader
// continues.
//
// # Goroutines
//
// Two per connection, one per listening socket, one per instance that is being
// connected (it becomes the reader), and one per connector: the keeper, which checks
// timers and accepts submits that wait for room. Passwords are checked, and operations carried
// out, on goroutines of their own. Only its reader closes a connection, after its writer
// has ended.
//
// # Locks
//
// In the order in which they are taken:
//
//	conn.session   one session's state
//	lane.mu        a lane's queues and slots
//	group.mu       a connector's acceptor
//	conn.mu        the octets and slots for one writer
//	pduLog.mu      a connector's pdu log
//
// Each lock counts how often it is taken. Waking a writer, which is a send on a channel,
// counts as one too. Locks of shared packages (an account's rate) are counted for neither
// architecture. There are no handles, and therefore no reference counts.
//
// # Delayed answers
//
// A delayed answer (send_after) waits in its connection's session.Conversation, and a
// timer of the connection sends it. Other PDUs overtake it.
//
// # Start reading
//
// engine.go, group.go and lane.go (the state that connections share), conn.go (one
// connection), then reader.go, session.go (a connection as a session.Port) and writer.go.
package classic
