// Package fit adapts messages to their peers. It converts texts to alphabets that a peer reads, and splits texts that are too
// long for a peer.
//
// A message that already fits keeps its octets.
//
// # Start reading
//
// form.go (Form), then convert.go and split.go.
package fit
