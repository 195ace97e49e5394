// Package store keeps accepted messages until it is known how they ended.
//
// A Store carries out batches: all of a batch or nothing, and what a durable store has
// committed is there after a power cut. The engines are pebble, which is durable, and
// memory, which is not and keeps no message that waits in a queue. A Committer
// collects what the gateway changes while a commit is under way into the next batch,
// so that one synced write serves everything that came meanwhile.
//
// # Start reading
//
// Store (store.go), then Batch (batch.go), record.go (what is kept of a message).
package store
