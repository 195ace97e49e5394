package httpcall

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
	"pmg/internal/tlsfiles"
	"pmg/protocols/httpsms"
	"pmg/sms"
)

func TestMain(m *testing.M) { testutil.NoLeaks(m) }

// loopback is a target of a client that may reach this machine.
func loopback() Target { return Target{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}} }

func newCaller(t *testing.T, o Options) *Caller {
	if o.Timeout == 0 {
		o.Timeout = testutil.Patience
	}
	c := NewCaller(o)
	t.Cleanup(c.Close)
	return c
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func post(url string) *httpsms.Call {
	return &httpsms.Call{Method: "POST", URL: url, Header: [][2]string{{"Content-Type", "text/plain"}, {"webhook-id", "7"}}, Body: []byte("hello")}
}

// A call brings its body and headers, and its outcome has the beginning of the answer.
func TestCall(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s %s %s %q %d", r.Method, r.URL, body, r.Header.Get("Content-Type"), r.Header.Get("Webhook-Id"), r.Header.Values("Idempotency-Key"), len(r.Header))
	})
	o := newCaller(t, Options{}).Do(t.Context(), post(s.URL+"/hook?a=b"), loopback())
	if o.Code != sms.OK || o.Status != 200 || o.Err != "" || o.Took <= 0 || string(o.Body) != "POST /hook?a=b hello text/plain 7 [] 4" {
		t.Errorf("%+v %s", o, o.Body)
	}
}

// What statuses mean.
func TestStatuses(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		status, _ := strconv.Atoi(r.URL.Query().Get("status"))
		if after := r.URL.Query().Get("after"); after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.WriteHeader(status)
	})
	c := newCaller(t, Options{})
	f := func(status int, after string, want Outcome) {
		t.Helper()
		want.Status = status
		o := c.Do(t.Context(), post(fmt.Sprintf("%s?status=%d&after=%s", s.URL, status, after)), loopback())
		o.Body, o.Took = nil, 0
		if fmt.Sprint(o) != fmt.Sprint(want) {
			t.Errorf("%d: %+v, want %+v", status, o, want)
		}
	}
	f(200, "", Outcome{})
	f(202, "60", Outcome{})
	f(204, "", Outcome{})
	f(299, "", Outcome{})
	f(304, "", Outcome{Code: sms.TemporaryFailure, Slow: true, Err: "redirects to nowhere"})
	f(400, "", Outcome{Code: sms.TemporaryFailure, Slow: true, Err: "answered 400 Bad Request"})
	f(404, "90", Outcome{Code: sms.TemporaryFailure, Slow: true, RetryAfter: 90 * time.Second, Err: "answered 404 Not Found"})
	f(408, "", Outcome{Code: sms.TemporaryFailure, Err: "answered 408 Request Timeout"})
	f(410, "", Outcome{Code: sms.TemporaryFailure, Slow: true, Gone: true, Err: "answered 410 Gone"})
	f(429, "", Outcome{Code: sms.Throttled, Err: "answered 429 Too Many Requests"})
	f(429, "5", Outcome{Code: sms.Throttled, RetryAfter: 5 * time.Second, Err: "answered 429 Too Many Requests"})
	f(500, "", Outcome{Code: sms.TemporaryFailure, Err: "answered 500 Internal Server Error"})
	f(503, "", Outcome{Code: sms.TemporaryFailure, Err: "answered 503 Service Unavailable"})
	f(503, "99999999999", Outcome{Code: sms.Throttled, RetryAfter: 24 * time.Hour, Err: "answered 503 Service Unavailable"})
	f(799, "", Outcome{Code: sms.TemporaryFailure, Slow: true, Err: "answered 799"})
}

