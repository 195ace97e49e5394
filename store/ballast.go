package store

import (
	"errors"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"
)

// A ballast is a file that only takes room. It is removed when the disk is full, so that what
// waits can be delivered and deleted, which needs room at first.
type ballast struct {
	fs   vfs.FS // that the disk is full is not this one's to notice
	dir  string
	size int64
	log  zerolog.Logger

	inUse atomic.Bool // it was removed because the disk was full

	mu   sync.Mutex
	laid int64 // octets that it takes on the disk; 0: it is not there
	rest int   // calls of lay that do nothing, because one has failed
}

const (
	ballastName  = "ballast"
	ballastRest  = 60      // calls of lay, one each second: a quota may refuse what the disk has room for
	ballastSpare = 2       // it is laid when this many times its size is free
	ballastPiece = 1 << 20 // written at a time, on a file system that cannot allocate
)

func (b *ballast) path() string { return b.fs.PathJoin(b.dir, ballastName) }

// find notes the file that an earlier run has left. The disk may be full by now.
func (b *ballast) find() {
	info, err := b.fs.Stat(b.path())
	if err != nil {
		return
	}
	octets := info.Size()
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		octets = st.Blocks * 512 // room may be kept behind the end of the file
	}
	b.mu.Lock()
	b.laid = max(octets, 1)
	b.mu.Unlock()
}

// lay makes the file if it is not there and the disk has room.
func (b *ballast) lay() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.laid > 0 || b.size <= 0 {
		return
	}
	if b.rest > 0 {
		b.rest--
		return
	}
	if usage, err := b.fs.GetDiskUsage(b.dir); err == nil && int64(usage.AvailBytes) < ballastSpare*b.size {
		return
	}
	if err := b.write(); err != nil {
		b.log.Warn().Err(err).Str("file", b.path()).Msg("cannot keep room on the disk for when it is full")
		_ = b.fs.Remove(b.path())
		b.rest = ballastRest
		return
	}
	b.laid = b.size
	b.inUse.Store(false)
}

func (b *ballast) write() error {
	f, err := b.fs.Create(b.path(), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	if f.Preallocate(0, b.size) != nil {
		piece := make([]byte, ballastPiece)
		for left := b.size; left > 0 && err == nil; left -= ballastPiece {
			_, err = f.Write(piece[:min(left, ballastPiece)])
		}
	}
	return errors.Join(err, f.Close())
}

// drop removes the file when the disk is full.
func (b *ballast) drop() {
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

// octets returns how many octets it takes on the disk.
func (b *ballast) octets() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.laid
}
