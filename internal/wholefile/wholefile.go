// Package wholefile replaces small files atomically.
//
// # Start reading
//
// Replace.
package wholefile

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Replace writes a file atomically: it has either the new or the earlier content. Call SyncDir afterwards if a power cut must
// not undo it.
func Replace(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path+".tmp", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o640)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 64<<10)
	err = write(w)
	if err == nil {
		err = w.Flush()
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// MakeDir creates a directory and its missing parents, and syncs their names to disk.
func MakeDir(path string, mode os.FileMode) error {
	parent := filepath.Dir(path)
	if _, err := os.Stat(path); err == nil || parent == path {
		return err
	}
	if err := MakeDir(parent, mode); err != nil {
		return err
	}
	if err := os.Mkdir(path, mode); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return SyncDir(parent)
}

// WriteAgain writes octets of a file again in place, and syncs it: after a failed sync, the kernel considers its pages as
// written, and another sync does nothing. The file keeps its time.
func WriteAgain(path string, from, to int64) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	b := make([]byte, to-from)
	if err == nil {
		_, err = f.ReadAt(b, from)
	}
	if err == nil {
		_, err = f.WriteAt(b, from)
	}
	if err == nil {
		err = os.Chtimes(path, time.Time{}, info.ModTime())
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// SyncDir syncs the names of a directory's files to disk.
func SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
