// Package story tells what became of messages: it makes stories of the lines of the pdu logs, of the events, and of what waits in
// the store.
//
// A story is the steps of one message in the order in which they happened: it was accepted, sent, answered, reported, and its
// receipt was told to its client. A step knows the line of the pdu log that it is made of, so that whoever shows it can show
// that too.
//
// # Start reading
//
// Finder in find.go, then story.go (Story, Step) and tell.go (lines and events to steps).
package story
