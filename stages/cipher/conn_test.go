package cipher

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
	"pmg/internal/tlsfiles"
)

// TestMain fails when a test leaves goroutines behind: those of handshakes that nobody has ended.
func TestMain(m *testing.M) { testutil.NoLeaks(m) }

// sides returns the configurations of a server and of a client that trusts it.
func sides(t testing.TB, version uint16) (server, client *tls.Config) {
	t.Helper()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	a, err := tlsfiles.NewAuthority("try", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{a.Write(file("ca")), a.Issue(file("pem"), file("key"), time.Hour, "smsc.test")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if server, _, err = tlsfiles.Load(&tlsfiles.Options{Certificates: []string{file("pem")}, Keys: []string{file("key")}, Oldest: version}, true); err != nil {
		t.Fatal(err)
	}
	if client, _, err = tlsfiles.Load(&tlsfiles.Options{Authorities: file("ca"), ServerName: "smsc.test", Oldest: version}, false); err != nil {
		t.Fatal(err)
	}
	server.MaxVersion, client.MaxVersion = version, version
	return server, client
}

// shake carries the octets of a handshake, size at a time, until both sides are done.
func shake(a, b *Conn, size int) (errA, errB error) {
	var doneA, doneB bool
	var toA, toB []byte
	for range 100_000 {
		if !doneA {
			doneA, errA = a.Handshake()
		}
		if !doneB {
			doneB, errB = b.Handshake()
		}
		toB, toA = append(toB, a.Take()...), append(toA, b.Take()...)
		if doneA && doneB && len(toA)+len(toB) == 0 || (errA != nil || errB != nil) && len(toA)+len(toB) == 0 {
			break
		}
		n, m := min(size, len(toA)), min(size, len(toB))
		a.Put(slices.Clone(toA[:n]))
		b.Put(slices.Clone(toB[:m]))
		toA, toB = toA[n:], toB[m:]
	}
	return errA, errB
}

func TestConn(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for _, size := range []int{1, 7, 1 << 20} {
			server, client := sides(t, version)
			s, c := Server(server), Client(client)
			if errA, errB := shake(s, c, size); errA != nil || errB != nil {
				t.Fatalf("the handshake failed: %v, %v", errA, errB)
			}
			text := bytes.Repeat([]byte("0123456789"), 5000) // several records
			wire, err := c.Write(nil, text, true)
			if err != nil {
				t.Fatal(err)
			}
			var got []byte
			for len(wire) > 0 && err == nil {
				n := min(size, len(wire))
				s.Put(wire[:n])
				got, err = s.Read(got)
				wire = wire[n:]
			}
			if !errors.Is(err, io.EOF) || !bytes.Equal(got, text) {
				t.Errorf("version %x, %d octets at a time: read %d octets of %d and %v, want io.EOF", version, size, len(got), len(text), err)
			}
		}
	}
}

// A handshake that its peer leaves after each octet ends when it is given up, and leaves nothing behind.
func TestAbandon(t *testing.T) {
	server, client := sides(t, tls.VersionTLS13)
	c := Client(client)
	_, _ = c.Handshake()
	hello := c.Take()
	c.Abandon()
	for n := range hello {
		s := Server(server)
		s.Put(hello[:n])
		if done, err := s.Handshake(); done {
			t.Fatalf("done after %d octets of %d: %v", n, len(hello), err)
		}
		s.Abandon()
		if done, err := s.Handshake(); !done || err == nil {
			t.Fatalf("a handshake that was given up is not over: %t %v", done, err)
		}
	}
	Server(server).Abandon() // nothing has come
}

func TestFails(t *testing.T) {
	server, client := sides(t, tls.VersionTLS13)
	for _, test := range []struct {
		name, want string
		change     func(server, client *tls.Config)
		octets     string // of the client, in place of a handshake
	}{
		{name: "wrong name", want: "not other.test", change: func(_, c *tls.Config) { c.ServerName = "other.test" }},
		{name: "unknown authority", want: "unknown authority", change: func(_, c *tls.Config) { c.RootCAs = nil }},
		{name: "no certificate", want: "client didn't provide a certificate", change: func(s, _ *tls.Config) { s.ClientAuth = tls.RequireAnyClientCert }},
		{name: "old version", want: "protocol version", change: func(_, c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS12, tls.VersionTLS12 }},
		{name: "a PDU", want: "the peer does not speak TLS", octets: "\x00\x00\x00\x10\x00\x00\x00\x15\x00\x00\x00\x00\x00\x00\x00\x01"},
		{name: "a long record", want: "oversized", octets: "\x16\x03\x01\xff\xff" + strings.Repeat("x", 0xffff)},
	} {
		s, c := server.Clone(), client.Clone()
		if test.change != nil {
			test.change(s, c)
		}
		one, other := Server(s), Client(c)
		var errS, errC error
		if test.octets != "" {
			one.Put([]byte(test.octets))
			_, errS = one.Handshake()
		} else {
			errS, errC = shake(one, other, 1<<20)
		}
		one.Abandon()
		other.Abandon()
		all := ""
		for _, err := range []error{errS, errC} {
			if err != nil {
				all += Reason(err) + "\n"
			}
		}
		if !strings.Contains(all, test.want) {
			t.Errorf("%s: %q does not say %q", test.name, all, test.want)
		}
	}
}

// What is read and written in a batch takes no memory but that of the buffers, and an idle Conn keeps none of them.
func TestConnAllocations(t *testing.T) {
	server, client := sides(t, tls.VersionTLS13)
	s, c := Server(server), Client(client)
	shake(s, c, 1<<20)
	text := bytes.Repeat([]byte("x"), 10<<10)
	var wire, got []byte
	pass := func() {
		var err error
		if wire, err = c.Write(wire[:0], text, false); err == nil {
			s.Put(wire)
			got, err = s.Read(got[:0])
		}
		if err != nil || len(got) != len(text) {
			t.Fatal(len(got), err)
		}
	}
	pass()
	most := 2.0 // those of crypto/tls, for a read
	if testutil.Race {
		most++ // crypto/tls has a sync.Pool
	}
	if n := testing.AllocsPerRun(100, pass); n > most {
		t.Errorf("%v allocations", n)
	}
	if s.memory.in != nil || s.memory.out != nil || c.memory.out != nil || cap(got) > readSize {
		t.Errorf("an idle Conn keeps %d and %d octets; a batch takes a buffer of %d", cap(s.memory.in), cap(c.memory.out), cap(got))
	}
}
