package loadtest

import "io"

// readBuffer is enough for the answers of a window of 500, or for 120 submits.
const readBuffer = 16 << 10

// A stream splits the octets of a connection into PDUs. One fill reads all that has
// arrived; then next is called until it returns nil.
type stream struct {
	r          io.Reader
	wire       wire
	buf        []byte
	start, end int // buf[start:end] was read and not yet returned
}

func newStream(r io.Reader, w wire) stream {
	return stream{r: r, wire: w, buf: make([]byte, readBuffer)}
}

// fill reads once. It overwrites PDUs that next has returned.
func (s *stream) fill() error {
	if s.start > 0 {
		s.end = copy(s.buf, s.buf[s.start:s.end])
		s.start = 0
	}
	if s.end == len(s.buf) { // one PDU larger than the buffer: next has checked its length
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	n, err := s.r.Read(s.buf[s.end:])
	s.end += n
	if n > 0 {
		return nil
	}
	return err
}

// next returns the next whole PDU, nil when more must be read.
func (s *stream) next() ([]byte, error) {
	n, err := s.wire.frame(s.buf[s.start:s.end])
	if n == 0 || err != nil {
		return nil, err
	}
	b := s.buf[s.start : s.start+n : s.start+n]
	s.start += n
	return b, nil
}
