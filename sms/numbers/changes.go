package numbers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"

	"pmg/internal/wholefile"
)

// MaxChanges is the maximum number of numbers in the journal of a list.
const MaxChanges = 2_000_000

// A byEntry has a value for each of some entries.
type byEntry[T any] struct {
	numbers map[uint64]T
	names   map[string]T
}

func newByEntry[T any]() byEntry[T] { return byEntry[T]{map[uint64]T{}, map[string]T{}} }

func (m *byEntry[T]) get(e *entry) (value T, known bool) {
	if e.number != 0 {
		value, known = m.numbers[e.number]
	} else {
		value, known = m.names[string(e.name)]
	}
	return value, known
}

func (m *byEntry[T]) set(e *entry, value T) {
	if e.number != 0 {
		m.numbers[e.number] = value
	} else {
		m.names[string(e.name)] = value
	}
}

// A mark is what memory has of an entry of the journal: whether the entry is on the list, in the lowest bit, and how many lines
// are about it, up to mostLines.
type mark uint8

const mostLines = 127

func (m mark) on() bool   { return m&1 != 0 }
func (m mark) lines() int { return int(m >> 1) }

// next returns the mark behind one more line.
func (m mark) next(on bool) mark {
	next := mark(min(m.lines()+1, mostLines) << 1)
	if on {
		next++
	}
	return next
}

// changes are the numbers that the journal adds to a list or removes from it, whatever the list's file
// contains. It is safe for concurrent use.
type changes struct {
	path, list string
	count      atomic.Int64 // number of changed entries; 0: a look-up needs no lock
	added      atomic.Int64
	lastAdded  atomic.Int64 // time of the latest line that adds an entry, in seconds since 1970; 0: unknown
	lastStop   atomic.Int64 // the same of lines of mobiles
	newest     atomic.Int64 // the same of all lines

	mu    sync.RWMutex
	marks byEntry[mark]

	reading   sync.Mutex  // locks reading and writing of the journal within this process
	info      os.FileInfo // guarded by reading: file info of the journal that was read; nil: the journal does not exist
	offset    int64       // guarded by reading: offset up to which the journal was read
	lines     int64       // guarded by reading: number of lines that were read
	remaining int64       // guarded by reading: number of lines that stay when the journal is compacted
	problem   string      // guarded by reading: the reason why a part of the journal cannot be read; "": no problem
	shared    bool        // Fresh is called
	fresh     []Change    // guarded by reading: changes since Fresh was called
}

func newChanges(list string) *changes {
	return &changes{path: list + ChangesSuffix, list: list, marks: newByEntry[mark]()}
}

// find returns whether the journal adds an entry. known is false if the journal has no line about the entry.
func (c *changes) find(e *entry) (on, known bool) {
	m := c.markOf(e)
	return m.on(), m != 0
}

// markOf returns the mark of an entry, 0 if the journal has no line about the entry.
func (c *changes) markOf(e *entry) mark {
	if c.count.Load() == 0 {
		return 0
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	m, _ := c.marks.get(e)
	return m
}

// set records a line. It reports false if there is no room. The caller holds reading.
func (c *changes) set(r *record) bool {
	was := c.markOf(&r.entry)
	if was == 0 && c.count.Load() >= MaxChanges {
		return false
	}
	next := was.next(r.on)
	c.remaining += int64(min(next.lines(), KeptLines) - min(was.lines(), KeptLines))
	c.mu.Lock()
	c.marks.set(&r.entry, next)
	c.mu.Unlock()
	if was == 0 {
		c.count.Add(1)
	}
	if was.on() {
		c.added.Add(-1)
	}
	if r.on {
		c.added.Add(1)
		c.lastAdded.Store(max(c.lastAdded.Load(), r.at))
	}
	c.newest.Store(max(c.newest.Load(), r.at))
	if Source(r.source) == Stop {
		c.lastStop.Store(max(c.lastStop.Load(), r.at))
	}
	return true
}

// replace takes over the contents of a journal that has replaced the one that was read. Concurrent look-ups use the old or the
// new contents.
func (c *changes) replace(by *changes) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.marks = by.marks
	c.count.Store(by.count.Load())
	c.added.Store(by.added.Load())
	c.lastAdded.Store(by.lastAdded.Load())
	c.lastStop.Store(by.lastStop.Load())
	c.newest.Store(by.newest.Load())
	c.info, c.offset, c.lines, c.remaining, c.problem = by.info, by.offset, by.lines, by.remaining, by.problem
}

// without returns the changes of another journal that this one does not have, of unknown origin.
func (c *changes) without(other *changes) (all []Change) {
	differs := func(e *entry, m mark) {
		if was := c.markOf(e); was == 0 || was.on() != m.on() {
			all = append(all, Change{Entry: string(e.appendTo(nil)), On: m.on()})
		}
	}
	for n, m := range other.marks.numbers {
		e := entryOf(n)
		differs(&e, m)
	}
	for name, m := range other.marks.names {
		differs(&entry{name: []byte(name)}, m)
	}
	return all
}

