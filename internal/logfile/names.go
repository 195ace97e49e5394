package logfile

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// StampLayout is the layout of the time in a rotated file's name. It is the time of the
// rotation, so every line in the file is older. Names sort in the order of their times.
const StampLayout = "20060102T150405.000000"

// Overlap is the longest time by which a line may be earlier than the lines before it, and than the rotation of the
// file before its file. A line waits in memory for up to pdulog.flush, which is 10 s at most, and a logger may be a
// second late. Meanwhile other goroutines write later lines to the same file. Only lines from before a clock was set
// back, or that waited longer because the disk took none, are further apart.
const Overlap = 11 * time.Second

const (
	Suffix       = ".log" // Suffix ends the names of files that are not compressed.
	packedSuffix = ".zst" // behind Suffix, of compressed files
	tmpSuffix    = ".tmp" // suffix of a compressed file that is being written
)

// A Segment is a rotated file of one log.
type Segment struct {
	Path   string // path of the plain file if it exists, otherwise of the compressed one
	Stamp  string
	Packed bool // compressed
}

// plain returns the path of the segment's plain file, which may not exist any more.
func (s Segment) plain() string { return strings.TrimSuffix(s.Path, packedSuffix) }

// Open opens the segment's file, and records which of the two files was opened: the segment may have been
// compressed since it was listed.
func (s *Segment) Open() (*os.File, error) {
	file, err := os.Open(s.Path)
	if packed := s.plain() + packedSuffix; errors.Is(err, fs.ErrNotExist) && !s.Packed {
		if file, err = os.Open(packed); err == nil {
			s.Path, s.Packed = packed, true
		}
	}
	return file, err
}

// Split parses a file name: "clients.log", "clients-<stamp>.log" or "clients-<stamp>.log.zst".
// The stamp is empty for the file being written.
func Split(file string) (name, stamp string, packed, ok bool) {
	file, packed = strings.CutSuffix(file, packedSuffix)
	name, ok = strings.CutSuffix(file, Suffix)
	if !ok || name == "" {
		return "", "", false, false
	}
	if i := len(name) - len(StampLayout) - 1; i > 0 && name[i] == '-' {
		if _, err := time.Parse(StampLayout, name[i+1:]); err == nil {
			return name[:i], name[i+1:], packed, true
		}
	}
	return name, "", false, !packed
}

// Rotated returns the rotated files of a log, oldest first. If a file exists both plain and
// compressed, it returns the plain one.
func Rotated(dir, name string) ([]Segment, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var found []Segment
	for _, f := range files {
		if n, stamp, packed, ok := Split(f.Name()); ok && n == name && stamp != "" {
			found = append(found, Segment{filepath.Join(dir, f.Name()), stamp, packed})
		}
	}
	slices.SortFunc(found, func(a, b Segment) int {
		return cmp.Or(cmp.Compare(a.Stamp, b.Stamp), cmp.Compare(a.Path, b.Path))
	})
	return slices.CompactFunc(found, func(a, b Segment) bool { return a.Stamp == b.Stamp }), nil
}
