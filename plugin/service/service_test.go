package service

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"pmg/internal/httpcall"
	"pmg/internal/testkit/testutil"
	"pmg/plugin"
	"pmg/plugin/plugintest"
)

func TestMain(m *testing.M) { testutil.NoLeaks(m) }

// serve starts a server, and returns a plugin that asks it.
func serve(t testing.TB, o Options, h http.HandlerFunc) *Service {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	o.URL = server.URL + "/verdicts?a=b"
	s := New(o)
	t.Cleanup(s.Close)
	return s
}

// answers returns a server that answers a text.
func answers(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, text)
	}
}

// A question is JSON that is signed as the call of a webhook.
func TestQuestion(t *testing.T) {
	t.Parallel()
	key := httpcall.NewSecret()
	var ids []string
	s := serve(t, Options{Key: key}, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		want := `{"messages":[{"hook":"accept","account":"shop","connector":"in","from":"PMG","from_ton":5,"to":"46700000001",` +
			`"to_ton":1,"text":"\u003cåäö\u003e \u0026 \"\n\"","alphabet":"gsm7","priority":0,"arrived":"0001-01-01T00:00:00Z"}]}`
		if r.Method != "POST" || r.RequestURI != "/verdicts?a=b" || string(body) != want || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s %s", r.Method, r.RequestURI, body)
		}
		at, err := strconv.ParseInt(r.Header.Get("Webhook-Timestamp"), 10, 64)
		signed, _ := httpcall.Sign([]string{key}, r.Header.Get("Webhook-Id"), time.Unix(at, 0), body)
		if err != nil || r.Header.Get("Webhook-Signature") != signed[2][1] || r.Header.Get("User-Agent") != "pmg" || len(r.Header) != 6 {
			t.Errorf("%v, %v", r.Header, err)
		}
		ids = append(ids, r.Header.Get("Webhook-Id"))
		r.Body = io.NopCloser(bytes.NewReader(body))
		plugintest.Service(w, r)
	})
	for range 2 {
		if v, err := s.Ask(t.Context(), plugintest.Message(1)); err != nil || v.Text == nil {
			t.Errorf("%+v, %v", v, err)
		}
	}
	if len(ids) != 2 || ids[0] == ids[1] {
		t.Error(ids)
	}
}

// What is no answer fails with an error that says what came, and not all of it.
func TestWrongAnswers(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1000)
	for answer, want := range map[string]string{
		``:                                      `it answers "": EOF`,
		`hello`:                                 `it answers "hello": invalid character 'h'`,
		long:                                    `xxx"…: invalid character`,
		`{"verdicts":[{}]`:                      `unexpected EOF`,
		`{"verdicts":[{}]} {}`:                  `something follows`,
		`{"verdicts":[{}]}x`:                    `something follows`,
		`[{}]`:                                  `cannot unmarshal array`,
		`{"verdicts":[{"do":7}]}`:               `cannot unmarshal number`,
		`{"verdicts":[{"du":"refuse"}]}`:        `unknown field "du"`,
		`{"verdict":[{"do":"refuse"}]}`:         `unknown field "verdict"`,
		`{"verdicts":[null]}`:                   `its verdict 1 is null`,
		`{"verdicts":[]}`:                       `0 verdicts, not 1`,
		`{}`:                                    `0 verdicts, not 1`,
		`null`:                                  `0 verdicts, not 1`,
		`{"verdicts":[{},{}]}`:                  `2 verdicts, not 1`,
		`{"verdicts":[{"until":"soon"}]}`:       `parsing time "soon"`,
		strings.Repeat("[", 1<<20):              `exceeded max depth`,
		strings.Repeat(" ", plugin.MaxAnswer+1): `it answers more than 1048576 octets`,
	} {
		s := serve(t, Options{}, answers(answer))
		v, err := s.Ask(t.Context(), plugintest.Message(1))
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 400 || v.Do != "" {
			t.Errorf("%.40q: %+v, %.500v, want %s", answer, v, err, want)
		}
	}
}

