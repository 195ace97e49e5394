package logfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"
)

// A Key is a hash by which lines are searched (see Hash), with the period to search, in microseconds.
type Key struct {
	Hash     uint64
	From, To int64 // 0: any time
}

// fits reports whether a block with lines from from to to may contain lines of the key's period.
func (k *Key) fits(from, to int64) bool {
	return (k.To == 0 || from == 0 || from <= k.To) && (k.From == 0 || to == 0 || to >= k.From)
}

// A Walk goes through the files of logs from the latest lines to the earliest. One goroutine uses it at a time.
type Walk struct {
	Since, Until time.Time // files and blocks without lines between these are left out; zero: none is

	// Statistics of the reading: octets of lines, and octets of files without an index, which were indexed here.
	Octets, Indexed int64

	logs  *Logs
	keyer Keyer
	files [][]*walked // files of each log, the latest first
	names []string
	zstd  *zstd.Decoder
	text  []byte
	frame []byte
}

// A walked is a file of a log.
type walked struct {
	Segment
	size   int64
	file   *os.File // nil: the file is not open yet, or was removed
	opened bool
	after  int64 // no line of the file is earlier: the previous file's rotation, less Overlap; 0: there is no previous file
	before int64 // time of the file's rotation; no line of the file is later
	blocks []Block
}

// Walk begins a walk through logs of a directory. Close ends it.
func (l *Logs) Walk(dir string, keys Keyer, names []string, since, until time.Time) (*Walk, error) {
	w := &Walk{Since: since, Until: until, logs: l, keyer: keys, names: names}
	for _, name := range names {
		files, err := w.list(dir, name)
		if err != nil {
			w.Close()
			return nil, err
		}
		w.files = append(w.files, files)
	}
	return w, nil
}

