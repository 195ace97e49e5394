package logfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/rs/zerolog"
)

// A File is the files of one log: the one being written, which Rotate renames, and the rotated
// ones, which are kept and compressed as Options says. One goroutine uses it at a time.
type File struct {
	retention
	path string // of the file being written
}

// File returns the files of the log <dir>/<name>.log. log receives its own errors. Nothing is
// opened.
func (d *Dir) File(name string, log zerolog.Logger) *File {
	f := &File{path: filepath.Join(d.path, name+Suffix)}
	f.dir, f.name, f.log = d, name, log
	f.allowed.Store(math.MaxInt64)
	return f
}

// Path returns the path of the file being written.
func (f *File) Path() string { return f.path }

// Allowed returns the largest size that the file being written may have for Options.MaxTotal.
func (f *File) Allowed() int64 { return f.allowed.Load() }

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

// Rotate gives the file being written its rotated name. The caller begins a new one.
func (f *File) Rotate(now int64) error {
	if err := f.dir.Rename(f.path, f.rotatedName(now)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f.rotated()
	return nil
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

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
