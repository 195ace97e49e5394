package server

import (
	"net"
	"net/http/httptest"
	"net/netip"
	"testing"

	"pmg/httpapi/conns"
	"pmg/internal/testkit/testutil"
)

// connected returns both ends of a connection.
func connected(t *testing.T) (client, server net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if client, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return client, server
}

// A login does not wait for a client that has hung up, though the body of its request has not been read.
func TestHungUp(t *testing.T) {
	t.Parallel()
	client, server := connected(t)
	if _, err := client.Write([]byte("a body")); err != nil {
		t.Fatal(err)
	}
	x := &Exchange{Request: httptest.NewRequest("POST", "/v1/messages", nil), Conn: &conn{Conn: conns.NewTable(func() int { return 1 }).Enter(server, netip.Addr{})}}
	ctx, end := x.whileThere()
	defer end()
	if x.Conn.hungUp() || ctx.Err() != nil {
		t.Error("it has hung up at once")
	}
	client.Close()
	testutil.Eventually(t, "it is noticed", func() bool { return ctx.Err() != nil })
}
