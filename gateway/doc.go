// Package gateway puts the rooms of a messaging gateway together, and is its side of sessions, whichever
// architecture moves the octets: a Conversation reaches the stages through a Port, as it does the simulation and the
// bench's classic. It starts, reloads and stops, and knows no protocol and no socket.
//
// What happens to messages is decided in the rooms below it, each of which imports only those before it:
//
//	node      what all share: configuration, clocks, memory, a quiet log
//	login     who may log in
//	keep      messages in the store until they have ended
//	route     where a message goes
//	convert   what its peers can read
//	receipts  what the SMS centre says of it later
//	settle    what becomes of it after an answer, and its end
//	intake    how it comes in
//	operate   what clients and operators ask about it while it waits
//
// # Start reading
//
// gateway.go, conversation.go (the actions of sessions) with stored.go, receipt.go, recipients.go and operate.go;
// session.go, links.go, logout.go and peers.go (the life of a session); recover.go, reload.go, drain.go.
package gateway
