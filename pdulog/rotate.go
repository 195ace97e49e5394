package pdulog

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"syscall"
	"time"
)

// rotateRetry is how long the old file is used further when it could not be renamed.
const rotateRetry = time.Minute

// openFile opens the file to write to, and sets the time of its rotation. It creates the
// directory again if that was removed. An old file belongs to the period in which it was
// written last.
func (w *writer) openFile(now int64) error {
	if err := os.MkdirAll(w.dir.path, 0o750); err != nil {
		return fmt.Errorf("cannot create directory of pdu logs (pdulog.dir): %w", err)
	}
	file, err := w.dir.logs.Open(w.log.Path())
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
	there, err := os.Stat(w.log.Path())
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
	if err := w.log.Rotate(now); err != nil {
		w.rotateHold = now + int64(rotateRetry)
		w.dir.o.Log.Error().Err(err).Str("connector", w.name).Msg("cannot rotate pdu log")
	}
}
