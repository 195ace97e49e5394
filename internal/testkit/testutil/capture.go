package testutil

import (
	"bytes"
	"time"

	"pmg/internal/capture"
)

// Capture returns segments as a capture file, a second after the other. So tshark can judge them without the right to capture
// packets, and none is lost.
func Capture(segments []capture.Segment) []byte {
	var b bytes.Buffer
	w, err := capture.NewWriter(&b)
	for i, s := range segments {
		if s.Time = time.Unix(int64(i), 0); err == nil {
			err = w.Write(s)
		}
	}
	if err != nil {
		panic(err) // writing to a buffer does not fail
	}
	return b.Bytes()
}
