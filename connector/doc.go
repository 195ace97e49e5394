// Package connector holds the pools of sessions and the ways out of the gateway:
// connectors with their instances; lanes with their shares, queues (package queue) and slots, which are the windows;
// delayed answers; submits that wait for room.
//
// A lane belongs to one goroutine, the dispatcher. Fields that other goroutines may read are atomic, and methods that are safe
// for concurrent use say so.
//
//	           take                 sent                    answered
//	slots ───────────────► slot ─────────────► in flight ───────────────► slots
//	  ▲ connected in front   + message           by sequence number
//	  └ unconnected at the back, one slot per instance
//
// # Bodies on disk
//
// Where messages are in a store, a lane may keep only the entry of one that waits. Its body was not
// read at the start, or was released because memory is short.
//
//	        absent                                in memory
//	onDisk ────────► beingRead ────────────────────► loaded ─────► leaves
//	  ▲  Policy.Load           Lane.Loaded             │
//	  └────────────────────────────────────────────────┘ the lane is down, and no other takes it
//
// # Start reading
//
// connector.go, then link.go (a session), lane.go with lane_sessions.go, share.go and suspects.go,
// slots.go (windows), inflight.go, paging.go (bodies on disk), move.go (to other lanes), intents.go
// (what is stored before a message leaves), inquiry.go (operations).
package connector
