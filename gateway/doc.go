// Package gateway makes the decisions of a messaging gateway, whichever architecture
// moves the octets: which clients may log in, where a message goes, whether there is
// room for it, what happens to it after an answer, and what a reload changes. It is
// also the gateway's side of its sessions: a Conversation, which reaches the stages
// through a Port, as it does the simulation and the bench's classic. It knows no protocol and no socket.
//
// # Start reading
//
// gateway.go (the shared state), conversation.go (the actions of sessions), route.go,
// steps.go, intake.go and stored.go (the way of a message to its lane), policy.go and failover.go (what
// follows from its answer), steps_end.go (its end), receipts.go (what the SMSC says of it later),
// operate.go and operation.go (what its client asks about it), long.go and join.go (parts),
// session.go, links.go and peers.go (the life of a session), drain.go, reload.go. Logins are decided in
// gateway/login, the store is looked after in gateway/keep, and what all parts share is in gateway/node.
package gateway
