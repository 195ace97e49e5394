// Package lossfs is a file system in memory for tests. After a power cut, its disk has only synced data. Tests can cause
// errors.
//
// Like a kernel it shows written data, and considers it as written after a failed sync: a later sync of the same octets does
// nothing.
//
// # Start reading
//
// FS, then mount.go.
package lossfs

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"sync"
	"syscall"
)

const (
	pageSize   = 4096
	sectorSize = 512
)

// An FS is a tree of files and directories. It is safe for concurrent use.
type FS struct {
	mu     sync.Mutex
	root   *inode
	last   uint64 // number of the newest inode
	faults [2]int // by Operation: number of operations until one fails; 0: none fails
	with   []byte // octets that a write must contain to be counted in faults
	failed int    // number of failed operations
	next   *FS    // state of the disk after the power cut; nothing more reaches it
}

// An inode is a file, or a directory.
type inode struct {
	number uint64
	mode   uint32
	size   int64
	pages  map[int64]*page   // pages that reads see
	names  map[string]*inode // names in a directory that reads see
	disk   content
}

// A content is the state of an inode on the disk.
type content struct {
	size  int64
	pages map[int64]*page
	names map[string]*inode
}

// A page is never changed: a write replaces it.
type page struct {
	octets [pageSize]byte
	clean  bool // the kernel considers it as written to disk
}

// An Operation is an operation that can fail.
type Operation int

// The operations.
const (
	Sync Operation = iota
	Write
)

// New returns an empty file system.
func New() *FS {
	f := &FS{}
	f.root = f.newInode(syscall.S_IFDIR | 0o755)
	return f
}

func (f *FS) newInode(mode uint32) *inode {
	f.last++
	return &inode{number: f.last, mode: mode, pages: map[int64]*page{}, names: map[string]*inode{}}
}

// Fail causes EIO for the nth operation from now on. Only writes that contain some octets count.
func (f *FS) Fail(o Operation, n int, with []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults[o], f.with = n, with
}

// Failed returns the number of failed operations.
func (f *FS) Failed() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}

// fails counts an operation, and reports whether it fails. The caller holds the lock.
func (f *FS) fails(o Operation) bool {
	if f.faults[o] == 0 {
		return false
	}
	f.faults[o]--
	if f.faults[o] > 0 {
		return false
	}
	f.failed++
	return true
}

// A Loss is the fate of unsynced pages at a power cut.
type Loss int

// The losses.
const (
	All  Loss = iota // no page reached the disk
	Some             // some pages did, completely
	Torn             // some pages did in part
	None             // all pages did
)

// PowerOff cuts the power, and returns the disk: synced data, and the unsynced data that the loss leaves. Later writes do not
// reach a disk.
func (f *FS) PowerOff(l Loss, random *rand.Rand) *FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next == nil {
		f.next = &FS{last: f.last}
		f.next.root = f.root.survives(l, random, map[*inode]*inode{})
	}
	return f.next
}

// survives returns the state of an inode after a power cut, once.
func (i *inode) survives(l Loss, random *rand.Rand, done map[*inode]*inode) *inode {
	if fresh := done[i]; fresh != nil {
		return fresh
	}
	fresh := &inode{number: i.number, mode: i.mode, size: i.disk.size, pages: map[int64]*page{}, names: map[string]*inode{}}
	done[i] = fresh
	for name, child := range i.disk.names {
		fresh.names[name] = child.survives(l, random, done)
	}
	maps.Copy(fresh.pages, i.disk.pages)
	for at, p := range i.pages {
		if p.clean || at*pageSize >= i.disk.size {
			continue // the growth of a file is not on disk yet
		}
		if left := p.left(l, random, i.disk.pages[at]); left != nil {
			fresh.pages[at] = left
		}
	}
	fresh.written()
	return fresh
}

// left returns the page on the disk for an unsynced page that replaces old, or nil for the old content.
func (p *page) left(l Loss, random *rand.Rand, old *page) *page {
	switch {
	case l == None, l == Some && random.IntN(2) == 0:
		return p
	case l != Torn || random.IntN(2) == 0:
		return nil
	}
	torn := page{}
	if old != nil {
		torn.octets = old.octets
	}
	for at := 0; at < pageSize; at += sectorSize {
		if random.IntN(2) == 0 {
			copy(torn.octets[at:at+sectorSize], p.octets[at:])
		}
	}
	return &torn
}

// written records that the whole inode is on the disk.
func (i *inode) written() {
	i.disk = content{size: i.size, pages: maps.Clone(i.pages), names: maps.Clone(i.names)}
	for at, p := range i.pages {
		if !p.clean {
			i.pages[at] = &page{octets: p.octets, clean: true}
		}
	}
}

// sync syncs an inode. After an error the kernel considers it as written.
func (f *FS) sync(i *inode) syscall.Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next != nil {
		return 0
	}
	failed := f.fails(Sync)
	if !failed {
		i.disk.size, i.disk.names = i.size, maps.Clone(i.names)
		if i.disk.pages == nil {
			i.disk.pages = map[int64]*page{}
		}
		maps.DeleteFunc(i.disk.pages, func(at int64, _ *page) bool { return at*pageSize >= i.size })
	}
	for at, p := range i.pages {
		if p.clean {
			continue
		}
		p = &page{octets: p.octets, clean: true}
		if i.pages[at] = p; !failed {
			i.disk.pages[at] = p
		}
	}
	if failed {
		return syscall.EIO
	}
	return 0
}

// write writes octets, and returns their number.
func (f *FS) write(i *inode, b []byte, at int64) (int, syscall.Errno) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next == nil && bytes.Contains(b, f.with) && f.fails(Write) {
		return 0, syscall.EIO
	}
	for n := 0; n < len(b); {
		in := (at + int64(n)) % pageSize
		next := &page{}
		if old := i.pages[(at+int64(n))/pageSize]; old != nil {
			next.octets = old.octets
		}
		copied := copy(next.octets[in:], b[n:])
		i.pages[(at+int64(n))/pageSize] = next
		n += copied
	}
	i.size = max(i.size, at+int64(len(b)))
	return len(b), 0
}

// read reads the available octets.
func (f *FS) read(i *inode, b []byte, at int64) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	b = b[:max(min(int64(len(b)), i.size-at), 0)]
	var zeros page
	for n := 0; n < len(b); {
		in := (at + int64(n)) % pageSize
		from := zeros.octets[in:]
		if p := i.pages[(at+int64(n))/pageSize]; p != nil {
			from = p.octets[in:]
		}
		n += copy(b[n:], from)
	}
	return len(b)
}

// truncate sets the size of a file.
func (f *FS) truncate(i *inode, size int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(i.pages, func(at int64, _ *page) bool { return at*pageSize >= size })
	if p := i.pages[size/pageSize]; p != nil && size < i.size {
		cut := &page{}
		copy(cut.octets[:size%pageSize], p.octets[:])
		i.pages[size/pageSize] = cut
	}
	i.size = size
}
