package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
)

// A files is the names of the files that a store cannot do without: tables, logs, manifests and
// markers. Its zero value is empty.
type files struct {
	mu    sync.Mutex
	names map[string]bool // without their directory
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

// remove is called before a file is removed, or gets another name.
func (f *files) remove(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.names, filepath.Base(name))
}

// missing returns those that are not among the names.
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

// has reports whether a file is one of them.
func (f *files) has(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.names[name]
}

// isRemoved reports whether the store's directory or a file of it was removed, and makes that the
// store's fault. Pebble would go on writing to files that no other process can find any more.
func (s *durable) isRemoved() bool {
	gone := lockName
	if !s.isGone(lockName) {
		names, err := s.fs.List(s.dir)
		if err != nil {
			return false
		}
		i := slices.IndexFunc(s.guard.files.missing(names), func(name string) bool {
			gone = name
			return s.isGone(name) && s.guard.files.has(name) // pebble may have made it since, or removed it
		})
		if i < 0 {
			return false
		}
	}
	s.fault.set(fmt.Errorf("%s was removed while the store was open: what it held is lost", s.fs.PathJoin(s.dir, gone)))
	return true
}

// isGone reports whether there is no file of a name in the store's directory.
func (s *durable) isGone(name string) bool {
	_, err := s.fs.Stat(s.fs.PathJoin(s.dir, name))
	return errors.Is(err, fs.ErrNotExist)
}
