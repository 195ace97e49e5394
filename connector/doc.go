// Package connector holds the pools of sessions and the ways out of the gateway:
// connectors with their instances; lanes with a share for each account, their queues
// and their slots, which are the windows; delayed answers; and submits that wait for room.
//
// A lane belongs to one goroutine, the dispatcher. The classic architecture guards it
// with a lock instead. Fields that other goroutines may read are atomic, and methods that
// are safe for concurrent use say so.
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
