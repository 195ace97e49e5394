// Package loadtest tests and measures a gateway: it is a client that sends load, and an SMSC that receives it.
// It shares the gateway's codec and nothing else. A fault in a session, a stage or a connector could hide itself
// from a test that used the same.
//
// # One message
//
//	client ── submit_sm ──► gateway ── submit_sm ──► session of a Sink
//	   │                                                  │ marks the number
//	   ◄── submit_sm_resp ─┘        └─◄ submit_sm_resp ───┤
//	   ◄────── deliver_sm ─┘        └─◄ deliver_sm ───────┘ with receipts
//
// Every message carries its number at the start of its text, "#000000000042 ".
// Load and Sink keep the numbers they have seen in bitmaps, so that Compare finds
// missing and doubled messages exactly.
//
// A receipt is paired with its message by message id, as any client does it, on whichever
// session of the account it comes and also if it comes before the answer. What belongs to
// no message is sorted at the end: it is another account's, or is not known.
//
// # What a sink sends
//
// Receipts, and messages of the sink's own (mobile-originated ones), wait in the mail of a
// session until its window has room. Mail that a session leaves behind goes to another
// session of the same client, or waits until one logs in (dispatch.go).
//
// # Cost
//
// Load and sink run on the machine that they measure, so they must be cheap. A
// connection is one goroutine that reads all that has arrived, handles every PDU, and
// writes all answers and new submits together. A submit is a copy of a PDU that was
// encoded once. Nothing is allocated for a message, and shared counters and bitmaps are
// updated once per batch. The open loop (a rate) adds one goroutine with a kernel timer.
//
// # Latency
//
// Without a rate the loop is closed: each answer makes room for the next submit. With a
// rate the time of every submit is planned beforehand and its latency is measured from
// that time, so that a stall of the gateway shows in all the messages that it delayed.
//
// # Start reading
//
// wire.go (what is needed of a protocol), smpp.go, ucp.go; load.go (options and results), run.go (a running
// load), client.go (one connection), account.go (receipts); sink.go, then session.go and
// mail.go. supply.go has the plan of an open loop.
package loadtest
