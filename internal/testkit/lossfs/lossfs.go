// Package lossfs is a file system in memory for tests. When its power is cut, its disk has only what was synced. It reports
// errors when a test says so.
//
// Like a kernel it shows what was written, and forgets after a failed sync that there is something to write: a later sync of the
// same octets does nothing.
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
	faults [2]int // by the Operation: how many come until one fails; 0: none does
	with   []byte // what the octets have of a write that counts among those
	failed int    // so far
	next   *FS    // what the disk has once the power is cut; nothing reaches it any more
}

// An inode is a file, or a directory.
type inode struct {
	number uint64
	mode   uint32
	size   int64
	pages  map[int64]*page   // as they are shown
	names  map[string]*inode // of a directory, as they are shown
	disk   content
}

// A content is what is on the disk of an inode.
type content struct {
	size  int64
	pages map[int64]*page
	names map[string]*inode
}

// A page is never changed: a write puts another one in its place.
type page struct {
	octets [pageSize]byte
	clean  bool // the kernel believes that the disk has it
}

// An Operation is one that can fail.
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

// Fail makes the nth operation from now on fail, which reports EIO. Only writes that have some octets count.
func (f *FS) Fail(o Operation, n int, with []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults[o], f.with = n, with
}

// Failed returns how many operations have failed.
func (f *FS) Failed() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}

// fails reports whether an operation fails. The caller holds the lock.
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

// A Loss is what becomes of pages that were written and not synced.
type Loss int

// The losses.
const (
	All  Loss = iota // none of them reached the disk
	Some             // some did, whole
	Torn             // of some a part did
	None             // all did
)

// PowerOff cuts the power, and returns what the disk has: what was synced, and of the rest what the loss leaves. What is written
// from now on reaches no disk.
func (f *FS) PowerOff(l Loss, random *rand.Rand) *FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next == nil {
		f.next = &FS{last: f.last}
		f.next.root = f.root.survives(l, random, map[*inode]*inode{})
	}
	return f.next
}

// survives returns an inode as it is behind a power cut, once.
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
			continue // what a file has grown by is no part of it yet
		}
		if left := p.left(l, random, i.disk.pages[at]); left != nil {
			fresh.pages[at] = left
		}
	}
	fresh.written()
	return fresh
}

// left returns what the disk has of a page that was not synced, which had old content, or nil for the old content.
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

// written records that the disk has all of an inode.
func (i *inode) written() {
	i.disk = content{size: i.size, pages: maps.Clone(i.pages), names: maps.Clone(i.names)}
	for at, p := range i.pages {
		if !p.clean {
			i.pages[at] = &page{octets: p.octets, clean: true}
		}
	}
}

// sync makes sure of an inode. After an error the kernel believes that the disk has it.
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

// write writes octets, and returns how many.
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

// read reads octets, as many as there are.
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
