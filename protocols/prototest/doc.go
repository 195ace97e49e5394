// Package prototest has the tests that every driver passes. Most of them play transcripts, which
// list the PDUs that a peer sends and the PDUs that it must receive. A driver's transcripts are
// played to its session alone, and may be played to a whole gateway, or any other Subject. Other
// tests read vectors.json (PDUs with their fields) and spec.txt (the parts of a specification that
// the driver implements).
//
// # Transcripts
//
//	# An idle peer is asked, then dropped.
//	session enquire=30s response=10s
//	> bind_transceiver seq=1 system_id=acme password=s3cret interface_version=0x34
//	< bind_transceiver_resp seq=1 status=0 system_id=PMG sc_interface_version=52
//	wait 30s
//	< enquire_link seq=1
//	wait 10s
//	closed cannot hear from peer: enquire_link unanswered for 10s
//
// A line that begins with ">" is a PDU from the peer, in the form of the pdu log or in hex. "wait"
// advances the time. "session", at the top, sets protocols.SessionOptions. Other words in lower
// case are commands to the Subject ("unbind", "message ..."). All other lines are expected output:
// "<" is a PDU to the peer, and "bound", "answered", "alerted" and "closed" are events. "=*"
// matches any value. "#" begins a comment.
//
// # Start reading
//
// script.go (the form), play.go (the four ways to play), session.go (a Subject), suite.go (the
// other tests).
package prototest
