package logfile

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/klauspost/compress/zstd"
)

// compressShare is the part of its time in which a compression works: 1/compressShare. It
// sleeps for the rest, so that a busy gateway, which rotates often, does not slow down. 5 %
// of one processor compress about 25 MB/s (2026-11-21).
const compressShare = 20

// piece is how many bytes are compressed between two rests. A rest empties the processor's
// caches, so smaller pieces cost more: with 128 KiB, compressing took three times the CPU
// time (2026-11-21).
const piece = 1 << 20

var errStopped = errors.New("stopped")

// A pacedReader delays reading, so that its user rests most of the time.
type pacedReader struct {
	io.Reader
	quit, cancel <-chan struct{} // reading fails after quit or cancel is closed
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

// copyTo copies piece by piece, even if w has a ReadFrom that reads less at a time.
func (r *pacedReader) copyTo(w io.Writer) (int64, error) {
	return io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{r}, make([]byte, piece))
}

// zstdWindow is how many bytes back the compressor searches for repetitions. In logs these
// are so close that a larger window does not make the files smaller.
const zstdWindow = 512 << 10

// newWriter returns a writer that compresses to w at the fastest level, because logs compress
// well even so, and the gateway needs the CPU. It starts no goroutines. With keys the file has an index.
func newWriter(w io.Writer, keys Keyer) (io.WriteCloser, error) {
	if keys != nil {
		return newPacker(w, keys)
	}
	return zstd.NewWriter(
		w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstdWindow),
	)
}

// Reader returns a reader of the uncompressed content of the segment's file. It starts no goroutines.
func (s Segment) Reader(file io.Reader) (io.ReadCloser, error) {
	if !s.Packed {
		return io.NopCloser(file), nil
	}
	z, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	return z.IOReadCloser(), nil
}

// compressFile compresses a file, and stops early if quit or cancel is closed.
func compressFile(from, to string, keys Keyer, quit, cancel <-chan struct{}) (err error) {
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
	z, err := newWriter(out, keys)
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
