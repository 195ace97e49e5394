// Package connector holds the pools of sessions and the ways out of the gateway:
// connectors with their instances; lanes with an account's share each, the queues
// in them and the slots that are the windows; and what waits for its time or for
// room.
//
// A lane belongs to one goroutine, the dispatcher (the classic architecture guards
// it with a lock instead). What others may look at meanwhile is atomic, and its
// comment says so.
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
