package e2e

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
)

// A double is two gateways with one configuration: in the second one net/http has all requests.
type double struct {
	t     *testing.T
	gws   [2]*gw
	inbox [2]*inbox
	mu    sync.Mutex
	wrong int // differences that were found

	refused map[string]bool // receivers of talks with a refused login: the pipeline closes the connection behind it
}

func newDouble(t *testing.T, s site) *double {
	d := &double{t: t, refused: map[string]bool{}}
	for i := range d.gws {
		s := s
		s.operator, s.plainHTTP = newSMSC(t), i == 1
		d.gws[i] = start(t, s)
		d.inbox[i] = s.operator.session().serveAll()
	}
	return d
}

// A talk is what a client writes to a connection.
type talk struct {
	connector string
	writes    []string
}

// probe is the last request of a talk: it shows whether the connection was still open, and ends it.
const probe = "GET /probe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

// isRefusal reports whether an answer refuses a login.
func isRefusal(answer string) bool {
	return strings.Contains(answer, "Authorization failed for sendsms") || strings.Contains(answer, "Authentication failure for username")
}

// answer returns what both gateways answer to a client at an address.
func (d *double) answer(from string, c talk) (got [2][]string) {
	var both sync.WaitGroup
	for i, g := range d.gws {
		w := g.web(c.connector, from)
		both.Go(func() {
			for _, b := range c.writes {
				_, _ = w.conn.Write([]byte(b)) // the gateway may have closed the connection
			}
			_, _ = w.conn.Write([]byte(probe))
			got[i] = answersOf(w.rest())
		})
	}
	both.Wait()
	return got
}

