package lossfs

import (
	"context"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// Mount mounts the file system on a directory, as root on a machine with FUSE. unmount unmounts it.
func (f *FS) Mount(dir string) (unmount func() error, err error) {
	server, err := fs.Mount(dir, &node{fs: f, inode: f.root}, &fs.Options{
		RootStableAttr: &fs.StableAttr{Ino: f.root.number},
		MountOptions:   fuse.MountOptions{DirectMountStrict: true, FsName: "lossfs", Name: "lossfs", MaxWrite: 256 << 10},
	})
	if err != nil {
		return nil, err
	}
	return server.Unmount, nil
}

// A node is an inode for FUSE.
type node struct {
	fs.Inode
	fs    *FS
	inode *inode
}

var (
	_ fs.NodeLookuper  = (*node)(nil)
	_ fs.NodeGetattrer = (*node)(nil)
	_ fs.NodeSetattrer = (*node)(nil)
	_ fs.NodeReaddirer = (*node)(nil)
	_ fs.NodeCreater   = (*node)(nil)
	_ fs.NodeMkdirer   = (*node)(nil)
	_ fs.NodeLinker    = (*node)(nil)
	_ fs.NodeUnlinker  = (*node)(nil)
	_ fs.NodeRmdirer   = (*node)(nil)
	_ fs.NodeRenamer   = (*node)(nil)
	_ fs.NodeOpener    = (*node)(nil)
	_ fs.NodeReader    = (*node)(nil)
	_ fs.NodeWriter    = (*node)(nil)
	_ fs.NodeFsyncer   = (*node)(nil)
	_ fs.NodeStatfser  = (*node)(nil)
)

// child returns an inode of a directory for FUSE.
func (n *node) child(ctx context.Context, i *inode, out *fuse.EntryOut) *fs.Inode {
	n.fs.mu.Lock()
	i.attr(&out.Attr)
	n.fs.mu.Unlock()
	return n.NewInode(ctx, &node{fs: n.fs, inode: i}, fs.StableAttr{Mode: i.mode, Ino: i.number})
}

func (i *inode) attr(a *fuse.Attr) {
	a.Ino, a.Mode, a.Size, a.Nlink, a.Blksize = i.number, i.mode, uint64(i.size), 1, pageSize
	a.Blocks = uint64(i.size+sectorSize-1) / sectorSize
}

// Lookup implements fs.NodeLookuper.
func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	n.fs.mu.Lock()
	i := n.inode.names[name]
	n.fs.mu.Unlock()
	if i == nil {
		return nil, syscall.ENOENT
	}
	return n.child(ctx, i, out), 0
}

// Getattr implements fs.NodeGetattrer.
func (n *node) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	n.fs.mu.Lock()
	defer n.fs.mu.Unlock()
	n.inode.attr(&out.Attr)
	return 0
}

// Setattr implements fs.NodeSetattrer.
func (n *node) Setattr(ctx context.Context, h fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if size, ok := in.GetSize(); ok {
		n.fs.truncate(n.inode, int64(size))
	}
	if mode, ok := in.GetMode(); ok {
		n.fs.mu.Lock()
		n.inode.mode = n.inode.mode&syscall.S_IFMT | mode&0o7777
		n.fs.mu.Unlock()
	}
	return n.Getattr(ctx, h, out)
}

// Readdir implements fs.NodeReaddirer.
func (n *node) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	n.fs.mu.Lock()
	defer n.fs.mu.Unlock()
	var all []fuse.DirEntry
	for name, i := range n.inode.names {
		all = append(all, fuse.DirEntry{Name: name, Ino: i.number, Mode: i.mode})
	}
	return fs.NewListDirStream(all), 0
}

// add adds a new inode to a directory.
func (n *node) add(name string, mode uint32) *inode {
	n.fs.mu.Lock()
	defer n.fs.mu.Unlock()
	i := n.fs.newInode(mode)
	n.inode.names[name] = i
	return i
}

// Create implements fs.NodeCreater.
func (n *node) Create(
	ctx context.Context, name string, _, mode uint32, out *fuse.EntryOut,
) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	return n.child(ctx, n.add(name, syscall.S_IFREG|mode&0o7777), out), nil, fuse.FOPEN_DIRECT_IO, 0
}

// Mkdir implements fs.NodeMkdirer.
func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.child(ctx, n.add(name, syscall.S_IFDIR|mode&0o7777), out), 0
}

// Link implements fs.NodeLinker.
func (n *node) Link(ctx context.Context, to fs.InodeEmbedder, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	i := to.(*node).inode
	n.fs.mu.Lock()
	_, there := n.inode.names[name]
	if !there {
		n.inode.names[name] = i
	}
	n.fs.mu.Unlock()
	if there {
		return nil, syscall.EEXIST
	}
	return n.child(ctx, i, out), 0
}

// Unlink implements fs.NodeUnlinker.
func (n *node) Unlink(_ context.Context, name string) syscall.Errno {
	n.fs.mu.Lock()
	defer n.fs.mu.Unlock()
	if n.inode.names[name] == nil {
		return syscall.ENOENT
	}
	delete(n.inode.names, name)
	return 0
}

// Rmdir implements fs.NodeRmdirer.
func (n *node) Rmdir(_ context.Context, name string) syscall.Errno {
	n.fs.mu.Lock()
	defer n.fs.mu.Unlock()
	switch i := n.inode.names[name]; {
	case i == nil:
		return syscall.ENOENT
	case len(i.names) > 0:
		return syscall.ENOTEMPTY
	}
	delete(n.inode.names, name)
	return 0
}

// Rename implements fs.NodeRenamer.
func (n *node) Rename(_ context.Context, name string, parent fs.InodeEmbedder, to string, flags uint32) syscall.Errno {
	if flags != 0 {
		return syscall.EINVAL
	}
	n.fs.mu.Lock()
	defer n.fs.mu.Unlock()
	i := n.inode.names[name]
	if i == nil {
		return syscall.ENOENT
	}
	delete(n.inode.names, name)
	parent.(*node).inode.names[to] = i
	return 0
}

// Open implements fs.NodeOpener.
func (n *node) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_DIRECT_IO, 0
}

// Read implements fs.NodeReader.
func (n *node) Read(_ context.Context, _ fs.FileHandle, b []byte, at int64) (fuse.ReadResult, syscall.Errno) {
	return fuse.ReadResultData(b[:n.fs.read(n.inode, b, at)]), 0
}

// Write implements fs.NodeWriter.
func (n *node) Write(_ context.Context, _ fs.FileHandle, b []byte, at int64) (uint32, syscall.Errno) {
	written, errno := n.fs.write(n.inode, b, at)
	return uint32(written), errno
}

// Fsync implements fs.NodeFsyncer, for files and directories.
func (n *node) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno { return n.fs.sync(n.inode) }

// Statfs implements fs.NodeStatfser.
func (n *node) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	out.Bsize, out.Frsize, out.NameLen = pageSize, pageSize, 255
	out.Blocks, out.Bfree, out.Bavail = 4<<20, 4<<20, 4<<20 // 16 GiB
	out.Files, out.Ffree = 1<<20, 1<<20
	return 0
}
