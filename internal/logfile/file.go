package logfile

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

	"github.com/rs/zerolog"

	"pmg/internal/wholefile"
)

const (
	// CheckEvery is the pause between two checks whether the file still has its name.
	CheckEvery = time.Second

	rotateHold = time.Minute // pause after a failed rotation, while the old file is still used
)

// An Event is an event of the file being written.
type Event uint8

// The events. Moved and Removed are actions of another program on the file; the file is then closed, and a new file is begun.
const (
	Opened   Event = iota // the file was opened, and may be new
	Checked               // the file still has its name
	Rotating              // the file is about to be renamed
	Moved
	Removed
)

// A File is the files of one log: the file being written, and the rotated files, which are kept and
// compressed as Options says. It is used by one goroutine at a time.
type File struct {
	retention
	path  string
	owner func(Event) error

	file      OSFile // nil: the file is not open
	size      int64  // octets of the file up to the end of the last whole line
	torn      int64  // octets of an incomplete line behind size, which are to be cut off
	checkAt   time.Time
	rotateAt  int64 // time of the next rotation by Options.RotateEvery
	holdUntil int64 // no rotation before this time, because a rotation has failed
}

// File returns the files of the log <dir>/<name>.log. log receives its own errors. owner is called for each
// event of the file being written. If owner returns an error, the action is tried again later. Nothing is
// opened.
func (d *Dir) File(name string, log zerolog.Logger, owner func(Event) error) *File {
	f := &File{path: filepath.Join(d.path, name+Suffix), owner: owner}
	f.dir, f.name, f.log = d, name, log
	f.allowed.Store(math.MaxInt64)
	return f
}

// Ready opens the file under its name, if it is not open, and cuts off half a line at its end.
func (f *File) Ready(now int64) error {
	if err := f.Check(); err != nil {
		return err
	}
	if err := f.Open(now); err != nil {
		return err
	}
	return f.mend()
}

// Check checks, at most once a second, whether the open file still has its name. If another program has moved
// or removed it, a new file is begun.
func (f *File) Check() error {
	now := time.Now()
	if f.file == nil || now.Before(f.checkAt) {
		return nil
	}
	mine, err := f.file.Stat()
	if err != nil {
		return f.cannot("check", err)
	}
	event := Checked
	there, err := os.Stat(f.path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return f.cannot("check", err)
	case isRemoved(mine):
		event = Removed
	case err != nil || !os.SameFile(mine, there):
		event = Moved
	}
	if err := f.owner(event); err != nil {
		return err
	}
	if event != Checked {
		f.Close()
		return f.Open(now.UnixNano())
	}
	f.checkAt = now.Add(CheckEvery)
	return nil
}

// CheckSoon makes the next Check not wait until that second is over.
func (f *File) CheckSoon() { f.checkAt = time.Time{} }

func isRemoved(mine os.FileInfo) bool {
	st, ok := mine.Sys().(*syscall.Stat_t)
	return ok && st.Nlink == 0
}

// Open opens the file to write to, unless it is open. It creates the directory again if the directory was
// removed. An old file belongs to the period in which it was written last.
func (f *File) Open(now int64) error {
	if f.file != nil {
		return nil
	}
	if err := wholefile.MakeDir(f.dir.path, 0o750); err != nil {
		return fmt.Errorf("cannot create directory of %ss: %w", f.dir.what, err)
	}
	file, err := f.dir.Open(f.path)
	if err != nil {
		return f.cannot("open", err)
	}
	st, err := file.Stat()
	if err != nil {
		file.Close()
		return f.cannot("open", err)
	}
	f.file, f.size, f.torn, f.rotateAt = file, st.Size(), 0, math.MaxInt64
	if every := int64(f.dir.o.RotateEvery); every > 0 {
		if f.size > 0 {
			now = min(now, st.ModTime().UnixNano())
		}
		f.rotateAt = (now/every + 1) * every
	}
	f.checkAt = time.Now().Add(CheckEvery)
	if err := f.owner(Opened); err != nil {
		f.Close()
		return err
	}
	return nil
}

func (f *File) cannot(do string, err error) error {
	return fmt.Errorf("cannot %s %s: %w", do, f.dir.what, err)
}

