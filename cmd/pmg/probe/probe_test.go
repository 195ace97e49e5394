package probe

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pmg/internal/tlsfiles"
	"pmg/protocols"
	"pmg/protocols/smpp"
)

// An smsc takes logins with the password "secret", and a number of messages together. It writes PDUs octet by octet,
// so that nothing of the program that probes it is in it.
type smsc struct {
	silent   bool // it answers nothing
	takes    int
	delivers bool // it delivers a message behind the login

	octets  atomic.Int64  // that came
	answers atomic.Uint32 // the status of the answer to what it delivered, and 1 << 31
}

func pdu(id, status, sequence uint32, body string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(16+len(body)))
	for _, n := range []uint32{id, status, sequence} {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return append(b, body...)
}

// serve serves one connection.
func (s *smsc) serve(conn net.Conn) {
	defer conn.Close()
	var head [16]byte
	for {
		if _, err := io.ReadFull(conn, head[:]); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head[:])-16)
		if _, err := io.ReadFull(conn, body); err != nil {
			return
		}
		s.octets.Add(int64(16 + len(body)))
		if s.silent {
			continue
		}
		id, status, sequence := binary.BigEndian.Uint32(head[4:]), binary.BigEndian.Uint32(head[8:]), binary.BigEndian.Uint32(head[12:])
		switch id {
		case 2, 9:
			if !bytes.Contains(body, []byte("\x00secret\x00")) {
				_, _ = conn.Write(pdu(id|0x80000000, 0xE, sequence, ""))
				return
			}
			_, _ = conn.Write(pdu(id|0x80000000, 0, sequence, "smsc\x00\x02\x10\x00\x01\x34"))
			if s.delivers {
				_, _ = conn.Write(pdu(5, 0, 7, "\x00\x01\x0149170\x00\x01\x01123\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02hi"))
			}
		case 4:
			if s.takes--; s.takes >= 0 {
				_, _ = conn.Write(pdu(0x80000004, 0, sequence, "1\x00"))
			} else {
				_, _ = conn.Write(pdu(0x80000004, 0x58, sequence, ""))
			}
		case 0x80000005:
			s.answers.Store(status | 1<<31)
		case 0x15, 6:
			_, _ = conn.Write(pdu(id|0x80000000, 0, sequence, ""))
		}
	}
}

// start serves what connects. secure is nil without TLS.
func (s *smsc) start(t *testing.T, secure *tls.Config) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if secure != nil {
				conn = tls.Server(conn, secure)
			}
			go s.serve(conn)
		}
	}()
	return l.Addr().String()
}

// options probe an address as the account acme.
func options(address string) *Options {
	o := smpp.NewConnectorOptions()
	o.Bind = protocols.Transmitter
	return &Options{
		Address: address, Driver: smpp.New(smpp.Options{}), Bind: "transmitter", Options: o, SystemID: "acme", Password: "secret",
		Timeout: 10 * time.Second, Enquiries: 3, Messages: 10,
	}
}

// want runs a probe that is to end with an error, "" for none, and returns what it writes.
func want(t *testing.T, o *Options, end string) string {
	t.Helper()
	var out strings.Builder
	err := Run(t.Context(), &out, o)
	if (err != nil) != (end != "") || err != nil && !strings.Contains(err.Error(), end) {
		t.Fatalf("%v, want %q\n%s", err, end, &out)
	}
	return out.String()
}

func has(t *testing.T, text string, all ...string) {
	t.Helper()
	for _, s := range all {
		if !strings.Contains(text, s) {
			t.Errorf("no %q in:\n%s", s, text)
		}
	}
}

// A message that is delivered meanwhile is refused for a while, and messages are counted that are taken together.
func TestSession(t *testing.T) {
	t.Parallel()
	s := &smsc{takes: 7, delivers: true}
	o := options(s.start(t, nil))
	o.To, o.From, o.Bind = "46701234567", "PMG", "transceiver"
	o.Options.(*smpp.ConnectorOptions).Bind = protocols.Transceiver
	has(t, want(t, o, ""), "logged in as acme", "sc_interface_version=52", "sent 3 keep-alives", "it accepted 7", "ESME_RTHROTTLED: 3",
		"delivered 1 messages", "    window: 7 ", "    bind: transceiver\n", `    system_id: "acme"`)
	if n := s.answers.Load(); n != 0x64|1<<31 { // ESME_RX_T_APPN: it comes again
		t.Errorf("the answer to what was delivered has status 0x%x", n)
	}
	o.To = ""
	if text := want(t, o, ""); strings.Contains(text, "window:") {
		t.Errorf("a window that nobody has seen:\n%s", text)
	}
}

func TestNoSession(t *testing.T) {
	t.Parallel()
	o := options((&smsc{}).start(t, nil))
	o.Password = "wrong"
	want(t, o, "ESME_RINVPASWD")
	silent := options((&smsc{silent: true}).start(t, nil))
	silent.Timeout = 100 * time.Millisecond
	want(t, silent, "does not answer within 100ms")
	silent.SystemID = ""
	has(t, want(t, silent, ""), "no login", "address: ")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Run(ctx, io.Discard, o); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// No login is sent to whom has no certificate that is good, and the other kind of port is named.
func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	a, err := tlsfiles.NewAuthority("test", time.Hour)
	if err == nil {
		err = errors.Join(a.Write(file("ca")), a.Issue(file("server"), file("key"), time.Hour, "smsc.example.net"))
	}
	if err != nil {
		t.Fatal(err)
	}
	config, _, err := tlsfiles.Load(&tlsfiles.Options{Certificates: []string{file("server")}, Keys: []string{file("key")}}, true)
	if err != nil {
		t.Fatal(err)
	}
	s := &smsc{}
	o := options(s.start(t, config))
	o.TLS = &tlsfiles.Options{Oldest: tls.VersionTLS12}
	has(t, want(t, o, "nothing was sent"), "CN=smsc.example.net", "names: smsc.example.net", "NOT valid", "pin: ")
	o.TLS.Authorities = file("ca")
	has(t, want(t, o, "nothing was sent"), "NOT valid")
	if n := s.octets.Load(); n != 0 {
		t.Errorf("%d octets were sent to a server that nobody knows", n)
	}
	o.TLS.ServerName = "smsc.example.net"
	has(t, want(t, o, ""), "the certificate is valid", "logged in", `server_name: "smsc.example.net"`, "ca: ")
	*o.TLS = tlsfiles.Options{Insecure: true}
	has(t, want(t, o, ""), "NOT valid", "logged in", "tls: {insecure: true}")

	plain := *o
	plain.TLS = nil
	want(t, &plain, "--tls")
	o.Address, o.Timeout = (&smsc{silent: true}).start(t, nil), 500*time.Millisecond
	want(t, o, "handshake")
}
