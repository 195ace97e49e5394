package e2e

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pmg/internal/testkit/testutil"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A stream is a client's stream of events.
type stream struct {
	api    *api
	body   io.Closer
	lines  *bufio.Scanner
	cancel context.CancelFunc
}

// A tale is an event of a stream.
type tale struct{ id, kind, data string }

// stream begins a stream of events, after the last event that the client has.
func (a *api) stream(query, last string) *stream {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testutil.Patience)
	a.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, "GET", a.url+"/v1/events?"+query, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	if req.SetBasicAuth(a.name, "s3cret"); a.key != "" {
		req.Header.Set("Authorization", "Bearer "+a.key)
	}
	req.Header.Set("Accept", "text/event-stream")
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	resp, err := a.http.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { resp.Body.Close() })
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || kind != "text/event-stream" {
		a.t.Fatalf("%s %s", resp.Status, kind)
	}
	s := &stream{api: a, body: resp.Body, lines: bufio.NewScanner(resp.Body), cancel: cancel}
	s.lines.Buffer(nil, 1<<20)
	return s
}

// next returns the next event. It reports false at the end of the stream.
func (s *stream) next() (e tale, ok bool) {
	for s.lines.Scan() {
		name, value, _ := strings.Cut(s.lines.Text(), ": ")
		switch name {
		case "id":
			e.id = value
		case "event":
			e.kind = value
		case "data":
			e.data = value
		case "":
			if e.id != "" {
				return e, true
			}
		}
	}
	return e, false
}

// want returns the ids of the next n events.
func (s *stream) want(n int) (ids []string) {
	t := s.api.t
	t.Helper()
	for range n {
		e, ok := s.next()
		if !ok {
			t.Fatalf("the stream has ended after %d of %d events: %v", len(ids), n, s.lines.Err())
		}
		if !strings.Contains(e.data, `"id":"`+e.id+`","type":"`+e.kind+`"`) {
			t.Errorf("%+v", e)
		}
		ids = append(ids, e.id)
	}
	return ids
}

// wantEnd wants the stream to end as the gateway says, without another event.
func (s *stream) wantEnd() {
	s.api.t.Helper()
	if e, ok := s.next(); ok || s.lines.Err() != nil {
		s.api.t.Errorf("%+v, %v; want its end", e, s.lines.Err())
	}
}

// brings sends messages from mobiles.
func (p *peer) brings(first, last int, more ...string) {
	p.t.Helper()
	for n := first; n <= last; n++ {
		p.send(fmt.Sprintf(`deliver_sm seq=%d source_addr=46700000001 destination_addr=1234 %s short_message="%d"`, n, strings.Join(more, " "), n))
		p.want("deliver_sm_resp", "status=0")
	}
}

// A client gets events as they come. Those that it has acknowledged by a call, or by coming back, do not come again.
// The rest does: to the client that comes back, and after a restart.
func TestHTTPEvents(t *testing.T) {
	parallel(t)
	s := pullSite(t)
	g := start(t, s)
	a := g.api()
	a.name = "api"
	first := a.stream("", "")
	a.do("POST", "/v1/messages", textBody("46700000001", "hello")).want(t, 202, "")
	smsc := s.operator.session()
	smsc.accepts("abc1")
	smsc.send(receiptOf("abc1", "DELIVRD"))
	smsc.want("deliver_sm_resp")
	if e, ok := first.next(); !ok || e.kind != "message.delivered" {
		t.Errorf("%+v", e)
	} else if said := a.acknowledges(e.id); said != `{"unknown":[]}`+"\n" {
		t.Error(said)
	}
	testutil.Eventually(t, "it has ended", func() bool { return g.Pending() == 0 && g.synced() })
	smsc.brings(1, 4)
	ids := first.want(4)
	second := a.stream("", ids[1]) // the client has left the first; the gateway has not noticed
	if again := second.want(2); !slices.Equal(again, ids[2:]) {
		t.Errorf("%q, want %q", again, ids[2:])
	}
	first.wantEnd()
	testutil.Eventually(t, "two are left", func() bool { return g.Pending() == 2 && g.synced() })
	a.acknowledges(ids[2])
	second.cancel()
	third := a.stream("", ids[2])
	if again := third.want(1); again[0] != ids[3] {
		t.Errorf("%q, want %q", again, ids[3:])
	}
	smsc.conn.Close()
	g.stop() // something waits, so that it is not drained: connections are cut
	if e, ok := third.next(); ok {
		t.Errorf("%+v from a gateway that has ended", e)
	}

	g = start(t, s)
	a = g.api()
	a.name = "api"
	fourth := a.stream("", ids[2]) // nobody knows it any more
	if again := fourth.want(1); again[0] != ids[3] {
		t.Errorf("%q, want %q", again, ids[3:])
	}
	a.stream("", ids[3])
	g.settled()
	fourth.wantEnd()
}

