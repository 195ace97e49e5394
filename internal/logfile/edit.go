package logfile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"pmg/internal/wholefile"

	"github.com/rs/zerolog"
)

const (
	editPiece = 1 << 20  // octets that are read together
	longest   = 64 << 20 // octets of a line; a file with a longer line is not edited
)

// An Edit defines the changes to lines of files that are no longer written.
type Edit struct {
	// Wants reports whether some whole lines may contain a line to change. Other lines are copied unchanged.
	Wants func(lines []byte) bool
	// Line appends the new form of a line, without its end, and reports whether the line has changed.
	Line func(b, line []byte) (_ []byte, changed bool)
	// Rest is called after so many octets were read, and may wait; nil: no rest.
	Rest func(ctx context.Context, octets int) error
}

// An Edited is the result of an Edit in a file, or the result that it would have.
type Edited struct {
	Changed int64 // lines
	Octets  int64 // size of all lines
}

// Edit changes the lines of a file that is no longer written; with dry it only counts the lines. The file is
// replaced as a whole, with the mode, the owner and the time of the old file, or stays unchanged. A missing
// file counts as empty.
func (d *Dir) Edit(ctx context.Context, s Segment, e *Edit, dry bool) (done Edited, err error) {
	select {
	case d.compressing <- struct{}{}: // so that the file is not compressed meanwhile
		defer func() { <-d.compressing }()
	case <-ctx.Done():
		return done, ctx.Err()
	}
	file, err := s.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return done, nil
	}
	if err != nil {
		return done, err
	}
	defer file.Close()
	if done, err = e.pass(ctx, s, file, nil); err != nil {
		return Edited{}, fmt.Errorf("cannot read %s, which stays as it is: %w", s.Path, err)
	}
	if dry || done.Changed == 0 {
		return done, nil
	}
	if err = d.rewrite(ctx, s, file, e); err != nil && !exists(s.Path) {
		return Edited{}, nil // the file was removed meanwhile
	}
	if err != nil {
		return Edited{}, fmt.Errorf("cannot rewrite %s, which stays as it is: %w", s.Path, err)
	}
	return done, nil
}

// pass reads a file from its beginning, and writes all lines, changed or not, to out, unless it is nil.
func (e *Edit) pass(ctx context.Context, s Segment, file *os.File, out io.Writer) (done Edited, err error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return done, err
	}
	r, err := s.Reader(file)
	if err != nil {
		return done, err
	}
	defer r.Close()
	var b []byte
	err = eachText(r, func(text []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		done.Octets += int64(len(text))
		if e.Wants(text) {
			n := int64(0)
			b, n = e.lines(b[:0], text)
			done.Changed += n
			text = b
		}
		if out != nil {
			if _, err := out.Write(text); err != nil {
				return err
			}
		}
		if e.Rest != nil {
			return e.Rest(ctx, len(text))
		}
		return nil
	})
	return done, err
}

// lines appends lines in their new form.
func (e *Edit) lines(b, text []byte) (_ []byte, changed int64) {
	for len(text) > 0 {
		line, rest, whole := bytes.Cut(text, []byte{'\n'})
		var is bool
		if b, is = e.Line(b, line); is {
			changed++
		}
		if text = rest; whole {
			b = append(b, '\n')
		}
	}
	return b, changed
}

var errLong = fmt.Errorf("it has a line of more than %d octets", longest)

// eachText passes groups of whole lines to visit, and finally the octets after the last line end.
func eachText(r io.Reader, visit func(text []byte) error) error {
	var text []byte
	for room := editPiece; ; {
		if cap(text)-len(text) < room {
			text = append(make([]byte, 0, len(text)+room), text...)
		}
		n, err := io.ReadFull(r, text[len(text):len(text)+room])
		text = text[:len(text)+n]
		end := bytes.LastIndexByte(text, '\n') + 1
		if err != nil {
			end = len(text)
		}
		if end > 0 {
			if err := visit(text[:end]); err != nil {
				return err
			}
			text = text[:copy(text, text[end:])]
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF) && n < room && isEnd(r):
			return nil
		case err != nil:
			return err
		case len(text) > longest:
			return errLong
		}
	}
}

