package connector

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"

	"pmg/internal/testkit/testutil"
)

// The addresses are tried in turn, and all addresses of a host name.
func TestDial(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	d := newDesk(t, fmt.Sprintf("addresses: [%q, %q]", testutil.FreeAddress(t), "localhost:"+port))
	i := d.dialed[0]
	for i.Address = range 3 {
		conn, err := i.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := conn.RemoteAddr().String(); got != l.Addr().String() {
			t.Errorf("connected to %s, want %s", got, l.Addr())
		}
		conn.Close()
	}
}

// The error names the address once, and the reason.
func TestDialFails(t *testing.T) {
	t.Parallel()
	address := testutil.FreeAddress(t)
	i := newDesk(t, fmt.Sprintf("addresses: [%q]", address)).dialed[0]
	_, err := i.Dial(t.Context())
	if err == nil {
		t.Fatal("connected to an address without a listener")
	}
	if !errors.Is(err, syscall.ECONNREFUSED) || strings.Count(err.Error(), "127.0.0.1") != 1 {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := i.Dial(ctx); err == nil {
		t.Error("connected although the context has ended")
	}
	for want, err := range map[string]error{
		"no answer in 10s":            &net.OpError{Op: "dial", Err: timeout{}},
		"lookup smsc.example: failed": &net.OpError{Op: "dial", Err: &net.DNSError{Name: "smsc.example", Err: "failed", IsTimeout: true}},
	} {
		if got := dialReason(err, i.Connector.Config().ConnectTimeout); got.Error() != want {
			t.Errorf("%v becomes %q, want %q", err, got, want)
		}
	}
}

// timeout is an error like the system's for a connection attempt without an answer.
type timeout struct{}

func (timeout) Error() string { return "i/o timeout" }
func (timeout) Timeout() bool { return true }
