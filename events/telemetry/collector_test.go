package telemetry

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pmg/internal/httpcall"
	"pmg/internal/testkit/testutil"
)

// hanging is a collector that answers nothing.
type hanging struct{ calls atomic.Int64 }

func (h *hanging) dial(context.Context, string, string) (net.Conn, error) {
	h.calls.Add(1)
	mine, theirs := net.Pipe()
	go func() {
		_, _ = io.Copy(io.Discard, theirs) // until the call has ended
		_ = theirs.Close()
	}()
	return mine, nil
}

// A collector that hangs costs the room for the traces that may wait, and a stop a short time. Each span is counted.
func TestCollectorHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &hanging{}
		var failed atomic.Int64
		e := start(Options{URL: "http://collector", Failed: func(error) { failed.Add(1) }}, httpcall.New(httpcall.Options{Timeout: callTimeout, Dial: h.dial}))
		e.Add(make([]Span, 1))
		time.Sleep(gather + callTimeout/2)
		if h.calls.Load() != 1 {
			t.Fatalf("%d calls", h.calls.Load())
		}
		begin := time.Now()
		for range mostWaiting + 10 {
			e.Add(make([]Span, 2))
		}
		if waited := time.Since(begin); waited != 0 || len(e.queue) != mostWaiting || e.Dropped.Load() != 2*10 {
			t.Errorf("Add waited for %s; %d wait, %d dropped", waited, len(e.queue), e.Dropped.Load())
		}
		time.Sleep(callTimeout)
		if h.calls.Load() != 2 || failed.Load() != 1 || e.Dropped.Load() != 2*10+1 {
			t.Errorf("%d calls, %d failed, %d dropped", h.calls.Load(), failed.Load(), e.Dropped.Load())
		}
		begin = time.Now()
		e.Close()
		if took := time.Since(begin); took != closeWait || e.Sent.Load() != 0 || e.Dropped.Load() != 1+2*(mostWaiting+10) || failed.Load() != e.Errors.Load() {
			t.Errorf("closed in %s; %d sent, %d dropped, %d failed", took, e.Sent.Load(), e.Dropped.Load(), failed.Load())
		}
	})
}

// What a collector answers decides whether spans are sent or dropped. None is sent again.
func TestCollectorAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, answer  string
		sent, dropped int64
	}{
		{"success", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", 3, 0},
		{"success with garbage", "HTTP/1.1 202 Accepted\r\nContent-Length: 3\r\n\r\n\x00{[", 3, 0},
		{"success without end", "HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("a", 128<<10), 3, 0},
		{"redirect", "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://192.0.2.1/\r\nContent-Length: 0\r\n\r\n", 0, 3},
		{"refused", "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", 0, 3},
		{"too many", "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 86400\r\nContent-Length: 0\r\n\r\n", 0, 3},
		{"down", "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", 0, 3},
		{"half", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", 0, 3},
		{"another protocol", "SSH-2.0-OpenSSH_9.2\r\n", 0, 3},
		{"nothing", "", 0, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := Start(Options{URL: answering(t, c.answer)})
			e.Add(make([]Span, 3))
			e.Close()
			if e.Sent.Load() != c.sent || e.Dropped.Load() != c.dropped || e.Errors.Load() != min(1, c.dropped) {
				t.Errorf("%d sent, %d dropped, %d errors", e.Sent.Load(), e.Dropped.Load(), e.Errors.Load())
			}
		})
	}
}

// answering returns the URL of a collector that answers each request with these octets, and closes the connection.
func answering(t *testing.T, octets string) string {
	s := httptest.NewUnstartedServer(nil)
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = buffered.WriteString(octets)
		_ = buffered.Flush()
		_ = conn.Close()
	})
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

// A collector that has closed the connection between two calls loses nothing: the second call goes on a new one.
func TestCollectorCloses(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if calls.Add(1) != 2 {
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_ = conn.Close()
	}))
	t.Cleanup(s.Close)
	e := Start(Options{URL: s.URL})
	for _, sent := range []int64{1, 2} {
		e.Add(make([]Span, 1))
		testutil.Eventually(t, "the spans are sent", func() bool { return e.Sent.Load()+e.Dropped.Load() == sent })
	}
	e.Close()
	if e.Dropped.Load() != 0 || calls.Load() != 3 {
		t.Errorf("%d dropped, %d calls", e.Dropped.Load(), calls.Load())
	}
}
