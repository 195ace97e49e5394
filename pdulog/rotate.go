package pdulog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"pmg/internal/sock"
)

// rotateRetry is how long the old file goes on when it could not be renamed.
const rotateRetry = time.Minute

// openFile opens a log for appending and cuts a half line off its end. The file
// holds what people wrote to each other, so it is not for everybody to read.
func openFile(path string) (logFile, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o640)
	if err != nil {
		return nil, err
	}
	if err := cutHalfLine(f); err != nil {
		f.Close()
		return nil, err
	}
	return &rawFile{File: f, fd: int(f.Fd())}, nil
}

// A rawFile is written without telling Go's scheduler, as sockets are (sock.Read
// says why): a quarter of a megabyte takes longer than the 20 µs after which the
// scheduler gives the processor away, and 10 % of the gateway's CPU with it. The
// price is that a disk that hangs hangs the whole process, not only the flow of
// messages, which waits for its log either way.
type rawFile struct {
	*os.File
	fd int
}

func (f *rawFile) Write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var more int
		more, err = sock.WriteFile(f.fd, b[n:])
		n += max(more, 0)
	}
	if err != nil {
		err = &fs.PathError{Op: "write", Path: f.Name(), Err: err}
	}
	return n, err
}

// cutHalfLine truncates a file to its last line end.
func cutHalfLine(f interface {
	io.ReaderAt
	Stat() (os.FileInfo, error)
	Truncate(size int64) error
}) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() || st.Size() == 0 { // truncated even so, ext4 would write it out before closing it
		return nil
	}
	var block [4096]byte
	for end := st.Size(); end > 0; {
		at := max(0, end-int64(len(block)))
		b := block[:end-at]
		if _, err := f.ReadAt(b, at); err != nil {
			return err
		}
		if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
			end = at + int64(i) + 1
			if end == st.Size() {
				return nil
			}
			return f.Truncate(end)
		}
		end = at
	}
	return f.Truncate(0)
}

// openFile opens the file to write to and learns when it is to be rotated. An
// old file belongs to the period in which it was last written.
func (f *File) openFile(now int64) error {
	file, err := f.open(f.path)
	if err != nil {
		return fmt.Errorf("cannot open pdu log: %w", err)
	}
	st, err := file.Stat()
	if err != nil {
		file.Close()
		return fmt.Errorf("cannot open pdu log: %w", err)
	}
	f.file, f.size, f.torn = file, st.Size(), 0
	f.rotateAt = math.MaxInt64
	if every := int64(f.o.RotateEvery); every > 0 {
		if f.size > 0 {
			now = min(now, st.ModTime().UnixNano())
		}
		f.rotateAt = (now/every + 1) * every
	}
	return nil
}

func (f *File) closeFile() {
	if f.file == nil {
		return
	}
	_ = f.mend() // best effort: where it fails, opening the file again cuts it
	if err := f.file.Close(); err != nil {
		f.o.Log.Error().Err(err).Str("connector", f.connector).Msg("cannot close pdu log")
	}
	f.file = nil
}

// rotationDue tells whether the lines that wait belong into a new file.
func (f *File) rotationDue(now int64) bool {
	if f.file == nil || f.size == 0 || len(f.buf) == 0 || now < f.rotateHold {
		return false
	}
	return now >= f.rotateAt || f.o.MaxSize > 0 && f.size+int64(len(f.buf)) > f.o.MaxSize
}

// rotate gives the file its rotated name. The next openFile begins a new one,
// or goes on with the old one if it could not be renamed.
func (f *File) rotate(now int64) {
	f.closeFile()
	err := os.Rename(f.path, f.rotatedName(now))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.rotateHold = now + int64(rotateRetry)
		f.o.Log.Error().Err(err).Str("connector", f.connector).Msg("cannot rotate pdu log")
		return
	}
	select {
	case f.wake <- struct{}{}:
	default: // it will see this file too
	}
}

