package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testutil"
	"pmg/store"
)

const withAPI = `{name: api, direction: in, protocol: http, address: "127.0.0.1:0"}`

// An api is a client of the HTTP API.
type api struct {
	t    testing.TB
	url  string
	http *http.Client
	name string

	contract func() contract
	key      string // with which it logs in; "": with its name and password
}

// api returns a client of the connector api, which logs in as acme.
func (g *gw) api() *api {
	tr := &http.Transport{MaxIdleConnsPerHost: 64}
	g.t.Cleanup(tr.CloseIdleConnections)
	return &api{t: g.t, url: "http://" + g.addr("api"), http: &http.Client{Transport: tr}, name: "acme", contract: sync.OnceValue(readContract)}
}

// A reply is an answer of the API.
type reply struct {
	status int
	header http.Header
	body   string
	fields map[string]any
}

func (a *api) do(method, path, body string, headers ...string) (r reply) {
	a.t.Helper()
	req, err := http.NewRequest(method, a.url+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	if req.SetBasicAuth(a.name, "s3cret"); a.key != "" {
		req.Header.Set("Authorization", "Bearer "+a.key)
	}
	req.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := a.http.Do(req)
	if err != nil {
		a.t.Error(err)
		return r
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		a.t.Error(err)
	}
	r = reply{status: resp.StatusCode, header: resp.Header, body: string(b)}
	_ = json.Unmarshal(b, &r.fields)
	a.contract().check(a.t, method, path, r)
	return r
}

// want checks the status of an answer, and for a problem its kind.
func (r reply) want(t testing.TB, status int, kind string) reply {
	t.Helper()
	if kind != "" && r.fields["type"] != "/problems/"+kind || r.status != status {
		t.Errorf("%d %s, want %d %s", r.status, r.body, status, kind)
	}
	return r
}

func (r reply) text(name string) string { s, _ := r.fields[name].(string); return s }

func textBody(to, text string) string {
	return fmt.Sprintf(`{"from":"1234","to":%q,"text":%q}`, to, text)
}

// A message that comes by HTTP is stored, answered and sent as one that comes by SMPP, and is in the pdu log.
func TestHTTPSubmit(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s.more = withAPI
		g := start(t, s)
		a, smsc := g.api(), s.operator.session()
		r := a.do("POST", "/v1/messages", `{"from":"Shop","to":"+46700000001","text":"hej på dig","client_reference":"order 7"}`).want(t, 202, "")
		if r.text("state") != "queued" || r.text("encoding") != "gsm7" || r.text("client_reference") != "order 7" || r.header.Get("Request-Id") == "" || r.header.Get("Location") != "/v1/messages/"+r.text("id") {
			t.Errorf("%v %s", r.header, r.body)
		}
		line := smsc.want("submit_sm", "source_addr=Shop", "source_addr_ton=5", "destination_addr=46700000001", "dest_addr_ton=1", "registered_delivery=1")
		smsc.answer(0, field(line, "seq"))
		g.settled()
		g.wantLog("api", "< http_submit", `text="hej p\xc3\xa5 dig"`, "reference=\"order 7\"")
		g.wantLog("api", "> http_submit_resp", "status=0(202-Accepted)", "id="+r.text("id"), "account=acme")
		g.wantLog("operator", "> submit_sm", "id="+r.text("id"), "account=acme")
	})
}

// wantLog waits for a line of a connector's pdu log.
func (g *gw) wantLog(connector string, words ...string) {
	g.t.Helper()
	testutil.Eventually(g.t, fmt.Sprint("a line with ", words), func() bool {
		b, _ := os.ReadFile(filepath.Join(g.dir, connector+".log"))
		for line := range strings.Lines(string(b)) {
			if containsAll(line, words) {
				return true
			}
		}
		return false
	})
}

// A request that comes again with its key is answered as the first, and makes no second message: however many come
// together, and after a restart.
func TestHTTPOnce(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), more: withAPI, store: vfs.NewMem()}
	g := start(t, s)
	a := g.api()
	ids := make([]string, 20)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			for {
				r := a.do("POST", "/v1/messages", textBody("46700000001", "once"), `Idempotency-Key: "k1"`)
				if r.status == 409 {
					continue
				}
				ids[i] = r.want(t, 202, "").text("id")
				return
			}
		})
	}
	all.Wait()
	for _, id := range ids {
		if id != ids[0] || id == "" {
			t.Fatalf("ids %q", ids)
		}
	}
	a.do("POST", "/v1/messages", textBody("46700000001", "other"), "Idempotency-Key: k1").want(t, 422, "idempotency-mismatch")
	reference := `{"from":"1234","to":"46700000002","text":"by its reference","client_reference":"r1","deduplicate":true}`
	second := a.do("POST", "/v1/messages", reference).want(t, 202, "").text("id")
	if again := a.do("POST", "/v1/messages", reference).want(t, 202, ""); again.text("id") != second || again.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("%v %s, want %s", again.header, again.body, second)
	}
	smsc := s.operator.session()
	for range 2 {
		smsc.answer(0, field(smsc.want("submit_sm"), "seq"))
	}
	g.settled()
	smsc.fence()
	if !smsc.silent("submit_sm") {
		t.Error("a message came twice")
	}
}

