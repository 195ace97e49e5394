package e2e

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testutil"
)

// A lineStream is a stream of messages, which its client keeps open.
type lineStream struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

// lines begins a stream of messages with credentials, and has its first message accepted.
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

// want reads until something is told.
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
	if n := len(g.Connector("api").Streams.All()); n != 4 {
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
	if g.lines("api", "Bearer pmg_two"); len(g.Connector("api").Streams.All()) != 1 {
		t.Error("those that have ended are known still")
	}
	moved := g.lines("api", ofBar)
	next(row("two", ""), "another", ", networks: 192.0.2.0/24", "{system_id: bar, password: s3cret, connectors: clients}")
	moved.wantEnd("unauthenticated")
	testutil.Eventually(t, "all have ended", func() bool { return len(g.Connector("api").Streams.All()) == 0 })
}