// list returns the files of a log that may have lines of the wanted time, the latest first.
func (w *Walk) list(dir, name string) (files []*walked, err error) {
	current := &walked{Segment: Segment{Path: filepath.Join(dir, name+Suffix)}, before: math.MaxInt64}
	current.file, err = os.Open(current.Path) // opened before the other files are listed, so that no line is missed
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	segments, err := Rotated(dir, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var last int64
	for _, s := range segments {
		f := &walked{Segment: s, after: last}
		if at, err := time.Parse(StampLayout, s.Stamp); err == nil {
			f.before = at.UnixMicro()
		}
		last = f.before - Overlap.Microseconds()
		files = append(files, f)
	}
	if current.file != nil {
		current.after = last
		if n := len(files); n > 0 && !files[n-1].Packed && sameFile(current.file, files[n-1].Path) { // rotated meanwhile
			current.after = files[n-1].after
			files = files[:n-1]
		}
		files = append(files, current)
	}
	slices.Reverse(files)
	return slices.DeleteFunc(files, func(f *walked) bool {
		leftOut := !w.Since.IsZero() && f.before < w.Since.UnixMicro() || !w.Until.IsZero() && f.after > w.Until.UnixMicro()
		if leftOut && f.file != nil {
			f.file.Close()
		}
		return leftOut
	}), nil
}

func sameFile(file *os.File, path string) bool {
	mine, err := file.Stat()
	if err != nil {
		return false
	}
	other, err := os.Stat(path)
	return err == nil && os.SameFile(mine, other)
}

// Close closes the files.
func (w *Walk) Close() {
	for _, files := range w.files {
		for _, f := range files {
			if f.file != nil {
				f.file.Close()
			}
		}
	}
	if w.zstd != nil {
		w.zstd.Close()
	}
}

// Lines are lines that follow each other in a file.
type Lines struct {
	Log      string
	Text     []byte // whole lines, valid until the next lines are read
	File, At int64  // the place of the first: lines of a log with a larger File, or with that and a larger At, come later
}

// A cursor is how far a walk has come in a log.
type cursor struct {
	name  string
	files []*walked // files that are still to be read; the cursor is in the first
	block int       // index of the next block in the first file
	begun bool
}

// Blocks calls visit for the lines of the blocks that may have one of the keys, those of the latest blocks first; without
// keys for all. visit ends the walk with false.
func (w *Walk) Blocks(ctx context.Context, keys []Key, visit func(Lines) bool) error {
	cursors := make([]*cursor, len(w.files))
	for i, files := range w.files {
		cursors[i] = &cursor{name: w.names[i], files: files}
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		var next *cursor
		var latest int64
		for _, c := range cursors {
			at, err := w.settle(c, keys, latest)
			if err != nil {
				return err
			}
			if at > latest {
				next, latest = c, at
			}
		}
		if next == nil {
			return nil
		}
		f := next.files[0]
		text, err := w.read(f, next.block)
		if err != nil {
			return fmt.Errorf("cannot read %s: %w", f.Path, err)
		}
		at := f.blocks[next.block].at
		next.block--
		if !visit(Lines{next.name, text, f.before, at}) {
			return nil
		}
	}
}

// settle moves a cursor to the next block that may have a key, and returns the time of its last line, 0 at the end. It
// opens no file that has only lines before a time.
func (w *Walk) settle(c *cursor, keys []Key, before int64) (at int64, err error) {
	for len(c.files) > 0 {
		f := c.files[0]
		if !f.opened && f.before <= before {
			return 0, nil // another log has a later block
		}
		if !anyFits(keys, f.after, f.before) {
			c.next()
			continue
		}
		if err := w.open(f); err != nil {
			return 0, fmt.Errorf("cannot read %s: %w", f.Path, err)
		}
		if !c.begun {
			c.begun, c.block = true, len(f.blocks)-1
		}
		for ; c.block >= 0; c.block-- {
			if b := &f.blocks[c.block]; w.wants(b, keys) {
				return max(b.To, 1), nil
			}
		}
		c.next()
	}
	return 0, nil
}

func (c *cursor) next() { c.files, c.begun = c.files[1:], false }

func anyFits(keys []Key, from, to int64) bool {
	return len(keys) == 0 || slices.ContainsFunc(keys, func(k Key) bool { return k.fits(from, to) })
}

func (w *Walk) wants(b *Block, keys []Key) bool {
	if b.To != 0 && (!w.Since.IsZero() && b.To < w.Since.UnixMicro() || !w.Until.IsZero() && b.From >= w.Until.UnixMicro()) {
		return false
	}
	return len(keys) == 0 || slices.ContainsFunc(keys, func(k Key) bool { return k.fits(b.From, b.To) && b.has(k.Hash) })
}

// open opens a file, unless it is open, and finds its blocks. A missing file has no blocks.
func (w *Walk) open(f *walked) error {
	if f.opened {
		return nil
	}
	if f.file == nil {
		file, err := f.Open()
		if err == nil {
			f.file = file
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if f.opened = true; f.file == nil {
		return nil
	}
	st, err := f.file.Stat()
	if err != nil {
		return err
	}
	f.size = st.Size()
	if f.blocks = w.logs.known(st, f.Packed); len(f.blocks) > 0 && (f.Packed || f.blocks[len(f.blocks)-1].end() >= f.size) {
		return nil
	}
	if f.Packed {
		f.blocks, err = readIndex(f.file, f.size)
	}
	if !f.Packed || errors.Is(err, errNoIndex) {
		err = w.index(f)
	}
	w.logs.remember(st, f.blocks)
	return err
}

// index makes the blocks of a file that follow the known blocks.
func (w *Walk) index(f *walked) error {
	from := int64(0)
	if n := len(f.blocks); n > 0 && !f.Packed { // the last block may not be full yet
		f.blocks = slices.Clone(f.blocks[:n-1])
		if from = 0; n > 1 {
			from = f.blocks[n-2].end()
		}
	}
	r, err := f.reader(from)
	if err != nil {
		return err
	}
	defer r.Close()
	x := &indexer{keys: w.keyer}
	return eachBlock(r, func(text []byte) error {
		f.blocks = append(f.blocks, x.block(text, from))
		from += int64(len(text))
		w.Indexed += int64(len(text))
		return nil
	})
}

// reader returns a reader of the lines from an offset of a plain file on, or of all of a compressed one.
func (f *walked) reader(from int64) (io.ReadCloser, error) {
	if !f.Packed {
		return io.NopCloser(io.NewSectionReader(f.file, from, f.size-from)), nil
	}
	if _, err := f.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return f.Reader(f.file)
}

// eachBlock cuts what it reads into blocks, without half a line at the end.
func eachBlock(r io.Reader, visit func(text []byte) error) error {
	var text []byte
	for {
		used := len(text)
		text = slices.Grow(text, blockSize)
		n, err := io.ReadFull(r, text[used:used+blockSize])
		text = text[:used+n]
		done := 0
		for n := cut(0, text); n > 0; n = cut(0, text[done:]) {
			if err := visit(text[done : done+n]); err != nil {
				return err
			}
			done += n
		}
		text = append(text[:0], text[done:]...)
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			for n := len(text); n > 0; n-- {
				if text[n-1] == '\n' {
					return visit(text[:n])
				}
			}
			return nil
		case err != nil:
			return err
		}
	}
}

// read returns the lines of a block.
func (w *Walk) read(f *walked, n int) ([]byte, error) {
	b := &f.blocks[n]
	w.Octets += b.size
	var err error
	switch {
	case !f.Packed:
		w.text = slices.Grow(w.text[:0], int(b.size))[:b.size]
		_, err = f.file.ReadAt(w.text, b.at)
	case b.packedSize > 0:
		if w.zstd == nil {
			if w.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1)); err != nil {
				return nil, err
			}
		}
		w.frame = slices.Grow(w.frame[:0], int(b.packedSize))[:b.packedSize]
		if _, err = f.file.ReadAt(w.frame, b.packedAt); err == nil {
			w.text, err = w.zstd.DecodeAll(w.frame, w.text[:0])
		}
	default: // an older version has compressed the file as one frame
		err = w.readFrom(f, b)
	}
	return w.text, err
}

// readFrom reads a block of a file that must be read from the beginning.
func (w *Walk) readFrom(f *walked, b *Block) error {
	r, err := f.reader(0)
	if err != nil {
		return err
	}
	defer r.Close()
	if _, err := io.CopyN(io.Discard, r, b.at); err != nil {
		return err
	}
	w.Indexed += b.at
	w.text = slices.Grow(w.text[:0], int(b.size))[:b.size]
	_, err = io.ReadFull(r, w.text)
	return err
}
