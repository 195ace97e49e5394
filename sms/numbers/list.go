package numbers

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// ChangesSuffix ends the name of the journal beside a file.
const ChangesSuffix = ".changes"

// settled is how long a file must have been the same before it is read, because it may be written just now.
const settled = time.Second

// A List is a file in use, with its changes. It is safe for concurrent use.
type List struct {
	path    string
	table   atomic.Pointer[Table]
	changes *changes

	hits, reloads, faults atomic.Int64
	problem               atomic.Pointer[string] // nil: none

	mu     sync.Mutex  // one reader of the file
	read   os.FileInfo // guarded by mu: of the file that was read last
	seen   os.FileInfo // guarded by mu: of one that is other than read; nil: none is
	since  time.Time   // guarded by mu: when seen was seen first
	failed error       // guarded by mu: why the file that was read last is not in force
}

// Open reads a list and its changes.
func Open(path string) (*List, error) {
	l := newList(path)
	info, _ := os.Stat(path) // ReadFile says what is wrong
	t, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	l.table.Store(t)
	l.read = info
	if err := l.changes.read(); err != nil {
		if !l.changes.isDamaged() {
			return nil, err
		}
		l.note(err)
	}
	return l, nil
}

func newList(path string) *List {
	return &List{path: path, changes: newChanges(path)}
}

// Path returns the name of the list's file.
func (l *List) Path() string { return l.path }

// Has reports whether an address is on the list: a number, or the name of a sender. It allocates nothing and reads no
// file.
func (l *List) Has(address []byte) bool {
	var room [maxName]byte
	e, ok := addressOf(address, &room)
	if !ok {
		return false
	}
	on, known := l.changes.find(&e)
	return known && on || !known && l.table.Load().has(&e)
}

// Hit counts a message that the list has decided about.
func (l *List) Hit() { l.hits.Add(1) }

// Status is how a list is.
type Status struct {
	Entries int   // of the file
	Added   int64 // numbers that the journal adds, and removes
	Removed int64
	Octets  int
	Hits    int64
	Reloads int64
	Faults  int64
	Problem string // why the file as it is now is not in force, "" if it is
}

// Status returns how the list is.
func (l *List) Status() Status {
	c := l.table.Load().Counts
	s := Status{
		Entries: c.Entries(), Added: l.changes.added.Load(), Octets: c.Octets, Hits: l.hits.Load(), Reloads: l.reloads.Load(),
		Faults: l.faults.Load(),
	}
	s.Removed = max(l.changes.count.Load()-s.Added, 0)
	if why := l.problem.Load(); why != nil {
		s.Problem = *why
	}
	return s
}

// Refresh takes over changes of the file and of the journal. It is called about once a second. It reports whether a new file
// is in force. A problem is returned once, and what was read before stays in force.
func (l *List) Refresh(now time.Time) (reloaded bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	failed := l.changes.read()
	reloaded, err = l.reread(now)
	if l.note(errors.Join(err, failed)) {
		err = errors.Join(err, failed)
		return reloaded, err
	}
	return reloaded, nil
}

// note notes the problem of a refresh, or that there is none. It reports whether the problem is new.
func (l *List) note(err error) bool {
	if err == nil {
		l.problem.Store(nil)
		return false
	}
	why := err.Error()
	if was := l.problem.Load(); was != nil && *was == why {
		return false
	}
	l.problem.Store(&why)
	l.faults.Add(1)
	return true
}

// reread takes over a file that has changed, if it has not changed any more for a while. The error is that of the file as it
// is now.
func (l *List) reread(now time.Time) (reloaded bool, err error) {
	info, err := os.Stat(l.path)
	switch {
	case err != nil:
		l.seen, l.read = nil, nil
		l.failed = fmt.Errorf("cannot find list %s, and what was read of it stays in force: %w", l.path, err)
		return false, l.failed
	case same(info, l.read):
		l.seen = nil
		return false, l.failed
	case !same(info, l.seen):
		l.seen, l.since = info, now
		return false, l.failed
	case now.Sub(l.since) < settled:
		return false, l.failed
	}
	return l.reload(info, now)
}

// reload reads the file, and puts it in force if nothing is wrong with it.
func (l *List) reload(info os.FileInfo, now time.Time) (bool, error) {
	t, err := ReadFile(l.path)
	after, gone := os.Stat(l.path)
	if gone != nil || !same(after, info) { // it was written meanwhile
		l.seen, l.since = after, now
		return false, l.failed
	}
	if before := l.table.Load(); err == nil && info.Size() == 0 && before.Counts.Entries() > 0 {
		err = fmt.Errorf("list %s is empty: write a comment into it if no entry is to be left", l.path)
	}
	if l.read, l.seen = info, nil; err != nil {
		l.failed = fmt.Errorf("cannot reload, and the entries of before stay in force: %w", err)
		return false, l.failed
	}
	l.failed = nil
	l.table.Store(t)
	l.reloads.Add(1)
	return true, nil
}

// same reports whether a file is as it was.
func same(a, b os.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// Add adds numbers or names of senders to the list, whatever the file says of them. It returns how many were added, after
// they are on the disk.
func (l *List) Add(addresses ...string) (int, error) { return l.change('+', addresses) }

// Remove removes numbers or names of senders from the list, whatever the file says of them, unless they are not on it.
func (l *List) Remove(addresses ...string) (int, error) { return l.change('-', addresses) }

func (l *List) change(sign byte, addresses []string) (int, error) {
	all, again := make([]entry, 0, len(addresses)), map[string]bool{}
	for _, text := range addresses {
		e, err := parse(bytes.TrimSpace([]byte(text)), new([maxName]byte))
		if err == nil && e.prefix {
			err = errPrefix
		}
		if err != nil {
			return 0, fmt.Errorf("cannot change list %s: %.40q: %w", l.path, text, err)
		}
		if key := string(e.appendTo(nil)); !again[key] {
			again[key] = true
			all = append(all, e)
		}
	}
	n, err := l.changes.write(sign, all, func(e *entry) bool {
		on, known := l.changes.find(e)
		if sign == '+' {
			return !on // also one that the file has, because another file may take its place
		}
		return on || !known && l.table.Load().has(e)
	})
	if err != nil {
		return 0, fmt.Errorf("cannot change list %s: %w", l.path, err)
	}
	return n, nil
}

// errPrefix is what is wrong with a prefix in the journal.
var errPrefix = errors.New("it is a prefix: write prefixes into the file")