// compare compares the answers to a talk. It reports whether a login was refused.
func (d *double) compare(from string, c talk) (refused bool) {
	got := d.answer(from, c)
	refused = slices.ContainsFunc(got[1], isRefusal)
	// the pipeline closes the connection behind a refused login
	if n := len(got[0]); n > 0 && isRefusal(got[0][n-1]) {
		d.mu.Lock()
		d.refused[receiver.FindString(strings.Join(c.writes, ""))] = true
		d.mu.Unlock()
		got[1] = got[1][:min(len(got[1]), n)]
		for i := range got {
			if last := len(got[i]) - 1; last >= 0 {
				got[i][last] = strings.Replace(got[i][last], "Connection: close\r\n", "", 1)
			}
		}
	}
	if slices.Equal(got[0], got[1]) {
		return refused
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.wrong++; d.wrong <= 30 {
		d.t.Errorf("%s: %.1500q\n the pipeline: %.1500q\n     net/http: %.1500q", c.connector, c.writes, got[0], got[1])
	}
	return refused
}

// known logs all accounts in from an address: their logins from there do not wait for failures elsewhere.
func (d *double) known(from string) {
	c := talk{connector: "all"}
	for _, account := range []string{"acme", "calls", "sender"} {
		c.writes = append(c.writes, get("/cgi-bin/sendsms?username="+account+"&password=s3cret&from=1&to=46600000000&text=a"))
	}
	d.answer(from, c)
}

// run compares talks, by several clients. Each client has an address of its own, and another one after a refused login: failed logins
// make those wait that follow.
func (d *double) run(talks []talk, clients int) {
	next := make(chan talk)
	var work sync.WaitGroup
	var addresses atomic.Int32
	for range clients {
		work.Go(func() {
			from, isKnown := "", false
			for c := range next {
				if !isKnown {
					n := addresses.Add(1)
					from = fmt.Sprintf("127.%d.%d.%d", 1+n>>14, n>>7&127, 1+n&127)
					d.known(from)
				}
				isKnown = !d.compare(from, c)
			}
		})
	}
	for _, c := range talks {
		next <- c
	}
	close(next)
	work.Wait()
	if d.t.Failed() {
		for _, why := range []string{"no request after", "too many", "instances", "prebind", "panic", "cannot"} {
			d.t.Logf("%q is in %d lines of the log", why, d.gws[0].log.count(why))
		}
	}
}

var receiver = regexp.MustCompile(`467\d{8}`)

// reference is the reference of a long message's parts.
var reference = regexp.MustCompile(`\\x..\\x00\\x03(\\x..|\\.|.)`)

var times = regexp.MustCompile(` (validity_period|schedule_delivery_time)="?(\d{12})\d\d\d[-+]"?`)

// effect compares what the SMSCs have got, by receiver. Times may differ by half a minute.
func (d *double) effect() {
	var got [2]map[string][]string
	testutil.Eventually(d.t, "no message waits", func() bool { return d.gws[0].quiet() && d.gws[1].quiet() })
	for i, in := range d.inbox {
		got[i] = map[string][]string{}
		for _, line := range in.all() {
			to := field(line, "destination_addr")
			got[i][to] = append(got[i][to], reference.ReplaceAllString(line, "REFERENCE"))
		}
	}
	for to := range got[1] {
		if _, ok := got[0][to]; !ok && !d.refused[to] {
			d.t.Errorf("%s: the pipeline sent nothing, net/http %q", to, got[1][to])
		}
	}
	for to, a := range got[0] { // accounts and priorities have queues of their own
		b := got[1][to]
		slices.SortFunc(a, compareMessages)
		slices.SortFunc(b, compareMessages)
		if !d.refused[to] && !slices.EqualFunc(a, b, sameMessage) {
			d.t.Errorf("%s:\n the pipeline: %.900q\n     net/http: %.900q", to, a, b)
		}
	}
	equal(d.t, "messages that wait", d.gws[0].Pending(), d.gws[1].Pending())
}

// quiet reports whether no message waits for the SMSC.
func (g *gw) quiet() bool { return g.Deliverable() == 0 }

func compareMessages(a, b string) int {
	return strings.Compare(times.ReplaceAllString(a, " $1"), times.ReplaceAllString(b, " $1"))
}

func sameMessage(a, b string) bool {
	x, y := times.FindAllStringSubmatch(a, -1), times.FindAllStringSubmatch(b, -1)
	if times.ReplaceAllString(a, " $1") != times.ReplaceAllString(b, " $1") || len(x) != len(y) {
		return false
	}
	for i := range x {
		s, _ := time.Parse("060102150405", x[i][2])
		u, _ := time.Parse("060102150405", y[i][2])
		if s.Sub(u).Abs() > 30*time.Second {
			return false
		}
	}
	return true
}

// pipelineSite returns a site with a connector of all dialects, one of Kannel's and one of Jasmin's, and accounts of all kinds.
func pipelineSite() site {
	const in = `direction: in, protocol: http, address: "127.0.0.1:0", instances: 2000`
	return site{
		silent: true, out: "window: 500",
		limits: "prebind: 2000, pdu_timeout: 5s", // a body may never come
		more: "{name: all, dialects: [pmg, kannel, jasmin], " + in + "}\n{name: kannel, dialects: [kannel], " + in + "}\n" +
			"{name: jasmin, dialects: [jasmin], " + in + "}",
		accounts: `{system_id: calls, password: s3cret, callback_urls: ["http://127.0.0.1:9/"]}
			{system_id: sender, password: s3cret, rewrite: [{in: source, default: Shop}]}`,
	}
}

// basicAcme is the login of acme.
var basicAcme = "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("acme:s3cret"))

// pipelineTalks are talks that matter, each on one connection. Receivers have the number of their talk.
func pipelineTalks() (all []talk) {
	to := 0
	one := func(format string) string { return strings.ReplaceAll(format, "TO", fmt.Sprintf("467%08d", to)) }
	add := func(writes ...string) {
		for _, connector := range []string{"all", "kannel", "jasmin"} {
			to++
			c := talk{connector: connector}
			for _, w := range writes {
				c.writes = append(c.writes, one(w))
			}
			all = append(all, c)
		}
	}
	post := func(target, body string, fields ...string) string { // TO is shorter than a number
		const number = "46700000000"
		return strings.ReplaceAll(post(target, strings.ReplaceAll(body, "TO", number), fields...), number, "TO")
	}
	const k = "/cgi-bin/sendsms?username=acme&password=s3cret&from=1234&to=TO"
	const j = "/send?username=acme&password=s3cret&from=1234&to=TO"
	ok, okJ := get(k+"&text=ok"), get(j+"&content=ok")
	for _, target := range []string{k + "&text=hello", j + "&content=hello", "/secure/send"} {
		add(get(target))
		add(get(target, "Connection: close"))
		add(get(target, "Connection: keep-alive"))
		add(get(target, "Connection: Keep-Alive"))
		add(get(target, "connection: CLOSE"))
		add(get(target, "Connection: close, x"))
		add(get(target, "Connection: upgrade"), ok)
		add("GET " + target + " HTTP/1.0\r\n\r\n")
		add("GET " + target + " HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\n\r\n")
		add("GET " + target + " HTTP/1.0\r\nConnection: close\r\n\r\n")
		add("GET " + target + " HTTP/1.1\r\n\r\n")
		add("GET " + target + " HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n")
		add("GET " + target + " HTTP/1.1\r\nHost: \r\n\r\n")
		add("GET " + target + " HTTP/1.2\r\nHost: x\r\n\r\n")
		add("GET " + target + " HTTP/2.0\r\nHost: x\r\n\r\n")
		add("GET " + target + " HTTP/1.1\nHost: x\n\n")
		add("GET " + target + "\r\n\r\n")
		add("GET  " + target + " HTTP/1.1\r\nHost: x\r\n\r\n")
		add("get " + target + " HTTP/1.1\r\nHost: x\r\n\r\n")
		add("GET http://x" + target + " HTTP/1.1\r\nHost: y\r\n\r\n")
		add("GET /." + target + " HTTP/1.1\r\nHost: y\r\n\r\n")
		add("GET /" + target + " HTTP/1.1\r\nHost: y\r\n\r\n")
		add("GET " + strings.Replace(target, "send", "%73end", 1) + " HTTP/1.1\r\nHost: y\r\n\r\n")
		add("GET " + target + "#f HTTP/1.1\r\nHost: y\r\n\r\n")
		for _, method := range []string{"HEAD", "PUT", "OPTIONS", "DELETE", "post", "PATCH", "TRACE", "CONNECT", "X"} {
			add(method + " " + target + " HTTP/1.1\r\nHost: x\r\n\r\n")
		}
		for _, fieldLine := range []string{
			"X: a\r\n b", "X : a", "X: a\x00b", "X\x00: a", "X: \xff", ": a", "X", "X: a\nY: b", "X: a\rY: b", "Content-Length: 0", "Content-Length: 5",
			"Content-Length: -1", "Content-Length: +0", "Content-Length: 00", "Content-Length: 0, 0", "Content-Length: 0\r\nContent-Length: 0",
			"Content-Length: 99999999999999999999", "Content-Length: 0x0", "Content-Length:", "Transfer-Encoding: chunked", "Transfer-Encoding: identity",
			"Transfer-Encoding: chunked\r\nContent-Length: 4", "Expect: 100-continue", "Expect: x", "TE: trailers", "Upgrade: h2c", "Cookie: a=b",
			"Range: bytes=0-3", "If-None-Match: *", "Origin: http://x", "Accept-Encoding: gzip", "Idempotency-Key: a", "Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
			"X-Forwarded-For: 1.2.3.4", "X-HTTP-Method-Override: PUT", "X: " + strings.Repeat("y", 8000), "X: " + strings.Repeat("y", 9000), "X: " + strings.Repeat("y", 64<<10),
			"X: " + strings.Repeat("y", 80<<10), strings.TrimSuffix(strings.Repeat("X: y\r\n", 64), "\r\n"), strings.TrimSuffix(strings.Repeat("X: y\r\n", 70), "\r\n"),
			"Authorization: Basic !", basicAcme, "X-Kannel-Username: acme",
		} {
			add(get(target, fieldLine))
		}
	}
	for _, p := range []string{
		"", "&text=", "&text=%", "&text=%4", "&text=%zz", "&text=%e5", "&text=%c3%a5", "&text=%c3", "&text=%ff%fe", "&text=%f0%9f%98%80", "&text=a+b%2bc", "&text=%00", "&text=a&text=b",
		"&text=a;b", "&TEXT=a", "&te%78t=a", "&text", "&text=a=b&", "&&text=a", "&text=a&user=other&pass=x", "&text=" + strings.Repeat("x", 161), "&text=" + strings.Repeat("%e2%82%ac", 90),
		"&text=" + strings.Repeat("x", 7000), "&text=" + strings.Repeat("x", 40000), "&text=\xe5", "&text=a|b\"<>^`{}", "&text=%c3%a5&charset=latin1", "&text=%e5&charset=ISO-8859-1",
		"&text=%e5&charset=windows-1252", "&text=%00a&charset=UTF-16BE", "&text=%00a&coding=2", "&text=%00&coding=2", "&text=%00%ff&coding=1", "&text=a&coding=3", "&text=a&coding=0", "&text=a&coding=x",
		"&text=a&charset=none", "&text=a&charset=", "&text=%d7%90&charset=UTF-8&coding=2", "&text=%ff&coding=2&charset=UTF-8", "&text=a&mclass=0", "&text=a&mclass=3", "&text=a&mclass=4", "&text=a&mclass=-1", "&text=a&mwi=1",
		"&text=&mwi=7", "&text=a&mwi=8", "&text=a&udh=%05%00%03%01%02%01", "&text=a&udh=%05", "&text=a&udh=", "&text=a&udh=050003010201", "&text=a&pid=64", "&text=a&pid=256", "&text=a&rpi=1", "&text=a&rpi=2", "&text=a&rpi=3",
		"&text=a&alt-dcs=1", "&text=a&alt-dcs=2", "&text=a&compress=1", "&text=a&compress=0", "&text=a&priority=3", "&text=a&priority=4", "&text=a&priority=0", "&text=a&validity=10", "&text=a&validity=-2", "&text=a&validity=0", "&text=a&validity=99999999999",
		"&text=a&validity=x", "&text=a&deferred=10000", "&text=a&deferred=0", "&text=a&deferred=10&validity=5", "&text=a&dlr-mask=31", "&text=a&dlr-mask=67", "&text=a&dlr-mask=0", "&text=a&dlr-mask=8", "&text=a&dlrmask=3",
		"&text=a&dlr-url=http://127.0.0.1:9/&dlr-mask=31", "&text=a&dlr-url=http://10.0.0.1/", "&text=a&dlr-url=x", "&text=a&dlr-url=http://%%25d/", "&text=a&dlr-url=", "&text=a&account=x", "&text=a&account=%5b",
		"&text=a&binfo=b&meta-data=%3fsmpp%3fa%3db&smsc=x", "&text=a&meta-data=" + strings.Repeat("x", 3000), "&text=a&unknown=1", "&text=a&username=other", "&text=a&to=46700000002", "&text=a+b&to=",
	} {
		add(get(k+p), ok)
		add(get(strings.Replace(k, "acme", "calls", 1) + p))
	}
	for _, target := range []string{
		"/cgi-bin/sendsms?username=acme&password=s3cret&to=TO&text=a", "/cgi-bin/sendsms?username=sender&password=s3cret&to=TO&text=a", "/cgi-bin/sendsms?username=sender&password=s3cret&from=&to=TO&text=a",
		"/cgi-bin/sendsms?username=acme&password=s3cret&from=1&text=a", "/cgi-bin/sendsms?username=acme&password=s3cret&from=1&to=&text=a", "/cgi-bin/sendsms?username=acme&password=s3cret&from=1&to=TO+TO&text=a",
		"/cgi-bin/sendsms?username=acme&password=s3cret&from=1&to=TO+46790000001&text=a", "/cgi-bin/sendsms?username=acme&password=s3cret&from=1&to=TO+x&text=a", "/cgi-bin/sendsms?username=acme&password=s3cret&from=1&to=x&text=a",
		"/cgi-bin/sendsms?username=acme&password=s3cret&from=1&to=%2bTO&text=a", "/cgi-bin/sendsms?username=acme&password=s3cret&from=1&to=00TO&text=a", "/cgi-bin/sendsms?username=acme&password=s3cret&from=1&to=+TO-+-1&text=a",
		"/cgi-bin/sendsms?username=acme&password=s3cret&from=1&to=123456789012345678901&text=a", "/cgi-bin/sendsms?username=acme&password=s3cret&from=A+very+long+sender&to=TO&text=a",
		"/cgi-bin/sendsms?username=acme&password=s3cret&from=%c3%a5&to=TO&text=a", "/cgi-bin/sendsms?username=acme&password=s3cret&from=%2b467&to=TO&text=a", "/cgi-bin/sendsms?username=acme&password=s3cret&from=%00&to=TO&text=a",
		"/cgi-bin/sendsms?user=acme&pass=s3cret&from=1&to=TO&text=a", "/cgi-bin/sendsms?user=other&username=acme&pass=x&password=s3cret&from=1&to=TO&text=a", "/cgi-bin/sendsms", "/cgi-bin/sendsms?",
		"/cgi-bin/sendsms?username=acme&password=wrong&from=1&to=TO&text=a", "/cgi-bin/sendsms?username=nobody&password=s3cret&from=1&to=TO&text=a", "/cgi-bin/sendsms?username=&password=&from=1&to=TO&text=a",
		"/cgi-bin/sendsms?from=1&to=TO&text=a", "/cgi-bin/sendsms?username=ACME&password=s3cret&from=1&to=TO&text=a", "/cgi-bin/sendsms?username=acme%00&password=s3cret&from=1&to=TO&text=a",
		"/cgi-bin/sendsms/?username=acme&password=s3cret&from=1&to=TO&text=a", "/cgi-bin/SENDSMS?username=acme&password=s3cret&from=1&to=TO&text=a", "/sendsms?username=acme&password=s3cret&from=1&to=TO&text=a",
		"/send?username=acme&password=wrong&from=1&to=TO&content=a", "/send?username=acme%0d&password=wrong&from=1&to=TO&content=a", "/send?username=acme&password=s3cret&to=TO&content=a", "/send?username=sender&password=s3cret&to=TO&content=a",
		"/send?username=sender&password=s3cret&to=TO&from=&content=a", "/send?to=TO&content=a", "/send", "/send?username=acme&to=TO&content=a", "/v1/nothing", "/", "*", "/rate?username=acme&password=s3cret&to=TO", "/balance?username=acme&password=s3cret",
		"/ping", "/status", "/cgi-bin/status?password=x",
	} {
		add(get(target))
		add(ok, get(target), ok)
		add(okJ, get(target), okJ)
	}
	for _, p := range []string{
		"", "&content=", "&content=%", "&content=%c3%a5", "&content=%c3", "&content=%ff", "&content=%F0%9F%98%80", "&content=a+b", "&content=%00", "&content=a&content=b", "&content=a&hex-content=00", "&hex-content=0061&coding=8", "&hex-content=00&coding=8",
		"&hex-content=xx", "&hex-content=", "&content=a&coding=0", "&content=a&coding=3", "&content=a&coding=8", "&content=ab&coding=8", "&content=a&coding=9", "&content=a&coding=15", "&content=a&coding=x", "&content=a&coding=1", "&content=a&coding=2", "&content=a&coding=6", "&content=%e0&coding=7",
		"&content=a&priority=2", "&content=a&priority=4", "&content=a&priority=", "&content=a&validity-period=10", "&content=a&validity-period=0", "&content=a&validity-period=-1", "&content=a&validity-period=99999999999999999999", "&content=a&sdt=000000000100000R",
		"&content=a&sdt=301231235959000%2b", "&content=a&sdt=000000000000000R", "&content=a&sdt=x", "&content=a&sdt=", "&content=a&dlr=yes", "&content=a&dlr=no", "&content=a&dlr=x", "&content=a&dlr=yes&dlr-level=3&dlr-url=http://127.0.0.1:9/&dlr-method=POST",
		"&content=a&dlr=yes&dlr-level=2", "&content=a&dlr-level=4", "&content=a&dlr-level=1", "&content=a&dlr-url=http://10.0.0.1/", "&content=a&dlr-url=x", "&content=a&dlr-url=", "&content=a&dlr-method=PUT", "&content=a&tags=a,b", "&content=a&tags=" + strings.Repeat("a,", 2000),
		"&content=a&custom_tlvs=x", "&content=a&unknown=1", "&content=" + strings.Repeat("x", 161), "&content=" + strings.Repeat("x", 40000), "&content=a&to=46700000002", "&content=a&username=other", "&content",
	} {
		add(get(j+p), okJ)
		add(get(strings.Replace(j, "acme", "calls", 1) + p))
		form := strings.TrimPrefix(p, "&")
		add(post("/send", "username=acme&password=s3cret&from=1234&to=TO&"+form, "Content-Type: application/x-www-form-urlencoded"), okJ)
		add(post(j, form, "Content-Type: application/x-www-form-urlencoded; charset=utf-8"), okJ)
	}
	for _, body := range []string{
		`{"to":"TO","content":"a"}`, `{"to":"TO","from":"1","content":"\u00e5"}`, `{"to":"TO","from":"1","content":"a","hex_content":"00"}`, `{"to":"TO","from":"1","hex_content":"0061","coding":8}`, `{"to":TO,"from":1,"content":1}`,
		`{"to":["TO"],"from":"1","content":"a"}`, `{"to":"TO","from":"1","content":null}`, `{"to":"TO","from":"1","content":"a","to":"46700000003"}`, `{"to":"TO","from":"1","content":"a"`, `[]`, `null`, ``, `{}`, "{\"to\":\"TO\",\"from\":\"1\",\"content\":\"\xff\"}", `{"to":"TO","from":"1","content":"\ud800"}`,
		`{"to":"TO","from":"1","content":"a","dlr":"yes","dlr-level":3,"dlr_url":"http://127.0.0.1:9/"}`, `{"to":"TO","from":"1","content":"a","sdt":"000000000100000R"}`, `{"to":"TO","from":"1","content":"a","priority":1,"validity_period":5}`, `{"to":"TO","from":"1","content":"a","custom_tlvs":[[5,null,"Int4",1]]}`,
		`{"username":"acme","password":"s3cret","to":"TO","from":"1","content":"a"}`, `{"username":"acme","password":"x","to":"TO","from":"1","content":"a"}`, `{"TO":"TO","from":"1","content":"a"}`,
	} {
		for _, kind := range []string{"Content-Type: application/json", "X: y", "Content-Type: application/json; charset=utf-8"} {
			add(post("/secure/send", body, basicAcme, kind), okJ)
			add(post("/secure/send", body, kind))
			add(post("/send", body, kind), okJ)
			add(post("/send", body, basicAcme, kind))
			add(post(j, body, kind))
		}
		add(post("/secure/send?to=1&x", body, basicAcme, basicAcme))
		add(post("/secure/send", body, "Authorization: Basic "+base64.StdEncoding.EncodeToString([]byte("acme:wrong"))))
		add(post("/secure/send", body, "authorization: basic "+base64.StdEncoding.EncodeToString([]byte("acme:s3cret"))))
		add(post("/secure/send", body, "Authorization: Bearer x"))
		add(post("/secure/sendbatch", `{"messages":[`+body+`]}`, basicAcme))
	}
	xk := "X-Kannel-Username: acme\r\nX-Kannel-Password: s3cret\r\nX-Kannel-From: 1234\r\nX-Kannel-To: TO"
	for _, kind := range []string{
		"application/x-www-form-urlencoded", "application/x-www-form-urlencoded; charset=latin1", "text/plain", "text/plain; charset=utf-8", "text/plain; charset=none", "TEXT/PLAIN", "application/octet-stream", "text/html", "text/xml", "text/vnd.wap.wml",
		"image/png", "", "multipart/form-data; boundary=x",
	} {
		for _, body := range []string{"", "text=b", "a b", "\xe5\x00\xff", "username=acme&password=s3cret&from=1&to=TO&text=form", strings.Repeat("z", 400), strings.Repeat("z", 66000), "<?xml version=\"1.0\"?><message><submit><da><number>TO</number></da><oa><number>1</number></oa><ud>x</ud><from><username>acme</username><password>s3cret</password></from></submit></message>"} {
			ct := "Content-Type: " + kind
			if len(body) < 10 {
				add(post("/cgi-bin/sendsms", body, ct))
			}
			add(post(k, body, ct), ok)
			add(post(k+"&text=q", body, ct), ok)
			add(post("/cgi-bin/sendsms", body, ct, xk), ok)
			add(post("/cgi-bin/sendsms", body, ct, xk, "x-kannel-coding: 2", "X-KANNEL-TO: TO", "X-Kannel-UDH: 050003010201", "X-Kannel-DLR-Mask: 31"))
			if body == "text=b" {
				add(post("/cgi-bin/sendsms", body, ct, strings.Replace(xk, "s3cret", "wrong", 1)))
			}
		}
	}
	for _, n := range []string{"3", "1", "30", "0", "", "-1", "x", "99999999999999999999", "7 ", " 7", "7;", "+7", "07"} {
		add("POST "+k+"&text=l HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: "+n+"\r\n\r\ntext=ab", ok)
		add("POST "+k+"&text=l HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: "+n+"\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nx=y\r\n0\r\n\r\n", ok)
	}
	add("POST "+k+" HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n&text=a\r\n0\r\n\r\n", ok)
	add(post(k+"&text=a", "", "Content-Type: text/plain"), "\r\n"+ok)
	add(post(k+"&text=a", "x=y", "Content-Type: application/x-www-form-urlencoded"), "\r\n\r\n"+ok)
	add(post(k+"&text=a", "x=y", "Content-Type: application/x-www-form-urlencoded") + "\r\n" + ok)
	add(post(k+"&text=a", "x=y", "Content-Type: application/x-www-form-urlencoded")+"\n", ok)
	add(post(k+"&text=a", "x=y", "Content-Type: application/x-www-form-urlencoded") + "\r\n\r\n\r\n" + ok)
	add(ok+"\r\n"+ok, ok)
	add("\r\n"+ok, ok)
	add(ok + get("/v1/nothing") + ok + okJ + get("/v1/x", "Connection: close") + ok)
	add(ok + get(k+"&text=b", "Connection: close") + ok)
	add(ok + get(strings.Replace(k, "acme", "calls", 1)+"&text=b") + ok + okJ + ok)
	add(okJ + post("/send", "username=acme&password=s3cret&from=1&to=TO&content=b", "Content-Type: application/x-www-form-urlencoded") + "\r\n" + okJ)
	add(strings.Repeat(ok, 100))
	add(strings.Repeat(okJ, 100))
	add(strings.Repeat(ok+get("/v1/x"), 10))
	add("* HTTP/1.1\r\n\r\n", ok)
	add("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", ok)
	add("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	add("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")
	return all
}

// The pipeline answers as net/http does, and has the same effect.
func TestHTTPPipelineTable(t *testing.T) {
	parallel(t)
	d := newDouble(t, pipelineSite())
	d.run(pipelineTalks(), 400) // a refused login takes some seconds
	d.effect()
}

// mutations change a request a little.
var mutations = []func(r *rand.Rand, s string) string{
	func(r *rand.Rand, s string) string {
		i := r.IntN(len(s))
		return s[:i] + string(rune(r.IntN(128))) + s[i:]
	},
	func(r *rand.Rand, s string) string { i := r.IntN(len(s)); return s[:i] + s[i+1:] },
	func(r *rand.Rand, s string) string {
		b := []byte(s)
		b[r.IntN(len(b))] = byte(r.IntN(256))
		return string(b)
	},
	func(r *rand.Rand, s string) string {
		i := r.IntN(len(s))
		j := i + r.IntN(min(len(s)-i, 20))
		return s[:j] + s[i:j] + s[j:]
	},
	func(r *rand.Rand, s string) string {
		lines := strings.SplitAfter(s, "\r\n")
		i, j := r.IntN(len(lines)), r.IntN(len(lines))
		lines[i], lines[j] = lines[j], lines[i]
		return strings.Join(lines, "")
	},
	func(r *rand.Rand, s string) string { return strings.Replace(s, "\r\n", "\n", 1+r.IntN(3)) },
	func(r *rand.Rand, s string) string { return strings.Replace(s, "&", "&&", r.IntN(3)) },
	func(r *rand.Rand, s string) string { return strings.Replace(s, "HTTP/1.1", "HTTP/1.0", 1) },
	func(r *rand.Rand, s string) string { return strings.Replace(s, "GET", "POST", 1) },
	func(r *rand.Rand, s string) string { return strings.Replace(s, "e", "%65", 1+r.IntN(5)) },
}

// pick returns one of several.
func pick[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

// randomText returns a text in URL encoding, which may end in the middle of something.
func randomText(r *rand.Rand) string {
	s := url.QueryEscape(pick(r, "hello", "hej på dig", "€ 5", "Привет", "😀", "a\tb\r\nc", "", "\xff\xfe", strings.Repeat("long ", 40), strings.Repeat("å", 200)))
	if r.IntN(4) == 0 && s != "" {
		s = s[:r.IntN(len(s))]
	}
	return s
}

// randomRequest returns a request to a receiver.
func randomRequest(r *rand.Rand, to string) string {
	v := []string{"username=" + pick(r, "acme", "acme", "acme", "calls", "sender"), "password=s3cret", "to=" + to}
	if r.IntN(10) > 0 {
		v = append(v, "from="+pick(r, "1234", "Shop", "%2b46700000000", "A+B", "%c3%a5", "123456789012345678901"))
	}
	kannel := r.IntN(2) == 0
	more := []string{"content=" + randomText(r), "coding=" + pick(r, "0", "3", "8", "1", "9"), "dlr=yes", "dlr-level=" + pick(r, "1", "2", "3", "4"), "dlr-url=http://127.0.0.1:9/x", "priority=" + pick(r, "0", "3", "9"), "validity-period=" + pick(r, "1", "60", "x"), "tags=a", "hex-content=" + pick(r, "0061", "6")}
	if kannel {
		more = []string{
			"text=" + randomText(r), "charset=" + pick(r, "UTF-8", "ISO-8859-1", "UTF-16BE", "windows-1252", "KOI8-R", "no"), "coding=" + pick(r, "0", "1", "2", "3"), "udh=" + pick(r, "%05%00%03%01%02%01", "%01", "%06%05%04%0b%84%23%f0"),
			"mclass=" + pick(r, "0", "1", "9"), "mwi=" + pick(r, "0", "5"), "pid=1", "rpi=1", "priority=2", "validity=" + pick(r, "5", "0", "-1"), "deferred=" + pick(r, "0", "9999"), "dlr-mask=" + pick(r, "0", "7", "31", "99"),
			"dlr-url=http://127.0.0.1:9/%25d", "account=a", "binfo=b", "meta-data=c", "smsc=d", "alt-dcs=1", "compress=1",
		}
	}
	v = append(v, more[0])
	for _, p := range more[1:] {
		if r.IntN(8) == 0 {
			v = append(v, p)
		}
	}
	r.Shuffle(len(v), func(i, j int) { v[i], v[j] = v[j], v[i] })
	path, query := pick(r, "/send", "/send", "/send"), strings.Join(v, "&")
	if kannel {
		path = "/cgi-bin/sendsms"
	}
	var fields []string
	for _, f := range []string{"Connection: keep-alive", "Connection: close", "User-Agent: curl/8", "Accept: */*", "Accept-Encoding: gzip", "X-Request-Id: 7", "Cache-Control: no-cache"} {
		if r.IntN(6) == 0 && (f != "Connection: close" || r.IntN(4) == 0) {
			fields = append(fields, f)
		}
	}
	switch r.IntN(6) {
	case 0:
		return post(path, query, append(fields, "Content-Type: application/x-www-form-urlencoded")...)
	case 1:
		i := r.IntN(len(v))
		return post(path+"?"+strings.Join(v[:i], "&"), strings.Join(v[i:], "&"), append(fields, "Content-Type: application/x-www-form-urlencoded")...)
	case 2:
		if !kannel {
			body := fmt.Sprintf(`{"to":%q,"from":"1","content":"%d å"}`, to, r.IntN(1000))
			return post("/secure/send", body, append(fields, basicAcme, "Content-Type: application/json")...)
		}
	}
	return get(path+"?"+query, fields...)
}

// randomTalk returns a talk with its number, of which the last request may be changed.
func randomTalk(seed uint64) talk {
	r := rand.New(rand.NewPCG(seed, 52))
	c := talk{connector: pick(r, "all", "all", "kannel", "jasmin")}
	var all string
	for range 1 + r.IntN(4) {
		all += randomRequest(r, fmt.Sprintf("467%08d", seed))
	}
	last := randomRequest(r, fmt.Sprintf("467%08d", seed))
	if r.IntN(8) == 0 {
		last = get("/v1/nothing")
	}
	for range r.IntN(3) {
		last = pick(r, mutations...)(r, last)
	}
	all += last
	for r.IntN(3) == 0 { // octets come in pieces
		i := r.IntN(len(all) + 1)
		c.writes = append(c.writes, all[:i])
		all = all[i:]
	}
	c.writes = append(c.writes, all)
	return c
}

// The pipeline answers as net/http does, whatever comes. PMG_REQUESTS is the number of talks, PMG_SEED the first one.
func TestHTTPPipelineRandom(t *testing.T) {
	parallel(t)
	n, seed := 1000, uint64(1)
	if v, err := strconv.Atoi(os.Getenv("PMG_REQUESTS")); err == nil {
		n = v
	}
	if v, err := strconv.ParseUint(os.Getenv("PMG_SEED"), 10, 64); err == nil {
		seed = v
	}
	d := newDouble(t, pipelineSite())
	talks := make([]talk, n)
	for i := range talks {
		talks[i] = randomTalk(seed + uint64(i))
	}
	d.run(talks, 100)
	d.effect()
}
