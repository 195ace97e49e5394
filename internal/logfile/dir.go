package logfile

import (
	"io"
	"os"
	"sync"
	"time"
)

// Options are the options of a log's files. The zero value of a field switches its feature
// off. The usual values are the defaults of package config.
type Options struct {
	MaxSize     int64         // largest size of a file in bytes
	MaxTotal    int64         // bytes that all files of a log may take, including the file being written
	RotateEvery time.Duration // a new file is begun at every multiple of this, counted in UTC
	Keep        int           // rotated files to keep, compressed or not; the oldest are removed
	KeepAge     time.Duration // rotated files older than this are removed
	MinFree     int           // percent of the disk, 1 GiB at most: while less is free, the oldest rotated files are removed
	Compress    bool          // rotated files are compressed
}

// An OSFile is the part of *os.File that a log needs. Tests implement it with a full, dead or
// hanging disk.
type OSFile interface {
	io.WriteCloser
	Stat() (os.FileInfo, error)
	Truncate(size int64) error
	Sync() error
}

// A Dir is a directory of logs.
type Dir struct {
	Open   func(path string) (OSFile, error) // Open, Create, Rename and Space are replaced by tests
	Create func(path string) (OSFile, error)
	Rename func(from, to string) error
	Space  func(path string) (free, size int64, err error)
	Keys   Keyer // returns the keys of lines for the index of compressed files; nil: lines have no keys

	path        string
	what        string // name of a log of the directory, for errors
	o           Options
	compressing chan struct{} // contains an element while a file is compressed or edited, because only one may be at a time
	names       sync.Mutex    // held while rotated files are removed, or replaced by Edit
}

// NewDir returns the directory at path. what is the name of its logs in errors. Nothing is created.
func NewDir(path, what string, o Options) *Dir {
	if o.MaxTotal > 0 && (o.MaxSize == 0 || o.MaxSize > o.MaxTotal) {
		o.MaxSize = o.MaxTotal
	}
	return &Dir{
		Open: OpenFile, Create: create, Rename: os.Rename, Space: diskSpace,
		path: path, what: what, o: o, compressing: make(chan struct{}, 1),
	}
}

// Path returns the path of the directory.
func (d *Dir) Path() string { return d.path }
