// Package gateway is what a messaging gateway decides, whichever architecture
// moves the octets: who may log in, where a message goes, whether there is room,
// what becomes of a message that was answered, what a reload changes. It is also
// the gateway's side of its sessions, which the stages and the classic
// architecture reach by a Port. It knows no protocol and no socket.
//
// # Start reading
//
// gateway.go (what there is), conversation.go (what sessions ask for), route.go and
// intake.go (the way of a message to its lane), policy.go (what becomes of it),
// session.go and links.go (the life of a session), login.go, drain.go, reload.go.
package gateway
