package pdulog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"pmg/internal/logfile"
)

// A tail reads one connector's files in order: rotated ones, oldest first, then the one
// being written. At its end it returns io.EOF. Later calls may return further lines.
//
// Files may be rotated, compressed and removed meanwhile. The field last, which keeps the
// order, is the stamp of the newest rotated file that was read to its end. The next file is
// the oldest one with a later stamp. If there is none, it is the file being written.
type tail struct {
	dir, connector string
	last           string
	until          string // no file is read that begins behind this stamp; empty: all are

	file    *os.File  // nil between files
	unpack  io.Closer // reader of a compressed file
	stamp   string    // time stamp of the file; empty: the file is the one being written
	r       *bufio.Reader
	offset  int64 // position of the next line in a plain file
	skip    bool  // reading began in the middle of a line, the rest of which is skipped
	drained bool  // the file was renamed, and is read to its end for the last time
	long    []byte

	from      int64 // offset at which to begin in the file with stamp fromStamp
	fromStamp string
}

func newTail(dir, connector string) *tail {
	return &tail{dir: dir, connector: connector, r: bufio.NewReaderSize(nil, 64<<10)}
}

// next returns a line without its line end. The line is valid until the next call. next does
// not return a line before its line end is written.
func (t *tail) next() ([]byte, error) {
	for {
		if t.file == nil {
			if err := t.open(); err != nil {
				return nil, err
			}
		}
		line, err := t.readLine()
		switch {
		case err == io.EOF:
			if err := t.end(); err != nil {
				return nil, err
			}
		case err != nil:
			return nil, fmt.Errorf("cannot read pdu log %s: %w", t.file.Name(), err)
		case t.skip:
			t.skip = false
		default:
			return line, nil
		}
	}
}

func (t *tail) readLine() ([]byte, error) {
	t.long = t.long[:0]
	for {
		line, err := t.r.ReadSlice('\n')
		if err != nil || len(t.long) > 0 {
			t.long = append(t.long, line...)
			line = t.long
		}
		switch err {
		case bufio.ErrBufferFull:
			continue
		case nil:
			t.offset += int64(len(line))
			return line[:len(line)-1], nil
		default:
			return nil, err
		}
	}
}

// later returns the rotated files that are not read yet.
func (t *tail) later() ([]logfile.Segment, error) {
	segments, err := logfile.Rotated(t.dir, t.connector)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot list pdu logs: %w", err)
	}
	for len(segments) > 0 && segments[0].Stamp <= t.last {
		segments = segments[1:]
	}
	return segments, nil
}

// open opens the next file. It returns io.EOF if there is none.
func (t *tail) open() error {
	for {
		if t.until != "" && t.last > t.until { // the following lines were written later
			return io.EOF
		}
		next := logfile.Segment{Path: t.current()}
		segments, err := t.later()
		if err != nil {
			return err
		}
		if len(segments) > 0 {
			next = segments[0]
		}
		err = t.enter(next)
		if errors.Is(err, fs.ErrNotExist) {
			if next.Stamp == "" {
				return io.EOF
			}
			if still, _ := t.later(); len(still) > 0 && still[0] == next {
				return fmt.Errorf("cannot open pdu log: %w", err)
			}
			continue // the file was compressed or removed after it was listed
		}
		if err != nil {
			return fmt.Errorf("cannot open pdu log: %w", err)
		}
		if next.Stamp == "" {
			// The file may have been rotated since the listing. Then a rotated one comes first.
			if segments, err = t.later(); err != nil || len(segments) > 0 {
				t.close()
				continue
			}
		}
		return nil
	}
}

func (t *tail) current() string { return filepath.Join(t.dir, t.connector+logfile.Suffix) }

