// Package queue orders the messages that wait, whether their bodies are in memory or on disk.
//
// It decides which message leaves next, which ones have expired, and whose bodies must be read
// before they leave. It does not decide where a message goes, or whether it stays: a search asks
// the functions of its callers.
//
//	                   due                        first of its priority
//	Push, Restore ───────────► ring ──────────────────────────────────► Pop
//	      │ not due yet         ▲                                        │
//	      ▼             time    │                    PushBack            │
//	    later ────────────────► back ◄───────────────────────────────────┘
//
// # Start reading
//
// queue.go, then entry.go and ring.go (what it holds), expiry.go, take.go (searches for messages
// to move, and changes of one message), ahead.go (bodies that are on disk).
package queue
