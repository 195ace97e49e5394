package handshakes

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
	"pmg/internal/turns"
)

// A server answers HTTPS, and records why handshakes have failed.
type server struct {
	*testing.T
	turns *turns.Turns[netip.Prefix]
	addr  string

	mu     sync.Mutex
	failed []string
}

func newServer(t *testing.T, places int, limit time.Duration) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{T: t, turns: turns.New[netip.Prefix](places, 100), addr: l.Addr().String()}
	h := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS == nil || !r.TLS.HandshakeComplete {
			t.Error("the request does not know of TLS")
		}
	}), ReadHeaderTimeout: time.Minute}
	go func() {
		_ = h.Serve(&Listener{Listener: l, Config: &tls.Config{Certificates: []tls.Certificate{certificate(t)}}, Turns: s.turns, Limit: limit, Log: log.New(s, "", 0)})
	}()
	t.Cleanup(func() { h.Close() })
	return s
}

// Write implements io.Writer, for the log.
func (s *server) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = append(s.failed, string(line))
	return len(line), nil
}

// why returns why the only handshake has failed, when it has.
func (s *server) why() string {
	s.Helper()
	why := ""
	testutil.Eventually(s.T, "the handshake fails", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		why = strings.Join(s.failed, "; ")
		return why != ""
	})
	return why
}

func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// ask sends a request on a new connection of TLS.
func (s *server) ask(version uint16) error {
	trust := &tls.Config{InsecureSkipVerify: true, MinVersion: version, MaxVersion: version}
	c := http.Client{Transport: &http.Transport{TLSClientConfig: trust, DisableKeepAlives: true}}
	r, err := c.Get("https://" + s.addr + "/")
	if err == nil {
		err = r.Body.Close()
	}
	return err
}

// A handshake waits for its turn, and the turn is given back behind it.
func TestTurn(t *testing.T) {
	t.Parallel()
	s := newServer(t, 0, time.Minute)
	answered := make(chan error)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		go func() { answered <- s.ask(version) }()
	}
	testutil.Eventually(t, "both wait", func() bool { return s.turns.Waiting() == 2 })
	s.turns.Give()
	for range 2 {
		if err := <-answered; err != nil {
			t.Error(err)
		}
	}
	if !s.turns.Take(netip.Prefix{}, nil) {
		t.Error("the turn is lost")
	}
}

// Whoever does not go on with a handshake holds no turn.
func TestStalled(t *testing.T) {
	t.Parallel()
	s := newServer(t, 1, time.Minute)
	for range 3 {
		c, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		stalls := tls.Client(&stalled{Conn: c}, &tls.Config{InsecureSkipVerify: true})
		if err := stalls.Handshake(); !errors.Is(err, os.ErrClosed) {
			t.Fatal(err)
		}
	}
	if err := s.ask(tls.VersionTLS13); err != nil {
		t.Error(err)
	}
}

// A stalled connection sends nothing behind its first piece, and ends where an answer comes to that.
type stalled struct{ net.Conn }

func (s *stalled) Read(b []byte) (int, error) {
	_, _ = s.Conn.Read(b)
	return 0, os.ErrClosed
}

// A handshake that has not had its turns in time, or whose connection is closed, waits no more.
func TestLate(t *testing.T) {
	t.Parallel()
	s := newServer(t, 0, 50*time.Millisecond)
	if err := s.ask(tls.VersionTLS13); err == nil {
		t.Error("it has had a turn")
	}
	if why := s.why(); !strings.Contains(why, "timeout") || s.turns.Waiting() != 0 {
		t.Errorf("it has failed because %s", why)
	}
}

// A client that speaks HTTP is answered so.
func TestPlain(t *testing.T) {
	t.Parallel()
	s := newServer(t, 1, time.Minute)
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answer, _ := io.ReadAll(c)
	if !strings.Contains(string(answer), " 400 ") || !strings.Contains(s.why(), "HTTP request") || !s.turns.Take(netip.Prefix{}, nil) {
		t.Errorf("it is answered %q, and the handshake has failed because %s", answer, s.why())
	}
}
