// Package prototest plays transcripts: what a peer sends, and what it must see.
// A driver's transcripts are played to its bare session, and may be played to a
// whole gateway: to anything that is a Subject.
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
// A line that begins with ">" is a PDU from the peer, as the pdu log prints it
// or in hex; "wait" lets time pass; "session", at the top, sets
// protocols.SessionOptions; another word in small letters is a command to the
// Subject ("unbind", "message ..."). Everything else is what must come out:
// "<" a PDU, then the events "bound", "answered", "closed". "=*" stands for any
// value. After "#" comes a comment.
//
// # Start reading
//
// script.go (the form), play.go (the four ways to play), session.go (a Subject).
package prototest
