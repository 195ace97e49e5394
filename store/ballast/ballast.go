// Package ballast reserves disk space with a file, which is removed when the disk is full.
//
// # Start reading
//
// ballast.go
package ballast

import (
	"errors"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"
)

// A File reserves disk space. It is removed when the disk is full, so that waiting messages can be
// delivered and deleted, which needs some room at first. It is safe for concurrent use.
type File struct {
	fs   vfs.FS // a file system that does not report a full disk to the store
	dir  string
	size int64
	log  zerolog.Logger

	inUse atomic.Bool // the file was removed because the disk was full

	mu   sync.Mutex
	laid int64 // octets that the file takes on the disk; 0: there is no file
	rest int   // number of calls of Lay that do nothing, because an earlier call failed
}

const (
	// Name is the name of the file.
	Name = "ballast"
	// Rest is how many calls of Lay, one each second, do nothing after a call that failed. A quota may
	// refuse a file although the disk has room.
	Rest  = 60
	spare = 2       // the file is made if the free space is this many times its size
	piece = 1 << 20 // octets written at a time if the file system cannot allocate space
)

// New returns the File of a directory. fs must be a file system that does not report a full disk to
// the store. If size is 0, no file is made.
func New(fs vfs.FS, dir string, size int64, log zerolog.Logger) *File {
	return &File{fs: fs, dir: dir, size: size, log: log}
}

// InUse reports whether the file was removed because the disk was full.
func (b *File) InUse() bool { return b.inUse.Load() }

func (b *File) path() string { return b.fs.PathJoin(b.dir, Name) }

// Find records a file that an earlier run has left, because the disk may be full when the process
// starts.
func (b *File) Find() {
	info, err := b.fs.Stat(b.path())
	if err != nil {
		return
	}
	octets := info.Size()
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		octets = st.Blocks * 512 // the file system may have allocated space behind the end of the file
	}
	b.mu.Lock()
	b.laid = max(octets, 1)
	b.mu.Unlock()
}

// Lay makes the file if it does not exist and the disk has room.
func (b *File) Lay() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.laid > 0 || b.size <= 0 {
		return
	}
	if b.rest > 0 {
		b.rest--
		return
	}
	if usage, err := b.fs.GetDiskUsage(b.dir); err == nil && int64(usage.AvailBytes) < spare*b.size {
		return
	}
	if err := b.write(); err != nil {
		b.log.Warn().Err(err).Str("file", b.path()).Msg("cannot keep room on the disk for when it is full")
		_ = b.fs.Remove(b.path())
		b.rest = Rest
		return
	}
	b.laid = b.size
	b.inUse.Store(false)
}

func (b *File) write() error {
	f, err := b.fs.Create(b.path(), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	if f.Preallocate(0, b.size) != nil {
		zeros := make([]byte, piece)
		for left := b.size; left > 0 && err == nil; left -= piece {
			_, err = f.Write(zeros[:min(left, piece)])
		}
	}
	return errors.Join(err, f.Close())
}

// Drop removes the file when the disk is full.
func (b *File) Drop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.laid == 0 {
		return
	}
	octets := b.laid
	b.laid = 0
	b.inUse.Store(true)
	err := b.fs.Remove(b.path())
	b.log.Error().Err(err).Int64("octets", octets).
		Msg("the disk of the store is full; its reserve was released so that waiting messages can still be delivered")
}

// Octets returns how many octets the file takes on the disk.
func (b *File) Octets() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.laid
}
