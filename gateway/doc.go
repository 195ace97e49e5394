// Package gateway puts the rooms of a messaging gateway together: it starts, reloads and stops them. It knows no
// protocol and no socket.
//
// What happens to messages is decided in the rooms below it. Each room imports only rooms that come before it here:
//
//	node      what all share: configuration, clocks, memory, a quiet log
//	login     who may log in
//	keep      messages in the store until they have ended
//	route     where a message goes
//	convert   what its peers can read
//	lists     which numbers are kept out
//	receipts  what the SMSC reports later
//	settle    what happens after an answer, and the end
//	intake    how it comes in
//	operate   what clients and operators ask about it while it waits
//	accept    the one way in: what follows the steps, until it is stored, answered and queued
//	request   what comes by requests, which have no session
//	session   what the sessions ask for that it comes and leaves by
//
// # Start reading
//
// gateway.go, policy.go (what the lanes ask), durable.go; recover.go, reload.go, drain.go; ready.go and hold.go for
// operators.
package gateway
