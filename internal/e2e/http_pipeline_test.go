package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/crypto/bcrypt"

	"pmg/internal/testkit/testutil"
	"pmg/protocols/smpp"
)

// An inbox is what an SMSC got: it accepts each message, until its session ends.
type inbox struct {
	mu    sync.Mutex
	lines []string // the messages as in the pdu log, without their sequence numbers
}

// serveAll accepts all messages of a session.
func (p *peer) serveAll() *inbox {
	in := &inbox{}
	go func() {
		for {
			b, err := p.read()
			var pdu smpp.PDU
			if err != nil || pdu.Decode(b) != nil {
				return
			}
			line := string(pdu.AppendLog(nil, true))
			seq := field(line, "seq")
			command, _, _ := strings.Cut(line, " ")
			answer := command + "_resp seq=" + seq + " status=0"
			if command == "submit_sm" {
				in.mu.Lock()
				in.lines = append(in.lines, strings.Replace(line, " seq="+seq, "", 1))
				in.mu.Unlock()
				answer += " message_id=" + seq
			}
			if _, err := p.conn.Write(wire(p.t, answer)); err != nil {
				return
			}
		}
	}()
	return in
}

// all returns the messages that have come.
func (in *inbox) all() []string {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Clone(in.lines)
}

// texts returns the texts of the messages that have come, without quotation marks.
func (in *inbox) texts() (all []string) {
	for _, line := range in.all() {
		all = append(all, strings.Trim(field(line, "short_message"), `"`))
	}
	return all
}

// A web is a raw connection to a connector by HTTP.
type web struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
}

func (g *gw) web(name, from string) *web { return dialWeb(g.t, g.addr(name), from) }

// dialWeb connects from an address of this host.
func dialWeb(t testing.TB, addr, from string) *web {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: testutil.Patience}
	conn, err := d.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	return &web{t, conn, bufio.NewReader(conn)}
}

// rest reads until the connection ends, and closes it.
func (w *web) rest() string {
	b, err := io.ReadAll(w.conn)
	if isTimeout(err) {
		w.t.Errorf("the connection does not end; it had %.300q", b)
	}
	w.conn.Close()
	return string(b)
}

// write writes requests.
func (w *web) write(requests ...string) *web {
	w.t.Helper()
	if _, err := io.WriteString(w.conn, strings.Join(requests, "")); err != nil {
		w.t.Error(err)
	}
	return w
}

// answer reads an answer. Its status is 0 if the connection ends instead.
func (w *web) answer() (status int, body string, header http.Header) {
	r, err := http.ReadResponse(w.in, nil)
	if err != nil {
		if isTimeout(err) {
			w.t.Error("no answer comes, and no end")
		}
		return 0, "", nil
	}
	b, _ := io.ReadAll(r.Body)
	return r.StatusCode, string(b), r.Header
}

// want reads answers, which must have these statuses.
func (w *web) want(statuses ...int) *web {
	w.t.Helper()
	for i, want := range statuses {
		if status, body, _ := w.answer(); status != want {
			w.t.Fatalf("answer %d: %d %s, want %d", i+1, status, body, want)
		}
	}
	return w
}

// sendsms returns a request of Kannel's form, with further parameters and fields.
func sendsms(text string, more ...string) string {
	return get("/cgi-bin/sendsms?username=acme&password=s3cret&from=1234&to=46700000001&text="+url.QueryEscape(text), more...)
}

func get(target string, fields ...string) string {
	return "GET " + target + " HTTP/1.1\r\nHost: x\r\n" + strings.Join(append(fields, ""), "\r\n") + "\r\n"
}

func post(target, body string, fields ...string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n%s", target, strings.Join(append(fields, ""), "\r\n"), len(body), body)
}

