// Package window remembers the hashes that came within a period (Seen), and how often each came (Counts), in limited memory.
// Callers provide times and hashes. Nothing in it is safe for concurrent use.
//
// Both keep a fixed number of entries. If another one is needed, the oldest is dropped. Memory is allocated in pieces when it
// is needed, and pieces are neither copied nor freed, so that no call takes long because a table grows.
//
// # Start reading
//
// seen.go and count.go, then table.go, which both use.
package window
