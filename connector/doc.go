// Package connector holds the pools of sessions: connectors, their instances,
// the reference-counted sockets of connected instances, the slots that are the
// windows, and the queues.
//
// A connector's queue and slots belong to one goroutine, the dispatcher (the
// classic architecture guards them with the connector's lock instead). What
// others may look at while it works is atomic, and said so.
//
//	           take                 sent                    answered
//	slots ───────────────► slot ─────────────► in flight ───────────────► slots
//	  ▲ connected in front   + message           by sequence number
//	  └ unconnected at the back, one slot per instance
//
// # Start reading
//
// connector.go, then link.go (a session), lane.go with lane_sessions.go, share.go and
// suspects.go, slots.go (windows), inflight.go, queue.go with expiry.go.
package connector
