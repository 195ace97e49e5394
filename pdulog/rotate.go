package pdulog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// rotateRetry is how long the old file is used further when it could not be renamed.
const rotateRetry = time.Minute

// openFile opens a log for appending and cuts off a half line at its end. The file holds
// private messages, so other users may not read it.
func openFile(path string) (logFile, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o640)
	if err != nil {
		return nil, err
	}
	if err := cutHalfLine(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// cutHalfLine truncates a file to its last line end.
func cutHalfLine(f interface {
	io.ReaderAt
	Stat() (os.FileInfo, error)
	Truncate(size int64) error
}) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() || st.Size() == 0 { // truncating an empty file would make ext4 write it to disk when it is closed
		return nil
	}
	var block [4096]byte
	for end := st.Size(); end > 0; {
		at := max(0, end-int64(len(block)))
		b := block[:end-at]
		if _, err := f.ReadAt(b, at); err != nil {
			return err
		}
		if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
			end = at + int64(i) + 1
			if end == st.Size() {
				return nil
			}
			return f.Truncate(end)
		}
		end = at
	}
	return f.Truncate(0)
}

// openFile opens the file to write to, and sets the time of its rotation. It creates the
// directory again if that was removed. An old file belongs to the period in which it was
// written last.
func (w *writer) openFile(now int64) error {
	if err := os.MkdirAll(w.dir.path, 0o750); err != nil {
		return fmt.Errorf("cannot create directory of pdu logs (pdulog.dir): %w", err)
	}
	file, err := w.dir.open(w.path)
	if err != nil {
		return fmt.Errorf("cannot open pdu log: %w", err)
	}
	st, err := file.Stat()
	if err != nil {
		file.Close()
		return fmt.Errorf("cannot open pdu log: %w", err)
	}
	w.file, w.size, w.torn = file, st.Size(), 0
	w.checkAt = time.Now().Add(checkEvery)
	w.rotateAt = math.MaxInt64
	if every := int64(w.dir.o.RotateEvery); every > 0 {
		if w.size > 0 {
			now = min(now, st.ModTime().UnixNano())
		}
		w.rotateAt = (now/every + 1) * every
	}
	return nil
}

func (w *writer) closeFile() {
	if w.file == nil {
		return
	}
	_ = w.mend() // if it fails, the next openFile cuts off the half line
	if err := w.file.Close(); err != nil {
		w.dir.o.Log.Error().Err(err).Str("connector", w.name).Msg("cannot close pdu log")
	}
	w.file = nil
	clear(w.unchecked)
}

// openAgain opens the file by its name again, or creates it.
func (w *writer) openAgain() {
	w.checkAt = time.Time{}
	_ = w.check() // the next write reports errors of both calls
	w.closeFile()
	_ = w.openFile(time.Now().UnixNano())
}

// check checks, at most once a second, whether the open file still has its name. If not,
// the file is created again. Lines that were written to a removed file since the last check
// are lost, but not those in a file that was renamed.
func (w *writer) check() error {
	now := time.Now()
	if w.file == nil || now.Before(w.checkAt) {
		return nil
	}
	w.checkAt = now.Add(checkEvery)
	mine, err := w.file.Stat()
	if err != nil {
		return fmt.Errorf("cannot check pdu log: %w", err)
	}
	there, err := os.Stat(w.path)
	if err == nil && os.SameFile(mine, there) {
		clear(w.unchecked)
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot check pdu log: %w", err)
	}
	lost := uint64(0)
	if st, ok := mine.Sys().(*syscall.Stat_t); ok && st.Nlink == 0 {
		for f, lines := range w.unchecked {
			lost += lines
			f.written.Add(-lines)
			f.lost.Add(lines)
		}
	}
	w.dir.o.Log.Warn().Str("connector", w.name).Uint64("lost", lost).
		Msg("pdu log was removed or renamed while it was being written; it is created again")
	w.closeFile()
	return w.openFile(now.UnixNano())
}

// rotate gives the file its rotated name. The next openFile begins a new file, or opens the
// old one if it could not be renamed.
func (w *writer) rotate(now int64) {
	w.closeFile()
	err := w.dir.rename(w.path, rotatedName(w.dir.path, w.name, now))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.rotateHold = now + int64(rotateRetry)
		w.dir.o.Log.Error().Err(err).Str("connector", w.name).Msg("cannot rotate pdu log")
		return
	}
	w.retention.rotated()
}

// rotatedName returns a name that neither a plain nor a compressed file has.
func rotatedName(dir, name string, now int64) string {
	for t := time.Unix(0, now).UTC(); ; t = t.Add(time.Microsecond) {
		path := filepath.Join(dir, name+"-"+t.Format(stampLayout)+logSuffix)
		if !slices.ContainsFunc(segment{path: path}.names(), exists) {
			return path
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
