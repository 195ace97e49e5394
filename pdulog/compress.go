package pdulog

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/klauspost/compress/gzip"
)

// compressShare is the part of its time that a compression works: one in so many.
// It sleeps for the rest, so that a busy gateway, which rotates often, does not
// slow down: 5 % of one processor compress about 15 MB/s (2026-11-21, docs/bench.md).
const compressShare = 20

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

// copyTo copies in pieces large enough to be worth a rest.
func (r *pacedReader) copyTo(w io.Writer) (int64, error) {
	return io.CopyBuffer(w, struct{ io.Reader }{r}, make([]byte, 128<<10))
}

// gzipFile compresses a file, unless quit or cancel is closed early.
func gzipFile(from, to string, quit, cancel <-chan struct{}) (err error) {
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
	if _, err := (&pacedReader{Reader: in, quit: quit, cancel: cancel}).copyTo(z); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return out.Sync()
}
