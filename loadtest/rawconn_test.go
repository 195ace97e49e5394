package loadtest

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"
)

// Octets that a socket does not take immediately are written later, in order, and the end
// of the stream is reported.
func TestRawConn(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	sent := make([]byte, 16<<20) // more than two sockets hold
	for i := range sent {
		sent[i] = byte(i * 7 >> 3)
	}
	written := make(chan error, 1)
	go func() {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err == nil {
			conn = newRawConn(conn)
			_, err = conn.Write(sent)
			conn.Close()
		}
		written <- err
	}()
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	time.Sleep(20 * time.Millisecond) // until the sockets are full
	if got, err := io.ReadAll(newRawConn(conn)); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d octets came of %d, %v", len(got), len(sent), err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}
