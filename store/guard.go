package store

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A fault is the error after which a store accepts no more batches. Only the first error counts.
type fault struct {
	once sync.Once
	done chan struct{} // closed when there is a fault
	err  error         // set before done is closed
	tell func(error)   // called once with the error, on a goroutine of its own

	opening atomic.Bool // the store is being opened: pebble returns errors from Open, so they are not faults
}

func newFault(tell func(error)) *fault {
	return &fault{done: make(chan struct{}), tell: tell}
}

func (f *fault) set(err error) {
	f.once.Do(func() {
		f.err = err
		close(f.done)
		if f.tell != nil {
			go f.tell(err)
		}
	})
}

// get returns the fault, or nil.
func (f *fault) get() error {
	select {
	case <-f.done:
		return f.err
	default:
		return nil
	}
}

// A guard stands between pebble and the file system. Files outside of the store's directory, such
// as those of a backup, do not belong to the store: another file system handles them, and their
// errors are returned to the caller.
//
// Pebble does not go on when its manifest cannot be written: it calls Fatalf, panics, or unlocks a
// mutex twice, which cannot be recovered. Therefore the guard records the error as the store's
// fault, and reports success to pebble. From then on nothing is written to the disk any more, and
// the store reports the fault to every caller.
//
// If the writing of a table fails, pebble tries again immediately. The guard delays the new
// attempt.
type guard struct {
	vfs.FS
	dir      string  // directory of the store, cleaned
	others   private // file system for files outside of the store's directory
	files    files   // files that the store needs
	fault    *fault
	released chan struct{} // closed when pebble is closed after a fault
	pause    time.Duration // pause between a failed attempt to write a table and the next attempt
	failedAt atomic.Int64  // when the writing of a table last failed, in Unix nanoseconds
	reading  atomic.Pointer[string]

	mu      sync.Mutex
	removed []string // files that pebble removed while the store is being opened
}

// isLog reports whether a file is a log of pebble.
func isLog(name string) bool { return strings.HasSuffix(name, ".log") }

// isManifest reports whether a file is pebble's list of its tables.
func isManifest(name string) bool { return strings.HasPrefix(filepath.Base(name), "MANIFEST-") }

// isVital reports whether pebble cannot continue without a file: a log, a manifest, or a marker.
// The name of a marker says which manifest is in use.
func isVital(name string) bool {
	return isLog(name) || isManifest(name) || strings.HasPrefix(filepath.Base(name), "marker.")
}

// belongs reports whether a file is in the store's directory.
func (g *guard) belongs(name string) bool { return filepath.Dir(name) == g.dir }

// swallow records an error as the store's fault, and reports whether the error must be hidden from
// pebble.
func (g *guard) swallow(err error) bool {
	if g.fault.opening.Load() {
		return false
	}
	g.fault.set(err)
	return true
}

// table records and returns an error of an operation on a table, which pebble tries again.
func (g *guard) table(err error) error {
	if err != nil {
		g.failedAt.Store(time.Now().UnixNano())
	}
	return err
}

// rest waits before the next table is begun. After a fault it waits until pebble is closed, because
// nothing may be written any more. After an error with a table it waits for the pause.
func (g *guard) rest() error {
	if failed := g.failedAt.Load(); failed != 0 {
		wait := min(time.Until(time.Unix(0, failed).Add(g.pause)), g.pause) // limited, because the clock may have been set back
		select {
		case <-time.After(wait):
		case <-g.fault.done:
		}
	}
	if err := g.fault.get(); err != nil {
		<-g.released
		return err
	}
	return nil
}

func (g *guard) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if !g.belongs(name) {
		return g.others.Create(name, c)
	}
	if !isVital(name) {
		if err := g.rest(); err != nil {
			return nil, err
		}
		f, err := g.FS.Create(name, c)
		return g.wrap(f, name), g.table(err)
	}
	if g.fault.get() != nil {
		return nowhere{name: name}, nil
	}
	f, err := g.FS.Create(name, c)
	return g.vital(f, name, err)
}

// MkdirAll makes the directory of a backup with access for its owner only, because a backup holds
// texts and numbers.
func (g *guard) MkdirAll(name string, _ os.FileMode) error { return g.others.MkdirAll(name, 0o700) }

// vital returns a new file that is vital. If the file could not be made, it returns a file that
// writes nowhere.
func (g *guard) vital(f vfs.File, name string, err error) (vfs.File, error) {
	if err == nil {
		return g.wrap(f, name), nil
	}
	if g.swallow(err) {
		return nowhere{name: name}, nil
	}
	return nil, err
}

func (g *guard) wrap(f vfs.File, name string) vfs.File {
	if f == nil {
		return nil
	}
	g.files.add(name)
	return &guarded{File: f, guard: g, name: name, vital: isVital(name)}
}

func (g *guard) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	if g.fault.opening.Load() {
		g.reading.Store(&name)
	}
	return g.FS.Open(name, opts...)
}

func (g *guard) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	if !g.belongs(name) {
		return g.others.OpenReadWrite(name, c, opts...)
	}
	f, err := g.FS.OpenReadWrite(name, c, opts...)
	return g.wrap(f, name), err
}

