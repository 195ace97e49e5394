package textfile

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// settled is the time for which a file must be unchanged before it is read, because a program may still be writing it.
const settled = time.Second

// A File is a file in use that other programs may change. The result of the last reading without a problem is in force. It is
// safe for concurrent use.
type File[T any] struct {
	kind  Kind
	path  string
	read  func() (*T, error)
	check func(before, next *T) error

	inForce         atomic.Pointer[T]
	reloads, faults atomic.Int64
	problem         atomic.Pointer[string] // nil: none

	mu     sync.Mutex  // locks the reading of the file
	last   os.FileInfo // guarded by mu: info of the file that was last read
	seen   os.FileInfo // guarded by mu: info of a file other than last; nil: no other file was seen
	since  time.Time   // guarded by mu: time when seen was first seen
	failed error       // guarded by mu: the reason why the file that was last read is not in force
}

// Open returns a file that read has read for the first time. check returns a reason why the result of a reading may not
// replace the earlier one.
func Open[T any](k Kind, path string, read func() (*T, error), check func(before, next *T) error) (*File[T], error) {
	f := &File[T]{kind: k, path: path, read: read, check: check}
	f.last, _ = os.Stat(path) // read reports errors
	t, err := read()
	if err != nil {
		return nil, err
	}
	f.inForce.Store(t)
	return f, nil
}

// Path returns the name of the file.
func (f *File[T]) Path() string { return f.path }

// InForce returns the result in force.
func (f *File[T]) InForce() *T { return f.inForce.Load() }

// Refresh reads the file again if it has changed, and has then been unchanged for a while. It is called about once a second.
// It reports whether a new result is in force. A problem, of the file or the problem beside that the caller knows, is returned
// once, and the earlier result stays in force.
func (f *File[T]) Refresh(now time.Time, beside error) (reloaded bool, err error) {
	reloaded, err = f.refresh(now)
	if err = errors.Join(err, beside); f.Report(err) {
		return reloaded, err
	}
	return reloaded, nil
}

// refresh reads the file, and puts the result in force unless the file was written meanwhile. The error is the problem of the
// file's present version.
func (f *File[T]) refresh(now time.Time) (reloaded bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.path)
	switch {
	case err != nil:
		f.seen, f.last = nil, nil
		f.failed = fmt.Errorf("cannot find %s %s, so the earlier entries stay in force: %w", f.kind.Name, f.path, err)
		return false, f.failed
	case same(info, f.last):
		f.seen = nil
		return false, f.failed
	case !same(info, f.seen):
		f.seen, f.since = info, now
		return false, f.failed
	case now.Sub(f.since) < settled:
		return false, f.failed
	}
	next, err := f.read()
	if err == nil {
		err = f.check(f.InForce(), next)
	}
	after, gone := os.Stat(f.path)
	if gone != nil || !same(after, info) { // the file was written meanwhile
		f.seen, f.since = after, now
		return false, f.failed
	}
	if f.last, f.seen = info, nil; err != nil {
		f.failed = fmt.Errorf("cannot reload, so the earlier entries stay in force: %w", err)
		return false, f.failed
	}
	f.failed = nil
	f.inForce.Store(next)
	f.reloads.Add(1)
	return true, nil
}

// same reports whether a file is unchanged.
func same(a, b os.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// Report records the present problem, or that there is none. It reports whether the problem is new.
func (f *File[T]) Report(err error) bool {
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

// A Condition is the state of a file in use.
type Condition struct {
	Reloads int64  // number of times that the file was read again
	Faults  int64  // number of new problems of the file
	Problem string // the reason why the present version of the file is not in force; "": it is in force
}

// Condition returns the state of the file.
func (f *File[T]) Condition() Condition {
	c := Condition{Reloads: f.reloads.Load(), Faults: f.faults.Load()}
	if why := f.problem.Load(); why != nil {
		c.Problem = *why
	}
	return c
}