// What a commit that fails has taken along is not taken for what was stored: the request may come again with its key.
func TestHTTPOnceNotStored(t *testing.T) {
	parallel(t)
	f := &failing{}
	s := site{operator: newSMSC(t), more: withAPI, memory: true, wrap: f.wrap}
	g := start(t, s)
	a := g.api()
	f.fail.Store(true)
	a.do("POST", "/v1/messages", textBody("46700000001", "once"), "Idempotency-Key: k1").want(t, 503, "unavailable")
	f.fail.Store(false)
	first := a.do("POST", "/v1/messages", textBody("46700000001", "once"), "Idempotency-Key: k1").want(t, 202, "")
	if again := a.do("POST", "/v1/messages", textBody("46700000001", "once"), "Idempotency-Key: k1").want(t, 202, ""); again.text("id") != first.text("id") {
		t.Errorf("%s, then %s", first.body, again.body)
	}
	smsc := s.operator.session()
	smsc.answer(0, field(smsc.want("submit_sm"), "seq"))
	g.settled()
	smsc.fence()
	if !smsc.silent("submit_sm") {
		t.Error("a message came twice")
	}
}

// A failing store refuses batches while fail is set.
type failing struct {
	store.Store
	fail atomic.Bool
}

func (f *failing) wrap(s store.Store) store.Store { f.Store = s; return f }

func (f *failing) Commit(b *store.Batch) error {
	if f.fail.Load() {
		_ = f.Store.Commit(b) // what has failed may be there all the same
		return errors.New("the disk does not answer")
	}
	return f.Store.Commit(b)
}

// A client asks where its messages are, and takes back what has not left.
func TestHTTPKnown(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s.more, s.out = withAPI, "window: 1, public_name: operator"
		g := start(t, s)
		a, smsc := g.api(), s.operator.session()
		g.online("operator", 1)
		submit := func(more string) string {
			return a.do("POST", "/v1/messages", `{"from":"1234","to":"46700000001","text":"hello"`+more+`}`).want(t, 202, "").text("id")
		}
		get := func(id, state string) reply {
			t.Helper()
			r := a.do("GET", "/v1/messages/"+id, "").want(t, 200, "")
			if r.text("state") != state {
				t.Errorf("%s, want %s", r.body, state)
			}
			return r
		}
		one := submit(`,"client_reference":"r1"`)
		line := smsc.want("submit_sm")
		two := submit("")
		later := submit(`,"send_at":"` + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) + `"`)
		get(two, "queued")
		if r := get(later, "scheduled"); r.text("send_at") == "" {
			t.Error(r.body)
		}
		if r := get(one, "queued"); r.text("client_reference") != "r1" || r.text("from") != "1234" || r.text("to") != "46700000001" || r.text("accepted_at") == "" {
			t.Error(r.body)
		}
		a.do("DELETE", "/v1/messages/"+one, "").want(t, 409, "already-sent") // it is under way
		a.do("DELETE", "/v1/messages/"+two, "").want(t, 202, "")
		a.do("DELETE", "/v1/messages/"+later, "").want(t, 202, "")
		get(two, "deleted")
		if n, ok := a.do("GET", "/v1/account", "").want(t, 200, "").fields["counters"].(map[string]any); !ok || n["cancelled"] != 2.0 || n["failed"] != 0.0 {
			t.Errorf("%v: what was cancelled has not failed", n)
		}
		smsc.send(fmt.Sprintf("submit_sm_resp seq=%s status=0 message_id=abc1", field(line, "seq")))
		testutil.Eventually(t, "it is sent", func() bool { return a.do("GET", "/v1/messages/"+one, "").text("state") == "sent" })
		if r := get(one, "sent"); r.text("smsc_id") != "abc1" || r.text("connector") != "operator" {
			t.Error(r.body)
		}
		smsc.send(receiptOf("abc1", "DELIVRD"))
		smsc.want("deliver_sm_resp")
		testutil.Eventually(t, "it is delivered", func() bool { return a.do("GET", "/v1/messages/"+one, "").text("state") == "delivered" })
		a.do("DELETE", "/v1/messages/"+one, "").want(t, 409, "already-sent")
		other := g.api()
		other.name = "other"
		for _, id := range []string{one, "0000000000000001", "x", "1a1fb0c1-2c23-80d4-8001-706d67000000"} {
			other.do("GET", "/v1/messages/"+id, "").want(t, 404, "not-found")
			other.do("DELETE", "/v1/messages/"+id, "").want(t, 404, "not-found")
		}
	})
}

