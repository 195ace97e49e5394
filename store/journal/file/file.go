// Package file is a journal on the disk of this machine: segments of a fixed size, which are filled one behind the other and used
// again. A record is one write, and a sync serves all records that were written before it.
//
// # Start reading
//
// frame.go and segment.go (the octets), find.go (what is there at the start), file.go, spare.go (files for the next segment).
package file

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/store/journal"
)

// Options are the parameters with which a journal is opened.
type Options struct {
	After   journal.Seq // records up to this place are not needed any more
	Segment int64       // octets of each segment; 0: from firstSegment to lastSegment, each segment twice as large as the last
}

const (
	firstSegment = 1 << 20  // a journal with few records takes little space
	lastSegment  = 16 << 20 // small enough for a start that reads a few segments, and large enough that a new segment is rare
)

// A Journal is a journal on disk. It is made by Open.
type Journal struct {
	fs     vfs.FS
	dir    string
	spares *spares

	mu      sync.Mutex
	pieces  []piece // pieces that are kept
	current *segment
	dirty   []*segment // segments with unsynced octets, or that must be closed
	last    journal.Seq
	synced  journal.Seq
	marked  journal.Seq // up to this place a frame in the journal says that records were synced
	octets  int64
	buf     []byte
	fault   error
	closed  bool
	renew   bool // the next record begins a segment

	syncing   sync.Mutex   // held during a sync; a goroutine that waits for it may find that its records were synced too
	following sync.RWMutex // held while files are read, so that no file is reused meanwhile
}

