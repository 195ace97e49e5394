package loadtest

import (
	"encoding/binary"
	"fmt"
	"io"

	"pmg/protocols/smpp"
)

const (
	readBuffer = 16 << 10 // enough for the answers of a window of 500, or for 120 submits
	maxPDU     = 1 << 20  // a longer PDU means that the framing is lost
)

// A stream splits the octets of a connection into PDUs. One fill reads all that has
// arrived; then next is called until it returns nil.
type stream struct {
	r          io.Reader
	buf        []byte
	start, end int // buf[start:end] was read and not yet returned
}

func newStream(r io.Reader) stream { return stream{r: r, buf: make([]byte, readBuffer)} }

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
	b := s.buf[s.start:s.end]
	if len(b) < 4 {
		return nil, nil
	}
	length := binary.BigEndian.Uint32(b)
	if length < smpp.HeaderLen || length > maxPDU {
		return nil, fmt.Errorf("cannot find the next PDU: its command_length is %d", length)
	}
	if uint32(len(b)) < length {
		return nil, nil
	}
	s.start += int(length)
	return b[:length:length], nil
}
