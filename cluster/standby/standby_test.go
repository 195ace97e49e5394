package standby

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pmg/internal/sock"
	"pmg/internal/testkit/testutil"
	"pmg/internal/tlsfiles"
	"pmg/protocols/ucp"
)

func TestMain(m *testing.M) { testutil.NoLeaks(m) }

// opened opens a door with a socket of each protocol.
func opened(t *testing.T) (d *Door, sockets []Socket) {
	t.Helper()
	for _, p := range []Protocol{Other, SMPP, HTTP, Admin, UCP} {
		l, err := sock.Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Close(l.FD) })
		sockets = append(sockets, Socket{Listening: l, Protocol: p})
	}
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "pmg_cluster_owner 0") })
	d, err := Open(sockets, func() (any, string) {
		return map[string]string{"node": "b"}, "this node stands by: node a owns the work"
	}, metrics)
	if err != nil {
		t.Fatal(err)
	}
	return d, sockets
}

// exchange writes octets, and returns all that is answered.
func exchange(t *testing.T, s Socket, octets []byte) []byte {
	t.Helper()
	conn, err := net.Dial("tcp", s.Addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(testutil.Patience))
	if _, err := conn.Write(octets); err != nil {
		t.Fatal(err)
	}
	answer, _ := io.ReadAll(conn) // a connection that is closed with unread octets may be reset
	return answer
}

// pdu returns a PDU of SMPP.
func pdu(command uint32, body string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(smppHead+len(body)))
	b = binary.BigEndian.AppendUint32(b, command)
	return append(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, 0), 77), body...)
}

// A bind is refused with a status that makes a client try the next address; anything else ends the connection.
func TestSMPP(t *testing.T) {
	d, sockets := opened(t)
	defer d.Close()
	for _, command := range []uint32{1, 2, 9} {
		want := append(pdu(command|isAnswer, "")[:8], 0, 0, 0, 8, 0, 0, 0, 77)
		if got := exchange(t, sockets[1], pdu(command, "acme\x00secret\x00\x00\x34\x00\x00\x00")); string(got) != string(want) {
			t.Errorf("bind %x: answered %x, want %x", command, got, want)
		}
	}
	for what, octets := range map[string][]byte{
		"a submit": pdu(4, ""), "too long": append(binary.BigEndian.AppendUint32(nil, 5000), pdu(9, "")[4:]...),
		"too short": append(binary.BigEndian.AppendUint32(nil, 3), pdu(9, "")[4:]...),
	} {
		if got := exchange(t, sockets[1], octets); len(got) > 0 {
			t.Errorf("%s: answered %x", what, got)
		}
	}
	if got := exchange(t, sockets[0], []byte("hello")); len(got) > 0 {
		t.Errorf("another protocol: answered %q", got)
	}
}

// The first operation of UCP is refused with an error code after which a client tries again; anything else ends the connection.
func TestUCP(t *testing.T) {
	d, sockets := opened(t)
	defer d.Close()
	const login = "\x0200/00052/O/60/12345/6/5/1/733363726574//0100/////5D\x03"
	driver := ucp.New(ucp.Options{})
	frame := func(line string) []byte {
		p := driver.NewPDU()
		if err := driver.ParseLog(p, []byte(line)); err != nil {
			t.Fatal(err)
		}
		return p.AppendWire(nil)
	}
	for what, c := range map[string]struct {
		octets []byte
		want   string // with checksums
	}{
		"a login":          {frame(`op60 seq=7 OAdC=acme OTON=6 ONPI=5 STYP=1 PWD=733363726574 VERS=0100`), `op60_result seq=7 status=0x4(operation_not_allowed)`},
		"a submit":         {frame(`op51 seq=99 AdC=1234 OAdC=1 MT=3 AMsg="text"`), `op51_result seq=99 status=0x4(operation_not_allowed)`},
		"behind noise":     {append([]byte("\r\n"), frame(`op31 seq=2 AdC=1234 PID=0539`)...), `op31_result seq=2 status=0x4(operation_not_allowed)`},
		"a wrong checksum": {[]byte(login), `op60_result seq=0 status=0x4(operation_not_allowed)`},
		"a result":         {frame(`op60_result seq=7 status=0`), ""},
		"no frame":         {[]byte("\x02hello\x03"), ""},
		"too much noise":   {bytes.Repeat([]byte("x"), 5000), ""},
		"too long a frame": {append([]byte{2}, bytes.Repeat([]byte("x"), 5000)...), ""},
	} {
		got, want := exchange(t, sockets[4], c.octets), ""
		if c.want != "" {
			want = string(frame(c.want))
		}
		if string(got) != want {
			t.Errorf("%s: answered %q, want %q", what, got, want)
		}
	}
}

