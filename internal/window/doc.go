// Package window remembers, within a bounded memory, what came within a time: which hashes (Seen), and how often each of
// them (Counts). The times are its callers', and so are the hashes. Nothing in it is safe for concurrent use.
//
// Both keep a fixed number of entries. If another one is needed, the oldest is forgotten. Memory is taken in pieces as it is
// used, and no piece is copied or given back: no call takes longer because a table has grown.
//
// # Start reading
//
// seen.go and count.go, then table.go, which both are made of.
package window
