package textfile

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// settled is how long a file must have been the same before it is read, because it may be written just now.
const settled = time.Second

// A Follower notices that a file has changed. It is safe for concurrent use.
type Follower struct {
	kind Kind
	path string

	reloads, faults atomic.Int64
	problem         atomic.Pointer[string] // nil: none

	mu     sync.Mutex  // one reader of the file
	read   os.FileInfo // guarded by mu: of the file that was read last
	seen   os.FileInfo // guarded by mu: of one that is other than read; nil: none is
	since  time.Time   // guarded by mu: when seen was seen first
	failed error       // guarded by mu: why the file that was read last is not in force
}

// Follow returns what follows a file, which load reads the first time. With an error nothing is followed.
func (k Kind) Follow(path string, load func() error) (*Follower, error) {
	info, _ := os.Stat(path) // load says what is wrong
	if err := load(); err != nil {
		return nil, err
	}
	return &Follower{kind: k, path: path, read: info}, nil
}

// Path returns the name of the file.
func (f *Follower) Path() string { return f.path }

// Refresh reads a file that has changed, if it has not changed any more for a while. load reads it, and returns what puts it in
// force. That happens if the file was not written meanwhile. The error is that of the file as it is now.
func (f *Follower) Refresh(now time.Time, load func(size int64) (apply func(), err error)) (reloaded bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.path)
	switch {
	case err != nil:
		f.seen, f.read = nil, nil
		f.failed = fmt.Errorf("cannot find %s %s, and what was read of it stays in force: %w", f.kind.Name, f.path, err)
		return false, f.failed
	case same(info, f.read):
		f.seen = nil
		return false, f.failed
	case !same(info, f.seen):
		f.seen, f.since = info, now
		return false, f.failed
	case now.Sub(f.since) < settled:
		return false, f.failed
	}
	apply, err := load(info.Size())
	after, gone := os.Stat(f.path)
	if gone != nil || !same(after, info) { // it was written meanwhile
		f.seen, f.since = after, now
		return false, f.failed
	}
	if f.read, f.seen = info, nil; err != nil {
		f.failed = fmt.Errorf("cannot reload, and the entries of before stay in force: %w", err)
		return false, f.failed
	}
	f.failed = nil
	apply()
	f.reloads.Add(1)
	return true, nil
}

// same reports whether a file is as it was.
func same(a, b os.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// Report records a problem of the file, or that there is none. It reports whether the problem is new.
func (f *Follower) Report(err error) bool {
	if err == nil {
		f.problem.Store(nil)
		return false
	}
	why := err.Error()
	if was := f.problem.Load(); was != nil && *was == why {
		return false
	}
	f.problem.Store(&why)
	f.faults.Add(1)
	return true
}

// A Condition is how a file is followed.
type Condition struct {
	Reloads int64  // how often it was read again
	Faults  int64  // how often it had a new problem
	Problem string // why the file as it is now is not in force, "" if it is
}

// Condition returns how the file is followed.
func (f *Follower) Condition() Condition {
	c := Condition{Reloads: f.reloads.Load(), Faults: f.faults.Load()}
	if why := f.problem.Load(); why != nil {
		c.Problem = *why
	}
	return c
}
