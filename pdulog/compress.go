package pdulog

import (
	"bufio"
	"errors"
	"io"
	"os"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// compressShare is the part of its time that a compression works: one in so many.
// It sleeps for the rest, so that a busy gateway, which rotates often, does not
// slow down: 5 % of one processor compress about 25 MB/s (2026-11-21, docs/bench.md).
const compressShare = 20

// piece is how much is compressed between two rests. What is in the processor's
// caches is lost meanwhile: with pieces of 128 KiB, compressing took three times the
// CPU time (2026-11-21).
const piece = 1 << 20

var errStopped = errors.New("stopped")

// A pacedReader makes its reader rest most of the time.
type pacedReader struct {
	io.Reader
	quit, cancel <-chan struct{} // reading fails when one of them is closed
	last         time.Time
}

func (r *pacedReader) Read(b []byte) (int, error) {
	if !r.last.IsZero() {
		select {
		case <-r.quit:
			return 0, errStopped
		case <-r.cancel:
			return 0, errStopped
		case <-time.After((compressShare - 1) * time.Since(r.last)):
		}
	}
	r.last = time.Now()
	return r.Reader.Read(b)
}

// copyTo copies piece by piece, though w may have a ReadFrom that reads less at a time.
func (r *pacedReader) copyTo(w io.Writer) (int64, error) {
	return io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{r}, make([]byte, piece))
}

// A Compression is the form of a compressed file.
type Compression string

// The compressions. The zero value is none.
const (
	Zstd Compression = "zstd"
	Gzip Compression = "gzip"
)

// compressions lists the forms in which a file may be found.
var compressions = [...]Compression{Zstd, Gzip}

// zstdWindow is how far back the compressor looks for repetitions. Logs repeat
// themselves so soon that more memory shrinks them no further (docs/bench.md).
const zstdWindow = 512 << 10

// suffix returns what is added to a file's name.
func (c Compression) suffix() string {
	switch c {
	case Zstd:
		return ".zst"
	case Gzip:
		return ".gz"
	}
	return ""
}

// writer returns what compresses to w at its fastest: logs shrink well anyway, and
// the gateway needs the CPU. It starts no goroutines.
func (c Compression) writer(w io.Writer) (io.WriteCloser, error) {
	if c == Gzip {
		return gzip.NewWriterLevel(w, gzip.BestSpeed)
	}
	return zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstdWindow))
}

// reader returns what r holds in that form, and starts no goroutines either.
func (c Compression) reader(r io.Reader) (io.ReadCloser, error) {
	switch c {
	case Gzip:
		return gzip.NewReader(bufio.NewReader(r))
	case Zstd:
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	}
	return io.NopCloser(r), nil
}

// compressFile compresses a file, unless quit or cancel is closed early.
func compressFile(form Compression, from, to string, quit, cancel <-chan struct{}) (err error) {
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
	z, err := form.writer(out)
	if err != nil {
		return err
	}
	if _, err := (&pacedReader{Reader: in, quit: quit, cancel: cancel}).copyTo(z); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return out.Sync()
}
