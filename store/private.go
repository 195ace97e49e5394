package store

import (
	"os"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A private file system makes files and directories that only their owner may look into, because
// they hold texts and numbers.
type private struct{ vfs.FS }

func (p private) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := p.FS.Create(name, c)
	if err == nil && f.Fd() != vfs.InvalidFd {
		_ = syscall.Fchmod(int(f.Fd()), 0o600) // not every file system has modes
	}
	return f, err
}

func (p private) MkdirAll(name string, _ os.FileMode) error { return p.FS.MkdirAll(name, 0o700) }
