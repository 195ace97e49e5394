package store

// A Journal is where changes are written. It is safe for concurrent use, and its lock is its own. Its
// maker is called after each commit with the position up to which that has committed.
type Journal interface {
	// Write adds changes to what is committed next, and returns the position of that. add may not
	// write, nor wait. What it adds is committed together, when Commit has been called.
	Write(add func(*Batch)) Position
	// Commit asks for a commit of what was written, and does not wait for it.
	Commit()
	// CommitSoon asks for one that new messages may still join. It is for changes that nobody waits
	// for, such as deletes: in a commit of their own they would delay the next message.
	CommitSoon()
	// Sync commits what was written, and returns when that has ended, and the commit that was under
	// way as well. It returns an error if that does not happen any more.
	Sync() error
	// SyncSoon does the same with a commit that other changes may still join, for callers that may
	// be many.
	SyncSoon() error
	// Stats returns what the journal has counted.
	Stats() JournalStats
	// Close commits what was written, and ends the journal. What is written afterwards is lost, and
	// so is what cannot be committed.
	Close()
}

// JournalStats are what a Journal has counted.
type JournalStats struct {
	Commits int64 // batches committed
	Failed  int64 // batches whose commit failed
	Changes int64 // changes in the batches that were committed
	Waiting int64 // changes that wait for the next batch
	Octets  int64 // octets of those
	Since   int64 // when the commit under way began, by the clock; 0: there is none
	Took    int64 // nanoseconds that all commits took together
	Longest int64 // nanoseconds that the longest took
	Locks   int64 // how often its lock was taken for changes
}