// read reads the lines that other processes have appended since the last call. It returns an error for lines that cannot be
// read.
func (c *changes) read() error {
	c.reading.Lock()
	defer c.reading.Unlock()
	info, err := os.Stat(c.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if c.info != nil {
			c.replace(newChanges(c.list))
		}
		return nil
	case err != nil:
		return fmt.Errorf("cannot read the changes of list %s: %w", c.list, err)
	case c.info == nil || info.Size() != c.offset || !os.SameFile(info, c.info):
		f, err := os.Open(c.path)
		if err != nil {
			return fmt.Errorf("cannot read the changes of list %s: %w", c.list, err)
		}
		defer f.Close()
		if err := c.catchUp(f); err != nil {
			return fmt.Errorf("cannot read the changes of list %s: %w", c.list, err)
		}
	}
	if c.problem != "" {
		return errors.New(c.problem)
	}
	return nil
}

// isDamaged reports whether a line of the journal cannot be read. The other lines are in force.
func (c *changes) isDamaged() bool {
	c.reading.Lock()
	defer c.reading.Unlock()
	return c.problem != ""
}

// catchUp reads the complete lines after offset. An incomplete line was written by a process that was killed before its Add
// returned.
func (c *changes) catchUp(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if c.info != nil && os.SameFile(info, c.info) && info.Size() >= c.offset {
		c.info = info
		return c.follow(f)
	}
	whole := newChanges(c.list)
	whole.info = info
	if err = whole.follow(f); err != nil {
		return err
	}
	if c.shared {
		others := c.without(whole)
		if err = describe(io.NewSectionReader(f, 0, whole.offset), others); err != nil {
			return err
		}
		c.fresh = append(c.fresh, others...)
	}
	c.replace(whole)
	return nil
}

// follow reads the complete lines after offset.
func (c *changes) follow(f *os.File) error {
	var r record
	var room [maxName]byte
	return eachLine(io.NewSectionReader(f, c.offset, math.MaxInt64-c.offset), func(line []byte) error {
		text := bytes.TrimSpace(line)
		switch {
		case len(text) == 0:
		case !r.read(text, &room) || !c.set(&r):
			if c.problem == "" {
				c.problem = fmt.Sprintf(
					"%s: cannot read %.40q at octet %d: it must be + or - and a number; the other lines are in force", c.path,
					line, c.offset,
				)
			}
		case c.shared:
			c.fresh = append(c.fresh, r.change())
		}
		c.offset += int64(len(line))
		c.lines++
		return nil
	})
}

// An edit is a change of an entry that is to be written.
type edit struct {
	entry  entry
	on     bool
	origin Origin
}

// write appends lines for the edits that change something. It returns the number of these edits, after
// the lines are on the disk. tell says whether Fresh has them.
func (c *changes) write(all []edit, tell bool, needed func(*edit) bool) (n int, err error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	f, err := c.open()
	if err != nil {
		return 0, err
	}
	defer f.Close() // Close releases the lock, so that another process may write
	if err := c.catchUp(f); err != nil {
		return 0, err
	}
	var lines []byte
	told, unknown := len(c.fresh), 0
	for i := range all {
		e := &all[i]
		switch {
		case needed(e):
			lines = append(e.origin.appendTo(e.entry.appendTo(append(lines, signOf(e.on)))), '\n')
			n++
			if c.markOf(&e.entry) == 0 {
				unknown++
			}
		case tell && c.shared: // other nodes may have it otherwise
			c.fresh = append(c.fresh, Change{Entry: string(e.entry.appendTo(nil)), On: e.on})
		}
	}
	if n == 0 {
		return 0, nil
	}
	if unknown > 0 && c.count.Load()+int64(unknown) > MaxChanges {
		return 0, fmt.Errorf("%s has %d numbers, which is the maximum: move them to the list", c.path, c.count.Load())
	}
	if err := f.Truncate(c.offset); err != nil { // removes an incomplete line
		return 0, err
	}
	if _, err = f.WriteAt(lines, c.offset); err == nil {
		err = f.Sync()
	}
	if err != nil {
		return 0, errors.Join(err, f.Truncate(c.offset))
	}
	err = c.catchUp(f)
	if !tell {
		c.fresh = c.fresh[:min(told, len(c.fresh))]
	}
	if err == nil && c.problem == "" && (c.lines > 2*c.remaining+manyLines || c.remaining > MaxKept) {
		err = c.compact(f)
	}
	return n, err
}

// open opens the journal exclusively for this process, and creates the journal if it does not exist.
func (c *changes) open() (*os.File, error) {
	for {
		f, err := os.OpenFile(c.path, os.O_RDWR, 0)
		if errors.Is(err, os.ErrNotExist) {
			f, err = c.create(c.path)
		}
		if err != nil {
			return nil, err
		}
		if err := lock(f); err != nil {
			_ = f.Close()
			return nil, err
		}
		ours, err := f.Stat()
		if err != nil {
			_ = f.Close()
			return nil, err
		}
		if now, err := os.Stat(c.path); err == nil && os.SameFile(ours, now) {
			return f, nil
		}
		_ = f.Close() // another file has replaced the journal meanwhile
	}
}

// lock waits until no other process writes to a journal.
func lock(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// create creates a journal with the owner and the mode of the list, so that the gateway can write to a journal that root has
// created.
func (c *changes) create(path string) (*os.File, error) {
	info, err := os.Stat(c.list)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, info.Mode().Perm()|0o600)
	if err != nil {
		return nil, err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		err = f.Chown(int(st.Uid), int(st.Gid))
	}
	if err = errors.Join(err, wholefile.SyncDir(filepath.Dir(path))); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
