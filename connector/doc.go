// Package connector holds the pools of sessions and the ways out of the gateway:
// connectors with their instances; lanes with their shares, queues (package queue) and slots, which are the windows
// (package autowindow finds their size); delayed answers; submits that wait for room.
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
//	  ▲  Policy.Load           Queues.Loaded           │
//	  └────────────────────────────────────────────────┘ the lane is down, and no other takes it
//
// # Start reading
//
// connector.go, then link.go (a session) and lane.go. A lane holds three parts: queues.go (what waits) with share.go and
// paging.go (bodies on disk); window.go (by what it leaves) with slots.go, suspects.go, inquiry.go (operations) and intents.go
// (what is stored before a message leaves); throttle.go (when it may). inflight.go; move.go (to other lanes).
package connector
