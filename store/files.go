package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/store/ballast"
)

// A files is the set of files that a store needs: tables, logs, manifests and markers. Its zero
// value is empty.
type files struct {
	mu    sync.Mutex
	names map[string]bool // file names without directory
}

func (f *files) add(name string) {
	if !isVital(name) && !isTable(name) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.names == nil {
		f.names = map[string]bool{}
	}
	f.names[filepath.Base(name)] = true
}

// remove removes a name. It is called before a file is removed or renamed.
func (f *files) remove(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.names, filepath.Base(name))
}

// missing returns the files of the set that are not in names.
func (f *files) missing(names []string) (missing []string) {
	there := make(map[string]bool, len(names))
	for _, name := range names {
		there[name] = true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for name := range f.names {
		if !there[name] {
			missing = append(missing, name)
		}
	}
	return missing
}

// has reports whether a file is in the set.
func (f *files) has(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.names[name]
}

// isRemoved reports whether the store's directory or one of the store's files was removed. If so,
// it records this as the store's fault. Pebble would go on writing to files that no other process
// can find any more.
func (g *guard) isRemoved() bool {
	gone := lockName
	if !g.isGone(lockName) {
		names, err := g.FS.List(g.dir)
		if err != nil {
			return false
		}
		i := slices.IndexFunc(g.files.missing(names), func(name string) bool {
			gone = name
			return g.isGone(name) && g.files.has(name) // pebble may have made or removed the file meanwhile
		})
		if i < 0 {
			return false
		}
	}
	g.fault.set(fmt.Errorf("%s was removed while the store was open: what it held is lost", g.FS.PathJoin(g.dir, gone)))
	return true
}

// isGone reports whether the store's directory has no file with this name.
func (g *guard) isGone(name string) bool {
	_, err := g.FS.Stat(g.FS.PathJoin(g.dir, name))
	return errors.Is(err, fs.ErrNotExist)
}

// checkDir returns an error if a directory has no store but has other files, or if it has only a
// part of a store. Otherwise pebble would make a new store there and remove files that look like
// its own.
func (s *durable) checkDir() error {
	fs, dir := s.guard, s.monitor.dir
	desc, err := pebble.Peek(dir, fs)
	if err != nil {
		return err
	}
	if desc.Exists {
		s.manifest = fs.PathBase(desc.ManifestFilename)
		return nil
	}
	names, err := fs.List(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if isForeign(name) {
			return fmt.Errorf(
				"the directory holds %s and no store: give store.dir a directory of its own, which may be missing", name,
			)
		}
		if isTable(name) {
			return errPart(name)
		}
	}
	if segments, err := fs.List(fs.PathJoin(dir, journalDir)); err == nil && len(segments) > 0 {
		return errPart(journalDir)
	}
	return nil
}

// lockName is the file that pebble locks.
const lockName = "LOCK"

// errPart returns the error for a directory with only a part of a store. A store whose creation was
// interrupted by a power cut has neither tables nor a journal, and is no error.
func errPart(name string) error {
	return fmt.Errorf(
		"the directory holds %s of a store whose manifest or marker is missing: restore all files of the store, or move "+
			"these away to begin a new one",
		name,
	)
}

func isTable(name string) bool {
	return strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".blob")
}

// isForeign reports whether a file belongs neither to a store nor to the usual files in the root of
// a file system.
func isForeign(name string) bool {
	switch name {
	case lockName, "CURRENT", ballast.Name, journalDir, originName, "outcomes", "lost+found":
		return false
	case "seal", "seal.new": // files of format 1
		return false
	}
	for _, prefix := range []string{".", "MANIFEST-", "OPTIONS-", "marker.", "temporary."} {
		if strings.HasPrefix(name, prefix) {
			return false
		}
	}
	return !isLog(name) && !isTable(name) && !strings.HasSuffix(name, ".dbtmp")
}

// A private file system makes files and directories that only their owner may look into, because
// they hold texts and numbers.
type private struct{ vfs.FS }

func (p private) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := p.FS.Create(name, c)
	if err != nil {
		return nil, asFull(err)
	}
	if f.Fd() != vfs.InvalidFd {
		_ = syscall.Fchmod(int(f.Fd()), 0o600) // the error is ignored, because not every file system has modes
	}
	return roomy{f}, nil
}

// A roomy is a file that reports an exceeded quota as a full disk.
type roomy struct{ vfs.File }

func (f roomy) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	return n, asFull(err)
}

func (f roomy) Preallocate(offset, length int64) error {
	return asFull(f.File.Preallocate(offset, length))
}

func (p private) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	f, err := p.FS.OpenReadWrite(name, c, opts...)
	if err != nil {
		return nil, err
	}
	return roomy{f}, nil
}

func asFull(err error) error {
	if errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("a quota is used up: %w", syscall.ENOSPC)
	}
	return err
}

func (p private) MkdirAll(name string, _ os.FileMode) error { return p.FS.MkdirAll(name, 0o700) }

// makeDir makes a directory and its missing parents, and syncs their parents. Only the owner may
// access the new directories.
func makeDir(fs vfs.FS, dir string) error {
	if _, err := fs.Stat(dir); err == nil {
		return nil
	}
	if parent := fs.PathDir(dir); parent != dir {
		if err := makeDir(fs, parent); err != nil {
			return err
		}
	}
	if err := fs.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return syncParent(fs, dir)
}

// syncParent syncs the parent of a directory.
func syncParent(fs vfs.FS, dir string) error {
	parent, err := fs.OpenDir(fs.PathDir(dir))
	if err != nil {
		return err
	}
	return errors.Join(parent.Sync(), parent.Close())
}
