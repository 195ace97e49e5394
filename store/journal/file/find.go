package file

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/store/journal"
)

// A piece is a run of records with consecutive places in one segment.
type piece struct {
	segment     *segment
	from, to    int64 // octets of the segment
	first, last journal.Seq
}

// A Damage is a run of records that were synced and cannot be read any more.
type Damage struct {
	File        string      // the segment that had the records, or the segment of the records before them
	From        int64       // octets of the file in front of the damage
	First, Last journal.Seq // places of the lost records; Last is 0 if it is not known
	gone        bool        // the file does not exist
}

// Error returns a text with the file and the lost records.
func (d *Damage) Error() string {
	if d.gone {
		return d.errGone()
	}
	if d.Last == 0 {
		return fmt.Sprintf("%s is damaged at octet %d: records of the journal from %d on cannot be read", d.File, d.From, d.First)
	}
	return fmt.Sprintf("%s is damaged at octet %d: records %d to %d of the journal cannot be read",
		d.File, d.From, d.First, d.Last)
}

// findings are the contents of the segments of a directory.
type findings struct {
	dir      string
	segments []*segment
	all      []piece   // all pieces, in the order of their segments
	pieces   []piece   // the pieces with valid records, in order
	damages  []*Damage // lost records between the pieces and behind them
	last     journal.Seq
	synced   journal.Seq // the highest place that a frame declares as synced
	newest   newest
}

// find reads all segments of a directory.
//
// A power cut may leave holes among records that were not synced. The records behind such a hole do
// not count, because no caller was promised that they are safe. Their places are given again in a
// later segment. All records that a frame declares as synced must exist.
func find(fs vfs.FS, dir string) (*findings, error) {
	segments, err := list(fs, dir)
	if err != nil {
		return nil, err
	}
	f := &findings{dir: dir, segments: segments}
	if f.newest, err = readNewest(fs, dir); err != nil {
		return nil, err
	}
	var b []byte
	for _, s := range segments {
		name := fs.PathJoin(dir, nameOf(s.number))
		if b, err = read(fs, name, b); err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", name, err)
		}
		s.head = headOf(b, s.number)
		if s.head.version > headVersion {
			return nil, fmt.Errorf("%s has version %d, and this version of pmg knows versions up to %d: "+
				"install the later version again", name, s.head.version, headVersion)
		}
		if first := s.head.first; first > 0 { // the later segment has these places again
			f.all = slices.DeleteFunc(f.all, func(p piece) bool { return p.first >= first })
		}
		pieces, synced := piecesOf(s, b)
		f.all = append(f.all, pieces...)
		f.synced = max(f.synced, synced)
	}
	return f, nil
}

// piecesOf returns the pieces in the octets of a segment, and the highest place that a frame
// declares as synced.
func piecesOf(s *segment, b []byte) (all []piece, synced journal.Seq) {
	at, open := headSize, false // open: the last piece ends at this offset
	for at < len(b) {
		f, size, ok := readFrame(b[at:], s.salt)
		if !ok {
			at, open = at+align, false
			continue
		}
		synced = max(synced, f.synced)
		switch {
		case f.kind != isRecord:
			open = false
		case open && all[len(all)-1].last+1 == f.seq:
			all[len(all)-1].last, all[len(all)-1].to = f.seq, int64(at+size)
		default:
			all = append(all, piece{segment: s, from: int64(at), to: int64(at + size), first: f.seq, last: f.seq})
			open = true
		}
		at += size
	}
	return all, synced
}

// before returns the place in front of the first record of the run without gaps that leads up to
// seq.
func (f *findings) before(seq journal.Seq) journal.Seq {
	for {
		i := slices.IndexFunc(f.all, func(p piece) bool { return p.first <= seq && seq <= p.last })
		if i < 0 {
			return seq
		}
		seq = f.all[i].first - 1
	}
}

// chain chooses the pieces after a place that follow each other. If no piece follows directly, it
// records damage up to the next piece, if that piece was synced.
func (f *findings) chain(after journal.Seq) {
	f.last = after
	all := slices.Clone(f.all)
	for {
		next := slices.IndexFunc(all, func(p piece) bool { return p.first <= f.last+1 && f.last < p.last })
		if next < 0 {
			if next = f.nearest(all); next < 0 {
				break
			}
			f.damage(all[next].first - 1)
		}
		f.pieces = append(f.pieces, all[next])
		f.last = all[next].last
		all = all[next+1:]
	}
	if s := f.segmentOf(f.last + 1); s != nil && s.size < s.head.size {
		f.damage(0) // how many records followed its last record is not known
	} else if f.synced > f.last {
		f.damage(f.synced)
	}
	f.missing()
}

// segmentOf returns the segment in which a record is or would be, or nil if there is none.
func (f *findings) segmentOf(seq journal.Seq) (in *segment) {
	for _, s := range f.segments {
		if s.head.first > 0 && s.head.first <= seq {
			in = s
		}
	}
	return in
}

// nearest returns the index of the synced piece that comes next after the last one, or -1 if there
// is none.
func (f *findings) nearest(all []piece) int {
	next := -1
	for i, p := range all {
		if p.first > f.last && p.first <= f.synced && (next < 0 || p.first < all[next].first) {
			next = i
		}
	}
	return next
}

// damage records that the records after the last piece, up to a place, are lost.
func (f *findings) damage(upTo journal.Seq) {
	d := &Damage{First: f.last + 1, Last: upTo, From: headSize}
	in := f.segmentOf(d.First)
	if n := len(f.pieces); n > 0 && (in == nil || f.pieces[n-1].segment.number >= in.number) {
		in, d.From = f.pieces[n-1].segment, f.pieces[n-1].to
	}
	if in != nil {
		d.File = path.Join(f.dir, nameOf(in.number))
	} else if len(f.segments) > 0 {
		d.File = path.Join(f.dir, nameOf(f.segments[0].number))
	}
	f.damages = append(f.damages, d)
}

// errDamage returns all damage as one error, or nil.
func (f *findings) errDamage() error {
	var all []error
	for _, d := range f.damages {
		all = append(all, d)
	}
	return errors.Join(all...)
}

// follow calls f with each record of the pieces after a place.
func follow(fs vfs.FS, dir string, pieces []piece, after journal.Seq, f func(journal.Seq, journal.ID, []byte) error) error {
	var b []byte
	var in *segment
	for _, p := range pieces {
		if p.last <= after {
			continue
		}
		name := fs.PathJoin(dir, nameOf(p.segment.number))
		if in != p.segment {
			var err error
			if b, err = read(fs, name, b); err != nil {
				return fmt.Errorf("cannot read %s: %w", name, err)
			}
			in = p.segment
		}
		for at, seq := p.from, p.first; seq <= p.last; seq++ {
			one, size, ok := frame{}, 0, false
			if at < int64(len(b)) {
				one, size, ok = readFrame(b[at:], p.segment.salt)
			}
			if !ok || one.kind != isRecord || one.seq != seq {
				return &Damage{File: name, From: at, First: seq, Last: p.last}
			}
			at += int64(size)
			if seq <= after {
				continue
			}
			if err := f(seq, one.id, one.record); err != nil {
				return err
			}
		}
	}
	return nil
}