// Requests are refused as submits are, each with what to do about it.
func TestHTTPRefused(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), more: withAPI, out: "max_queue: 4, window: 1, long_messages: split8", routes: "{to: operator, destination: 46}", accounts: "{system_id: other, password: s3cret, rate: 10, burst: 1, share: 100}"}
	g := start(t, s)
	a := g.api()
	a.do("POST", "/v1/messages", textBody("1", "a")).want(t, 422, "no-route")
	a.do("POST", "/v1/messages", textBody("x", "a")).want(t, 422, "invalid-message")
	a.do("POST", "/v1/messages", `{"from":"1234","to":"46","max_parts":2,"text":"`+strings.Repeat("a", 2*153+1)+`"}`).want(t, 422, "invalid-message")
	a.do("POST", "/v1/messages", "{").want(t, 400, "malformed-json")
	a.do("POST", "/v1/messages", strings.Repeat(`{"a":`, 10_000)).want(t, 400, "malformed-json")
	a.do("POST", "/v1/batches", `{"messages":`+strings.Repeat("[", 10_000)).want(t, 400, "malformed-json")
	a.do("POST", "/v1/messages", textBody("46", "a"), "Content-Type: text/plain").want(t, 415, "unsupported-type")
	a.do("POST", "/v1/messages", textBody("46", "a"), "Authorization: Bearer x").want(t, 401, "unauthenticated")
	a.do("POST", "/v1/messages", strings.Repeat(" ", 1<<20+1)).want(t, 413, "too-large")
	a.do("POST", "/v1/messages", textBody("46", "a"), "Idempotency-Key: "+strings.Repeat("k", 300)).want(t, 400, "malformed-header")
	a.do("GET", "/nothing", "").want(t, 404, "not-found")
	testutil.Eventually(t, "the queue is full", func() bool {
		r := a.do("POST", "/v1/messages", textBody("46700000001", "a"))
		return r.status == 503 && r.fields["type"] == "/problems/queue-full" && r.header.Get("Retry-After") != ""
	})
	fast := g.api()
	fast.name = "other"
	var all sync.WaitGroup
	var refused atomic.Int64
	for range 30 {
		all.Go(func() {
			if r := fast.do("POST", "/v1/messages", textBody("1", "a")); r.status == 429 && r.header.Get("Retry-After") != "" {
				refused.Add(1)
			}
		})
	}
	all.Wait()
	if refused.Load() == 0 {
		t.Error("no rate is kept")
	}
}

// A message that cannot be right is refused: one without a sender, and one to a number as it is dialed in one country, where no rule
// mends that. Clients of Kannel's interface send what they always did.
func TestHTTPAddresses(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), more: strings.Replace(withAPI, "protocol: http", "protocol: http, dialects: [pmg, kannel]", 1),
		out:      `rewrite: [{out: destination, match: "07(.*)", replace: "467$1"}]`,
		accounts: `{system_id: shop, password: s3cret, rewrite: [{in: source, default: Shop}]}`}
	g := start(t, s)
	a := g.api()
	for _, path := range []string{"/v1/messages", "/v1/messages:preview"} {
		r := a.do("POST", path, `{"to":"+46700000001","text":"a"}`).want(t, 422, "invalid-message")
		if !containsAll(r.body, []string{`"/from"`, `"bad-source"`}) {
			t.Errorf("%s: %s", path, r.body)
		}
		r = a.do("POST", path, textBody("0801234567", "a")).want(t, 422, "invalid-message")
		if !containsAll(r.body, []string{`"/to"`, `"bad-destination"`, "+46701234567"}) {
			t.Errorf("%s: %s", path, r.body)
		}
	}
	smsc := s.operator.session()
	a.do("POST", "/v1/messages", textBody("0701234567", "the operator's rule mends it")).want(t, 202, "")
	smsc.want("submit_sm", "destination_addr=46701234567")
	a.name = "shop"
	a.do("POST", "/v1/messages", `{"to":"+46700000001","text":"the account's rule mends it"}`).want(t, 202, "")
	smsc.want("submit_sm", "source_addr=Shop")
	resp, err := a.http.Get(a.url + "/cgi-bin/sendsms?username=acme&password=s3cret&from=1&to=0801234567&text=a")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		t.Errorf("Kannel's form: %d", resp.StatusCode)
	}
	smsc.want("submit_sm", "destination_addr=0801234567")
}

