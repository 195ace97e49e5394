package logfile

import (
	"bytes"
	"io"
	"testing"
	"testing/synctest"
)

// A compressor with its own ReadFrom would rest after every small block.
func TestCompressionRestsBetweenPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w sizes
		const size = 5*piece/2 + 1
		n, err := (&pacedReader{Reader: bytes.NewReader(make([]byte, size))}).copyTo(&w)
		if err != nil || n != size {
			t.Errorf("%d bytes copied, error %v", n, err)
		}
		if len(w) != 3 || w[0] != piece || w[1] != piece {
			t.Errorf("pieces of %v", w)
		}
	})
}

// sizes records the size of each write.
type sizes []int

func (s *sizes) Write(b []byte) (int, error) {
	*s = append(*s, len(b))
	return len(b), nil
}

func (s *sizes) ReadFrom(r io.Reader) (int64, error) {
	return io.CopyBuffer(struct{ io.Writer }{s}, struct{ io.Reader }{r}, make([]byte, 1000))
}
