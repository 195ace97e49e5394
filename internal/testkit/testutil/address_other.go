//go:build !linux

package testutil

import (
	"net"
	"testing"
)

// FreeAddress returns an address of this host that no process listens on at present.
func FreeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
