package http1

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
)

// A reading is a request as one of the readers has understood it.
type reading struct {
	method, path, query, proto string
	header                     http.Header // without Host
	host                       string
	body                       string
	close                      bool
	end                        int    // place behind it in the octets; 0: unknown
	odd                        string // why it is a request that this package never takes
}

func (a *reading) differs(b *reading) bool {
	same := a.method == b.method && a.path == b.path && a.query == b.query && a.proto == b.proto && a.host == b.host &&
		a.body == b.body && a.close == b.close && a.odd == b.odd && (a.end == b.end || a.end == 0 || b.end == 0)
	return !same || !maps.EqualFunc(a.header, b.header, slices.Equal[[]string])
}

// readAll returns the requests at the beginning of b that this package takes, up to the last one of the connection.
func readAll(t testing.TB, b []byte) (all []*reading) {
	t.Helper()
	for at := 0; ; {
		n, isForeign := Extent(b[at:])
		if isForeign || n > len(b)-at {
			return all
		}
		var r Request
		if !Read(&r, b[at:at+n]) {
			t.Fatalf("%q: Extent takes %d octets from %d on, Read does not", b, n, at)
		}
		at += n
		all = append(all, readingOf(&r, at))
		if r.Close {
			return all
		}
	}
}

func readingOf(r *Request, end int) *reading {
	x := &reading{method: "GET", path: string(r.Path), query: string(r.Query), proto: "HTTP/1.1", header: http.Header{}, body: string(r.Body),
		close: r.Close, end: end}
	if r.Post {
		x.method = "POST"
	}
	if r.HTTP10 {
		x.proto = "HTTP/1.0"
	}
	for name, value := range r.Fields {
		x.header.Add(string(name), string(value))
	}
	host, _ := r.Field("host")
	x.host = string(host)
	x.header.Del("Host")
	if p := x.header["Pragma"]; len(p) > 0 && p[0] == "no-cache" && x.header["Cache-Control"] == nil {
		x.header.Set("Cache-Control", "no-cache") // net/http adds it; nothing in the gateway reads it
	}
	return x
}

// readingByNet returns a request as net/http has read it.
func readingByNet(r *http.Request) *reading {
	body, err := io.ReadAll(r.Body)
	x := &reading{method: r.Method, path: r.URL.Path, query: r.URL.RawQuery, proto: r.Proto, header: r.Header, host: r.Host,
		body: string(body), close: r.Close}
	if err != nil || int64(len(body)) != r.ContentLength || r.URL.RawPath != "" || r.URL.Fragment != "" || r.URL.Host != "" ||
		len(r.TransferEncoding) > 0 || r.Trailer != nil {
		x.odd = fmt.Sprintf("%v, URL %+v, %d octets, %v, %v", err, r.URL, r.ContentLength, r.TransferEncoding, r.Trailer)
	}
	return x
}

// checkReader checks that http.ReadRequest reads the same requests at the same places as this package. It returns these.
func checkReader(t testing.TB, b []byte) []*reading {
	t.Helper()
	all := readAll(t, b)
	rest := bytes.NewReader(b)
	in := bufio.NewReader(rest)
	for _, want := range all {
		r, err := http.ReadRequest(in)
		if err != nil {
			t.Fatalf("%q: net/http does not take %+v: %v", b, want, err)
		}
		got := readingByNet(r)
		got.end = len(b) - rest.Len() - in.Buffered()
		if got.differs(want) || got.end != want.end {
			t.Fatalf("%q\n    here %+v\nnet/http %+v", b, want, got)
		}
		if clean := path.Clean(got.path); got.path != clean && got.path != clean+"/" {
			t.Fatalf("%q: ServeMux redirects from %s to %s", b, got.path, clean)
		}
	}
	return all
}

// A wire is a connection whose client has sent all its octets before, and then no more.
type wire struct {
	net.Conn
	in     *bytes.Reader
	out    bytes.Buffer
	closed chan struct{}
	once   sync.Once
}

func newWire(b []byte) *wire { return &wire{in: bytes.NewReader(b), closed: make(chan struct{})} }

func (w *wire) Read(b []byte) (int, error)       { return w.in.Read(b) }
func (w *wire) Write(b []byte) (int, error)      { return w.out.Write(b) }
func (w *wire) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (w *wire) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (w *wire) SetDeadline(time.Time) error      { return nil }
func (w *wire) SetReadDeadline(time.Time) error  { return nil }
func (w *wire) SetWriteDeadline(time.Time) error { return nil }

func (w *wire) Close() error {
	w.once.Do(func() { close(w.closed) }) // a server that is closed closes the latest connection again
	return nil
}

// A netServer is a server of net/http with the gateway's limits. It serves one connection after the other.
type netServer struct {
	server http.Server
	wires  chan net.Conn

	got []*reading // of the present connection
}