// Size returns how many bytes of whole lines the file has.
func (f *File) Size() int64 { return f.size }

// Close closes the file, if it is open.
func (f *File) Close() {
	if f.file == nil {
		return
	}
	_ = f.mend() // if mend fails, the next Open cuts off the incomplete line
	if err := f.file.Close(); err != nil {
		f.log.Error().Err(err).Msg("cannot close " + f.dir.what)
	}
	f.file, f.torn = nil, 0
}

// Sync syncs the written lines to the disk, if the file is open.
func (f *File) Sync() error {
	if f.file == nil {
		return nil
	}
	if err := f.file.Sync(); err != nil {
		return f.cannot("sync", err)
	}
	return nil
}

// Room returns the number of bytes that the file may still take, by Options.MaxSize. There is no limit while
// a file that could not be rotated stays in use.
func (f *File) Room(now int64) int64 {
	if f.dir.o.MaxSize == 0 || now < f.holdUntil {
		return math.MaxInt64
	}
	return f.dir.o.MaxSize - f.size
}

// Allowed returns how many bytes the file may still take for Options.MaxTotal.
func (f *File) Allowed() int64 { return f.allowed.Load() - f.size }

// Due reports whether the file is to be rotated, for Options.RotateEvery or because it is full.
func (f *File) Due(now int64, full bool) bool {
	return (full || now >= f.rotateAt) && f.size > 0 && now >= f.holdUntil
}

// Append writes lines, and returns the number of bytes that are in the file: after an error whole lines, and
// none if all is true. Other octets that were written are cut off, here or by the next Ready.
func (f *File) Append(b []byte, all bool) (n int, err error) {
	n, err = f.file.Write(b)
	if err == nil {
		f.size += int64(n)
		return n, nil
	}
	f.torn = int64(n)
	if n = bytes.LastIndexByte(b[:n], '\n') + 1; all {
		n = 0
	}
	f.size += int64(n)
	f.torn -= int64(n)
	_ = f.mend()
	return n, f.cannot("write", err)
}

// Cut makes the next Ready cut off the last n bytes.
func (f *File) Cut(n int64) {
	n = min(n, f.size)
	f.size -= n
	f.torn += n
}

// mend cuts off the incomplete end of the file, so that it consists of whole lines, now and after a crash.
// Another program may have emptied the file meanwhile.
func (f *File) mend() error {
	if f.torn == 0 {
		return nil
	}
	st, err := f.file.Stat()
	if err == nil {
		if st.Size() < f.size {
			f.size = max(0, st.Size()-f.torn)
		}
		err = f.file.Truncate(f.size)
	}
	if err != nil {
		return f.cannot("cut off half a line of", err)
	}
	f.torn = 0
	return nil
}

// Removed reports whether the file has no name any more.
func (f *File) Removed() (bool, error) {
	mine, err := f.file.Stat()
	if err != nil {
		return false, f.cannot("check", err)
	}
	return isRemoved(mine), nil
}

// Rotate gives the file its rotated name and closes it, and reports whether it was rotated. A file that
// cannot be renamed stays in use.
func (f *File) Rotate(now int64) (bool, error) {
	if err := f.owner(Rotating); err != nil {
		return false, err
	}
	if err := f.dir.Rename(f.path, f.rotatedName(now)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.holdUntil = now + int64(rotateHold)
		f.log.Error().Err(err).Msg("cannot rotate " + f.dir.what)
		return false, nil
	}
	f.Close()
	f.rotated()
	return true, nil
}

// rotatedName returns a name that neither a plain nor a compressed file has.
func (f *File) rotatedName(now int64) string {
	for t := time.Unix(0, now).UTC(); ; t = t.Add(time.Microsecond) {
		path := filepath.Join(f.dir.path, f.name+"-"+t.Format(StampLayout)+Suffix)
		if !slices.ContainsFunc(Segment{Path: path}.names(), exists) {
			return path
		}
	}
}

// OpenFile opens a log for appending and cuts off a half line at its end. The file holds
// private messages, so other users may not read it.
func OpenFile(path string) (OSFile, error) {
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
	if !st.Mode().IsRegular() || st.Size() == 0 { // truncating an empty file would make ext4 write it to disk at the close
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

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
