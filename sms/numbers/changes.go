package numbers

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"

	"pmg/internal/textfile"
	"pmg/internal/wholefile"
)

// MaxChanges is the maximum number of numbers in the journal of a list.
const MaxChanges = 2_000_000

// changes are the numbers that the journal adds to a list or removes from it, whatever the list's file
// contains. It is safe for concurrent use.
type changes struct {
	path, list string
	count      atomic.Int64 // number of changes; 0: a look-up needs no lock
	added      atomic.Int64

	mu      sync.RWMutex
	numbers map[uint64]bool // true: the number is on the list
	names   map[string]bool

	reading sync.Mutex  // locks reading and writing of the journal within this process
	info    os.FileInfo // guarded by reading: file info of the journal that was read; nil: the journal does not exist
	offset  int64       // guarded by reading: offset up to which the journal was read
	lines   int64       // guarded by reading: number of lines that were read
	problem string      // guarded by reading: the reason why a part of the journal cannot be read; "": no problem
	shared  bool        // Fresh is called
	fresh   []Change    // guarded by reading: changes since Fresh was called
}

// A Change is a number or the name of a sender that the journal adds to a list or removes from it, whatever the list's file
// contains.
type Change struct {
	Entry string
	On    bool
}

func newChanges(list string) *changes {
	return &changes{path: list + ChangesSuffix, list: list, numbers: map[uint64]bool{}, names: map[string]bool{}}
}

// find returns the journal's entry for an address. known is false if the journal has no entry.
func (c *changes) find(e *entry) (on, known bool) {
	if c.count.Load() == 0 {
		return false, false
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if e.number != 0 {
		on, known = c.numbers[e.number]
	} else {
		on, known = c.names[string(e.name)]
	}
	return on, known
}

// set records a change. It reports false if there is no room.
func (c *changes) set(e *entry, on bool) bool {
	was, known := c.find(e)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !known && c.count.Load() >= MaxChanges:
		return false
	case !known:
		c.count.Add(1)
	case was:
		c.added.Add(-1)
	}
	if on {
		c.added.Add(1)
	}
	if e.number != 0 {
		c.numbers[e.number] = on
	} else {
		c.names[string(e.name)] = on
	}
	return true
}

// replace takes over the contents of a journal that has replaced the one that was read. Concurrent look-ups use the old or the
// new contents.
func (c *changes) replace(by *changes) {
	if c.shared {
		c.fresh = append(c.fresh, c.without(by)...)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.numbers, c.names = by.numbers, by.names
	c.count.Store(by.count.Load())
	c.added.Store(by.added.Load())
	c.info, c.offset, c.lines, c.problem = by.info, by.offset, by.lines, by.problem
}

// without returns the changes of another journal that this one does not have.
func (c *changes) without(other *changes) (all []Change) {
	for n, on := range other.numbers {
		if was, known := c.numbers[n]; !known || was != on {
			all = append(all, Change{string(strconv.AppendUint(nil, n, 10)[1:]), on}) // [1:]: without leading
		}
	}
	for name, on := range other.names {
		if was, known := c.names[name]; !known || was != on {
			all = append(all, Change{name, on})
		}
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
	if c.info == nil || !os.SameFile(info, c.info) || info.Size() < c.offset {
		whole := newChanges(c.list)
		whole.info = info
		if err = whole.follow(f); err == nil {
			c.replace(whole)
		}
		return err
	}
	c.info = info
	return c.follow(f)
}

// follow reads the complete lines after offset.
func (c *changes) follow(f *os.File) error {
	if _, err := f.Seek(c.offset, io.SeekStart); err != nil {
		return err
	}
	in := bufio.NewReaderSize(f, textfile.MaxLine)
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		if !c.takes(bytes.TrimSpace(line)) && c.problem == "" {
			c.problem = fmt.Sprintf(
				"%s: cannot read %.40q at octet %d: it must be + or - and a number; the other lines are in force", c.path, line,
				c.offset,
			)
		}
		c.offset += int64(len(line))
		c.lines++
	}
}

// takes applies the change of a line. It reports false for an invalid line.
func (c *changes) takes(line []byte) bool {
	if len(line) < 2 || line[0] != '+' && line[0] != '-' {
		return len(line) == 0
	}
	var room [maxName]byte
	e, err := parse(line[1:], &room)
	if err != nil || e.prefix || !c.set(&e, line[0] == '+') {
		return false
	}
	if c.shared {
		c.fresh = append(c.fresh, Change{string(e.appendTo(nil)), line[0] == '+'})
	}
	return true
}

// write appends lines for the entries that change something. It returns the number of these entries, after
// the lines are on the disk. tell says whether Fresh has them.
func (c *changes) write(sign byte, all []entry, tell bool, needed func(*entry) bool) (n int, err error) {
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
	told := len(c.fresh)
	for i := range all {
		e := &all[i]
		switch {
		case needed(e):
			lines = append(e.appendTo(append(lines, sign)), '\n')
			n++
		case tell && c.shared: // other nodes may have it otherwise
			c.fresh = append(c.fresh, Change{string(e.appendTo(nil)), sign == '+'})
		}
	}
	if n == 0 {
		return 0, nil
	}
	if c.count.Load()+int64(n) > MaxChanges {
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
	if err == nil && c.problem == "" && c.lines > 2*c.count.Load()+manyLines {
		err = c.compact()
	}
	return n, err
}

// manyLines is the number of outdated lines below which the journal is not compacted.
const manyLines = 1000

// compact replaces the journal, which this process has locked, by a journal with one line for each number. If
// the new journal cannot be made, the old one stays. An error means that a power cut may undo what is written
// to the new journal.
func (c *changes) compact() error {
	path := c.path + ".new"
	f, err := c.create(path)
	if err != nil {
		return nil
	}
	defer f.Close() // Close releases the lock, so that another process may write
	if err = errors.Join(lock(f), f.Truncate(0)); err == nil {
		err = c.writeAll(f)
	}
	info, failed := f.Stat()
	if err = errors.Join(err, failed); err == nil {
		err = os.Rename(path, c.path)
	}
	if err != nil {
		_ = os.Remove(path)
		return nil
	}
	c.info, c.offset, c.lines = info, info.Size(), c.count.Load()
	return wholefile.SyncDir(filepath.Dir(path))
}

// writeAll writes a line for each number.
func (c *changes) writeAll(f *os.File) error {
	out, sign := bufio.NewWriter(f), map[bool]byte{true: '+', false: '-'}
	for number, on := range c.numbers {
		line := strconv.AppendUint(out.AvailableBuffer(), number, 10)
		line[0] = sign[on] // instead of leading
		_, _ = out.Write(append(line, '\n'))
	}
	for name, on := range c.names {
		_, _ = fmt.Fprintf(out, "%c%s\n", sign[on], name)
	}
	return errors.Join(out.Flush(), f.Sync())
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
