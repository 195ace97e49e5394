// Package webhooks knows the servers of clients that are called: how they answer, and what the last calls of each were about.
// What it knows is in memory, and gone with the gateway.
//
// # Start reading
//
// webhooks.go (Webhooks.Servers, Webhooks.Attempts: what operators see), server.go (what a caller records), words.go (texts
// of servers, which may be hostile).
package webhooks
