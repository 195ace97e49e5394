package file

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// newestName is the file with the numbers of the newest segment that was begun, and of the next
// segment that is ready. Without this file, a start would not notice that these segments are
// missing. The file is written in the background, when the next segment is made ready. Octets:
// "PMGN", begun in 8, ready in 8, the CRC-32C of these. A file with a wrong checksum is ignored.
const newestName = "newest"

// A newest is the contents of the file newest. 0 means that there is no such segment.
type newest struct{ begun, ready uint64 }

// names reports whether the file names a segment that must exist.
func (n newest) names(number uint64) bool {
	return number != 0 && (number == n.begun || number == n.ready)
}

// readNewest reads the file newest. A missing file is no error.
func readNewest(of vfs.FS, dir string) (n newest, err error) {
	f, err := of.Open(of.PathJoin(dir, newestName))
	if errors.Is(err, fs.ErrNotExist) {
		return n, nil
	}
	if err != nil {
		return n, err
	}
	var b [24]byte
	if _, err = f.ReadAt(b[:], 0); errors.Is(err, io.EOF) {
		err = nil
	}
	if string(b[:4]) == "PMGN" && binary.BigEndian.Uint32(b[20:]) == crc32.Checksum(b[:20], castagnoli) {
		n = newest{binary.BigEndian.Uint64(b[4:]), binary.BigEndian.Uint64(b[12:])}
	}
	return n, errors.Join(err, f.Close())
}

// writeNewest writes and syncs the file newest.
func writeNewest(of vfs.FS, dir string, n newest) error {
	name := of.PathJoin(dir, newestName)
	_, err := of.Stat(name)
	created := errors.Is(err, fs.ErrNotExist)
	var f vfs.File
	if created {
		f, err = of.Create(name, category)
	} else if err == nil {
		f, err = of.OpenReadWrite(name, category)
	}
	if err != nil {
		return err
	}
	b := append([]byte("PMGN"), make([]byte, 16, 20)...)
	binary.BigEndian.PutUint64(b[4:], n.begun)
	binary.BigEndian.PutUint64(b[12:], n.ready)
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	if created {
		_, err = f.Write(b)
	} else {
		_, err = f.WriteAt(b, 0)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil && created {
		err = syncDir(of, dir)
	}
	return err
}

// missing records a missing segment that the file newest names as damage.
func (f *findings) missing() {
	for _, number := range []uint64{f.newest.begun, f.newest.ready} {
		if number != 0 && !slices.ContainsFunc(f.segments, func(s *segment) bool { return s.number == number }) {
			f.damages = append(f.damages, &Damage{File: path.Join(f.dir, nameOf(number)), First: f.last + 1, gone: true})
		}
	}
}

func (d *Damage) errGone() string {
	return fmt.Sprintf("%s is gone: records of the journal from %d on may be lost", d.File, d.First)
}