// OpenDir opens the directory, which pebble syncs after it has begun a log.
func (g *guard) OpenDir(name string) (vfs.File, error) {
	if filepath.Clean(name) != g.dir {
		return g.others.OpenDir(name)
	}
	f, err := g.FS.OpenDir(name)
	if f == nil {
		return nil, err
	}
	return &guarded{File: f, guard: g, name: name, vital: true}, err
}

func (g *guard) Link(old, name string) error {
	if err := g.fault.get(); err != nil {
		return err
	}
	if !g.belongs(name) {
		return g.others.Link(old, name)
	}
	err := g.table(g.FS.Link(old, name))
	if err == nil {
		g.files.add(name)
	}
	return err
}

func (g *guard) Rename(old, name string) error {
	if err := g.fault.get(); err != nil {
		return err
	}
	if !g.belongs(name) {
		return g.others.Rename(old, name)
	}
	g.files.remove(old)
	err := g.table(g.FS.Rename(old, name))
	if err == nil {
		g.files.add(name)
	}
	return err
}

// Remove removes a file. After a fault it does nothing, because the file may be needed for
// recovery. While the store is being opened it only records the file, because a manifest that has
// lost its end does not name all tables, which is only found later with the journal.
func (g *guard) Remove(name string) error {
	if !g.belongs(name) {
		return g.others.Remove(name)
	}
	if g.fault.opening.Load() {
		g.mu.Lock()
		g.removed = append(g.removed, name)
		g.mu.Unlock()
		return nil
	}
	if g.fault.get() != nil {
		return nil
	}
	g.files.remove(name)
	return g.FS.Remove(name)
}

// opened ends the opening. It removes the files whose removal by pebble was put off until now.
func (g *guard) opened() {
	g.fault.opening.Store(false)
	g.mu.Lock()
	removed := g.removed
	g.removed = nil
	g.mu.Unlock()
	for _, name := range removed {
		_ = g.Remove(name) // the next opening removes the file
	}
}

// A guarded is a file of pebble that a guard watches.
type guarded struct {
	vfs.File
	guard *guard
	name  string
	vital bool // the file is vital, or is the directory
}

// do carries out an operation that changes the file.
func (f *guarded) do(operation func() error) error {
	if err := f.guard.fault.get(); err != nil {
		if f.vital {
			return nil
		}
		return err
	}
	err := operation()
	switch {
	case err == nil:
		return nil
	case f.vital && f.guard.swallow(err):
		return nil
	}
	return f.guard.table(err)
}

func (f *guarded) Write(p []byte) (int, error) {
	n := len(p)
	err := f.do(func() (err error) {
		n, err = f.File.Write(p)
		return err
	})
	if err == nil {
		return len(p), nil
	}
	return n, err
}

func (f *guarded) Sync() error     { return f.do(f.File.Sync) }
func (f *guarded) SyncData() error { return f.do(f.File.SyncData) }

func (f *guarded) SyncTo(length int64) (full bool, err error) {
	err = f.do(func() (err error) {
		full, err = f.File.SyncTo(length)
		return err
	})
	return full, err
}

func (f *guarded) Close() error {
	err := f.File.Close()
	if err != nil && f.vital && f.guard.swallow(err) {
		return nil
	}
	return err
}

func (f *guarded) Stat() (vfs.FileInfo, error) {
	info, err := f.File.Stat()
	if err != nil && f.vital && f.guard.swallow(err) {
		return nowhere{name: f.name}, nil
	}
	return info, err
}

// A nowhere is a file that discards what is written to it. It is also its own os.FileInfo.
type nowhere struct {
	vfs.File
	name string
}

func (f nowhere) Write(p []byte) (int, error)            { return len(p), nil }
func (f nowhere) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }
func (f nowhere) Preallocate(_, _ int64) error           { return nil }
func (f nowhere) Sync() error                            { return nil }
func (f nowhere) SyncData() error                        { return nil }
func (f nowhere) SyncTo(int64) (bool, error)             { return true, nil }
func (f nowhere) Close() error                           { return nil }
func (f nowhere) Fd() uintptr                            { return vfs.InvalidFd }
func (f nowhere) Stat() (vfs.FileInfo, error)            { return f, nil }
func (f nowhere) Name() string                           { return filepath.Base(f.name) }
func (f nowhere) Size() int64                            { return 0 }
func (f nowhere) Mode() fs.FileMode                      { return 0 }
func (f nowhere) ModTime() time.Time                     { return time.Time{} }
func (f nowhere) IsDir() bool                            { return false }
func (f nowhere) Sys() any                               { return nil }
func (f nowhere) DeviceID() vfs.DeviceID                 { return vfs.DeviceID{} }
func (f nowhere) Read([]byte) (int, error)               { return 0, os.ErrClosed }
func (f nowhere) ReadAt([]byte, int64) (int, error)      { return 0, os.ErrClosed }
func (f nowhere) Prefetch(int64, int64) error            { return nil }
