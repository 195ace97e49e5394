package file

import (
	"errors"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/store/journal"
)

// spares are the files for the next segments. One file is always prepared in the background, so
// that a record in a new segment takes no longer than other records. The file is filled with zeros
// first, because a sync of a growing file takes a third longer.
type spares struct {
	fs   vfs.FS
	dir  string
	most int64 // maximum octets of a segment

	writing sync.Mutex // held while the file newest is written; locked before mu

	mu     sync.Mutex
	size   int64      // octets of the next new file
	taken  int        // number of segments taken since settle found one given back
	given  bool       // a segment was given back since settle was called
	idle   int        // number of calls of settle since a segment was taken
	keep   int        // how many segments of used are kept
	used   []*segment // segments whose records are not needed any more, the oldest first
	number uint64     // number of the newest segment
	newest newest     // contents of the file newest
	begun  uint64     // number of the newest segment that was begun
	ready  chan blank // receives the next file or an error; nil: no file was requested
}

// A blank is a segment whose file is open and has no records.
type blank struct {
	segment
	filled int64 // octets of the file that are written and synced
	grown  int64 // octets by which the files on disk have grown
	err    error
}

// newSpares returns spares. It keeps the segments without valid records for reuse.
func newSpares(fs vfs.FS, dir string, size int64, found *findings) *spares {
	s := &spares{fs: fs, dir: dir, most: size, size: size, newest: found.newest}
	if size == 0 {
		s.most, s.size = lastSegment, firstSegment
	}
	counts := map[*segment]bool{}
	for _, p := range found.pieces {
		counts[p.segment], s.begun = true, p.segment.number
	}
	for _, one := range found.segments {
		s.number = max(s.number, one.number)
		if !counts[one] {
			s.used = append(s.used, one)
		}
	}
	return s
}

// take returns the next segment, with room for at least n octets.
func (s *spares) take(n int64) (blank, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ready, early := s.ready, s.ready != nil
	if s.ready = nil; !early {
		ready = s.prepare()
	}
	m := s.await(ready)
	if m.err != nil && early { // the disk may have room by now
		m = s.await(s.prepare())
	}
	if m.err != nil {
		return m, m.err
	}
	m.filled = m.size
	if m.size < n { // the record is larger than the prepared segment
		m.grown += n - m.size
		m.size = n
	}
	s.taken++
	s.idle = 0
	s.begun = m.number
	s.ready = s.prepare()
	return m, nil
}

// await waits for a file. The caller holds the lock, which await releases meanwhile.
func (s *spares) await(ready chan blank) blank {
	s.mu.Unlock()
	defer s.mu.Lock()
	return <-ready
}

// prepare begins to make the next file, and returns the channel that receives the file. The caller
// holds the lock.
func (s *spares) prepare() chan blank {
	s.number++
	var old *segment
	if len(s.used) > 0 {
		old, s.used = s.used[0], s.used[1:]
	}
	ready, number, size := make(chan blank, 1), s.number, s.size
	next, named := newest{s.begun, number}, old != nil && s.newest.names(old.number)
	if old == nil {
		s.size = min(2*size, s.most)
	}
	go func() {
		if named { // the file will be renamed
			if err := s.write(newest{}); err != nil {
				s.give(old)
				ready <- blank{err: err}
				return
			}
		}
		m := s.make(number, size, old)
		if m.err == nil {
			if m.err = s.write(next); m.err != nil {
				_ = m.close()
			}
		}
		ready <- m
	}()
	return ready
}

// write writes the file newest, unless newer numbers were written already.
func (s *spares) write(n newest) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	late := n.ready != 0 && n.ready < s.newest.ready
	s.mu.Unlock()
	if late {
		return nil
	}
	if err := writeNewest(s.fs, s.dir, n); err != nil {
		return err
	}
	s.mu.Lock()
	s.newest = n
	s.mu.Unlock()
	return nil
}

// make makes the file of a segment. It reuses the file of old, if old is not nil.
func (s *spares) make(number uint64, size int64, old *segment) blank {
	m := blank{segment: segment{number: number, salt: saltOf(number), size: size}}
	name := s.fs.PathJoin(s.dir, nameOf(number))
	var err error
	if old != nil {
		m.size = old.size
		m.file, err = s.fs.ReuseForWrite(s.fs.PathJoin(s.dir, nameOf(old.number)), name, category)
	} else if m.file, err = s.fs.Create(name, category); err == nil {
		m.grown = size
		err = fill(m.file, size)
		if err == nil {
			err = m.file.Close()
		}
		if err == nil {
			m.file, err = s.fs.OpenReadWrite(name, category)
		}
	}
	if err == nil {
		m.syncs, err = s.fs.OpenReadWrite(name, category)
	}
	if err == nil {
		err = syncDir(s.fs, s.dir)
	}
	if err != nil {
		_ = m.close()
		if old == nil {
			_ = s.fs.Remove(name)
		}
		return blank{err: err}
	}
	return m
}

// fill writes zeros to a file, and syncs the file.
func fill(f vfs.File, size int64) error {
	zeros := make([]byte, min(size, 1<<20))
	for size > 0 {
		n, err := f.Write(zeros[:min(size, int64(len(zeros)))])
		if err != nil {
			return err
		}
		size -= int64(n)
	}
	return f.Sync()
}

// give takes back a segment whose records are not needed any more.
func (s *spares) give(one *segment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = append(s.used, one)
	s.given = true
}

// idleCalls is the number of calls of settle, about one a second, after which the segments that are kept become fewer.
const idleCalls = 60

// settle removes unused segments. Segments are given back many at a time, when a table is written of what is in them. So it
// keeps one more than were taken between two such times, or one less than before if that is more. It also keeps one
// less with each call when no segment was taken for a while. removed is the number of octets that were freed on disk.
func (s *spares) settle() (removed int64, err error) {
	s.mu.Lock()
	s.idle++
	if s.given {
		s.keep = max(s.taken+1, s.keep-1)
		s.taken, s.given = 0, false
	} else if s.idle > idleCalls {
		s.keep--
	}
	s.keep = max(s.keep, 1)
	var old []*segment
	for over := len(s.used) - s.keep; over > 0; over-- {
		i := slices.IndexFunc(s.used, func(one *segment) bool { return !s.newest.names(one.number) })
		if i < 0 {
			break
		}
		old = append(old, s.used[i])
		s.used = slices.Delete(s.used, i, i+1)
	}
	s.mu.Unlock()
	for _, one := range old {
		removed += one.size
		err = errors.Join(err, s.fs.Remove(s.fs.PathJoin(s.dir, nameOf(one.number))))
	}
	return removed, err
}

// close waits for the file that is being made, and closes it.
func (s *spares) close() error {
	s.mu.Lock()
	ready := s.ready
	s.ready = nil
	s.mu.Unlock()
	if ready == nil {
		return nil
	}
	m := <-ready
	return m.close() // an error is ignored: the next start reports it if the file still cannot be made
}

func syncDir(fs vfs.FS, dir string) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

var _ journal.Journal = (*Journal)(nil)
