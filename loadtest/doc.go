// Package loadtest is an SMPP client that sends load and an SMSC that swallows
// it, for testing and measuring a gateway between the two. It shares the
// gateway's codec and nothing else: no session, no stage, no connector, so a
// fault in those cannot hide behind itself.
//
// # One message
//
//	client ── submit_sm ──► gateway ── submit_sm ──► session of a Sink
//	   │                                                  │ marks the number
//	   ◄── submit_sm_resp ─┘        └─◄ submit_sm_resp ───┤
//	   ◄────── deliver_sm ─┘        └─◄ deliver_sm ───────┘ with receipts
//
// Every message carries its number at the start of its text, "#000000000042 ".
// Load and Sink keep the numbers they have seen in bitmaps, so Compare tells
// exactly which are missing or doubled.
//
// # Cost
//
// Load and sink run on the machine they measure, so a connection is one
// goroutine that reads all there is, handles every PDU in it and writes all
// answers and new submits at once. A submit is a copy of a PDU that was encoded
// once; nothing is allocated for a message, and counters and bitmaps are shared
// once a turn. The open loop (a rate) adds one goroutine with a kernel timer.
//
// # Latency
//
// Without a rate the loop is closed: each answer makes room for the next submit.
// With a rate the time of every submit is planned beforehand and its latency is
// counted from then, so that a gateway which stalls pays for all the messages
// it held up.
//
// # Start reading
//
// load.go (options and results), run.go (a load while it lasts), client.go (one
// connection); sink.go, then session.go. pacer.go has the plan of an open loop.
package loadtest
