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
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testkit/testutil"
	"pmg/store"
)

const withAPI = `{name: api, direction: in, protocol: http, address: "127.0.0.1:0"}`

// An api is a client of the HTTP API.
type api struct {
	t    testing.TB
	url  string
	http *http.Client
	name string

	key string // with which it logs in; "": with its name and password
}

// api returns a client of the connector api, which logs in as acme.
func (g *gw) api() *api {
	tr := &http.Transport{MaxIdleConnsPerHost: 64}
	g.t.Cleanup(tr.CloseIdleConnections)
	return &api{t: g.t, url: "http://" + g.addr("api"), http: &http.Client{Transport: tr}, name: "acme"}
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
		if s.memory { // which does not list
			a.do("GET", "/v1/messages", "").want(t, 503, "unavailable")
		} else if list := a.do("GET", "/v1/messages", "").want(t, 200, ""); !strings.Contains(list.body, r.text("id")) {
			t.Error(list.body)
		}
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

// A failing store refuses batches while fail is set.
type failing struct {
	store.Store
	fail atomic.Bool
}

func (f *failing) wrap(s store.Store) store.Store { f.Store = s; return f }

func (f *failing) Commit(b *store.Batch) error {
	if f.fail.Load() && b.Octets() > 50 { // with a message: a note that the gateway makes at its start has 20
		_ = f.Store.Commit(b) // what has failed may be there all the same
		return errors.New("the disk does not answer")
	}
	return f.Store.Commit(b)
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

// The commands of docs/http.md work as they stand there.
func TestHTTPDocuments(t *testing.T) {
	parallel(t)
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("there is no curl")
	}
	page, err := os.ReadFile("../../docs/http.md")
	if err != nil {
		t.Fatal(err)
	}
	s := site{operator: newSMSC(t), more: withAPI, accounts: "{system_id: load, password: secret}", store: vfs.NewMem()}
	g := start(t, s)
	var printed strings.Builder
	for _, block := range strings.Split(string(page), "```sh\n")[1:] {
		commands, _, _ := strings.Cut(block, "```")
		out, err := exec.Command("sh", "-ec", strings.ReplaceAll(commands, "localhost:8080", g.addr("api"))).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v", commands, err)
		}
		printed.Write(out)
	}
	lines := strings.Split(printed.String(), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return !strings.HasPrefix(line, "{") })
	want := []string{`"client_reference":"parcel 7"`, `"state":"scheduled"`, `"state":"scheduled"`, `"state":"deleted"`, `"account":"load"`, `{"messages":[]}`, `"client_reference":"parcel 7"`}
	if len(lines) != len(want) {
		t.Fatalf("%s", printed.String())
	}
	for i, line := range lines {
		if !strings.Contains(line, want[i]) {
			t.Errorf("%s, want %s", line, want[i])
		}
	}
	smsc := s.operator.session()
	for range 2 {
		smsc.answer(0, field(smsc.want("submit_sm"), "seq"))
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
	a.do("POST", "/v1/messages", textBody("46700000001", "once"), "Idempotency-Key: k1").want(t, 504, "unknown-outcome")
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