// rotatedName finds a name that neither a plain nor a compressed file has.
func (f *File) rotatedName(now int64) string {
	for t := time.Unix(0, now).UTC(); ; t = t.Add(time.Microsecond) {
		path := filepath.Join(f.dir, f.connector+"-"+t.Format(stampLayout)+logSuffix)
		if !exists(path) && !exists(path+gzSuffix) {
			return path
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// housekeep removes and compresses rotated files, one at a time, away from the
// goroutine that writes. Every hour too: files grow old without a rotation.
func (f *File) housekeep() {
	defer close(f.done)
	hour := time.NewTicker(time.Hour)
	defer hour.Stop()
	for {
		if err := f.tidy(time.Now()); err != nil {
			f.o.Log.Error().Err(err).Str("connector", f.connector).Msg("cannot tidy up pdu logs")
		}
		select {
		case <-f.stop:
			return
		case <-f.wake:
		case <-hour.C:
		}
	}
}

func (f *File) tidy(now time.Time) error {
	segments, err := rotated(f.dir, f.connector)
	if err != nil {
		return err
	}
	if f.o.Keep > 0 && len(segments) > f.o.Keep {
		n := len(segments) - f.o.Keep
		err = remove(segments[:n])
		segments = segments[n:]
	}
	if f.o.KeepAge > 0 {
		oldest, n := now.UTC().Add(-f.o.KeepAge).Format(stampLayout), 0
		for n < len(segments) && segments[n].stamp < oldest {
			n++
		}
		err = errors.Join(err, remove(segments[:n]))
		segments = segments[n:]
	}
	for _, s := range segments {
		if f.o.Compress && !s.gz {
			err = errors.Join(err, f.compress(s.path))
		}
	}
	return err
}

// remove removes the segments and what a compression that was cut short left.
func remove(segments []segment) error {
	var errs error
	for _, s := range segments {
		plain := strings.TrimSuffix(s.path, gzSuffix)
		for _, path := range []string{plain, plain + gzSuffix, plain + gzSuffix + tmpSuffix} {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = errors.Join(errs, err)
			}
		}
	}
	return errs
}

// compress replaces a file by its compressed form. The .gz appears under its name
// when it is whole and safe on disk, and only then the plain file goes.
func (f *File) compress(path string) error {
	f.o.Turn.Lock()
	defer f.o.Turn.Unlock()
	select {
	case <-f.stop:
		return nil
	default:
	}
	gz := path + gzSuffix
	if !exists(gz) { // it does when a crash came before the plain file went
		if err := gzipFile(path, gz+tmpSuffix, f.stop); err != nil {
			os.Remove(gz + tmpSuffix)
			if errors.Is(err, errStopped) {
				return nil // the next Open does it
			}
			return fmt.Errorf("cannot compress pdu log: %w", err)
		}
		if err := os.Rename(gz+tmpSuffix, gz); err != nil {
			return fmt.Errorf("cannot compress pdu log: %w", err)
		}
	}
	return os.Remove(path)
}

// compressShare is how much of its time a compression works; the rest it sleeps,
// so that a busy gateway, which rotates often, does not feel it: 5 % of one
// processor compress about 15 MB/s.
const compressShare = 20

var errStopped = errors.New("stopped")

// A pacedReader makes whoever reads it rest most of the time.
type pacedReader struct {
	io.Reader
	stop <-chan struct{}
	last time.Time
}

func (r *pacedReader) Read(b []byte) (int, error) {
	if !r.last.IsZero() {
		select {
		case <-r.stop:
			return 0, errStopped
		case <-time.After((compressShare - 1) * time.Since(r.last)):
		}
	}
	r.last = time.Now()
	return r.Reader.Read(b)
}

// copyTo copies in pieces large enough to be worth a rest.
func (r *pacedReader) copyTo(w io.Writer) (int64, error) {
	return io.CopyBuffer(w, struct{ io.Reader }{r}, make([]byte, 128<<10))
}

func gzipFile(from, to string, stop <-chan struct{}) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o640)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	// The fastest level: logs shrink well anyway, and the gateway needs the CPU.
	z, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if _, err := (&pacedReader{Reader: in, stop: stop}).copyTo(z); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return out.Sync()
}
