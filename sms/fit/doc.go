// Package fit makes messages fit the peers that they go to. It converts texts into
// alphabets that a peer reads, and cuts texts that are too long for a peer into parts.
//
// A message that already fits keeps its octets.
//
// # Start reading
//
// form.go (Form), then convert.go and split.go.
package fit
