package httpcall

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
	"pmg/protocols/httpsms"
)

func newSender(t *testing.T, o Options) *Sender {
	t.Helper()
	if o.Timeout == 0 {
		o.Timeout = testutil.Patience
	}
	if o.ConnectTimeout == 0 {
		o.ConnectTimeout = testutil.Patience
	}
	o.Connections = max(o.Connections, 1)
	s := New(o)
	t.Cleanup(s.Close)
	return s
}

func get(url string) *httpsms.Call {
	return &httpsms.Call{Method: "GET", URL: url, Header: [][2]string{{"X-A", "b"}}}
}

// A call brings what it has, and returns what it is answered with.
func TestSend(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(503)
		fmt.Fprintf(w, "%s %s %s %s %s %d %q", r.Method, r.URL, body, r.Header.Get("X-A"), r.Header.Get("Content-Type"), r.ContentLength, r.TransferEncoding)
	})
	sender := newSender(t, Options{})
	f := func(c *httpsms.Call, want string) {
		t.Helper()
		if a := sender.Send(t.Context(), c); a.Status != 503 || string(a.Body) != want || a.RetryAfter != 7*time.Second || !a.Sent || a.Err != "" {
			t.Errorf("%+v %s", a, a.Body)
		}
	}
	f(get(s.URL+"/a?b=c"), "GET /a?b=c  b  0 []")
	f(post(s.URL), "POST / hello  text/plain 5 []")
}

// A request that a server may have is never sent a second time: a connection that was kept ends under it, in whichever
// method. One that no server can have got is said to be unsent.
func TestSentOnce(t *testing.T) {
	t.Parallel()
	for _, call := range []func(string) *httpsms.Call{get, post} {
		var requests atomic.Int32
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				in := bufio.NewReader(c)
				for range 2 { // the second one is not answered
					r, err := http.ReadRequest(in)
					if err != nil {
						break
					}
					_, _ = io.Copy(io.Discard, r.Body)
					if requests.Add(1)%2 == 1 {
						_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
					}
				}
				_ = c.Close()
			}
		}()
		sender := newSender(t, Options{})
		u := "http://" + l.Addr().String()
		if a := sender.Send(t.Context(), call(u)); a.Status != 200 || !a.Sent {
			t.Errorf("%+v", a)
		}
		if a := sender.Send(t.Context(), call(u)); a.Status != 0 || !a.Sent || a.Err != "closed the connection before its answer was whole" {
			t.Errorf("%+v", a)
		}
		if n := requests.Load(); n != 2 {
			t.Errorf("%s: %d requests came", call(u).Method, n)
		}
		_ = l.Close()
		<-ended
		if a := sender.Send(t.Context(), call(u)); a.Status != 0 || a.Sent || a.Err != "refused the connection" {
			t.Errorf("%+v", a)
		}
	}
}

// What fails before the request is on its way is unsent, what fails behind it is not.
func TestSendFails(t *testing.T) {
	t.Parallel()
	f := func(name string, talk func(net.Conn), sent bool, want string) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t, Options{Timeout: 200 * time.Millisecond})
			if a := s.Send(t.Context(), get(raw(t, talk))); a.Status != 0 || a.Sent != sent || a.Err != want {
				t.Errorf("%+v", a)
			}
		})
	}
	const slow = "did not answer within 200ms"
	f("no answer", hold, true, slow)
	f("half an answer", func(c net.Conn) {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
		hold(c)
	}, true, slow)
	f("no HTTP", func(c net.Conn) { _, _ = io.WriteString(c, "SSH-2.0-x\r\n") }, true, `failed: HTTP/1.x transport connection broken: malformed HTTP response "SSH-2.0-x"`)
	a := newSender(t, Options{}).Send(t.Context(), get("http://\x7f/secret"))
	if a.Sent || a.Err != "cannot be called: its URL cannot be read" {
		t.Errorf("%+v", a)
	}
}

// An attempt finds out whether there is a server, and one with the right certificate.
func TestTry(t *testing.T) {
	t.Parallel()
	pool, c := certificates(t, time.Hour, "127.0.0.1")
	secure := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{c}}, nil)
	plain := serve(t, nil)
	f := func(o Options, text, want string) {
		t.Helper()
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		s := newSender(t, o)
		if got := s.Try(t.Context(), u); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		if want != "" {
			if a := s.Send(t.Context(), get(text)); a.Sent || a.Err != want {
				t.Errorf("%s: %+v, want %q", text, a, want)
			}
		}
	}
	f(Options{}, plain.URL, "")
	f(Options{TLS: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}, secure.URL, "")
	f(Options{TLS: &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}}, secure.URL, "has a certificate of an authority that is not known")
	f(Options{}, "https"+strings.TrimPrefix(plain.URL, "http"), "does not speak TLS")
	f(Options{}, "http://"+testutil.FreeAddress(t), "refused the connection")
}

