package numbers

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"

	"pmg/internal/wholefile"
)

// Limits of a journal that is compacted.
const (
	KeptLines = 20        // lines that stay of a number: the last ones, which are its history
	MaxKept   = 4_000_000 // lines that stay of all numbers; beyond it fewer stay of each
	manyLines = 1000      // outdated lines below which the journal is not compacted
)

// compact replaces the journal f, which this process has locked, by a journal with the last lines of each number. If
// the new journal cannot be made, the old one stays. An error means that a power cut may undo what is written
// to the new journal.
func (c *changes) compact(f *os.File) error {
	path := c.path + ".new"
	to, err := c.create(path)
	if err != nil {
		return nil
	}
	defer to.Close() // Close releases the lock, so that another process may write
	var lines int64
	most := c.linesThatFit()
	excess := newByEntry[int]()
	if err = errors.Join(lock(to), to.Truncate(0)); err == nil {
		lines, err = c.copyLast(f, to, most, &excess)
	}
	info, failed := to.Stat()
	if err = errors.Join(err, failed); err == nil {
		err = os.Rename(path, c.path)
	}
	if err != nil {
		_ = os.Remove(path)
		return nil
	}
	c.info, c.offset, c.lines, c.remaining = info, info.Size(), lines, lines
	c.cut(most, &excess)
	return wholefile.SyncDir(filepath.Dir(path))
}

// linesThatFit returns how many lines may stay of a number.
func (c *changes) linesThatFit() int {
	most := KeptLines
	for sum := c.remaining; sum > MaxKept && most > 1; {
		most, sum = most/2, 0
		for _, m := range c.marks.numbers {
			sum += int64(min(m.lines(), most))
		}
		for _, m := range c.marks.names {
			sum += int64(min(m.lines(), most))
		}
	}
	return most
}

// copyLast copies the last lines of each number, and returns how many these are. excess are the numbers with more lines.
func (c *changes) copyLast(from, to *os.File, most int, excess *byEntry[int]) (lines int64, err error) {
	read := func(take func(*record, []byte) error) error {
		return scan(io.NewSectionReader(from, 0, c.offset), func(r *record, line []byte, _ int64) error { return take(r, line) })
	}
	err = read(func(r *record, _ []byte) error {
		if c.markOf(&r.entry).lines() > most {
			n, _ := excess.get(&r.entry)
			excess.set(&r.entry, n+1)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	out := bufio.NewWriter(to)
	err = read(func(r *record, line []byte) error {
		if n, _ := excess.get(&r.entry); n > most {
			excess.set(&r.entry, n-1)
			return nil
		}
		lines++
		_, _ = out.Write(bytes.TrimSpace(line))
		return out.WriteByte('\n')
	})
	return lines, errors.Join(err, out.Flush(), to.Sync())
}

// cut corrects the marks of numbers that had more lines.
func (c *changes) cut(most int, excess *byEntry[int]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cut := func(e *entry) {
		m, _ := c.marks.get(e)
		c.marks.set(e, mark(most<<1)|m&1)
	}
	for n := range excess.numbers {
		cut(&entry{number: n})
	}
	for name := range excess.names {
		cut(&entry{name: []byte(name)})
	}
}
