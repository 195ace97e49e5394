// Package story finds the stories of messages in the lines of the pdu logs, in the events, and in the store.
//
// A story is the steps of one message in the order in which they happened: it was accepted, sent, answered, reported,
// and its receipt reached its client. A step knows its line of the pdu log, so that both can be shown.
//
// # Start reading
//
// Finder in find.go, then story.go (Story, Step) and tell.go (lines and events to steps).
package story
