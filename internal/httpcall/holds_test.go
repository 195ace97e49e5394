package httpcall

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"pmg/protocols/httpsms"
	"pmg/sms"
)

// A node that does not own the work calls nobody, also by a connection that is open, and says that nothing was sent.
func TestHolds(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	var holds atomic.Bool
	server := serve(t, func(http.ResponseWriter, *http.Request) { calls.Add(1) })
	caller := newCaller(t, Options{Holds: holds.Load})
	sender := newSender(t, Options{Holds: holds.Load, Connections: 1})
	for _, owns := range []bool{false, true, false} {
		holds.Store(owns)
		want := calls.Load()
		if owns {
			want += 2
		}
		o := caller.Do(t.Context(), post(server.URL), loopback())
		if (o.Code == sms.OK) != owns || !owns && (!o.Code.Retryable() || !strings.Contains(o.Err, "does not own")) {
			t.Errorf("owns %v: a webhook: %+v", owns, o)
		}
		a := sender.Send(t.Context(), get(server.URL))
		if (a.Status == http.StatusOK) != owns || a.Sent != owns || !owns && !strings.Contains(a.Err, "does not own") {
			t.Errorf("owns %v: an SMSC: %+v", owns, a)
		}
		if calls.Load() != want {
			t.Errorf("owns %v: %d calls, want %d", owns, calls.Load(), want)
		}
	}
}

// A call that has begun when the lease ends goes no further.
func TestHoldsUnderWay(t *testing.T) {
	t.Parallel()
	const most = 64 << 20
	var holds atomic.Bool
	holds.Store(true)
	got := make(chan int64, 2)
	server := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		first, _ := io.CopyN(io.Discard, r.Body, 1<<10)
		holds.Store(false)
		rest, _ := io.Copy(io.Discard, r.Body) // the connection is closed
		got <- first + rest
	})
	sender := newSender(t, Options{Holds: holds.Load, Connections: 1})
	a := sender.Send(t.Context(), &httpsms.Call{Method: http.MethodPost, URL: server.URL, Body: make([]byte, most)})
	if n := <-got; a.Status != 0 || !a.Sent || n == most {
		t.Errorf("%d octets have come: %+v", n, a)
	}
}