// The stream of a client that does not read is ended. Another one gets its events, and nobody waits for it when the
// gateway stops.
func TestHTTPEventsStuck(t *testing.T) {
	parallel(t)
	s := pullSite(t)
	s.limits = "pdu_timeout: 1s"
	g := start(t, s)
	a := g.api()
	a.name = "api"
	for range 2 {
		conn, err := net.Dial("tcp", g.addr("api"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, "GET /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Basic YXBpOnMzY3JldA==\r\nAccept: text/event-stream\r\n\r\n")
	}
	testutil.Eventually(t, "both listen", func() bool { return g.Gateway.Table.ClientLane("api", nil).Window.Online() == 2 })
	smsc := s.operator.session()
	const messages = 180 // fewer than both may have; more than their sockets take
	for n := range messages {
		smsc.send(fmt.Sprintf(`deliver_sm seq=%d source_addr=46700000001 destination_addr=1234 message_payload="%s"`, n+1, strings.Repeat("x", 60_000)))
		smsc.want("deliver_sm_resp", "status=0")
	}
	testutil.Eventually(t, "neither listens", func() bool { return g.Gateway.Table.ClientLane("api", nil).Window.Online() == 0 })
	a.stream("", "").want(1)
	smsc.conn.Close()
	g.stop() // while the third brings more
}

// The commands of docs/webhooks.md about events work as they stand there.
func TestHTTPEventsDocuments(t *testing.T) {
	parallel(t)
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("there is no curl")
	}
	page, err := os.ReadFile("../../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Without a server\n")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(section, -1)
	if len(blocks) != 2 {
		t.Fatalf("%q", blocks)
	}
	s := pullSite(t)
	s.accounts = "{system_id: shop, password: secret, bind: [transmitter], pull: true}"
	s.routes = "{from: operator, to: {account: shop}}\n{to: operator}"
	g := start(t, s)
	curl := func(commands string) *exec.Cmd {
		return exec.Command("sh", "-ec", "exec "+strings.ReplaceAll(commands, "localhost:8080", g.addr("api")))
	}
	listens := curl(blocks[0][1])
	out, err := listens.StdoutPipe()
	if err == nil {
		err = listens.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listens.Process.Kill(); _ = listens.Wait() }()
	smsc := s.operator.session()
	smsc.brings(1, 1)
	one := &stream{api: g.api(), lines: bufio.NewScanner(out)}
	id := one.want(1)[0]
	said, err := curl(regexp.MustCompile(`evt_[0-9a-f]+`).ReplaceAllString(blocks[1][1], id)).CombinedOutput()
	if err != nil || string(said) != `{"unknown":[]}`+"\n" {
		t.Errorf("%s, %v", said, err)
	}
	g.settled()
}

// Each event goes to one of an account's streams, and to no other account. An account has a number of streams.
func TestHTTPEventsShared(t *testing.T) {
	parallel(t)
	s := pullSite(t)
	s.accounts = "{system_id: api, password: s3cret, bind: [transmitter], pull: true}\n{system_id: other, password: s3cret, bind: [transmitter], pull: true}"
	g := start(t, s)
	a, other := g.api(), g.api()
	a.name, other.name = "api", "other"
	const streams = 4
	came := make(chan string, 1)
	for range streams {
		one := a.stream("", "")
		go func() {
			for e, ok := one.next(); ok; e, ok = one.next() {
				came <- e.id
			}
		}()
	}
	r := a.do("GET", "/v1/events", "", "Accept: text/event-stream").want(t, 429, "too-many-streams")
	if r.header.Get("Retry-After") == "" {
		t.Errorf("%v", r.header)
	}
	others := other.stream("", "")
	const messages = 40
	smsc := s.operator.session()
	smsc.brings(1, messages)
	var ids []string
	for range messages {
		ids = append(ids, <-came)
	}
	if slices.Sort(ids); len(slices.Compact(slices.Clone(ids))) != messages {
		t.Errorf("%q", ids)
	}
	a.acknowledges(ids...)
	g.settled()
	select {
	case id := <-came:
		t.Errorf("%s has come twice", id)
	default:
	}
	if fetched, _ := other.events(""); len(fetched) != 0 {
		t.Errorf("%q are told to another account", fetched)
	}
	smsc.conn.Close()
	g.stop()
	others.wantEnd()
}

// A stream ends when its client may not have it any more: when its key or account is taken out of the configuration, when the account
// fetches no events any more, and when its connector goes. Others go on.
func TestHTTPEventsReload(t *testing.T) {
	parallel(t)
	row := func(name string) string {
		return fmt.Sprintf(`{name: %s, hash: "sha256:%x"}`, name, sha256.Sum256([]byte("pmg_"+name)))
	}
	const more = "{name: api, direction: in, protocol: http, address: \"127.0.0.1:0\"}\n"
	const second = "{name: second, direction: in, protocol: http, address: \"127.0.0.1:0\"}"
	at := func(keys, password, more, pull, bar string) site {
		return site{
			store: vfs.NewMem(), more: more,
			accounts: "{system_id: shop, password: " + password + ", bind: [transmitter], pull: " + pull + ", keys: [" + keys + "]}\n" + bar,
		}
	}
	const bar = "{system_id: bar, password: s3cret, bind: [transmitter], pull: true}"
	g := start(t, at(row("one")+", "+row("two"), "s3cret", more+second, "true", bar))
	begin := func(name, key, connector string) *stream {
		a := g.api()
		a.name, a.key, a.url = name, key, "http://"+g.addr(connector)
		return a.stream("", "")
	}
	one, two, byName, ofBar, there := begin("", "pmg_one", "api"), begin("", "pmg_two", "api"), begin("shop", "", "api"), begin("bar", "", "api"), begin("bar", "", "second")
	reload := func(s site, ends ...*stream) {
		t.Helper()
		if err := g.reload(s); err != nil {
			t.Fatal(err)
		}
		for _, s := range ends {
			s.wantEnd()
		}
	}
	online := func(account string, n int) {
		t.Helper()
		testutil.Eventually(t, fmt.Sprint(account, " has ", n), func() bool { return g.Gateway.Table.ClientLane(account, nil).Window.Online() == n })
	}
	reload(at(row("two"), "s3cret", more+second, "true", bar), one)
	online("shop", 2)
	reload(at(row("two"), "another", more+second, "true", bar), byName)
	online("shop", 1)
	reload(at(row("two"), "another", more, "true", bar), there)
	online("bar", 1)
	reload(at(row("two"), "another", more, "false", bar), two)
	reload(at(row("two"), "another", more, "true", ""), ofBar)
}