func (t *tail) enter(s logfile.Segment) error {
	file, err := os.Open(s.Path)
	if err != nil {
		return err
	}
	r, err := s.Reader(file)
	if err != nil {
		file.Close()
		return fmt.Errorf("%s: %w", s.Path, err)
	}
	t.offset, t.skip = 0, false
	if !s.Packed && t.from > 0 && t.fromStamp == s.Stamp {
		// Begin one byte earlier: if it is a line end, the next line is whole.
		t.offset, t.skip = t.from-1, true
		if _, err := file.Seek(t.offset, io.SeekStart); err != nil {
			file.Close()
			return err
		}
	}
	t.from = 0
	t.file, t.unpack, t.stamp, t.drained = file, r, s.Stamp, false
	t.r.Reset(r)
	return nil
}

func (t *tail) close() {
	if t.file != nil {
		t.unpack.Close()
		t.file.Close()
		t.file = nil
	}
}

// end handles the end of a file. It returns nil if there may be more to read.
func (t *tail) end() error {
	if t.stamp != "" { // a rotated file does not grow
		t.last = t.stamp
		t.close()
		return nil
	}
	mine, err := t.file.Stat()
	if err != nil {
		return fmt.Errorf("cannot follow pdu log: %w", err)
	}
	there, err := os.Stat(t.current())
	switch {
	case errors.Is(err, fs.ErrNotExist): // the file was renamed, and the new file does not exist yet
		return t.rewind(mine.Size())
	case err != nil:
		return fmt.Errorf("cannot follow pdu log: %w", err)
	case os.SameFile(mine, there):
		return t.rewind(mine.Size())
	case !t.drained:
		// The writer has begun another file, but perhaps only after we reached the end of this one.
		t.drained = true
		if err := t.rewind(mine.Size()); err != io.EOF {
			return err
		}
		return nil
	}
	err = t.passed(mine)
	t.close()
	return err
}

// rewind goes back to the beginning of a half line at the end, to read it again when it is
// whole. In a file that was emptied it goes back to the beginning.
func (t *tail) rewind(size int64) error {
	end := io.EOF
	if size < t.offset {
		t.offset, t.skip = 0, false
		if size > 0 {
			end = nil
		}
	}
	if _, err := t.file.Seek(t.offset, io.SeekStart); err != nil {
		return fmt.Errorf("cannot follow pdu log: %w", err)
	}
	t.r.Reset(t.file)
	return end
}

// passed stores the stamp with which the file just read was rotated. When it was opened, no
// rotated file was newer. So it can only be the first one that is newer now.
func (t *tail) passed(mine os.FileInfo) error {
	segments, err := t.later()
	if err != nil || len(segments) == 0 {
		return err
	}
	first := segments[0]
	if !first.Packed {
		// The files differ, so that another program has moved our file.
		if st, err := os.Stat(first.Path); err == nil && !os.SameFile(mine, st) {
			return nil
		}
	}
	t.last = first.Stamp
	return nil
}

// skipBefore skips the rotated files that have only lines before a time.
func (t *tail) skipBefore(since time.Time) error {
	segments, err := t.later()
	stamp := since.UTC().Format(logfile.StampLayout)
	for _, s := range segments {
		if s.Stamp < stamp {
			t.last = s.Stamp
		}
	}
	return err
}

// stopAfter ends the reading before the first file that has only lines from a time on.
func (t *tail) stopAfter(until time.Time) {
	if !until.IsZero() {
		t.until = until.Add(logfile.Overlap).UTC().Format(logfile.StampLayout)
	}
}

// A matcher reports whether a line is wanted, and returns the line's time.
type matcher func(line []byte) (at time.Time, ok bool)

// back moves a tail from which nothing was read to a position with at least n matching lines after it, and none before
// it that is later than all of these, so that the last n lines are found without reading all files.
func (t *tail) back(n int, match matcher) error {
	segments, err := t.later()
	if err != nil {
		return err
	}
	segments = append(segments, logfile.Segment{Path: t.current()})
	var earliest time.Time // of the lines found
	for i := len(segments) - 1; i >= 0; i-- {
		found, from, err := t.backIn(segments[i], n, func(line []byte) (at time.Time, ok bool) {
			if at, ok = match(line); ok && (earliest.IsZero() || at.Before(earliest)) {
				earliest = at
			}
			return at, ok
		})
		if err != nil {
			return err
		}
		if n -= found; n > 0 {
			continue
		}
		if !earliest.IsZero() {
			i, from, err = t.before(segments, i, from, earliest.Add(-logfile.Overlap))
		}
		t.begin(segments, i, from)
		return err
	}
	return nil
}