// A server may ask for a certificate, and be of an authority of its own.
func TestClientCertificate(t *testing.T) {
	t.Parallel()
	pool, c := certificates(t, time.Hour, "127.0.0.1")
	s := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{c}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool},
		func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, r.TLS.PeerCertificates[0].Subject.CommonName)
		})
	_, mine := certificates(t, time.Hour, "pmg.example.net")
	f := func(certificate *tls.Certificate, status int, want string) {
		t.Helper()
		o := Options{TLS: &tls.Config{RootCAs: pool}}
		if certificate != nil {
			o.TLS.Certificates = []tls.Certificate{*certificate}
		}
		if a := newSender(t, o).Send(t.Context(), get(s.URL)); a.Status != status || !strings.Contains(a.Err, want) || status != 0 && string(a.Body) != "127.0.0.1" {
			t.Errorf("%+v, want %q", a, want)
		}
	}
	const refused = "ed" // it ended TLS, or closed the connection, whichever is noticed first
	f(&c, 200, "")
	f(&mine, 0, refused)
	f(nil, 0, refused)
}

// The client for libraries follows as many redirects of a GET, none of another call, and reads no more than the Sender may.
func TestHTTP(t *testing.T) {
	t.Parallel()
	var paths []string
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		paths = append(paths, r.Method+r.URL.Path)
		if n, _ := strconv.Atoi(r.URL.Path[1:]); n > 0 {
			http.Redirect(w, r, fmt.Sprintf("/%d", n-1), http.StatusTemporaryRedirect)
			return
		}
		_, _ = io.WriteString(w, "hello")
	})
	c := newSender(t, Options{MaxBody: 4}).HTTP(2)
	for _, f := range []struct {
		method, path string
		status       int
		body, asked  string
	}{
		{"GET", "/0", 200, "hell", "GET/0"},
		{"GET", "/2", 200, "hell", "GET/2 GET/1 GET/0"},
		{"GET", "/3", 307, "", "GET/3 GET/2 GET/1"},
		{"POST", "/1", 307, "", "POST/1"},
	} {
		paths = nil
		r, _ := http.NewRequest(f.method, s.URL+f.path, strings.NewReader(""))
		a, err := c.Do(r)
		if err != nil {
			t.Error(err)
			continue
		}
		body, _ := io.ReadAll(a.Body)
		_ = a.Body.Close()
		if a.StatusCode != f.status || !strings.HasPrefix(string(body), f.body) || len(body) > 4 || strings.Join(paths, " ") != f.asked {
			t.Errorf("%s %s: %d %q, asked %q", f.method, f.path, a.StatusCode, body, paths)
		}
	}
}

// Whatever its options leave out, a Sender has bounds, and takes no proxy from the environment.
func TestBounds(t *testing.T) {
	t.Parallel()
	s := New(Options{})
	if o := s.options; o.Timeout != defaultTimeout || o.ConnectTimeout != defaultTimeout || o.MaxBody != defaultBody || o.TLS.MinVersion != tls.VersionTLS12 {
		t.Errorf("%+v", o)
	}
	if s.transport.Proxy != nil || s.transport.TLSHandshakeTimeout != defaultTimeout || s.transport.MaxIdleConnsPerHost != defaultIdle {
		t.Errorf("%+v", s.transport)
	}
	s = New(Options{Proxy: true, Timeout: time.Minute, ConnectTimeout: time.Second, Connections: 3})
	if s.transport.Proxy == nil || s.options.Timeout != time.Minute || s.transport.TLSHandshakeTimeout != time.Second || s.transport.MaxIdleConnsPerHost != 3 {
		t.Errorf("%+v", s.transport)
	}
}

// Connections are closed that are of no further use: with the Sender, behind an answer that is too long, and after an attempt.
func TestConnectionsClose(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{}, 9)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("a", len(r.URL.Path)-1))
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	s.Start()
	defer s.Close()
	sender := newSender(t, Options{MaxBody: 4})
	if a := sender.Send(t.Context(), get(s.URL+"/1234567")); string(a.Body) != "aaaa" || a.Err != "" {
		t.Errorf("%+v", a)
	}
	testutil.Receive(t, "the end of a connection with a long answer", closed)
	u, _ := url.Parse(s.URL)
	if why := sender.Try(t.Context(), u); why != "" {
		t.Error(why)
	}
	testutil.Receive(t, "the end of an attempt", closed)
	if a := sender.Send(t.Context(), get(s.URL+"/12")); string(a.Body) != "aa" {
		t.Errorf("%+v", a)
	}
	sender.Close()
	testutil.Receive(t, "the end of a connection that was kept", closed)
}
