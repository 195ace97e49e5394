package events

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"pmg/internal/logfile"
	"pmg/internal/wholefile"
)

const (
	fileName = "events.log"  // being written
	markName = "events.last" // number of the last event in rotated files
	prefix   = `{"number":`  // beginning of each line
)

// lockDir opens the directory, and keeps other gateways from writing to it.
func lockDir(path string) (*os.File, error) {
	if err := wholefile.MakeDir(path, 0o750); err != nil {
		return nil, err
	}
	d, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		d.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("another gateway writes its events to %s; end it, or give this one another events.dir", path)
		}
		return nil, fmt.Errorf("cannot lock %s: %w", path, err)
	}
	return d, nil
}

// readMark returns the number of the last event in rotated files.
func readMark(dir string) (uint64, error) {
	path := filepath.Join(dir, markName)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	number, err := strconv.ParseUint(string(bytes.TrimSpace(b)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s holds no number; write the number of the last event in the newest file into it", path)
	}
	return number, nil
}

// writeMark writes the mark, completely or not at all.
func (w *Writer) writeMark(number uint64) error {
	path := filepath.Join(w.o.Dir, markName)
	err := wholefile.Replace(path, func(to io.Writer) error { _, err := fmt.Fprintln(to, number); return err })
	if err == nil {
		err = w.dir.Sync()
	}
	return err
}

// A content is the content of a file of events.
type content struct {
	good    int64  // octets up to the end of the last valid line
	last    uint64 // number of the last valid line; 0: there is no valid line
	highest uint64 // highest number of a line
	rest    bool   // octets follow the last valid line
	torn    bool   // the octets after the last valid line are an incomplete line
	safe    int64  // octets up to the end of the last line that is certainly on the disk
}

// readContent reads a file. Lines with numbers above synced may not have reached the disk,
// so they must be whole and follow each other.
func readContent(r io.Reader, synced uint64) (c content, err error) {
	lines := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	for {
		piece, err := lines.ReadSlice('\n')
		line = append(line, piece...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && err != io.EOF {
			return c, err
		}
		if len(line) > 0 {
			c.add(line, synced)
		}
		if err == io.EOF {
			return c, nil
		}
		line = line[:0]
	}
}

// add adds the next line.
func (c *content) add(line []byte, synced uint64) {
	number, ok := NumberOf(line)
	if ok {
		c.highest = max(c.highest, number)
	}
	if c.rest {
		return
	}
	// The events between may be those of another node of a cluster. Then this one goes on with the first event of the store.
	switch follows := number == c.last+1 || c.last == 0 || number == synced+1; {
	case !ok || number <= c.last, number > synced && !(follows && json.Valid(line)):
		c.rest, c.torn = true, line[len(line)-1] != '\n'
	default:
		c.good, c.last = c.good+int64(len(line)), number
		if number <= synced {
			c.safe = c.good
		}
	}
}

// NumberOf returns the number of a whole line.
func NumberOf(line []byte) (uint64, bool) {
	digits, ok := bytes.CutPrefix(line, []byte(prefix))
	if !ok || !bytes.HasSuffix(line, []byte("}\n")) {
		return 0, false
	}
	end := bytes.IndexByte(digits, ',')
	if end < 0 {
		return 0, false
	}
	number, err := strconv.ParseUint(string(digits[:end]), 10, 64)
	return number, err == nil
}

// find finds out which events are in the files, and cuts off what a crash has left at the
// end. first is the lowest number that the store has, 0 for none.
func (w *Writer) find(first uint64) error {
	mark, err := readMark(w.o.Dir)
	if err != nil {
		return err
	}
	synced := uint64(math.MaxUint64) // events that are missing in the store were dropped, because they are safe in a file
	if first != 0 {
		synced = max(mark, first-1)
	}
	path := filepath.Join(w.o.Dir, fileName)
	var c content
	f, err := os.Open(path)
	if err == nil {
		c, err = readContent(f, synced)
		err = errors.Join(err, f.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	w.last, w.unsynced = max(mark, c.last), c.good-c.safe
	w.synced.Store(min(w.last, synced))
	if c.good > c.safe { // an earlier process has written these octets, and may not have synced them
		if err := wholefile.WriteAgain(path, c.safe, c.good); err != nil {
			return err
		}
	}
	if !c.rest {
		return nil
	}
	if c.torn || first != 0 && first <= w.last+1 {
		return os.Truncate(path, c.good) // the store has the events that are cut off
	}
	w.last = max(w.last, c.highest)
	w.synced.Store(w.last)
	w.o.Log.Warn().Str("file", path).Int64("offset", c.good).
		Msg("a file of events is damaged, or was changed; it is put among the rotated files as it is, and a new one is begun")
	ok, err := w.file.Rotate(time.Now().UnixNano())
	if err == nil && !ok {
		err = errors.New("a damaged file cannot be rotated")
	}
	return err
}

// happens is called for each event of the file. Before a new file is begun, the number of the last event is
// on disk, because no other record remains when the rotated files were taken away. Unsynced events of a
// removed file are appended to the next file.
func (w *Writer) happens(e logfile.Event) error {
	if e == logfile.Checked {
		return nil
	}
	if e != logfile.Rotating {
		if err := w.findDir(); err != nil {
			return err
		}
	}
	switch e {
	case logfile.Opened:
		return w.dir.Sync() // the file may be new
	case logfile.Removed:
		w.forget()
	default:
		if err := w.sync(); err != nil {
			return err
		}
	}
	if err := w.writeMark(w.last); err != nil {
		return fmt.Errorf("cannot write %s: %w", markName, err)
	}
	if e != logfile.Rotating {
		w.o.Log.Warn().Msg("the file of events was moved or removed while it was being written; a new one is begun")
	}
	return nil
}

// findDir makes the directory again if it was removed, or uses another directory in its place.
func (w *Writer) findDir() error {
	mine, err := w.dir.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Stat(w.o.Dir); err == nil && os.SameFile(mine, there) {
		return nil
	}
	d, err := lockDir(w.o.Dir)
	if err != nil {
		return err
	}
	_ = w.dir.Close()
	w.dir = d
	w.o.Log.Warn().Str("dir", w.o.Dir).Msg("the directory of the events was moved or removed; it was made again")
	return nil
}