// Clients of HTTP learn when to come again, and balancers who owns the work.
func TestHTTP(t *testing.T) {
	d, sockets := opened(t)
	defer d.Close()
	defer http.DefaultClient.CloseIdleConnections()
	for _, c := range []struct {
		socket   int
		path     string
		status   int
		contains string
	}{
		{2, "/v1/messages", 503, "node a owns the work"},
		{3, "/healthz", 200, "ok"},
		{3, "/readyz", 503, "this node stands by: node a owns the work"},
		{3, "/cluster", 200, `"node":"b"`},
		{3, "/metrics", 200, "pmg_cluster_owner 0"},
		{3, "/admin/v1/status", 503, "node a owns the work"},
	} {
		r, err := http.Get("http://" + sockets[c.socket].Addr.String() + c.path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		retry := r.Header.Get("Retry-After") != ""
		if err != nil || r.StatusCode != c.status || !strings.Contains(string(body), c.contains) || retry != (c.status == 503 && c.path != "/readyz") {
			t.Errorf("%s: %d, %q, %v", c.path, r.StatusCode, body, r.Header)
		}
	}
}

// A socket goes on to listen when the door is closed, and what connects meanwhile waits.
func TestClose(t *testing.T) {
	d, sockets := opened(t)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	for _, s := range sockets {
		conn, err := net.Dial("tcp", s.Addr.String())
		if err != nil {
			t.Fatal(err)
		}
		accepted, _, ok, err := sock.Accept(s.FD)
		for end := time.Now().Add(testutil.Patience); !ok && err == nil && time.Now().Before(end); {
			accepted, _, ok, err = sock.Accept(s.FD)
		}
		if !ok || err != nil {
			t.Errorf("nobody is accepted: %v", err)
		}
		_ = unix.Close(accepted)
		_ = conn.Close()
	}
}

// What is encrypted is refused in the same way, with the certificate of the gateway.
func TestEncrypted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	authority, err := tlsfiles.NewAuthority("test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	o := tlsfiles.Options{Certificates: []string{dir + "/c.pem"}, Keys: []string{dir + "/k.pem"}, Oldest: tls.VersionTLS13}
	if err := errors.Join(authority.Write(dir+"/ca.pem"), authority.Issue(dir+"/c.pem", dir+"/k.pem", time.Hour, "localhost")); err != nil {
		t.Fatal(err)
	}
	files, err := tlsfiles.Open(o, true)
	if err != nil {
		t.Fatal(err)
	}
	client, _, err := tlsfiles.Load(&tlsfiles.Options{Authorities: dir + "/ca.pem", ServerName: "localhost", Oldest: tls.VersionTLS13}, false)
	if err != nil {
		t.Fatal(err)
	}
	var sockets []Socket
	for _, p := range []Protocol{SMPP, Admin} {
		l, err := sock.Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Close(l.FD) })
		sockets = append(sockets, Socket{l, p, files.Following(func(err error) { t.Error(err) })})
	}
	d, err := Open(sockets, func() (any, string) { return nil, "stands by" }, http.NotFoundHandler())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for i, ask := range []string{string(pdu(9, "a\x00b\x00\x00\x34\x00\x00\x00")), "GET /healthz HTTP/1.0\r\n\r\n"} {
		conn, err := tls.Dial("tcp", sockets[i].Addr.String(), client)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(testutil.Patience))
		_, _ = io.WriteString(conn, ask)
		answer, _ := io.ReadAll(conn)
		conn.Close()
		if len(answer) < smppHead || i == 0 && binary.BigEndian.Uint32(answer[8:]) != uint32(refusal) || i == 1 && !strings.HasPrefix(string(answer), "HTTP/1.0 200") {
			t.Errorf("%d: %q", i, answer)
		}
	}
}
