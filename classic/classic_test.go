package classic

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/gateway"
	"pmg/pdulog"
	"pmg/protocols"
	"pmg/protocols/smpp"
)

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// start runs a gateway with one connector for clients.
func start(t *testing.T, limits string) *Engine {
	t.Helper()
	cfg, _, err := config.Parse(fmt.Appendf(nil, `
architecture: classic
pdulog: {dir: %q}
limits: {%s}
accounts: [{system_id: acme, password: s3cret}]
connectors: [{name: clients, direction: in, address: "127.0.0.1:0"}]
`, t.TempDir(), limits), config.Options{Protocols: []string{"smpp"}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(cfg, zerolog.Nop(), func(string, *config.Config) (protocols.Driver, error) {
		return smpp.New(smpp.Options{}), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	e, err := Start(g)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = e.Close()
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		if n := e.Counters().Jobs; n != 0 {
			t.Errorf("%d requests are left", n)
		}
		if n := g.Sessions(); n != 0 {
			t.Errorf("%d sessions are left", n)
		}
	})
	return e
}

// bind connects and logs in, and gives both ends.
func bind(t *testing.T, e *Engine) (net.Conn, *conn) {
	t.Helper()
	c := e.gateway.Connector("clients")
	peer, err := net.Dial("tcp", e.Addresses(c)[0].String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { peer.Close() })
	_ = peer.SetDeadline(time.Now().Add(patience))
	write(t, peer, wire(t, "bind_transmitter seq=1 system_id=acme password=s3cret"))
	want(t, peer, "bind_transmitter_resp seq=1")
	var ours *conn
	e.group(c).conns(func(c *conn) { ours = c })
	return peer, ours
}

func wire(t *testing.T, lines ...string) (b []byte) {
	t.Helper()
	for _, line := range lines {
		var p smpp.PDU
		if err := p.ParseLog([]byte(line)); err != nil {
			t.Fatal(err)
		}
		b = p.AppendWire(b)
	}
	return b
}

func write(t *testing.T, peer net.Conn, b []byte) {
	t.Helper()
	if _, err := peer.Write(b); err != nil {
		t.Fatal(err)
	}
}

// want reads one PDU, which must begin so when it is printed.
func want(t *testing.T, peer net.Conn, begins string) {
	t.Helper()
	b := make([]byte, 16)
	_, err := io.ReadFull(peer, b)
	if err == nil {
		n, _ := smpp.New(smpp.Options{}).Frame(b)
		b = append(b, make([]byte, n-16)...)
		_, err = io.ReadFull(peer, b[16:])
	}
	if err != nil {
		t.Fatalf("want %s, got %v", begins, err)
	}
	var p smpp.PDU
	_ = p.Decode(b)
	if got := string(p.AppendLog(nil, true)); !strings.HasPrefix(got, begins) {
		t.Fatalf("want %s, got %s", begins, got)
	}
}

// However PDUs are cut into pieces, and longer than the buffer or not, each is
// answered, in order.
func TestPieces(t *testing.T) {
	t.Parallel()
	e := start(t, "")
	peer, _ := bind(t, e)
	long := fmt.Sprintf("submit_sm seq=4 destination_addr=1 message_payload=%q", strings.Repeat("x", 5*readSize))
	b := wire(t, "enquire_link seq=2", "submit_sm seq=3 destination_addr=1", long, "enquire_link seq=5")
	for _, size := range []int{1, 7, 16, 4000, readSize, len(b)} {
		for rest := b; len(rest) > 0; {
			n := min(size, len(rest))
			write(t, peer, rest[:n])
			rest = rest[n:]
		}
		for _, line := range []string{"enquire_link_resp seq=2", "submit_sm_resp seq=3", "submit_sm_resp seq=4", "enquire_link_resp seq=5"} {
			want(t, peer, line)
		}
	}
}

// A reader that pauses because too much is unsent goes on when it has been written.
func TestUnsent(t *testing.T) {
	t.Parallel()
	e := start(t, "unsent: 64KiB")
	peer, _ := bind(t, e)
	const n = 100_000
	go func() {
		one := wire(t, "submit_sm seq=7") // to nobody, so the answer has 16 octets as well
		many := []byte(strings.Repeat(string(one), 1000))
		for range n / 1000 {
			if _, err := peer.Write(many); err != nil {
				return
			}
		}
	}()
	if _, err := io.CopyN(io.Discard, peer, n*16); err != nil {
		t.Fatal(err)
	}
}

// An answer that is to be sent later is overtaken by others, and is sent in its
// turn; one that has not come to it by the end of the session is forgotten.
func TestDelayed(t *testing.T) {
	t.Parallel()
	e := start(t, "")
	peer, c := bind(t, e)
	c.session.Lock()
	now := e.now()
	for sequence, after := range []time.Duration{time.Hour, 50 * time.Millisecond, 0, 20 * time.Millisecond} {
		r := c.newRequest()
		_ = r.pdu.(*smpp.PDU).ParseLog(fmt.Appendf(nil, "enquire_link_resp seq=%d", sequence))
		r.after = now + int64(after)
		if !c.send(now, r) {
			r.free()
		}
	}
	c.wake()
	c.session.Unlock()
	want(t, peer, "enquire_link_resp seq=2")
	want(t, peer, "enquire_link_resp seq=3")
	want(t, peer, "enquire_link_resp seq=1")
	if n := e.Counters().Jobs; n != 1 {
		t.Errorf("%d answers wait", n)
	}
}

// Lines are written after the flush time, or when many wait, and their times do not
// go back.
func TestPDULog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		f, err := pdulog.NewDir(dir, pdulog.Options{Flush: 100 * time.Millisecond, Text: true, MaxSize: 1 << 30, Log: zerolog.Nop()}).Open("c")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		l := newPDULog(f, func() int64 { return time.Now().UnixNano() })
		lines := func() []string {
			b, err := os.ReadFile(filepath.Join(dir, "c.log"))
			if err != nil {
				t.Fatal(err)
			}
			return strings.Split(strings.TrimSpace(string(b)), "\n")
		}
		var p smpp.PDU
		_ = p.ParseLog([]byte("enquire_link seq=1"))
		now := time.Now().UnixNano()
		l.line(now, 1, true, &p, true)
		l.line(now-1000, 2, false, &p, true)
		time.Sleep(101 * time.Millisecond)
		synctest.Wait()
		got := lines()
		if len(got) != 2 || strings.Fields(got[0])[0] != strings.Fields(got[1])[0] {
			t.Errorf("got %q", got)
		}
		for range 20_000 { // more than the writer sleeps through
			l.line(now, 1, true, &p, true)
		}
		synctest.Wait()
		if n := len(lines()); n < 5000 || l.locks() != 20_003 {
			t.Errorf("%d lines, %d locks", n, l.locks())
		}
		l.close()
	})
}
