package file

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/store/journal"
)

// A segment is a file of the journal. The segments are numbered in their order. The number is in
// the file's name and in its head.
type segment struct {
	number uint64
	salt   uint32 // result of saltOf for number
	size   int64
	head   head     // the head, as it was read when the journal was opened
	file   vfs.File // file that is open for writing; nil: not open
	syncs  vfs.File // a second handle for syncs only: vfs watches one operation of a handle at a time, and syncs take long
}

// close closes the files of a segment. The segment may be nil.
func (s *segment) close() (err error) {
	for _, f := range []vfs.File{s.file, s.syncs} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	s.file, s.syncs = nil, nil
	return err
}

// The head of a segment consists of "PMGJ", the version in 4 octets, the segment's number in 8, the
// place of its first record in 8, how many octets the file had before in 8, and the CRC-32C of
// these. Zeros follow up to headSize. The head is written together with the first record.
const (
	headSize    = 64
	headVersion = 1
	ending      = ".journal"
	category    = "pmg-journal"
)

func nameOf(number uint64) string { return fmt.Sprintf("%016x%s", number, ending) }

// A head is the decoded head of a segment.
type head struct {
	version uint32
	first   journal.Seq
	size    int64
}

func appendHead(b []byte, number uint64, h head) []byte {
	at := len(b)
	b = append(b, "PMGJ"...)
	b = binary.BigEndian.AppendUint32(b, h.version)
	b = binary.BigEndian.AppendUint64(b, number)
	b = binary.BigEndian.AppendUint64(b, uint64(h.first))
	b = binary.BigEndian.AppendUint64(b, uint64(h.size))
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b[at:], castagnoli))
	return append(b, make([]byte, headSize-(len(b)-at))...)
}

// headOf decodes the head of a segment. The result has zeros if there is no valid head.
func headOf(b []byte, number uint64) (h head) {
	if len(b) < headSize || string(b[:4]) != "PMGJ" || binary.BigEndian.Uint32(b[32:]) != crc32.Checksum(b[:32], castagnoli) ||
		binary.BigEndian.Uint64(b[8:]) != number {
		return head{}
	}
	return head{
		version: binary.BigEndian.Uint32(b[4:]), first: journal.Seq(binary.BigEndian.Uint64(b[16:])),
		size: int64(binary.BigEndian.Uint64(b[24:])),
	}
}

// list returns the segments in a directory, sorted by number.
func list(fs vfs.FS, dir string) (all []*segment, err error) {
	names, err := fs.List(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		base, ok := strings.CutSuffix(name, ending)
		number, err := strconv.ParseUint(base, 16, 64)
		if !ok || err != nil || name != nameOf(number) {
			continue
		}
		info, err := fs.Stat(fs.PathJoin(dir, name))
		if err != nil {
			return nil, err
		}
		all = append(all, &segment{number: number, salt: saltOf(number), size: info.Size()})
	}
	slices.SortFunc(all, func(a, b *segment) int {
		if a.number < b.number {
			return -1
		}
		return 1
	})
	return all, nil
}

// read returns the octets of a file. It uses the storage of b if that is large enough.
func read(fs vfs.FS, name string, b []byte) (all []byte, err error) {
	f, err := fs.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	n := info.Size()
	if int64(cap(b)) < n {
		b = make([]byte, n)
	}
	if got, err := f.ReadAt(b[:n], 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	} else {
		return b[:got], nil
	}
}
