package admin

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
)

// H25: a health check is answered, however many connections send a request slowly or
// not at all.
func TestSlowConnections(t *testing.T) {
	t.Parallel()
	r := start(t, parse(t, clientsOnly, t.TempDir()), false)
	for n := range 2 * maxConnections {
		c, err := net.Dial("tcp", r.admin.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if n%2 == 0 {
			_, _ = c.Write([]byte("GET /healthz HTTP/1.1\r\nHost: local")) // it may be closed already
		}
	}
	if code, _ := r.get("/healthz"); code != 200 {
		t.Errorf("got %d", code)
	}
}

// H25: the number of requests served at the same time is limited. Health checks do not count.
func TestWorkLimit(t *testing.T) {
	t.Parallel()
	r := start(t, parse(t, clientsOnly, t.TempDir()), false)
	for range maxWork {
		r.admin.limiters.address.work <- struct{}{}
	}
	if code, _ := r.get("/admin/v1/status"); code != http.StatusServiceUnavailable {
		t.Errorf("one request too many: %d", code)
	}
	if code, _ := r.get("/healthz"); code != http.StatusOK {
		t.Errorf("a health check: %d", code)
	}
	answer, err := r.local().Get("http://localhost/admin/v1/status")
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("over the socket: %d", answer.StatusCode)
	}
	<-r.admin.limiters.address.work
	if code, _ := r.get("/admin/v1/status"); code != http.StatusOK {
		t.Errorf("with room again: %d", code)
	}
}

// A request that is served, such as a long backup, is not cut off by other connections.
func TestServedIsNotClosed(t *testing.T) {
	t.Parallel()
	l := newLimiters()
	begun, end := make(chan bool), make(chan bool)
	s := httptest.NewUnstartedServer(l.limited(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		begun <- true
		<-end
	})))
	s.Config.ConnState, s.Config.ConnContext = l.connState, connContext
	s.Start()
	defer s.Close()
	failed := make(chan error, 1)
	go func() {
		r, err := http.Get(s.URL)
		if err == nil {
			err = r.Body.Close()
		}
		failed <- err
	}()
	<-begun
	for range 2 * maxConnections {
		c, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	closed := func() bool {
		l.address.mu.Lock()
		defer l.address.mu.Unlock()
		return len(l.address.idle) == maxConnections
	}
	testutil.Eventually(t, "the others take each other's places", closed)
	end <- true
	if err := <-failed; err != nil {
		t.Error(err)
	}
}

// A deadlineRecorder is a ResponseWriter that records the deadline that is set.
type deadlineRecorder struct {
	*httptest.ResponseRecorder
	write time.Time
}

func (w *deadlineRecorder) SetWriteDeadline(t time.Time) error { w.write = t; return nil }

// F31: Go's pprof handler extends the write deadline by the duration of a profile. The
// handlers around it must not prevent that.
func TestLongProfile(t *testing.T) {
	t.Parallel()
	r := start(t, parse(t, clientsOnly, t.TempDir()), true)
	q := httptest.NewRequest(http.MethodGet, "/debug/pprof/trace?seconds=0.01", nil)
	q.Host = "localhost"
	q.Header.Set("Authorization", "Bearer "+testToken)
	ctx := context.WithValue(q.Context(), http.ServerContextKey, &r.admin.http)
	w := &deadlineRecorder{ResponseRecorder: httptest.NewRecorder()}
	least := time.Now().Add(timeout + 10*time.Millisecond)
	r.admin.http.Handler.ServeHTTP(w, q.WithContext(ctx))
	if w.Code != 200 || w.write.Before(least) {
		t.Errorf("status %d; the deadline %v is less than %v", w.Code, w.write, least)
	}
}