// A dialect may ask for more than a status.
func TestTaken(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Query().Get("say")) })
	c := newCaller(t, Options{})
	f := func(say string, want sms.Code, err string) {
		t.Helper()
		call := post(s.URL + "?say=" + say)
		call.Taken = func(status int, body []byte) bool { return status == 200 && string(body) == "ACK" }
		if o := c.Do(t.Context(), call, loopback()); o.Code != want || o.Err != err || o.Slow {
			t.Errorf("%q: %+v", say, o)
		}
	}
	f("ACK", sms.OK, "")
	f("no", sms.TemporaryFailure, "answered 200, but not that it has the message")
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 7, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "0": 0, "120": 2 * time.Minute, "-5": 0, "1.5": 0, "soon": 0, "18446744073709551615": 24 * time.Hour, "99999999999999999999999": 0,
		"Mon, 23 Nov 2026 07:00:30 GMT": 30 * time.Second, "Mon, 23 Nov 2026 06:00:00 GMT": 0, "Fri, 31 Dec 9999 23:59:59 GMT": 24 * time.Hour,
		"Monday, 23-Nov-26 07:01:00 GMT": time.Minute, "Mon Nov 23 07:00:01 2026": time.Second,
	} {
		if got := retryAfter(text, now); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// A redirect is a failure that says where it leads, without what may be secret there.
func TestRedirect(t *testing.T) {
	t.Parallel()
	var reached atomic.Bool
	other := serve(t, func(http.ResponseWriter, *http.Request) { reached.Store(true) })
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", r.URL.Query().Get("to"))
		w.WriteHeader(http.StatusPermanentRedirect)
	})
	c := newCaller(t, Options{})
	f := func(to, want string) {
		t.Helper()
		if o := c.Do(t.Context(), post(s.URL+"?to="+to), loopback()); o.Code != sms.TemporaryFailure || !o.Slow || o.Err != "redirects to "+want {
			t.Errorf("%+v", o)
		}
	}
	f(other.URL+"/other", other.URL+"/other")
	f("http://user:secret@example.net/a%3Fkey=secret%23secret", "http://example.net/a")
	f("/elsewhere", s.URL+"/elsewhere")
	f("http://[", "what cannot be read")
	f("/"+strings.Repeat("a", 1000), s.URL+"/"+strings.Repeat("a", maxDestination-len(s.URL)-1))
	if reached.Load() {
		t.Error("it was followed")
	}
}

// Of an answer without end 64 KiB are read. Then the connection is closed.
func TestBodyWithoutEnd(t *testing.T) {
	t.Parallel()
	ended := make(chan bool, 2)
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		piece := []byte(strings.Repeat("a", 1<<16))
		for sent := 0; sent < 1<<30; sent += len(piece) {
			if _, err := w.Write(piece); err != nil {
				ended <- true
				return
			}
		}
		ended <- false
	})
	var read int
	call := post(s.URL)
	call.Taken = func(_ int, body []byte) bool { read = len(body); return true }
	o := newCaller(t, Options{}).Do(t.Context(), call, loopback())
	if o.Code != sms.OK || read != defaultBody || len(o.Body) != keptBody {
		t.Errorf("%+v, %d read", o, read)
	}
	if !<-ended {
		t.Error("all of it was taken")
	}
}

// An answer that is compressed stays as it is, so that nothing grows here.
func TestCompressed(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, "\x1f\x8b"+r.Header.Get("Accept-Encoding"))
	})
	if o := newCaller(t, Options{}).Do(t.Context(), post(s.URL), loopback()); o.Code != sms.OK || string(o.Body) != "\x1f\x8b" {
		t.Errorf("%+v", o)
	}
}

// raw answers connections by hand, each when its request has come.
func raw(t *testing.T, talk func(net.Conn)) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				talk(conn)
			}
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	return "http://" + l.Addr().String()
}

