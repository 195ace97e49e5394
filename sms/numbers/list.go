package numbers

import (
	"bytes"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"pmg/internal/textfile"
	"pmg/sms/number"
)

// ChangesSuffix ends the name of the journal beside a file.
const ChangesSuffix = ".changes"

// A List is a file in use, with its changes. It is safe for concurrent use.
type List struct {
	file    *textfile.File[Table]
	changes *changes
	hits    atomic.Int64
}

// Open reads a list and its changes. shared says that Fresh is called.
func Open(path string, shared bool) (*List, error) {
	l := &List{changes: newChanges(path)}
	var err error
	l.file, err = textfile.Open(kind, path, func() (*Table, error) { return ReadFile(path) }, func(before, next *Table) error {
		if next.Counts.Lines == 0 && before.Counts.Entries() > 0 {
			return fmt.Errorf("list %s is empty: write a comment into it if no entry is to be left", path)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := l.changes.read(); err != nil {
		if !l.changes.isDamaged() {
			return nil, err
		}
		l.file.Report(err)
	}
	l.changes.shared = shared
	return l, nil
}

// Fresh returns the changes that came since the last call, of this process or another one, but for those of Take.
func (l *List) Fresh() []Change {
	l.changes.reading.Lock()
	defer l.changes.reading.Unlock()
	all := l.changes.fresh
	l.changes.fresh = nil
	return all
}

// Changes returns all changes, in no order, of unknown origin.
func (l *List) Changes() []Change {
	l.changes.mu.RLock()
	defer l.changes.mu.RUnlock()
	return newChanges("").without(l.changes)
}

// Describe sets the origins of changes that Changes has returned. It reads the journal.
func (l *List) Describe(all []Change) error {
	f, from, err := l.changes.snapshot()
	if err != nil || f == nil {
		return err
	}
	defer f.Close()
	return describe(from, all)
}

// Agrees reports whether the journal says the same of an entry.
func (l *List) Agrees(c *Change) bool {
	e, err := l.entryOf(c.Entry)
	on, known := l.changes.find(&e)
	return err == nil && known && on == c.On
}

// Newest returns when the last change of the journal was made, the zero time if the journal has no times.
func (l *List) Newest() time.Time {
	at := l.changes.newest.Load()
	if at == 0 {
		return time.Time{}
	}
	return time.Unix(at, 0).UTC()
}

// Take makes changes that were made elsewhere: those that the journal does not have, and those that were made behind a time. It
// returns how many these are.
func (l *List) Take(all []Change, behind time.Time) (n int, err error) {
	edits := make([]edit, 0, len(all))
	for i := range all {
		e, err := l.entryOf(all[i].Entry)
		if err != nil {
			return 0, err
		}
		edits = append(edits, edit{e, all[i].On, all[i].Origin})
	}
	n, err = l.changes.write(edits, false, func(e *edit) bool {
		on, known := l.changes.find(&e.entry)
		return !known || on != e.on || e.origin.At.After(behind)
	})
	if err != nil {
		return n, fmt.Errorf("cannot change list %s: %w", l.Path(), err)
	}
	return n, nil
}

// Path returns the name of the list's file.
func (l *List) Path() string { return l.file.Path() }

// Has reports whether a number, or the name of a sender, is on the list. It neither allocates nor reads a file.
//
// A number that is national only by its type is found with a 0 in front, as people write it, and without the
// 0, as an SMSC may have written it into the journal.
func (l *List) Has(n number.Number) bool {
	var room [maxName]byte
	e, ok := addressOf(n, &room)
	if !ok {
		return false
	}
	if l.has(&e) {
		return true
	}
	if isBare(n) {
		e, err := numberOf(n.Digits(), false, &room)
		return err == nil && l.has(&e)
	}
	return false
}

// has reports whether an entry is on the list.
func (l *List) has(e *entry) bool {
	on, known := l.changes.find(e)
	return known && on || !known && l.file.InForce().has(e)
}

// Hit counts a message that the list has decided about.
func (l *List) Hit() { l.hits.Add(1) }

// Status is the state of a list.
type Status struct {
	Entries int   // entries of the file
	Added   int64 // numbers that the journal adds
	Removed int64 // numbers that the journal removes
	Octets  int
	Hits    int64

	LastAdded int64 // time of the last addition that the journal has, in seconds since 1970; 0: it has none with a time
	LastStop  int64 // the same of mobiles
	textfile.Condition
}

// Status returns the state of the list.
func (l *List) Status() Status {
	c := l.file.InForce().Counts
	s := Status{
		Entries: c.Entries(), Added: l.changes.added.Load(), Octets: c.Octets, Hits: l.hits.Load(),
		Condition: l.file.Condition(), LastAdded: l.changes.lastAdded.Load(), LastStop: l.changes.lastStop.Load(),
	}
	s.Removed = max(l.changes.count.Load()-s.Added, 0)
	return s
}

// Refresh takes over changes of the file and of the journal. It is called about once a second. It reports
// whether a new file is in force. A problem is returned once, and the earlier contents stay in force.
func (l *List) Refresh(now time.Time) (reloaded bool, err error) {
	return l.file.Refresh(now, l.changes.read())
}

// Add adds numbers or names of senders to the list, even if the file lacks them. It returns the number of added ones, after
// the changes are on the disk.
func (l *List) Add(from Origin, addresses ...string) (int, error) {
	return l.change(true, from, addresses)
}

// Remove removes numbers or names of senders from the list, even if the file has them. It ignores those that are not on the
// list.
func (l *List) Remove(from Origin, addresses ...string) (int, error) {
	return l.change(false, from, addresses)
}

func (l *List) change(on bool, from Origin, addresses []string) (int, error) {
	from, err := from.checked()
	if err != nil {
		return 0, fmt.Errorf("cannot change list %s: %w", l.Path(), err)
	}
	all, again := make([]edit, 0, len(addresses)), map[string]bool{}
	for _, text := range addresses {
		e, err := l.entryOf(text)
		if err != nil {
			return 0, err
		}
		if key := string(e.appendTo(nil)); !again[key] {
			again[key] = true
			all = append(all, edit{e, on, from})
		}
	}
	n, err := l.changes.write(all, true, func(e *edit) bool {
		on, known := l.changes.find(&e.entry)
		if e.on {
			return !on // even if the file has the number, because another file may replace it
		}
		return on || !known && l.file.InForce().has(&e.entry)
	})
	if err != nil {
		return 0, fmt.Errorf("cannot change list %s: %w", l.Path(), err)
	}
	return n, nil
}

// A BadEntry is the error of a text that cannot be added to a list, nor removed, or of a reason.
type BadEntry struct{ error }

// entryOf returns the entry that is to be added to the list or removed.
func (l *List) entryOf(text string) (entry, error) {
	e, err := parse(bytes.TrimSpace([]byte(text)), new([maxName]byte))
	if err == nil && e.prefix {
		err = errPrefix
	}
	if err != nil {
		return entry{}, fmt.Errorf("cannot change list %s: %.40q: %w", l.Path(), text, BadEntry{err})
	}
	return e, nil
}

// errPrefix is the error of a prefix in the journal.
var errPrefix = errors.New("prefixes must be in the file")