func newNetServer(t testing.TB) *netServer {
	t.Helper()
	s := &netServer{wires: make(chan net.Conn)}
	s.server.Handler, s.server.MaxHeaderBytes = http.HandlerFunc(s.serve), 64<<10
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.server.Serve(s)
	}()
	t.Cleanup(func() {
		_ = s.server.Close()
		<-done
	})
	return s
}

// Accept implements net.Listener.
func (s *netServer) Accept() (net.Conn, error) {
	c, ok := <-s.wires
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

// Close implements net.Listener.
func (s *netServer) Close() error {
	close(s.wires)
	return nil
}

// Addr implements net.Listener.
func (s *netServer) Addr() net.Addr { return &net.TCPAddr{} }

func (s *netServer) serve(w http.ResponseWriter, r *http.Request) {
	got := readingByNet(r)
	s.got = append(s.got, got)
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("Content-Length", fmt.Sprint(len(got.body)))
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, got.body)
}

// talk returns what the server has read of the octets of a connection, and its answers.
func (s *netServer) talk(t testing.TB, b []byte) ([]*reading, []byte) {
	t.Helper()
	w := newWire(b)
	s.got = nil
	s.wires <- w
	testutil.Receive(t, "the end of the connection", w.closed)
	return s.got, w.out.Bytes()
}

// checkServer checks that a server of net/http serves the same requests as this package, in the same order, and that its answers
// are those of AppendAnswer.
func (s *netServer) checkServer(t testing.TB, b []byte) {
	t.Helper()
	all := readAll(t, b)
	if len(all) == 0 {
		return
	}
	got, answers := s.talk(t, b)
	if last := all[len(all)-1]; len(got) < len(all) || last.close && len(got) != len(all) {
		t.Fatalf("%q: net/http reads %d requests, here %d", b, len(got), len(all))
	}
	in := bufio.NewReader(bytes.NewReader(answers))
	var d Date
	for i, want := range all {
		if got[i].differs(want) {
			t.Fatalf("%q\n    here %+v\nnet/http %+v", b, want, got[i])
		}
		ours := AppendAnswer(nil, &Answer{
			Status: http.StatusAccepted, Date: d.At(time.Now()), Fields: AppendField(nil, "Content-Type", "text/plain"),
			Body: []byte(want.body), Close: want.close, HTTP10: want.proto == "HTTP/1.0",
		})
		theirs, err := answerOf(in, want.method)
		if err != nil {
			t.Fatalf("%q: answer %d of net/http: %v", b, i, err)
		}
		mine, err := answerOf(bufio.NewReader(bytes.NewReader(ours)), want.method)
		if err != nil || mine != theirs {
			t.Fatalf("%q: answer %d\n    here %s %v\nnet/http %s", b, i, mine, err, theirs)
		}
	}
}

// answerOf reads an answer, and returns it as a text without the time of its Date.
func answerOf(in *bufio.Reader, method string) (string, error) {
	a, err := http.ReadResponse(in, &http.Request{Method: method})
	if err != nil {
		return "", fmt.Errorf("cannot read answer: %w", err)
	}
	body, err := io.ReadAll(a.Body)
	if err != nil {
		return "", fmt.Errorf("cannot read body: %w", err)
	}
	if _, err = http.ParseTime(a.Header.Get("Date")); err != nil {
		return "", fmt.Errorf("cannot read date: %w", err)
	}
	a.Header.Del("Date")
	return fmt.Sprintf("%s %s %d %v %t %q", a.Proto, a.Status, a.ContentLength, a.Header, a.Close, body), nil
}

// What this package takes, net/http takes, too, as the same request, and finds the next one at the same place.
func TestAgainstReader(t *testing.T) {
	takes := 0
	for seed := range uint64(60_000) {
		b := mutated(seed)
		takes += len(checkReader(t, b))
		if seed%10 == 0 {
			checkPrefixes(t, b)
		}
	}
	for _, section := range sections() {
		for _, s := range section.samples {
			checkReader(t, []byte(s.octets))
		}
	}
	if takes < 20_000 {
		t.Errorf("only %d requests were compared", takes)
	}
}

func TestAgainstServer(t *testing.T) {
	s := newNetServer(t)
	for seed := range uint64(10_000) {
		s.checkServer(t, mutated(1<<32+seed))
	}
	for _, section := range sections() {
		for _, x := range section.samples {
			s.checkServer(t, []byte(x.octets))
			s.checkServer(t, []byte(x.octets+kannelGet))
		}
	}
}

// Whatever comes, the verdict about its beginning holds, and what is taken is what net/http takes.
func FuzzRequest(f *testing.F) {
	for _, section := range sections() {
		for _, s := range section.samples {
			if len(s.octets) < 1<<10 {
				f.Add([]byte(s.octets))
			}
		}
	}
	for seed := range uint64(200) {
		f.Add(mutated(seed))
	}
	f.Add([]byte(strings.Repeat(kannelGet, 3)))
	s := newNetServer(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		checkReader(t, b)
		s.checkServer(t, b)
		if len(b) < 4<<10 {
			checkPrefixes(t, b)
		}
	})
}
