package store

import (
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A memFS is a file system in memory whose power can be cut at any moment. MemFS.Link locks twice what CrashClone locks, so that a
// CrashClone between the two would wait forever.
type memFS struct {
	*vfs.MemFS
	links sync.RWMutex
}

func newMemFS() *memFS { return &memFS{MemFS: vfs.NewCrashableMem()} }

func (m *memFS) Link(old, name string) error {
	m.links.RLock()
	defer m.links.RUnlock()
	return m.MemFS.Link(old, name)
}

func (m *memFS) CrashClone(c vfs.CrashCloneCfg) *memFS {
	m.links.Lock()
	defer m.links.Unlock()
	return &memFS{MemFS: m.MemFS.CrashClone(c)}
}