// What is no request, or stops in the middle, ends the connection and nothing else.
func TestHTTPBadConnections(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), more: withAPI, limits: "pdu_timeout: 200ms"}
	g := start(t, s)
	addr := g.addr("api")
	f := func(octets, want string) {
		t.Helper()
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprint(c, octets)
		b, _ := io.ReadAll(c) // it ends
		if !strings.HasPrefix(string(b), want) {
			t.Errorf("%.60q: %.200q, want %q", octets, b, want)
		}
	}
	login := "Host: x\r\nAuthorization: Basic YWNtZTpzM2NyZXQ=\r\nContent-Type: application/json\r\nConnection: close\r\n"
	f("\x00\x00\x00\x10\x00\x00\x00\x15\x00\x00\x00\x00\x00\x00\x00\x01\r\n\r\n", "HTTP/1.1 400")
	f("POST /v1/messages HTTP/1.1\r\n"+login+"Content-Length: 100\r\n\r\n{", "HTTP/1.1 400")
	f("POST /v1/messages HTTP/1.1\r\n"+login+"Transfer-Encoding: chunked\r\n\r\nff\r\n{", "HTTP/1.1 400")
	f("POST /v1/messages HTTP/1.1\r\n"+login+"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", "HTTP/1.1 400")
	f("POST /v1/messages HTTP/1.1\r\n"+login+"Content-Length: 3\r\nContent-Length: 4\r\n\r\n{}\r\n", "HTTP/1.1 400")
	f("GET / HTTP/1.1\r\n"+login+strings.Repeat("X: "+strings.Repeat("y", 1000)+"\r\n", 100)+"\r\n", "HTTP/1.1 431")
	f("GET /v1/nothing HTTP/1.0\r\n\r\n", "HTTP/1.0 404")
	body := textBody("46700000001", "a")
	f("POST /v1/messages HTTP/1.1\r\n"+login+"Expect: 100-continue\r\nContent-Length: "+fmt.Sprint(len(body))+"\r\n\r\n"+body, "HTTP/1.1 100 Continue")
	smsc := s.operator.session()
	smsc.answer(0, field(smsc.want("submit_sm"), "seq"))
}

// As many connections are open as there are instances. One more takes the place of the one that has been idle for longest; where none is idle, it
// is answered that it may come again.
func TestHTTPConnections(t *testing.T) {
	parallel(t)
	g := start(t, site{operator: newSMSC(t), more: strings.Replace(withAPI, "}", ", instances: 2}", 1)})
	const login = "Basic YWNtZTpzM2NyZXQ="
	busy := g.lines("api", login)
	g.lines("api", login)
	if b := readAll(t, g.addr("api")); !strings.HasPrefix(b, "HTTP/1.1 503") {
		t.Errorf("%q", b)
	}
	busy.conn.Close()
	for range 3 { // each stays open until the next one takes its place
		testutil.Eventually(t, "there is room", func() bool {
			c, err := net.Dial("tcp", g.addr("api"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
			fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			b := make([]byte, 12)
			_, err = io.ReadFull(c, b)
			return err == nil && string(b) == "HTTP/1.1 404"
		})
	}
}

func readAll(t *testing.T, addr string) string {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "GET / HTTP/1.0\r\n\r\n")
	b, _ := io.ReadAll(c)
	return string(b)
}

// The curl line of docs/http.md and of the README is answered as they say.
func TestHTTPDocs(t *testing.T) {
	parallel(t)
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	g := start(t, site{operator: newSMSC(t), more: withAPI})
	for _, file := range []string{"docs/http.md", "README.md"} {
		b, err := os.ReadFile(filepath.Join("../..", file))
		if err != nil {
			t.Fatal(err)
		}
		_, line, found := strings.Cut(string(b), "curl -u load:secret http://localhost:8080/v1/messages ")
		line, _, _ = strings.Cut(line, "\n```")
		if !found {
			t.Fatalf("%s has no such line", file)
		}
		out, err := exec.Command("sh", "-c", curl+" -s -u acme:s3cret http://"+g.addr("api")+"/v1/messages "+line).CombinedOutput()
		if err != nil || !containsAll(string(out), []string{`"state":"queued"`, `"id":"`}) {
			t.Errorf("%s: %v, %s", file, err, out)
		}
	}
}
