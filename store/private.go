package store

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A private file system makes files and directories that only their owner may look into, because
// they hold texts and numbers.
type private struct{ vfs.FS }

func (p private) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := p.FS.Create(name, c)
	if err != nil {
		return nil, asFull(err)
	}
	if f.Fd() != vfs.InvalidFd {
		_ = syscall.Fchmod(int(f.Fd()), 0o600) // not every file system has modes
	}
	return roomy{f}, nil
}

// A roomy is a file for which a quota that is used up is a disk that is full.
type roomy struct{ vfs.File }

func (f roomy) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	return n, asFull(err)
}

func (f roomy) Preallocate(offset, length int64) error {
	return asFull(f.File.Preallocate(offset, length))
}

func asFull(err error) error {
	if errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("a quota is used up: %w", syscall.ENOSPC)
	}
	return err
}

func (p private) MkdirAll(name string, _ os.FileMode) error { return p.FS.MkdirAll(name, 0o700) }
