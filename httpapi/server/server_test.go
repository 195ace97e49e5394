package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"pmg/connector"
	"pmg/httpapi/body"
	"pmg/internal/sock"
	"pmg/internal/testkit/testutil"
	"pmg/protocols/httpsms"
	"pmg/sms"
)

const oneShop = "{system_id: shop, password: secret}"

// Requests of a connection are logged in, answered, counted and logged one after the other, each with an id.
func TestRequests(t *testing.T) {
	t.Parallel()
	key := fmt.Sprintf(`{system_id: shop, password: secret, keys: [{name: till, hash: "sha256:%x"}]}`, sha256.Sum256([]byte("pmg_one")))
	r := newRig(t, "", key)
	p := r.dial("127.0.0.1")
	ids := map[string]bool{}
	note := func(w *http.Response) {
		t.Helper()
		id := w.Header.Get("Request-Id")
		if ids[id] || !strings.HasPrefix(id, "r") || len(id) < 13 || w.Close {
			t.Errorf("id %q, closes %t", id, w.Close)
		}
		ids[id] = true
	}
	p.ask("GET /ask", "Authorization: Bearer pmg_one\r\n", "")
	w := p.want(202, "shop 127.0.0.1 ")
	if note(w); w.Header["X-Kept"][0] != "as it is" || w.Header.Get("Content-Type") != "text/plain" {
		t.Errorf("%v", w.Header)
	}
	p.ask("HEAD /ask", shop, "")
	note(p.wantOf("HEAD", 202, ""))
	p.ask("POST /submit", shop, "one\ntwo\nbad")
	note(p.want(202, "shop 127.0.0.1 one\ntwo\nbad"))
	p.ask("POST /ask", shop, strings.Repeat("a", most))
	note(p.want(202, "shop 127.0.0.1 "+strings.Repeat("a", most)))
	p.ask("GET /ask", "", "")
	note(p.want(401, ""))
	p.ask("GET /bad", shop, "")
	note(p.want(400, ""))
	p.ask("POST /ask", shop, strings.Repeat("a", most+1))
	if w := p.want(413, ""); !w.Close {
		t.Error("the connection is not closed behind a body that was not read")
	}
	p.wantEnd()
	stats := r.listener.Connector.Stats
	testutil.Eventually(t, "all are counted", func() bool { return stats.PDUsIn[httpsms.Ask].Load() == 6 && stats.PDUsIn[httpsms.Submit].Load() == 3 })
	for k, want := range map[connector.StatusKey]int64{
		{Command: httpsms.SubmitAnswer, Status: 422}: 1, {Command: httpsms.AskAnswer, Status: 401}: 1, {Command: httpsms.AskAnswer, Status: 413}: 1,
		{Command: httpsms.AskAnswer, Status: 400}: 1, {Command: httpsms.SubmitAnswer, Status: 202}: 0,
	} {
		if got := stats.Statuses()[k]; got != want {
			t.Errorf("%+v counts %d, want %d", k, got, want)
		}
	}
	volatile := regexp.MustCompile(`(?m)^\S+ api/1 |remote=127.0.0.1:\d+ |request=r[0-9a-f]+-[A-Z0-9]{10} ?`)
	if got := volatile.ReplaceAllString(r.lines(), ""); got != requestLines {
		t.Errorf("the pdu log has\n%s", got)
	}
}

const requestLines = `< http_request seq=1 method=GET path="/ask" key=till account=shop
> http_request_resp seq=1 status=0(202-Accepted) account=shop
< http_request seq=2 method=HEAD path="/ask" account=shop
> http_request_resp seq=2 status=0(202-Accepted) account=shop
< http_submit seq=3 method=POST path="/submit" from=1234 to=+46700000001 reference=r0 text=*3 account=shop
> http_submit_resp seq=3 status=0(202-Accepted) id=0000000000000001 account=shop
< http_submit seq=4 method=POST path="/submit" from=1234 to=+46700000001 reference=r1 text=*3 account=shop
> http_submit_resp seq=4 status=0(202-Accepted) id=0000000000000002 account=shop
< http_submit seq=5 method=POST path="/submit" from=1234 to=+46700000001 reference=r2 text=*3 account=shop
> http_submit_resp seq=5 status=422(422-Unprocessable-Entity) id=0000000000000003 account=shop
< http_request seq=6 method=POST path="/ask" account=shop
> http_request_resp seq=6 status=0(202-Accepted) account=shop
< http_request seq=7 method=GET path="/ask" 
> http_request_resp seq=7 status=401(401-Unauthorized)
< http_request seq=8 method=GET path="/bad" account=shop
> http_request_resp seq=8 status=400(400-Bad-Request) account=shop
< http_request seq=9 method=POST path="/ask" account=shop
> http_request_resp seq=9 status=413(413-Request-Entity-Too-Large) account=shop
`