// Other statuses than 200 fail, redirects too, which are not followed.
func TestStatuses(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{
		201: `it answers 201 Created: "{\"verdicts\":[{}]}"`, 204: `it answers 204 No Content: ""`, 302: `it answers 302 Found: `, 500: `it answers 500 Internal`,
		799: `it answers 799 : "{`,
	} {
		s := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/verdicts" {
				t.Error("it was followed")
			}
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"verdicts":[{}]}`)
		})
		if _, err := s.Ask(t.Context(), plugintest.Message(1)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%d: %v, want %s", status, err, want)
		}
	}
}

// An answer without end is read up to a mebibyte, and what is compressed is not unpacked.
func TestAnswerWithoutEnd(t *testing.T) {
	t.Parallel()
	ended := make(chan bool, 1)
	s := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		piece := []byte(strings.Repeat(" ", 1<<16))
		for range 1 << 14 {
			if _, err := w.Write(piece); err != nil {
				ended <- true
				return
			}
		}
		ended <- false
	})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := s.Ask(t.Context(), plugintest.Message(1))
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "more than") || after.TotalAlloc-before.TotalAlloc > 512<<20 {
		t.Errorf("%v, %d octets", err, after.TotalAlloc-before.TotalAlloc)
	}
	if !testutil.Receive(t, "the end of a call", ended) {
		t.Error("a gibibyte was taken")
	}
	s = serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, "\x1f\x8b"+r.Header.Get("Accept-Encoding"))
	})
	if _, err := s.Ask(t.Context(), plugintest.Message(1)); err == nil || !strings.Contains(err.Error(), `"\x1f\x8b"`) {
		t.Error(err)
	}
}

// raw answers each connection by hand, with one answer.
func raw(t *testing.T, talk func(net.Conn)) *Service {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if r, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				_, _ = io.Copy(io.Discard, r.Body)
				talk(conn)
			}
			_ = conn.Close()
		}
	})
	s := New(Options{URL: "http://" + l.Addr().String()})
	t.Cleanup(func() {
		s.Close()
		_ = l.Close()
		all.Wait()
	})
	return s
}

// A server that dies at any octet of its answer leaves no verdict, and the next question is answered.
func TestDies(t *testing.T) {
	t.Parallel()
	const whole = "HTTP/1.1 200 OK\r\nContent-Length: 33\r\n\r\n" + `{"verdicts":[{"do":"hold"}]}     `
	var at atomic.Int64
	s := raw(t, func(c net.Conn) { _, _ = io.WriteString(c, whole[:at.Load()]) })
	for n := range int64(len(whole) + 1) {
		at.Store(n)
		v, err := s.Ask(t.Context(), plugintest.Message(1))
		if (err == nil) != (int(n) == len(whole)) || (v.Do == plugin.Hold) != (err == nil) {
			t.Errorf("at %d: %+v, %v", n, v, err)
		}
	}
}

// What does not speak HTTP, or is not there, fails with a short error.
func TestNoService(t *testing.T) {
	t.Parallel()
	s := raw(t, func(c net.Conn) { _, _ = io.WriteString(c, strings.Repeat("hello", 1000)) })
	if _, err := s.Ask(t.Context(), plugintest.Message(1)); err == nil || len(err.Error()) > 200 {
		t.Errorf("%.300v", err)
	}
	gone := New(Options{URL: "http://" + testutil.FreeAddress(t)})
	defer gone.Close()
	if _, err := gone.Ask(t.Context(), plugintest.Message(1)); err == nil || !strings.Contains(err.Error(), "it refused the connection") {
		t.Error(err)
	}
	for _, o := range []Options{{URL: ":"}, {URL: "http://x", Key: "x"}} {
		wrong := New(o)
		if _, err := wrong.Ask(t.Context(), plugintest.Message(1)); err == nil {
			t.Errorf("%+v", o)
		}
		wrong.Close()
	}
}

// A gate is a server that reports each call to a test, and answers when the test says so.
type gate struct {
	came chan int // messages of a call
	open chan bool
}

func newGate() *gate { return &gate{make(chan int, 100), make(chan bool, 100)} }

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	g.came <- bytes.Count(body, []byte(`"hook"`))
	select {
	case <-g.open:
	case <-r.Context().Done():
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	plugintest.Service(w, r)
}

// asks asks about messages on goroutines of their own, and checks the verdicts.
func asks(t *testing.T, s *Service, all *sync.WaitGroup, from, to int) {
	for i := from; i < to; i++ {
		all.Go(func() {
			m := plugintest.Message(i)
			v, err := s.Ask(context.Background(), m)
			if want := plugintest.Describe(plugintest.Decide(m)); err != nil || plugintest.Describe(v) != want {
				t.Errorf("%d: %s, %v", i, plugintest.Describe(v), err)
			}
		})
	}
}

// A message leaves immediately while few calls are under way. Then a batch gathers until one ends, or it is full.
func TestBatches(t *testing.T) {
	t.Parallel()
	g := newGate()
	s := serve(t, Options{Batch: 5, Calls: 2}, g.ServeHTTP)
	s.gather = time.Hour
	var all sync.WaitGroup
	asks(t, s, &all, 0, 1)
	asks(t, s, &all, 1, 2)
	if a, b := testutil.Receive(t, "a call", g.came), testutil.Receive(t, "a call", g.came); a != 1 || b != 1 {
		t.Error(a, b)
	}
	asks(t, s, &all, 2, 5)
	testutil.Eventually(t, "three gather", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.open != nil && len(s.open.messages) == 3
	})
	g.open <- true // one call ends, and they leave
	if n := testutil.Receive(t, "a call", g.came); n != 3 {
		t.Error(n)
	}
	asks(t, s, &all, 5, 10)
	if n := testutil.Receive(t, "a call", g.came); n != 5 { // the batch is full, while two calls are under way
		t.Error(n)
	}
	close(g.open)
	all.Wait()
}

// Behind calls that hang a batch gathers for a while, and leaves.
func TestHangingCalls(t *testing.T) {
	t.Parallel()
	hangs := make(chan bool)
	s := serve(t, Options{Batch: 50, Calls: 2}, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte(`"to":"hang"`)) {
			hangs <- true
			<-r.Context().Done()
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		plugintest.Service(w, r)
	})
	ctx, cancel := context.WithCancel(t.Context())
	var hanging, all sync.WaitGroup
	for range 2 {
		hanging.Go(func() {
			if _, err := s.Ask(ctx, &plugin.Message{To: "hang"}); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		testutil.Receive(t, "a call", hangs)
	}
	asks(t, s, &all, 0, 200)
	all.Wait()
	cancel()
	hanging.Wait()
}

// One caller's end does not touch the others of its batch. When all have gone, the call ends.
func TestCallersLeave(t *testing.T) {
	t.Parallel()
	g := newGate()
	ended := make(chan bool, 3)
	s := serve(t, Options{Batch: 2, Calls: 1}, func(w http.ResponseWriter, r *http.Request) {
		g.ServeHTTP(w, r)
		ended <- r.Context().Err() != nil
	})
	s.gather = time.Hour
	var all sync.WaitGroup
	asks(t, s, &all, 0, 1)
	if n := testutil.Receive(t, "a call", g.came); n != 1 {
		t.Error(n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	ask := func() { _, err := s.Ask(ctx, plugintest.Message(5)); left <- err }
	go ask()
	testutil.Eventually(t, "one gathers", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.open != nil })
	asks(t, s, &all, 1, 2)
	if n := testutil.Receive(t, "a call", g.came); n != 2 {
		t.Error(n)
	}
	cancel()
	if err := testutil.Receive(t, "an answer", left); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(g.open)
	all.Wait()
	if first, second := testutil.Receive(t, "the end of a call", ended), testutil.Receive(t, "the end of a call", ended); first || second {
		t.Error("a call was ended that had callers")
	}
	g.open = make(chan bool)
	ctx, cancel = context.WithCancel(t.Context())
	go ask()
	testutil.Receive(t, "a call", g.came)
	cancel()
	if err := testutil.Receive(t, "an answer", left); !errors.Is(err, context.Canceled) || !testutil.Receive(t, "the end of a call", ended) {
		t.Error("a call goes on that has no callers", err)
	}
}

// An open batch whose callers have gone is not asked.
func TestNobodyWaits(t *testing.T) {
	t.Parallel()
	g := newGate()
	s := serve(t, Options{Batch: 2, Calls: 1}, g.ServeHTTP)
	s.gather = time.Hour
	var all sync.WaitGroup
	asks(t, s, &all, 0, 1)
	testutil.Receive(t, "a call", g.came)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Ask(ctx, plugintest.Message(1)); !errors.Is(err, context.Canceled) || s.open != nil {
		t.Error(err, s.open)
	}
	close(g.open)
	all.Wait()
	if len(g.came) > 0 {
		t.Error("it was asked")
	}
}

// Close ends calls and batches, and what is asked afterwards fails.
func TestClose(t *testing.T) {
	t.Parallel()
	g := newGate()
	s := serve(t, Options{Batch: 3, Calls: 1}, g.ServeHTTP)
	s.gather = time.Hour
	errs := make(chan error)
	ask := func() { _, err := s.Ask(context.Background(), plugintest.Message(1)); errs <- err }
	go ask()
	testutil.Receive(t, "a call", g.came)
	go ask()
	testutil.Eventually(t, "one gathers", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.open != nil })
	s.Close()
	go ask()
	for range 3 {
		if err := testutil.Receive(t, "an answer", errs); !errors.Is(err, errClosed) {
			t.Error(err)
		}
	}
	s.Close()
}

// Connections are kept: as many as there were calls at the same time suffice.
func TestConnectionsAreKept(t *testing.T) {
	t.Parallel()
	var opened atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(plugintest.Service))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	s := New(Options{URL: server.URL})
	defer s.Close()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 50 {
				if _, err := s.Ask(t.Context(), plugintest.Message(i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := opened.Load(); n > 20 {
		t.Errorf("400 calls, 8 at a time, took %d connections", n)
	}
}

// FuzzRead reads what a service may answer.
func FuzzRead(f *testing.F) {
	for _, text := range []string{`{"verdicts":[{"do":"hold"},{}]}`, `{"verdicts":[null,{}]}`, `{}`, `[`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if all, err := read(b, 2); err == nil && (len(all) != 2 || slices.Contains(all, nil)) {
			t.Errorf("%q: %v", b, all)
		}
	})
}

// cpu returns the processor time of this process.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkService asks a server that answers after a millisecond, from 64 goroutines as a pool of 64 does. The server runs
// in the same process.
func BenchmarkService(b *testing.B) {
	for _, batch := range []int{1, 50} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			s := serve(b, Options{Batch: batch}, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				time.Sleep(time.Millisecond)
				n := bytes.Count(body, []byte(`"hook"`))
				_, _ = io.WriteString(w, `{"verdicts":[`+strings.Repeat(`{},`, n-1)+`{}]}`)
			})
			var left atomic.Int64
			before := cpu(b)
			left.Store(int64(b.N))
			var all sync.WaitGroup
			for i := range 64 {
				all.Go(func() {
					for left.Add(-1) >= 0 {
						if _, err := s.Ask(context.Background(), plugintest.Message(i)); err != nil {
							b.Error(err)
						}
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
			b.ReportMetric(float64(cpu(b)-before)/float64(b.N)/1000, "cpu-µs/message")
		})
	}
}