var (
	answerStart = regexp.MustCompile(`HTTP/1\.[01] \d\d\d `)
	changing    = regexp.MustCompile(`\br[0-9a-f]+-[A-Z2-7]{10}\b|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
)

// answersOf splits what a connection has sent into answers, whose fields are in the order of their names. Dates and ids
// are left out.
func answersOf(stream string) (all []string) {
	starts := answerStart.FindAllStringIndex(stream, -1)
	if len(stream) > 0 && (len(starts) == 0 || starts[0][0] > 0) {
		return []string{stream}
	}
	for i, at := range starts {
		end := len(stream)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		head, body, _ := strings.Cut(stream[at[0]:end], "\r\n\r\n")
		lines := strings.Split(head, "\r\n")
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "Date: ") })
		for i, line := range lines { // a body with an id of the request may have another length
			if n, found := strings.CutPrefix(line, "Content-Length: "); found && (n == fmt.Sprint(len(body)) || body == "" && len(n) > 2) {
				lines[i] = "Content-Length: right"
			}
		}
		slices.Sort(lines[1:])
		all = append(all, changing.ReplaceAllString(strings.Join(lines, "\r\n")+"\r\n\r\n"+body, "ID"))
	}
	return all
}

const withKannel = `{name: api, direction: in, protocol: http, dialects: [pmg, kannel, jasmin], address: "127.0.0.1:0"}`

// withOptions returns withKannel with further options.
func withOptions(more string) string { return strings.TrimSuffix(withKannel, "}") + ", " + more + "}" }

// Requests of both servers are answered in their order on one connection, which goes to net/http once. The messages come in order.
func TestHTTPPipelineOrder(t *testing.T) {
	parallel(t)
	for name, s := range map[string]site{"pebble": {store: vfs.NewMem()}, "memory": {memory: true}, "none": {}} {
		t.Run(name, func(t *testing.T) {
			s.operator, s.more = newSMSC(t), withKannel
			g := start(t, s)
			in := s.operator.session().serveAll()
			var want []string
			send := func(n int) (all string) {
				for range n {
					want = append(want, fmt.Sprint(len(want)))
					all += sendsms(want[len(want)-1])
				}
				return all
			}
			w := g.web("api", "127.0.0.1").write(send(1)).want(202)
			w.write(send(200)).want(slices.Repeat([]int{202}, 200)...)
			w.write(get("/v1/account", basicAcme)).want(200)
			w.write(send(1)).want(202)
			w.write(send(3), get("/v1/nothing"), send(3), get("/v1/account", basicAcme), send(1), get("/v1/account", basicAcme, "Connection: close")).
				want(202, 202, 202, 404, 202, 202, 202, 200, 202, 200, 0)
			w = g.web("api", "127.0.0.1").write(send(150), get("/v1/nothing"), send(50))
			w.want(slices.Repeat([]int{202}, 150)...).want(404).want(slices.Repeat([]int{202}, 50)...)
			w.conn.Close()
			testutil.Eventually(t, "all messages come", func() bool { return len(in.texts()) >= len(want) })
			if got := in.texts(); !slices.Equal(got, want) {
				t.Errorf("%q", got)
			}
		})
	}
}

// A connection has the logins of its requests, and what they may is judged as of now: a reload removes an account, changes a
// password, and takes away a URL.
func TestHTTPPipelineReload(t *testing.T) {
	parallel(t)
	const calls = `{system_id: calls, password: s3cret, callback_urls: ["http://127.0.0.1:18090/"]}`
	s := site{operator: newSMSC(t), more: withKannel, accounts: calls + "\n{system_id: gone, password: s3cret}\n{system_id: other, password: s3cret}"}
	g := start(t, s)
	s.operator.session().serveAll()
	of := func(account, password, more string) string {
		return get("/cgi-bin/sendsms?username=" + account + "&password=" + password + "&from=1&to=46700000001&text=a" + more)
	}
	const url = "&dlr-mask=31&dlr-url=http://127.0.0.1:18090/"
	open := func() *web { return g.web("api", "127.0.0.1") }
	both := open().write(of("other", "s3cret", ""), of("gone", "s3cret", ""), of("other", "s3cret", "")).want(202, 202, 202)
	gone, other, call := open().write(of("gone", "s3cret", "")).want(202), open().write(of("other", "s3cret", "")).want(202), open().write(of("calls", "s3cret", url)).want(202)
	s.accounts = "{system_id: calls, password: s3cret}\n{system_id: other, password: \"changed\"}"
	g.mustReload(s)
	for name, w := range map[string]*web{"removed": gone, "changed": other, "net/http": both} {
		_, _ = io.WriteString(w.conn, of(map[string]string{"removed": "gone"}[name]+map[string]string{"changed": "other", "net/http": "other"}[name], "s3cret", ""))
		if status, body, _ := w.answer(); status != 403 && status != 0 {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	_, _ = io.WriteString(call.conn, of("calls", "s3cret", url))
	if status, body, _ := call.answer(); status != 400 && status != 0 {
		t.Errorf("the URL may not be called: %d %s", status, body)
	}
	g.web("api", "127.0.0.2").write(of("other", "changed", "")).want(202).write(of("other", "s3cret", "")).want(403)
}

// A request that is not whole waits no longer than by net/http.
func TestHTTPPipelineHalf(t *testing.T) {
	parallel(t)
	g := start(t, site{operator: newSMSC(t), more: withKannel, limits: "pdu_timeout: 200ms"})
	half := sendsms("half")[:40]
	body := "POST /cgi-bin/sendsms?username=acme&password=s3cret&from=1&to=46700000001 HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nhalf"
	for _, octets := range []string{half, body, sendsms("a") + half, sendsms("a") + body} {
		got := answersOf(g.web("api", "127.0.0.1").write(octets).rest())
		if strings.HasPrefix(octets, sendsms("a")) && (len(got) == 0 || !strings.HasPrefix(got[0], "HTTP/1.1 202")) {
			t.Errorf("%q: %q", octets, got)
		}
	}
}

// A client that reads no answers costs a bounded amount of memory, and delays no other.
func TestHTTPPipelineNotRead(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), more: withKannel}
	g := start(t, s)
	in := s.operator.session().serveAll()
	w := g.web("api", "127.0.0.2")
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.WriteString(w.conn, strings.Repeat(sendsms("flood"), 10_000)) // blocks, or does not
	}()
	testutil.Eventually(t, "it is read", func() bool { return len(in.all()) > 100 })
	for range 50 {
		g.web("api", "127.0.0.1").write(sendsms("other")).want(202).conn.Close()
	}
	w.conn.Close()
	<-done
	testutil.Eventually(t, "nobody is left", func() bool { return g.clients() == 0 })
}

// A stop loses no answer: each message that was sent to the SMSC was answered, or its connection was cut.
func TestHTTPPipelineStop(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s.more = withKannel
		g := start(t, s)
		in := s.operator.session().serveAll()
		idle := g.web("api", "127.0.0.1").write(sendsms("idle")).want(202)
		fresh := g.web("api", "127.0.0.1")
		var work sync.WaitGroup
		var mu sync.Mutex
		answered, cut := map[string]bool{}, map[string]bool{}
		for c := range 8 {
			w := g.web("api", "127.0.0.1")
			work.Go(func() {
				for n := 0; ; n++ {
					text := fmt.Sprintf("%d-%d", c, n)
					_, err := io.WriteString(w.conn, sendsms(text))
					status, _, _ := w.answer()
					mu.Lock()
					answered[text], cut[text] = status == 202, status == 0
					mu.Unlock()
					if status != 202 || err != nil {
						return
					}
				}
			})
		}
		testutil.Eventually(t, "messages come", func() bool { return len(in.all()) > 200 })
		ctx, cancel := context.WithTimeout(context.Background(), testutil.Patience)
		defer cancel()
		g.engine.Drain(ctx)
		work.Wait()
		if ctx.Err() != nil {
			t.Error("the stop waits for somebody")
		}
		for _, w := range []*web{idle, fresh} {
			if b := w.rest(); b != "" {
				t.Errorf("%q", b)
			}
		}
		got := map[string]bool{"idle": true}
		for _, text := range in.texts() {
			got[text] = true
			if text != "idle" && !answered[text] && !cut[text] {
				t.Errorf("%s was sent, and its client was told otherwise", text)
			}
		}
		lost := int64(0)
		for text, ok := range answered {
			if ok && !got[text] {
				lost++
			}
		}
		if lost > g.Pending() { // the others are in the store
			t.Errorf("%d messages were accepted and are lost", lost)
		}
	})
}

// Limits of connections count those of the pipeline: a busy place is not taken, an idle one is. A refused client may come again.
func TestHTTPPipelineLimits(t *testing.T) {
	parallel(t)
	hash, err := bcrypt.GenerateFromPassword([]byte("s3cret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	s := site{operator: newSMSC(t), more: withOptions("instances: 2"), limits: "prebind: 8, prebind_per_address: 2", accounts: fmt.Sprintf("{system_id: hashed, password: %q}", hash)}
	g := start(t, s)
	s.operator.session().serveAll()
	for range 20 { // each takes the place of the one that has been idle for longest
		w := g.web("api", "127.0.0.1")
		testutil.Eventually(t, "there is room", func() bool {
			_, _ = io.WriteString(w.conn, sendsms("a"))
			status, _, _ := w.answer()
			if status != 202 {
				w = g.web("api", "127.0.0.1")
			}
			return status == 202
		})
	}
	testutil.Eventually(t, "those that were replaced are closed", func() bool { return g.clients() <= 2 })
	g.stop()

	s.more = withOptions("instances: 100")
	s.operator = newSMSC(t)
	g = start(t, s)
	s.operator.session().serveAll()
	a, b := g.web("api", "127.0.0.3"), g.web("api", "127.0.0.3") // without a login
	g.web("api", "127.0.0.4").write(sendsms("of another address")).want(202)
	a.write(sendsms("a")).want(202)
	b.write(sendsms("b")).want(202)
	hashed := strings.Replace(sendsms("a"), "acme", "hashed", 1)
	g.web("api", "127.0.0.5").write(hashed, hashed).want(202, 202).write(strings.Replace(hashed, "s3cret", "wrong", 1)).want(403)
	for range 10 { // those that have logged in do not count
		g.web("api", "127.0.0.3").write(sendsms("a")).want(202)
	}
}

// A plugin refuses a login of a request as a wrong password is refused, and is asked once a connection.
func TestHTTPPipelinePlugin(t *testing.T) {
	parallel(t)
	s := site{
		operator: newSMSC(t), more: withKannel,
		top: `
plugins:
  - name: places
    on_failure: refuse
    rules: [{if: 'address == "127.0.0.2"', do: refuse, why: "not there"}]
hooks: [{at: login, plugin: places}]
`,
	}
	g := start(t, s)
	s.operator.session().serveAll()
	g.web("api", "127.0.0.1").write(sendsms("a"), sendsms("b")).want(202, 202)
	g.web("api", "127.0.0.2").write(sendsms("a")).want(403, 0)
	if s := g.Hooks.Status(); s[0].Asked != 2 || s[0].Refused != 1 {
		t.Errorf("%+v", s)
	}
}

// A connector that a reload removes ends its connections, idle and busy ones.
func TestHTTPPipelineRemoved(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), more: withKannel}
	g := start(t, s)
	s.operator.session().serveAll()
	idle, fresh := g.web("api", "127.0.0.1").write(sendsms("a")).want(202), g.web("api", "127.0.0.1")
	foreign := g.web("api", "127.0.0.1").write(sendsms("a"), get("/v1/nothing")).want(202, 404)
	s.more = ""
	g.mustReload(s)
	for _, w := range []*web{idle, fresh, foreign} {
		if b := w.rest(); b != "" {
			t.Errorf("%q", b)
		}
	}
}

// The pdu log has requests and answers as by net/http, and nothing of a request whose login was refused.
func TestHTTPPipelineLog(t *testing.T) {
	parallel(t)
	var got [2][]string
	for i := range got {
		s := site{operator: newSMSC(t), more: withKannel, plainHTTP: i == 1}
		g := start(t, s)
		s.operator.session().serveAll()
		w := g.web("api", "127.0.0.1")
		w.write(sendsms("hej p\xc3\xa5 dig"), get("/send?username=acme&password=s3cret&from=1234&to=46700000002&content=b")).want(202, 200)
		g.web("api", "127.0.0.2").write(strings.Replace(sendsms("hidden"), "s3cret", "wrong", 1)).want(403)
		g.web("api", "127.0.0.3").write(strings.Replace(sendsms("hidden"), "acme", "nobody", 1)).want(403)
		w.conn.Close()
		g.stop()
		b, err := os.ReadFile(filepath.Join(g.dir, "api.log"))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), "hidden") {
			t.Errorf("%s", b)
		}
		for line := range strings.Lines(string(b)) {
			if _, line, ok := strings.Cut(line, " http_"); ok {
				words := strings.Fields(strings.TrimSpace(line))
				words = slices.DeleteFunc(words, func(w string) bool {
					return strings.HasPrefix(w, "seq=") || strings.HasPrefix(w, "request=") || strings.HasPrefix(w, "id=") || strings.HasPrefix(w, "remote=")
				})
				slices.Sort(words[1:])
				got[i] = append(got[i], strings.Join(words, " "))
			}
		}
		slices.Sort(got[i])
	}
	if !slices.Equal(got[0], got[1]) {
		t.Errorf("the pipeline:\n%s\nnet/http:\n%s", strings.Join(got[0], "\n"), strings.Join(got[1], "\n"))
	}
}

// Connections leave nothing, in whatever state they end.
func TestHTTPPipelineLeaks(t *testing.T) {
	g := start(t, site{operator: newSMSC(t), more: withOptions("instances: 60"), limits: "prebind: 60, prebind_per_address: 60"})
	descriptors := func() int {
		all, _ := os.ReadDir("/proc/self/fd")
		return len(all)
	}
	before := descriptors()
	states := []string{
		"", "GET /cgi-bin/send", sendsms("a"), sendsms("a") + "GET ", get("/v1/nothing"), sendsms("a") + get("/v1/nothing"), strings.Repeat(sendsms("a"), 30),
		sendsms("a") + get("/v1/nothing") + sendsms("b") + "GET ", "\x00", strings.Replace(sendsms("a"), "acme", "nobody", 1), sendsms("a", "Connection: close"),
		strings.Repeat(sendsms("a"), 30) + get("/v1/nothing", "Connection: close"),
	}
	for n := range 1000 {
		w := g.web("api", fmt.Sprintf("127.0.2.%d", 1+n%200))
		_, _ = io.WriteString(w.conn, states[n%len(states)])
		if n%3 == 0 && strings.HasPrefix(states[n%len(states)], sendsms("a")) {
			_, _ = io.ReadFull(w.conn, make([]byte, 1+n%40))
		}
		w.conn.Close()
	}
	testutil.Eventually(t, "all are gone", func() bool { return g.clients() == 0 && descriptors() <= before })
	for n := range 50 { // there is room for as many as before
		w := g.web("api", fmt.Sprintf("127.0.3.%d", 1+n))
		w.write(sendsms("a")).want(202)
	}
}
