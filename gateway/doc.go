// Package gateway is what a messaging gateway decides, whichever architecture
// moves the bytes: who may log in, where a message goes, whether there is room,
// what a reload changes. The stages and the classic architecture call it; it
// knows no protocol and no socket.
//
// # Start reading
//
// gateway.go (what there is), message.go (what becomes of a message), outbox.go
// (which message leaves when, by which slot), session.go (the life of a session),
// crowd.go and delayed.go (who waits), login.go, reload.go.
package gateway