// Without a pdu log requests are counted all the same.
func TestRequestsWithoutLog(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", oneShop)
	r.listener.Log = NewLog(&connector.Connector{Stats: r.listener.Connector.Stats}, &r.Gateway.Node.Clock)
	p := r.dial("127.0.0.1")
	p.ask("GET /ask", shop, "")
	p.want(202, "shop 127.0.0.1 ")
	p.ask("GET /bad", shop, "")
	p.want(400, "")
	stats := r.listener.Connector.Stats
	testutil.Eventually(t, "they are counted", func() bool {
		return stats.PDUsIn[httpsms.Ask].Load() == 2 && stats.PDUsOut[httpsms.AskAnswer].Load() == 2 &&
			stats.Statuses()[connector.StatusKey{Command: httpsms.AskAnswer, Status: 400}] == 1
	})
}

// Where an account has its share, one that waits for its next request makes room for the next.
func TestIdleMakesRoom(t *testing.T) {
	t.Parallel()
	r := newRig(t, "instances: 10", oneShop)
	var all []*peer
	for i := range 11 {
		p := r.dial(fmt.Sprint("127.0.1.", i+1))
		p.ask("GET /ask", shop, "")
		p.want(202, fmt.Sprint("shop 127.0.1.", i+1, " "))
		all = append(all, p)
		testutil.Eventually(t, "the share is kept", func() bool { return r.listener.open.Len() == min(i+1, 9) })
	}
	ends := make(chan error)
	for _, p := range all[:10] { // which of them the server has seen waiting for longest is not known here
		go func() {
			_, err := p.in.ReadByte()
			ends <- err
		}()
	}
	for range 2 {
		if err := <-ends; err != io.EOF && !errors.Is(err, syscall.ECONNRESET) {
			t.Error(err)
		}
	}
	all[10].ask("GET /ask", shop, "")
	all[10].want(202, "shop 127.0.1.11 ")
	for _, p := range all {
		p.Close()
	}
	for range 8 {
		<-ends
	}
}

// A client that sends more than anybody reads still reads the answer.
func TestUnread(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", oneShop)
	p := r.dial("127.0.0.1")
	p.write("POST /unread HTTP/1.1\r\nHost: x\r\n" + shop + "Content-Length: 1000000\r\n\r\n")
	go p.write(strings.Repeat("a", 1_000_000))
	if w := p.want(413, "too large"); !w.Close {
		t.Error("it goes on")
	}
	p.wantEnd()
}

// A body of a client that has not logged in on its connection may take as long as a login, and one of another as long as a PDU.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	r := newRig(t, "bind_timeout: 100ms", oneShop)
	r.Gateway.Node.Config().Limits.PDUTimeout = 5 * time.Minute
	p := r.dial("127.0.0.1")
	p.ask("GET /ask", shop, "")
	p.want(202, "shop 127.0.0.1 ")
	p.write("POST /ask HTTP/1.1\r\nHost: x\r\n" + shop + "Content-Length: 8\r\n\r\nhalf")
	slow := r.dial("127.0.0.1")
	slow.write("POST /ask HTTP/1.1\r\nHost: x\r\nContent-Length: 8\r\n\r\nhalf") // nobody logs in: it is not read
	slow.want(401, "")
	slow.wantEnd()
	p.write("half")
	p.want(202, "shop 127.0.0.1 halfhalf")
}

