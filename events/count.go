package events

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"time"

	"pmg/internal/logfile"
)

// countWait is the pause before events that could not be counted are tried again.
const countWait = 10 * time.Second

// A counting is the progress of counting events. It belongs to the Writer's goroutine.
type counting struct {
	upTo    uint64 // number of the last event that Writer.written has counted
	behind  bool   // the files contain events that the Counter has not counted
	againAt time.Time
	saveAt  time.Time // time of the next save if no event comes; zero: everything is saved
}

// count counts lines that were written.
func (w *Writer) count(lines []byte) {
	switch {
	case w.o.Counter == nil:
	case !w.counting.behind:
		w.setCounting(w.o.Counter.Count(lines))
	case time.Now().After(w.counting.againAt):
		w.countAgain()
	}
}

// countAgain counts the events in the files that were not counted.
func (w *Writer) countAgain() {
	w.setCounting(Read(w.o.Dir, w.o.Counter.Counted(), w.o.Counter.Count))
}

// setCounting records whether events were counted.
func (w *Writer) setCounting(err error) {
	switch {
	case err != nil:
		w.o.Log.Error().Err(err).Uint64("counted", w.o.Counter.Counted()).
			Msg("events are written, and cannot be counted; statistics are behind until they can; look at the disk of stats.dir")
		w.counting.againAt = time.Now().Add(countWait)
	case w.counting.behind:
		w.o.Log.Warn().Msg("events are counted again")
	}
	w.counting.behind = err != nil
}

// saveCounts saves the counters, unless some counted events are not yet safe.
func (w *Writer) saveCounts(now bool) {
	if w.o.Counter == nil || w.last != w.synced.Load() {
		return
	}
	var err error
	if w.counting.saveAt, err = w.o.Counter.Save(now); err != nil {
		w.o.Log.Error().Err(err).Msg("statistics are not saved; it is tried again, and a start counts the events once more")
	}
}

// Lock keeps gateways from writing events to a directory, until the lock is closed. It fails if a gateway writes there.
func Lock(dir string) (io.Closer, error) { return lockDir(dir) }

// segmentsIn returns the files of a directory, the oldest first.
func segmentsIn(dir string) ([]logfile.Segment, error) {
	segments, err := logfile.Rotated(dir, "events")
	return append(segments, logfile.Segment{Path: filepath.Join(dir, fileName)}), err
}

// ReadAll calls f with the lines of all files, in order, one at a time. Numbers may begin again in the files of one directory.
// Those of several directories, of the nodes of a cluster, come in the order of the numbers, and an event that two of them have
// comes once. Files that were ended before a time are left out; the zero time leaves out none.
func ReadAll(dirs []string, since time.Time, f func(line []byte) error) error {
	var all []*source
	defer func() {
		for _, s := range all {
			s.stop()
		}
	}()
	for _, dir := range dirs {
		segments, err := segmentsIn(dir)
		if err != nil {
			return err
		}
		segments = slices.DeleteFunc(segments, func(s logfile.Segment) bool {
			return s.Stamp != "" && s.Stamp < since.UTC().Format(logfile.StampLayout)
		})
		if len(dirs) == 1 {
			return readSegments(segments, f)
		}
		s := sourceOf(segments)
		if all = append(all, s); !s.advance() && s.err != nil {
			return s.err
		}
	}
	return merge(all, f)
}

// A source yields the events of a directory.
type source struct {
	next   func() (line []byte, err error, ok bool)
	stop   func()
	line   []byte // the next event; nil: there are no more
	number uint64
	err    error
}

func sourceOf(segments []logfile.Segment) *source {
	s := new(source)
	s.next, s.stop = iter.Pull2(func(yield func([]byte, error) bool) {
		err := readSegments(segments, func(line []byte) error {
			if !yield(line, nil) {
				return io.EOF
			}
			return nil
		})
		if err != nil && err != io.EOF {
			yield(nil, err)
		}
	})
	return s
}

// advance moves to the next event, and reports whether there is one. Lines that are no events are left out.
func (s *source) advance() bool {
	for {
		line, err, ok := s.next()
		if s.line, s.err = line, err; !ok || err != nil {
			s.line = nil
			return false
		}
		if s.number, ok = NumberOf(line); ok {
			return true
		}
	}
}

// merge calls f with the events of sources in the order of their numbers, and with each number once.
func merge(all []*source, f func(line []byte) error) error {
	for last := uint64(0); ; {
		var least *source
		for _, s := range all {
			if s.line != nil && (least == nil || s.number < least.number) {
				least = s
			}
		}
		if least == nil {
			return nil
		}
		if least.number != last {
			last = least.number
			if err := f(least.line); err != nil {
				return err
			}
		}
		if !least.advance() && least.err != nil {
			return least.err
		}
	}
}

// Read reads the files of a directory, and calls f with the events whose numbers are above after, in order, several whole lines
// at a time. Where numbers have begun again, it calls f with the events since then.
func Read(dir string, after uint64, f func(lines []byte) error) error {
	segments, err := segmentsIn(dir)
	if err != nil {
		return err
	}
	first := len(segments) - 1
	for ; first > 0; first-- { // a file begins with the number after the last one of the previous file
		number, err := firstNumber(segments[first])
		if err != nil {
			return err
		}
		if number != 0 && number <= after+1 {
			break
		}
	}
	return readSegments(segments[first:], f)
}

func readSegments(segments []logfile.Segment, f func(lines []byte) error) error {
	for _, s := range segments {
		if err := readLines(s, f); err != nil {
			return err
		}
	}
	return nil
}

// firstNumber returns the number of a file's first event, 0 if the file has no event.
func firstNumber(s logfile.Segment) (number uint64, err error) {
	err = readLines(s, func(lines []byte) error {
		for i, c := range lines {
			if c == '\n' {
				if number, _ = NumberOf(lines[:i+1]); number != 0 {
					return io.EOF
				}
				return nil
			}
		}
		return nil
	})
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return number, err
}

// readLines calls f with whole lines of a file, several at a time. A missing file has no lines.
func readLines(s logfile.Segment, f func(lines []byte) error) error {
	file, err := s.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	r, err := s.Reader(file)
	if err != nil {
		return err
	}
	defer r.Close()
	lines, long := bufio.NewReaderSize(r, together), false // a line that is too long was not written by the gateway
	for {
		line, err := lines.ReadSlice('\n')
		switch {
		case err == io.EOF:
			return nil // only an incomplete line follows
		case errors.Is(err, bufio.ErrBufferFull):
			long = true
		case err != nil:
			return err
		case long:
			long = false
		default:
			if err := f(line); err != nil {
				return err
			}
		}
	}
}
