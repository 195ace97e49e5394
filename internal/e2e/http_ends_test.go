package e2e

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testkit/testutil"
)

// A lineStream is a stream of messages, which its client keeps open.
type lineStream struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

// lines begins a stream of messages with credentials, and waits until its first message is
// accepted.
func (g *gw) lines(connector, login string) *lineStream {
	g.t.Helper()
	c, err := net.Dial("tcp", g.addr(connector))
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(testutil.Patience))
	s := &lineStream{g.t, c, bufio.NewReader(c)}
	fmt.Fprintf(c, "POST /v1/messages:stream HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\nTransfer-Encoding: chunked\r\n\r\n", login)
	s.submit()
	s.want(`"state":"queued"`)
	return s
}

// submit sends a message.
func (s *lineStream) submit() {
	message := textBody("46700000001", "a") + "\n"
	fmt.Fprintf(s.conn, "%x\r\n%s\r\n", len(message), message)
}

// want reads until an event has come.
func (s *lineStream) want(what string) {
	s.t.Helper()
	for {
		line, err := s.in.ReadString('\n')
		if strings.Contains(line, what) {
			return
		}
		if err != nil {
			s.t.Fatalf("%v, want %s", err, what)
		}
	}
}

// wantEnd wants the stream to end with a reason, though its client sends nothing. It is cut, so that nobody takes it for the end of the answer.
func (s *lineStream) wantEnd(reason string) {
	s.t.Helper()
	s.want(reason)
	var rest strings.Builder
	if _, err := s.in.WriteTo(&rest); err == nil && strings.Contains(rest.String(), "\r\n0\r\n") {
		s.t.Errorf("it ends as if it were whole: %q", rest.String())
	}
}

// A stream of messages ends when its client may not send any more: idle ones too, and nothing is taken of them after that. Others go on.
func TestHTTPStreamRevoked(t *testing.T) {
	parallel(t)
	row := func(name, more string) string {
		return fmt.Sprintf(`{name: %s, hash: "sha256:%x"%s}`, name, sha256.Sum256([]byte("pmg_"+name)), more)
	}
	const api = "{name: api, direction: in, protocol: http, address: \"127.0.0.1:0\"}\n"
	smsc := newSMSC(t)
	at := func(keys, password, more string, others ...string) site {
		return site{
			operator: smsc, store: vfs.NewMem(), more: api,
			accounts: "{system_id: shop, password: " + password + ", keys: [" + keys + "]" + more + "}\n" + strings.Join(others, "\n"),
		}
	}
	const bar = "{system_id: bar, password: s3cret}"
	g := start(t, at(row("one", "")+", "+row("two", ""), "s3cret", "", bar))
	next := func(keys, password, more string, others ...string) {
		t.Helper()
		if err := g.reload(at(keys, password, more, others...)); err != nil {
			t.Fatal(err)
		}
	}
	const shop, ofBar = "Basic c2hvcDpzM2NyZXQ=", "Basic YmFyOnMzY3JldA=="
	one, two, byName, barStream := g.lines("api", "Bearer pmg_one"), g.lines("api", "Bearer pmg_two"), g.lines("api", shop), g.lines("api", ofBar)
	if n := len(g.Gateway.Table.Connector("api").Streams.All()); n != 4 {
		t.Errorf("%d streams are known, want 4", n)
	}
	next(row("two", ""), "s3cret", "", bar)
	one.wantEnd("unauthenticated")
	next(row("two", ""), "another", "", bar)
	byName.wantEnd("unauthenticated")
	next(row("two", ""), "another", "")
	barStream.wantEnd("unauthenticated")
	two.submit()
	two.want(`"state":"queued"`)
	next(row("two", ", expires: 2020-01-01"), "another", "")
	two.wantEnd("unauthenticated")
	next(row("two", ""), "another", "", bar)
	if g.lines("api", "Bearer pmg_two"); len(g.Gateway.Table.Connector("api").Streams.All()) != 1 {
		t.Error("those that have ended are known still")
	}
	moved := g.lines("api", ofBar)
	next(row("two", ""), "another", ", networks: 192.0.2.0/24", "{system_id: bar, password: s3cret, connectors: clients}")
	moved.wantEnd("unauthenticated")
	testutil.Eventually(t, "all have ended", func() bool { return len(g.Gateway.Table.Connector("api").Streams.All()) == 0 })
}

// A stop waits for nobody who only waits: fetches, streams, headers and bodies that do not come, with and without a login.
func TestHTTPStop(t *testing.T) {
	parallel(t)
	s := site{
		operator: newSMSC(t), store: vfs.NewMem(), accounts: "{system_id: shop, password: s3cret, bind: [transmitter], pull: true}",
		more: `{name: api, direction: in, protocol: http, dialects: [pmg, kannel, jasmin], address: "127.0.0.1:0"}`,
	}
	g := start(t, s)
	const login = "Basic c2hvcDpzM2NyZXQ="
	open := func(octets string) net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", g.addr("api"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		fmt.Fprint(c, octets)
		return c
	}
	head := " HTTP/1.1\r\nHost: x\r\nAuthorization: " + login + "\r\n"
	open("GET /v1/events?wait=30s" + head + "\r\n")
	open("GET /v1/events" + head + "Accept: text/event-stream\r\n\r\n")
	open("GET /v1/acc")
	open("POST /cgi-bin/sendsms?username=shop HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nhalf")
	open("POST /secure/send HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
	open("POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
	open("POST /v1/messages" + head + "Content-Length: 100\r\n\r\n{")
	open("POST /v1/messages:stream" + head + "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"to\r\n")
	idle, busy := g.lines("api", login), g.lines("api", login)
	go func() { // until it is cut
		message := textBody("46700000001", "a") + "\n"
		for {
			if _, err := fmt.Fprintf(busy.conn, "%x\r\n%s\r\n", len(message), message); err != nil {
				return
			}
		}
	}()
	testutil.Eventually(t, "all last", func() bool { return len(g.Gateway.Table.Connector("api").Streams.All()) == 5 })
	kept := open("GET /v1/account" + head + "\r\n")
	if _, err := kept.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	const most = 10 * time.Second // a second for headers and bodies; each of these took four to thirty
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	stopped := make(chan struct{})
	go func() { g.engine.Drain(ctx); close(stopped) }()
	idle.wantEnd("unavailable")
	if <-stopped; ctx.Err() != nil {
		t.Error("the stop waits for somebody")
	}
}

// A body before a login may take as long as a login, and one behind it as long as a PDU.
func TestHTTPBodyBeforeLogin(t *testing.T) {
	parallel(t)
	g := start(t, site{
		operator: newSMSC(t), more: `{name: api, direction: in, protocol: http, dialects: [pmg, kannel], address: "127.0.0.1:0", bind_timeout: 100ms}`,
		limits: "pdu_timeout: 5m",
	})
	c, err := net.Dial("tcp", g.addr("api"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(testutil.Patience))
	fmt.Fprint(c, "POST /cgi-bin/sendsms HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nhalf")
	if b, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(b), "HTTP/1.1 403") {
		t.Errorf("%q, %v", b, err)
	}
	s := g.lines("api", "Basic YWNtZTpzM2NyZXQ=")
	time.Sleep(150 * time.Millisecond)
	s.submit()
	s.want(`"state":"queued"`)
}
