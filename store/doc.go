// Package store keeps accepted messages until it is known how they ended.
//
// A Store carries out batches: all of a batch or nothing, and what a durable store has
// committed is there after a power cut. The engines are pebble, which is durable, and
// memory, which is not and keeps no message that waits in a queue. A Committer
// collects what the gateway changes while a commit is under way into the next batch,
// so that one synced write serves everything that came meanwhile.
//
// Beside the messages a store keeps notes: small values by kind and key, each until a day (Batch.Note), such as what the id of
// an SMSC stands for. The word means nothing else in the gateway.
//
// # How the pebble engine keeps them
//
//	Commit ──► record of the journal, synced ──► messages, in memory ──► pebble, if they do not end soon (move.go)
//	                                        ├──► notes, in memory ──► tables by day (package notes, notewriter.go)
//	                                        └──► pebble: changes of what is there already
//
// Pebble has no log of its own. Its marks say up to which record of the journal it has all messages, and all notes. A start
// replays what is behind the lower of the two (replay.go).
//
// # What can go wrong with it
//
// A journal or a manifest that cannot be written is the store's fault (guard.go): nothing is written
// any more, every call returns the fault, and Options.Fatal is called, because only a restart
// shows what is on the disk. A journal that finds no room for its next file refuses a batch, and takes the next one when there is
// room. A table that cannot be written is written again; commits wait
// meanwhile, and on a full disk for as long as it takes. A file that is damaged is named by the
// error that wraps ErrDamaged, at the opening or when it is read. Nothing of a damaged
// store is deleted: Repair moves it aside.
//
// # Start reading
//
// Store (store.go), then Batch (batch.go), record.go (what is kept of a message), keys.go (the
// layout on disk) and pebble.go, which puts the engine together: commit.go writes
// batches, young.go has what is not in pebble yet, read.go finds what was committed,
// summary.go knows what there is, tidy.go makes it smaller, monitor.go follows what is wrong.
package store