// hold waits until the client has closed the connection.
func hold(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// Servers that do not answer, or only in part, cost a call its time and no more.
func TestSlowServers(t *testing.T) {
	t.Parallel()
	half := func(c net.Conn) {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
		hold(c)
	}
	f := func(name string, talk func(net.Conn), hasTaken bool, want Outcome) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := Options{Timeout: 100 * time.Millisecond}
			if want.Status != 0 {
				o.Timeout = 3 * time.Second // enough for a header that comes
			}
			c := newCaller(t, o)
			call := post(raw(t, talk))
			if hasTaken {
				call.Taken = func(int, []byte) bool { return true }
			}
			got := c.Do(t.Context(), call, loopback())
			if got.Code != want.Code || got.Err != want.Err || got.Status != want.Status || string(got.Body) != string(want.Body) {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
	slow := Outcome{Code: sms.TemporaryFailure, Err: "did not answer within 100ms"}
	f("never answers", hold, false, slow)
	f("sends its header slowly", func(c net.Conn) {
		_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nA: ")
		for err == nil {
			time.Sleep(time.Millisecond)
			_, err = io.WriteString(c, "a")
		}
	}, false, slow)
	f("stops in its body", half, false, Outcome{Status: 200, Body: []byte("half")})
	f("stops in a body that counts", half, true, slow)
}

// What servers answer that do not speak HTTP, or end too early.
func TestBrokenServers(t *testing.T) {
	t.Parallel()
	f := func(answer, want string) {
		t.Helper()
		url := raw(t, func(c net.Conn) {
			_, _ = io.WriteString(c, answer)
		})
		call := post(url)
		call.Taken = func(int, []byte) bool { return true }
		o := newCaller(t, Options{}).Do(t.Context(), call, loopback())
		if o.Code != sms.TemporaryFailure || !strings.HasPrefix(o.Err, want) || len(o.Err) > maxWords+20 || o.Status != 0 {
			t.Errorf("%.20q: %+v, want %q", answer, o, want)
		}
	}
	f("", "closed the connection before its answer was whole")
	f("HTTP/1.1 200 OK\r\nA: b", "closed the connection before its answer was whole")
	f("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", "closed the connection before its answer was whole")
	f("HTTP/1.1 200 OK\r\nA: "+strings.Repeat("a", 1<<20)+"\r\n\r\n", "failed: HTTP/1.x transport connection broken: server response headers exceeded 65536 bytes")
	f("HTTP/1.1 200 OK\r\n"+strings.Repeat("A: b\r\n", 1<<16)+"\r\n", "failed: HTTP/1.x transport connection broken: server response headers exceeded 65536 bytes")
	f("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "failed: ")
	f("SSH-2.0-OpenSSH_9.2\r\n", "failed: ")
	f("+OK "+strings.Repeat("\x00", 1000)+"\r\n", "failed: ")
}

// Connections are kept for further calls, and one that the server has closed meanwhile costs no failure. A connection
// is seldom not kept: its server has answered before the whole request was written.
func TestKeptConnection(t *testing.T) {
	t.Parallel()
	var connections atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	c := newCaller(t, Options{})
	for i := range 30 {
		if i == 15 {
			s.CloseClientConnections()
		}
		if o := c.Do(t.Context(), post(s.URL), loopback()); o.Code != sms.OK {
			t.Fatalf("call %d: %+v", i, o)
		}
	}
	if n := connections.Load(); n < 2 || n > 15 {
		t.Errorf("%d connections", n)
	}
}

// A call ends when the gateway does.
func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	url := raw(t, func(c net.Conn) {
		cancel()
		hold(c)
	})
	if o := newCaller(t, Options{}).Do(ctx, post(url), loopback()); o.Code != sms.TemporaryFailure || o.Err != "was not waited for" {
		t.Errorf("%+v", o)
	}
}

// Calls that cannot be made are refused for good.
func TestImpossible(t *testing.T) {
	t.Parallel()
	c := newCaller(t, Options{})
	f := func(call *httpsms.Call, to Target, want string) {
		t.Helper()
		if o := c.Do(t.Context(), call, to); o.Code != sms.Rejected || o.Err != want {
			t.Errorf("%+v, want %q", o, want)
		}
	}
	f(post("ftp://example.net/"), Target{Trusted: true}, "its URL must begin with http:// or https://")
	f(post("http://user:secret@example.net/"), Target{Trusted: true}, "its URL must not have a user or a password")
	f(post("http://example.net:25/"), Target{}, "its URL must have port 80, 443, or one from 1024, not 25")
	f(&httpsms.Call{Method: "a b", URL: "http://example.net/"}, Target{}, `cannot be called: net/http: invalid method "a b"`)
}

// certificates makes an authority, and a certificate of it for a name.
func certificates(t *testing.T, lasts time.Duration, name string) (*x509.CertPool, tls.Certificate) {
	t.Helper()
	a, err := tlsfiles.NewAuthority("test", time.Hour)
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	if err == nil {
		err = a.Write(file("ca.pem"))
	}
	if err == nil {
		err = a.Issue(file("c.pem"), file("k.pem"), lasts, name)
	}
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pem, err := os.ReadFile(file("ca.pem"))
	if err != nil || !pool.AppendCertsFromPEM(pem) {
		t.Fatal("no authority:", err)
	}
	c, err := tls.LoadX509KeyPair(file("c.pem"), file("k.pem"))
	if err != nil {
		t.Fatal(err)
	}
	return pool, c
}

func serveTLS(t *testing.T, config *tls.Config, h http.HandlerFunc) *httptest.Server {
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2, s.TLS = true, config
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// The certificates of servers are verified.
func TestCertificates(t *testing.T) {
	t.Parallel()
	proto := func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }
	f := func(lasts time.Duration, name string, isKnown bool, want string) {
		t.Helper()
		pool, c := certificates(t, lasts, name)
		if !isKnown {
			pool = x509.NewCertPool()
		}
		s := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{c}}, proto)
		o := newCaller(t, Options{TLS: &tls.Config{RootCAs: pool}}).Do(t.Context(), post(s.URL), loopback())
		if o.Err != want || (o.Code == sms.OK) != (want == "") || want == "" && string(o.Body) != "HTTP/2.0" {
			t.Errorf("%+v, want %q", o, want)
		}
	}
	f(time.Hour, "127.0.0.1", true, "")
	f(time.Hour, "127.0.0.1", false, "has a certificate of an authority that is not known")
	f(time.Hour, "other.example.net", true, "has a certificate for other names")
	f(-time.Minute, "127.0.0.1", true, "has a certificate that expired on "+day(time.Now().Add(-time.Minute)))

	plain := serve(t, proto)
	if o := newCaller(t, Options{}).Do(t.Context(), post("https"+strings.TrimPrefix(plain.URL, "http")), loopback()); o.Err != "does not speak TLS" {
		t.Errorf("%+v", o)
	}
}
