// Package wholefile replaces small files as a whole.
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
)

// Replace writes a file that is there as a whole, or as it was before. SyncDir follows where a power cut must not undo it.
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

// SyncDir puts the names of a directory's files on disk.
func SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