// An account leaves a tenth of the connections to others; its next one gets an answer that says so, and is closed. With no room for any, a
// client gets an answer that asks it to come again, and there is room when one ends.
func TestRoomForConnections(t *testing.T) {
	t.Parallel()
	r := newRig(t, "instances: 10", oneShop+", {system_id: other, password: secret}")
	const other = "Authorization: Basic b3RoZXI6c2VjcmV0\r\n"
	begin := func(host, login string) *peer {
		t.Helper()
		p := r.dial(host)
		p.ask("GET /stream", login, "")
		if _, err := p.in.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		for line := ""; line != "begun\r\n" && line != "begun\n"; {
			var err error
			if line, err = p.in.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		return p
	}
	var all []*peer
	for i := range 9 {
		all = append(all, begin(fmt.Sprint("127.0.1.", i+1), shop))
	}
	late := r.dial("127.0.2.1")
	late.ask("GET /ask", shop, "")
	if w := late.want(503, "crowded"); !w.Close {
		t.Error("it goes on")
	}
	late.wantEnd()
	testutil.Eventually(t, "it has left", func() bool { return r.listener.open.Len() == 9 })
	begin("127.0.2.2", other)
	full := r.dial("127.0.2.3")
	if w := full.want(503, ""); w.Header.Get("Retry-After") == "" || !w.Close {
		t.Errorf("%v", w.Header)
	}
	full.wantEnd()
	if text := r.Log.String(); !strings.Contains(text, "all instances are in use") {
		t.Error(text)
	}
	all[0].Close()
	r.listener.Connector.Streams.All()[0].Stop(1)
	testutil.Eventually(t, "one has left", func() bool { return r.listener.open.Len() == 9 })
	p := r.dial("127.0.2.4")
	p.ask("GET /ask", other, "")
	p.want(202, "other 127.0.2.4 ")
}

// Connections from elsewhere than networks are closed without an answer.
func TestNetworks(t *testing.T) {
	t.Parallel()
	r := newRig(t, "networks: 127.0.0.0/24", oneShop)
	p := r.dial("127.0.9.1")
	p.wantEnd()
	p = r.dial("127.0.0.1")
	p.ask("GET /ask", shop, "")
	p.want(202, "shop 127.0.0.1 ")
	if text := r.Log.String(); !strings.Contains(text, "is not in networks") {
		t.Error(text)
	}
}

// A stop ends streams, headers and bodies that do not come, and answers what is under way; nobody connects any more.
func TestDrain(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", oneShop)
	stream, half, idle := r.dial("127.0.0.1"), r.dial("127.0.0.1"), r.dial("127.0.0.1")
	stream.ask("GET /stream", shop, "")
	half.write("POST /ask HTTP/1.1\r\nHost: x\r\n" + shop + "Content-Length: 8\r\n\r\nhalf")
	idle.ask("GET /ask", shop, "")
	idle.want(202, "shop 127.0.0.1 ")
	testutil.Eventually(t, "the stream has begun", func() bool { return len(r.listener.Connector.Streams.All()) == 1 && r.listener.open.Len() == 3 })
	began := time.Now()
	ctx, end := context.WithTimeout(t.Context(), testutil.Patience)
	defer end()
	r.listener.Drain(ctx)
	if ctx.Err() != nil || time.Since(began) > testutil.Patience/2 {
		t.Error("the stop waits for somebody")
	}
	stream.want(200, "begun\nstopping\n")
	half.want(400, "")
	idle.wantEnd()
	if c, err := net.Dial("tcp", r.address); err == nil {
		c.Close()
		t.Error("somebody connects")
	}
}

// A listener says why it cannot listen, and takes sockets that listen already.
func TestListen(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", oneShop)
	g, c := r.Gateway, r.listener.Connector
	cfg := *c.Config()
	cfg.Address = r.address
	none := func(*Listener) http.Handler { return http.NotFoundHandler() }
	c.SetConfig(&cfg)
	if _, err := Listen(roomsOf(g), c, nil, body.NewRoom(&g.Node.Memory), nil, none); err == nil || !strings.Contains(err.Error(), "cannot start connector api: ") {
		t.Errorf("%v", err)
	}
	opened, err := sock.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l, err := Listen(roomsOf(g), c, []sock.Listening{opened}, body.NewRoom(&g.Node.Memory), nil, none)
	if err != nil || len(l.Addresses()) != 1 || l.Addresses()[0] != opened.Addr {
		t.Fatalf("%v", err)
	}
	l.Close()
}

// The text of an order is shown as UTF-8, and as it is where it is none.
func TestTextOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		alphabet   sms.Alphabet
		text, want string
	}{
		{sms.DefaultUTF8, "å", "å"}, {sms.UCS2, "\x00\xe5", "å"}, {sms.Binary, "\x00\xff", "\x00\xff"},
	} {
		if got := httpsms.TextOf(&httpsms.Order{Alphabet: c.alphabet, Text: []byte(c.text)}); string(got) != c.want {
			t.Errorf("%v: %q, want %q", c.alphabet, got, c.want)
		}
	}
}