// isEnd reports whether a reader has reached the end of the data, and not the place where a compressed file is truncated.
func isEnd(r io.Reader) bool {
	n, err := r.Read(make([]byte, 1))
	return n == 0 && errors.Is(err, io.EOF)
}

// rewrite writes the changed lines and the others to a new file, and renames the new file to the old name
// when it is safe on the disk.
func (d *Dir) rewrite(ctx context.Context, s Segment, old *os.File, e *Edit) error {
	st, err := old.Stat()
	if err != nil {
		return err
	}
	tmp := s.Path + tmpSuffix
	out, err := d.Create(tmp)
	if err != nil {
		return err
	}
	if err = errors.Join(d.write(ctx, s, old, out, e), out.Close()); err == nil {
		err = dress(tmp, st)
	}
	if err == nil {
		err = d.replace(s, tmp, st)
	}
	if err != nil {
		_ = os.Remove(tmp)
	}
	return err
}

func (d *Dir) write(ctx context.Context, s Segment, old *os.File, out OSFile, e *Edit) error {
	buffer := bufio.NewWriterSize(out, editPiece)
	var to io.WriteCloser = plainWriter{buffer}
	if s.Packed {
		var err error
		if to, err = newWriter(buffer, d.Keys); err != nil {
			return err
		}
	}
	if _, err := e.pass(ctx, s, old, to); err != nil {
		return err
	}
	if err := errors.Join(to.Close(), buffer.Flush()); err != nil {
		return err
	}
	return out.Sync()
}

// A plainWriter does nothing at its end.
type plainWriter struct{ io.Writer }

func (plainWriter) Close() error { return nil }

// dress gives a file the mode, the owner and the time of another file.
func dress(path string, like os.FileInfo) error {
	err := os.Chmod(path, like.Mode().Perm())
	if st, ok := like.Sys().(*syscall.Stat_t); ok && err == nil {
		err = os.Chown(path, int(st.Uid), int(st.Gid))
	}
	if err == nil {
		err = os.Chtimes(path, like.ModTime(), like.ModTime())
	}
	return err
}

// replace replaces the file of a segment, unless the segment was removed meanwhile.
func (d *Dir) replace(s Segment, tmp string, old os.FileInfo) error {
	d.names.Lock()
	defer d.names.Unlock()
	there, err := os.Stat(s.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return os.Remove(tmp)
	}
	if err != nil {
		return err
	}
	if !os.SameFile(there, old) {
		return errors.New("another program has replaced it")
	}
	// after a crash both files may exist, and the plain file would be considered as already compressed
	if packed := s.plain() + packedSuffix; !s.Packed {
		if err := os.Remove(packed); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := d.Rename(tmp, s.Path); err != nil {
		return err
	}
	return wholefile.SyncDir(filepath.Dir(s.Path))
}

// create makes a file that only its owner may read, until it is dressed.
func create(path string) (OSFile, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
}

// CloseLog renames the file of a log that is not being written as a rotated file, if it contains lines.
// Nothing may open the file meanwhile.
func (d *Dir) CloseLog(name string, now int64) error {
	f := d.File(name, zerolog.Nop(), func(Event) error { return nil })
	if st, err := os.Stat(f.path); errors.Is(err, fs.ErrNotExist) || err == nil && st.Size() == 0 {
		return nil
	}
	return f.CloseLog(now)
}

var errNotRotated = errors.New("the file cannot be renamed; the gateway's log says why")

// CloseLog makes the next line begin a new file, if the present file contains lines.
func (f *File) CloseLog(now int64) error {
	err := f.Ready(now)
	if err != nil || f.Size() == 0 {
		return err
	}
	ok, err := f.Rotate(now)
	if err == nil && !ok {
		err = errNotRotated
	}
	return err
}