// begin moves a tail from which nothing was read to an offset in a file.
func (t *tail) begin(segments []logfile.Segment, i int, from int64) {
	t.from, t.fromStamp = from, segments[i].Stamp
	if i > 0 {
		t.last = segments[i-1].Stamp
	}
}

// before moves a position back to a line from before a time, or by windowOctets.
func (t *tail) before(segments []logfile.Segment, i int, from int64, at time.Time) (int, int64, error) {
	const piece = 1 << 20
	for room := int64(windowOctets); room > 0; {
		first, err := t.timeAt(segments[i], from)
		switch {
		case err != nil:
			return i, from, err
		case first != 0 && first < at.UnixMicro():
			return i, from, nil
		case from > 0:
			back := min(from, piece)
			from, room = from-back, room-back
			continue
		case i == 0 || segments[i-1].Stamp < at.UTC().Format(logfile.StampLayout):
			return i, from, nil
		}
		i--
		if st, err := os.Stat(segments[i].Path); err == nil && !segments[i].Packed {
			from = st.Size()
		}
	}
	return i, from, nil
}

// timeAt returns the time of the first line from an offset of a file on in microseconds, 0 if there is none.
func (t *tail) timeAt(s logfile.Segment, from int64) (at int64, err error) {
	err = t.each(s, from, func(line []byte) bool { at = Micros(line); return at == 0 })
	return at, err
}

// near moves a tail from which nothing was read to a place with no more than so many octets after it. The place is not within a
// compressed file, because near would have to read that from the beginning.
func (t *tail) near(octets int64) error {
	segments, err := t.later()
	if err != nil {
		return err
	}
	segments = append(segments, logfile.Segment{Path: t.current()})
	for i := len(segments) - 1; i >= 0; i-- {
		s := segments[i]
		if s.Packed {
			t.last = s.Stamp
			return nil
		}
		var size int64
		if st, err := os.Stat(s.Path); err == nil {
			size = st.Size()
		}
		if octets -= size; octets <= 0 {
			t.begin(segments, i, -octets)
			return nil
		}
	}
	return nil
}

// backIn returns such a position in one file, with the number of matching lines after it. It reads larger and
// larger pieces from the end of the file.
func (t *tail) backIn(s logfile.Segment, n int, match matcher) (found int, from int64, err error) {
	var size int64
	if st, err := os.Stat(s.Path); err == nil && !s.Packed {
		size = st.Size()
	}
	if n == 0 {
		return 0, size, nil
	}
	for piece := int64(1 << 20); ; piece *= 8 {
		from = max(0, size-piece)
		found, err = t.count(s, from, match)
		if err != nil || found >= n || from == 0 {
			return found, from, err
		}
	}
}

// count returns the number of matching lines of a file from an offset on.
func (t *tail) count(s logfile.Segment, from int64, match matcher) (found int, err error) {
	err = t.each(s, from, func(line []byte) bool {
		if _, ok := match(line); ok {
			found++
		}
		return true
	})
	return found, err
}

// each visits the lines of a file from an offset on, until visit returns false.
func (t *tail) each(s logfile.Segment, from int64, visit func(line []byte) bool) error {
	c := &tail{r: t.r, from: from, fromStamp: s.Stamp}
	err := c.enter(s)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the file was compressed or removed meanwhile
	}
	if err != nil {
		return fmt.Errorf("cannot open pdu log: %w", err)
	}
	defer c.close()
	for {
		line, err := c.readLine()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("cannot read pdu log %s: %w", s.Path, err)
		case c.skip:
			c.skip = false
		case !visit(line):
			return nil
		}
	}
}