// Open opens the journal in an existing directory. No other process may use the directory. An error
// that is a Damage says which records are lost; Salvage reads the others.
//
// A later frame says that a record was synced; Trim or Close writes such a frame at the latest. So
// damage of the newest records may remain unnoticed after the process was killed. The file newest
// shows whether the newest segment is missing.
func Open(fs vfs.FS, dir string, o Options) (*Journal, error) {
	found, err := find(fs, dir)
	if err == nil {
		found.chain(o.After)
		err = found.errDamage()
	}
	if err == nil {
		err = found.sync(fs, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot open the journal in %s: %w", dir, err)
	}
	j := &Journal{fs: fs, dir: dir, pieces: found.pieces, last: found.last, synced: found.last}
	j.spares = newSpares(fs, dir, o.Segment, found)
	for _, s := range found.segments {
		j.octets += s.size
	}
	return j, nil
}

// sync syncs records that an earlier process may have left only in the kernel's memory. After a
// failed sync the kernel treats the octets as written, so that another sync does nothing. Therefore
// the octets are first written again, in their place.
func (f *findings) sync(fs vfs.FS, dir string) error {
	for i, p := range f.pieces {
		if i+1 < len(f.pieces) && f.pieces[i+1].segment == p.segment { // the last piece of a segment is behind the others
			continue
		}
		name, upTo := fs.PathJoin(dir, nameOf(p.segment.number)), int64(0)
		if p.last > f.synced {
			upTo = p.to
		}
		if err := syncAgain(fs, name, upTo); err != nil {
			return err
		}
	}
	return syncDir(fs, dir)
}

// syncAgain writes the octets of a file up to upTo again, and syncs the file.
func syncAgain(fs vfs.FS, name string, upTo int64) error {
	f, err := fs.OpenReadWrite(name, category)
	if err != nil {
		return err
	}
	b := make([]byte, upTo)
	if _, err = f.ReadAt(b, 0); err == nil {
		_, err = f.WriteAt(b, 0)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Append implements journal.Journal.
func (j *Journal) Append(id journal.ID, record []byte) (journal.Seq, error) {
	seq, err := j.Write(id, record)
	if err != nil {
		return 0, err
	}
	if err := j.Sync(seq); err != nil {
		return 0, err
	}
	return seq, nil
}

// Write implements journal.Journal.
func (j *Journal) Write(id journal.ID, record []byte) (journal.Seq, error) {
	if len(record) > journal.MaxRecord {
		return 0, journal.ErrTooLarge
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.usable(); err != nil {
		return 0, err
	}
	if err := j.write(&frame{kind: isRecord, id: id, seq: j.last + 1, synced: j.synced, record: record}); err != nil {
		return 0, err
	}
	j.last++
	return j.last, nil
}

// usable returns the reason why nothing can be appended, or nil. The caller holds the lock.
func (j *Journal) usable() error {
	if j.closed {
		return journal.ErrClosed
	}
	return j.fault
}

// fail records and returns the reason why nothing is appended any more: the contents of the disk
// are not known. The caller holds the lock.
func (j *Journal) fail(err error) error {
	if j.fault == nil {
		j.fault = fmt.Errorf("the journal in %s has failed, and only a restart mends that: %w", j.dir, err)
	}
	return j.fault
}

// write writes a frame. The caller holds the lock. If there is no file for the next segment,
// nothing is written, and a later call may succeed.
func (j *Journal) write(f *frame) error {
	size := int64(frameSize(len(f.record)))
	j.buf = j.buf[:0]
	if c := j.current; c == nil || j.end()+size > c.size || j.renew && f.kind == isRecord {
		next, err := j.spares.take(headSize + size)
		if errors.Is(err, syscall.ENOSPC) {
			err = fmt.Errorf("%w: %w", journal.ErrFull, err)
		}
		if err != nil {
			return fmt.Errorf("cannot begin a segment of the journal in %s: %w", j.dir, err)
		}
		j.buf = appendHead(j.buf, next.number, head{version: headVersion, first: f.seq, size: next.filled})
		j.octets += next.grown
		if c != nil && !slices.Contains(j.dirty, c) {
			j.dirty = append(j.dirty, c) // the next sync closes the segment
		}
		j.current, j.renew = &next.segment, false
		j.pieces = append(j.pieces, piece{segment: j.current, from: headSize, to: headSize, first: f.seq, last: f.seq - 1})
	}
	c := j.current
	j.buf = appendFrame(j.buf, c.salt, f)
	if _, err := c.file.Write(j.buf); err != nil {
		return j.fail(err)
	}
	if n := len(j.dirty); n == 0 || j.dirty[n-1] != c {
		j.dirty = append(j.dirty, c)
	}
	j.marked = f.synced
	p := &j.pieces[len(j.pieces)-1]
	p.to += size
	if f.kind == isRecord {
		p.last = f.seq
	}
	if cap(j.buf) > lastSegment {
		j.buf = nil
	}
	return nil
}

// end returns the length of the current segment, in octets. The caller holds the lock.
func (j *Journal) end() int64 { return j.pieces[len(j.pieces)-1].to }

// Sync implements journal.Journal.
func (j *Journal) Sync(upTo journal.Seq) error {
	j.syncing.Lock()
	defer j.syncing.Unlock()
	j.mu.Lock()
	dirty, last, synced, err := j.dirty, j.last, j.synced, j.usable()
	if err == nil && synced < upTo {
		j.dirty = nil
	}
	j.mu.Unlock()
	if err != nil || synced >= upTo {
		return err
	}
	var failed error
	for _, s := range dirty {
		failed = errors.Join(failed, s.syncs.SyncData())
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if failed != nil {
		return j.fail(failed)
	}
	j.synced = last
	for _, s := range dirty {
		if s != j.current && !slices.Contains(j.dirty, s) {
			failed = errors.Join(failed, s.close())
		}
	}
	if failed != nil {
		return j.fail(failed)
	}
	return nil
}

// Follow implements journal.Journal.
func (j *Journal) Follow(after journal.Seq, f func(journal.Seq, journal.ID, []byte) error) error {
	j.following.RLock()
	defer j.following.RUnlock()
	j.mu.Lock()
	pieces, err := append([]piece(nil), j.pieces...), j.usable()
	first := j.last + 1
	if len(pieces) > 0 {
		first = pieces[0].first
	}
	j.mu.Unlock()
	if err != nil {
		return err
	}
	if after+1 < first {
		return fmt.Errorf("%w: its first is %d, and those behind %d are asked for", journal.ErrTrimmed, first, after)
	}
	return follow(j.fs, j.dir, pieces, after, f)
}

// Trim implements journal.Journal. It reuses or removes files whose records may all be dropped. It
// is called about once a second, even if there is nothing to drop, and also notices files that
// another process has removed.
func (j *Journal) Trim(upTo journal.Seq) error {
	if !j.following.TryLock() {
		return nil // the next call will try again
	}
	defer j.following.Unlock()
	if err := j.missing(); err != nil {
		return err
	}
	j.mu.Lock()
	err := j.markSynced()
	for err == nil && len(j.pieces) > 0 && j.pieces[0].last <= min(upTo, j.synced) && j.pieces[0].segment != j.current {
		s := j.pieces[0].segment
		j.pieces = j.pieces[1:]
		if len(j.pieces) == 0 || j.pieces[0].segment != s {
			j.spares.give(s)
		}
	}
	j.mu.Unlock()
	if err != nil {
		return err
	}
	removed, err := j.spares.settle()
	j.mu.Lock()
	j.octets -= removed
	j.mu.Unlock()
	if err != nil {
		return fmt.Errorf("cannot remove a segment of the journal in %s: %w", j.dir, err)
	}
	return nil
}

// markSynced writes a frame with the synced place, so that damage of the newest records is noticed
// after the process was killed. The caller holds the lock.
func (j *Journal) markSynced() error {
	c := j.current
	if err := j.usable(); err != nil || c == nil || j.marked == j.synced || j.end()+int64(frameSize(0)) > c.size {
		return err
	}
	if err := j.write(&frame{kind: isEnd, seq: j.last, synced: j.synced}); err != nil {
		return err
	}
	j.pieces = append(j.pieces, piece{segment: c, from: j.end(), to: j.end(), first: j.last + 1, last: j.last})
	return nil
}

// missing returns an error if a needed file does not exist.
func (j *Journal) missing() error {
	j.mu.Lock()
	pieces, err := slices.Clone(j.pieces), j.usable()
	j.mu.Unlock()
	if err != nil || len(pieces) == 0 {
		return err
	}
	names, err := j.fs.List(j.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot look at the journal in %s: %w", j.dir, err)
	}
	for _, p := range pieces {
		if name := nameOf(p.segment.number); !slices.Contains(names, name) {
			j.mu.Lock()
			defer j.mu.Unlock()
			return j.fail(fmt.Errorf("%s was removed while the journal was open", j.fs.PathJoin(j.dir, name)))
		}
	}
	return nil
}

// Status implements journal.Journal.
func (j *Journal) Status() journal.Status {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := journal.Status{Last: j.last, Synced: j.synced, Octets: j.octets, Fault: j.fault}
	if len(j.pieces) > 0 && j.pieces[0].last >= j.pieces[0].first {
		s.First = j.pieces[0].first
	}
	return s
}

// Close implements journal.Journal. It writes a frame which says that all records were synced, so
// that damage of the last records is noticed.
func (j *Journal) Close() error {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return journal.ErrClosed
	}
	last, err := j.last, j.fault
	j.mu.Unlock()
	if err == nil {
		err = j.Sync(last)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	if c := j.current; err == nil && c != nil {
		if j.end()+int64(frameSize(0)) <= c.size {
			err = j.write(&frame{kind: isEnd, seq: j.last, synced: j.last})
		}
		err = errors.Join(err, c.syncs.SyncData())
	}
	for _, s := range append(j.dirty, j.current) {
		if s != nil {
			err = errors.Join(err, s.close())
		}
	}
	return errors.Join(err, j.spares.close())
}

// Salvage calls f with all readable records after the place after, in order, and returns the
// damage. It first passes the records before that place which still exist and lead up to it without
// a gap.
func Salvage(fs vfs.FS, dir string, after journal.Seq, f func(journal.Seq, journal.ID, []byte) error) ([]*Damage, error) {
	found, err := find(fs, dir)
	if err != nil {
		return nil, fmt.Errorf("cannot read the journal in %s: %w", dir, err)
	}
	after = found.before(after)
	found.chain(after)
	return found.damages, follow(fs, dir, found.pieces, after, f)
}
