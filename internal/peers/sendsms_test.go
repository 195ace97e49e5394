package peers

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pmg/internal/smstext"
	"pmg/internal/testkit/testutil"
	"pmg/protocols/httpsms"
	dialect "pmg/protocols/httpsms/kannel"
	"pmg/sms"
)

// sendsmsConfig makes Kannel a smsbox whose SMSC is the test.
const sendsmsConfig = `group = core
admin-port = %[1]s
admin-interface = 127.0.0.1
admin-password = s3cret
smsbox-port = %[2]s
smsbox-interface = 127.0.0.1
box-allow-ip = 127.0.0.1
dlr-storage = internal

group = smsc
smsc = fake
smsc-id = FAKE
port = %[3]s
connect-allow-ip = 127.0.0.1

group = smsbox
bearerbox-host = 127.0.0.1
sendsms-port = %[4]s
sendsms-interface = 127.0.0.1

group = sendsms-user
username = acme
password = s3cret
name = shop
max-messages = 10
concatenation = true

group = sms-service
name = poll
keyword = default
catch-all = true
get-url = "%[5]s%[6]s"
max-messages = 0

group = sms-service
name = post
keyword = post
catch-all = true
post-url = "%[5]s/post?%%k"
strip-keyword = true
send-sender = true
max-messages = 0
`

// A sendsms is a smsbox that runs.
type sendsms struct {
	url  string
	smsc net.Conn
	seen chan string // what it has called
}

// everyEscape has each of the escapes, and some that there are not. Those of ids are left out.
const everyEscape = "/mo?k=%k&s=%s&S=%S&r=%r&a=%a&A=%A&b=%b&p=%p&P=%P&q=%q&Q=%Q&i=%i&F=%F&R=%R&n=%n&c=%c&C=%C&m=%m&M=%M&O=%O&u=%u&B=%B&o=%o&f=%f&v=%v&V=%V&x=%x&z=%z&pc=%%&e=%1%"

// startSendsms starts Kannel.
func startSendsms(t *testing.T) *sendsms {
	t.Helper()
	if why := noKannel(); why != "" {
		t.Skip(why)
	}
	s := &sendsms{seen: make(chan string, 100)}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.seen <- r.Method + " " + r.RequestURI + "\n" + headersOf(r.Header) + string(body)
	}))
	t.Cleanup(server.Close)
	var ports [4]any
	for i := range ports {
		_, ports[i], _ = net.SplitHostPort(testutil.FreeAddress(t))
	}
	file := filepath.Join(t.TempDir(), "kannel.conf")
	if err := os.WriteFile(file, fmt.Appendf(nil, sendsmsConfig, ports[0], ports[1], ports[2], ports[3], server.URL, everyEscape), 0o600); err != nil {
		t.Fatal(err)
	}
	s.url = fmt.Sprintf("http://127.0.0.1:%s/cgi-bin/sendsms", ports[3])
	s.run(t, "bearerbox", file)
	s.smsc = dialUntil(t, fmt.Sprintf("127.0.0.1:%s", ports[2]))
	dialUntil(t, fmt.Sprintf("127.0.0.1:%s", ports[1])).Close()
	log := s.run(t, "smsbox", file)
	for range int(patience / (10 * time.Millisecond)) {
		if strings.Contains(log.String(), "heartbeat_thread) maps to pid") { // the boxes have found each other
			return s
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the boxes do not find each other")
	return nil
}

// headersOf returns the headers with a meaning, without the time.
func headersOf(h http.Header) string {
	var all []string
	for name, values := range h {
		if (name == "Content-Type" || name == "User-Agent" || strings.HasPrefix(name, "X-")) && name != "X-Kannel-Time" {
			all = append(all, fmt.Sprintf("%s: %q\n", name, values))
		}
	}
	slices.Sort(all)
	return strings.Join(all, "")
}

// run runs one of Kannel's programs until the test ends.
func (s *sendsms) run(t *testing.T, box, file string) *testutil.Log {
	t.Helper()
	log := &testutil.Log{}
	cmd := exec.Command(box, file)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(3*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		kill.Stop()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	return log
}

func dialUntil(t *testing.T, address string) net.Conn {
	t.Helper()
	for range int(patience / (10 * time.Millisecond)) {
		if conn, err := net.Dial("tcp", address); err == nil {
			t.Cleanup(func() { conn.Close() })
			return conn
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("Kannel does not listen on %s", address)
	return nil
}

// ask sends a request to Kannel, and returns its answer.
func (s *sendsms) ask(t *testing.T, r *httpsms.Request) string {
	t.Helper()
	request, err := http.NewRequest(r.Method, s.url+"?"+r.Query, strings.NewReader(string(r.Body)))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = r.Header
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	return fmt.Sprintf("%d %s %s", answer.StatusCode, answer.Header.Get("Content-Type"), strings.Replace(string(body), "3: Queued for later delivery", "0: Accepted for delivery", 1))
}

// ours returns what the dialect answers.
func ours(r *httpsms.Request) string {
	s, a := dialect.Read(r)
	if a == nil {
		if name, password := s.Credentials(); name != "acme" || password != "s3cret" {
			a = dialect.Denied()
		}
	}
	if a == nil {
		if _, a = s.Orders(0, dialect.Defaults{Service: "shop"}); a == nil {
			a = dialect.Answer([]httpsms.Result{{Code: sms.OK}})
		}
	}
	return fmt.Sprintf("%d %s %s", a.Status, a.ContentType, a.Body)
}

// sendsmsQueries are requests whose answers Kannel knows. Those of docs/kannel.md that differ are not among them.
func sendsmsQueries() []string {
	long := strings.Repeat("a", 64)
	return []string{
		"", "username=acme", "user=acme&pass=wrong",
		"to", "to=", "to=+", "to=1", "to=1&from=S", "to=4670x&from=S", "to=46x+4670&from=S", "to=46-70+%2B4671&from=S", "to=1&from=", "to=1&to=x&from=S", "to=x&to=1&from=S",
		"to=1&from=S&udh=", "to=1&from=S&udh=%01", "to=1&from=S&udh=%01%00", "to=1&from=S&udh=%8C" + strings.Repeat("a", 140), "to=x&from=S&udh=%05",
		"to=1&from=S&account=" + long, "to=1&from=S&account=a" + long, "to=1&from=S&account=%5B", "to=1&from=S&account=%0A", "to=1&account=%5B",
		"to=1&from=S&dlr-url=", "to=1&from=S&dlr-url=http://h", "to=1&from=S&dlr-url=HTTP://h/d", "to=1&from=S&dlr-url=https://h/", "to=1&from=S&dlr-url=ftp://h/d", "to=1&from=S&dlrurl=x",
		"to=1&from=S&dlr-mask=63", "to=1&from=S&dlr-mask=66", "to=1&from=S&dlr-mask=67", "to=1&from=S&dlrmask=-2", "to=1&from=S&dlr-mask=-1", "to=1&from=S&dlr-mask=x", "to=1&from=S&dlr-mask=+31x",
		"to=1&from=S&mclass=3", "to=1&from=S&mclass=4", "to=1&from=S&mclass=-2", "to=1&from=S&flash=9", "to=1&from=S&pid=255", "to=1&from=S&pid=256", "to=1&from=S&pid=-2",
		"to=1&from=S&rpi=2", "to=1&from=S&rpi=3", "to=1&from=S&alt-dcs=1", "to=1&from=S&alt-dcs=2", "to=1&from=S&mwi=7", "to=1&from=S&mwi=8", "to=1&from=S&coding=2&text=%00a", "to=1&from=S&coding=3",
		"to=1&from=S&compress=0", "to=1&from=S&compress=2", "to=1&from=S&validity=-2", "to=1&from=S&validity=5", "to=1&from=S&deferred=-2", "to=1&from=S&deferred=-1", "to=1&from=S&priority=3", "to=1&from=S&priority=4",
		"to=1&from=S&text=caf%E9&charset=ISO-8859-1", "to=1&from=S&text=a&charset=NOPE", "to=1&from=S&text=a&charset=CP1252", "to=1&from=S&text=a&charset=windows-1252", "to=1&from=S&text=%00a&charset=UTF-16BE",
		"to=1&from=S&text=a&charset=latin1", "to=1&from=S&text=a&charset=UTF8", "to=1&from=S&text=a&charset=", "to=1&from=S&coding=1&charset=NOPE&text=a", "to=1&from=S&coding=2&charset=UTF-8&text=a", "to=1&from=S&coding=2&charset=NOPE&text=a",
		"to=1&from=S&text=%zz%4", "to=1&from=S&priority=4&mclass=4", "to=1&from=S&dlr-mask=67&dlr-url=x",
	}
}

// sendsmsBodies are requests with a body.
func sendsmsBodies() (all []*httpsms.Request) {
	add := func(kind, body string, headers ...string) {
		r := &httpsms.Request{Method: "POST", Body: []byte(body), Header: http.Header{"X-Kannel-Username": {"acme"}, "X-Kannel-Password": {"s3cret"}}}
		if kind != "" {
			r.Header["Content-Type"] = []string{kind}
		}
		for i := 0; i < len(headers); i += 2 {
			r.Header[headers[i]] = append(r.Header[headers[i]], headers[i+1])
		}
		all = append(all, r)
	}
	to := []string{"X-Kannel-To", "1", "X-Kannel-From", "S"}
	for _, kind := range []string{"", "text/plain", "TEXT/plain; charset=UTF-8", "text/plain; charset=NOPE", "application/octet-stream", "text/html", "text/vnd.wap.wml", "application/json", "text/css"} {
		add(kind, "a")
		add(kind, "a", "X-Kannel-To", "", "X-Kannel-From", "S")
		add(kind, "a", to...)
		add(kind, "ab", append(to, "X-Kannel-Udh", "027000", "X-Kannel-Coding", "2")...)
		add(kind, "a", append(to, "X-Kannel-Mclass", "4")...)
		add(kind, "a", append(to, "X-Kannel-Mclass", "4", "X-Kannel-Mclass", "3")...)
		add(kind, "a", append(to, "X-Kannel-Udh", "%05")...)
	}
	login := "<message><submit><from><user>acme</user><pass>s3cret</pass></from>"
	for _, document := range []string{
		"x", "<message>", "<message/>", login + "</submit></message>", login + "<da><number>1</number></da></submit></message>", login + "<da><number>1</number></da><oa><number>S</number></oa></submit></message>",
		login + "<da><number>x</number></da><oa><number>S</number></oa></submit></message>", login + "<da><number></number></da><oa><number>S</number></oa></submit></message>",
		login + "<da><number>1</number><number>2</number></da><oa><number>S</number></oa><ud>68656c6c6f</ud><dcs><mclass>4</mclass></dcs></submit></message>",
		`<?xml version="1.0" encoding="ISO-8859-1"?>` + login + "<da><number>1</number></da><oa><number>S</number></oa><ud>h%E9</ud><priority>4</priority></submit></message>",
	} {
		add("text/xml", document)
	}
	return all
}

// Kannel and the dialect answer the same.
func TestPeersSendsmsAnswers(t *testing.T) {
	if !*all {
		t.Skip("make peers runs the peers")
	}
	s := startSendsms(t)
	requests := sendsmsBodies()
	for _, query := range sendsmsQueries() {
		requests = append(requests, &httpsms.Request{Method: "GET", Query: query}, &httpsms.Request{Method: "GET", Query: "username=acme&password=s3cret&" + query})
	}
	for _, r := range requests {
		if want, got := s.ask(t, r), ours(r); got != want {
			t.Errorf("%s %q %q: %q, Kannel answers %q", r.Query, r.Body, r.Header, got, want)
		}
	}
}

// Kannel and the dialect send the same.
func TestPeersSendsmsTexts(t *testing.T) {
	if !*all {
		t.Skip("make peers runs the peers")
	}
	s := startSendsms(t)
	sent := bufio.NewReader(s.smsc)
	const head = "username=acme&password=s3cret&from=S&to=1&"
	requests := []*httpsms.Request{}
	for _, query := range []string{
		"text=a+b%20c", "text=%zz%41%4a", "text=caf%C3%A9", "text=caf%E9&charset=ISO-8859-1", "text=%80&charset=CP1252", "text=%A4&charset=ISO-8859-15", "text=%00a%00b&charset=UTF-16BE",
		"text=a%00b%00&charset=UTF-16LE", "coding=1&text=%00%FF%2B+", "coding=1&text=a&charset=NOPE", "coding=2&text=%00a%00b", "coding=2&charset=UTF-8&text=%D0%9F", "coding=2&charset=ISO-8859-1&text=%E9",
		"udh=%02%70%00&text=hi", "udh=%02%70%00&coding=0&text=hi", "text=a&text=b", "t%65xt=a", "text=a=b;c",
	} {
		requests = append(requests, &httpsms.Request{Method: "GET", Query: head + query})
	}
	post := func(kind, body string, headers ...string) {
		r := &httpsms.Request{Method: "POST", Body: []byte(body), Header: http.Header{"X-Kannel-Username": {"acme"}, "X-Kannel-Password": {"s3cret"}, "X-Kannel-To": {"1"}, "X-Kannel-From": {"S"}}}
		r.Header["Content-Type"] = []string{kind}
		for i := 0; i < len(headers); i += 2 {
			r.Header[headers[i]] = []string{headers[i+1]}
		}
		requests = append(requests, r)
	}
	post("text/plain", "caf\xe9")
	post("text/plain; charset=\"UTF-8\"", "caf\xc3\xa9 +%41")
	post("text/plain", "hi", "X-Kannel-Coding", "2")
	post("text/plain", "hi", "X-Kannel-Udh", "027000")
	post("application/octet-stream", "\x00\xff")
	document := func(inside string) {
		post("text/xml", "<message><submit><from><user>acme</user><pass>s3cret</pass></from><da><number>1</number></da><oa><number>S</number></oa>"+inside+"</submit></message>")
	}
	document("<ud>caf%C3%A9+a</ud>")
	document("<ud>café</ud>")
	document("<ud> 68656c6c6f </ud>")
	document("<ud>a&amp;b</ud><udh>027000</udh>")
	document("<ud>%00%ff</ud><udh>%02p%00</udh><dcs><coding>1</coding></dcs>")
	document("<ud>hi</ud><dcs><coding>2</coding></dcs>")
	for _, r := range requests {
		s.ask(t, r)
		_ = s.smsc.SetReadDeadline(time.Now().Add(patience))
		want, err := sent.ReadString('\n')
		if err != nil {
			t.Fatalf("%s %q: %v", r.Query, r.Body, err)
		}
		if got := fake(t, r); got != want {
			t.Errorf("%s %q: %q, Kannel sends %q", r.Query, r.Body, got, want)
		}
	}
}

// fake returns what the dialect makes of a request, as an SMSC of type fake gets it.
func fake(t *testing.T, r *httpsms.Request) string {
	t.Helper()
	s, a := dialect.Read(r)
	if a != nil {
		t.Fatalf("%+v", a)
	}
	orders, a := s.Orders(0, dialect.Defaults{})
	if a != nil {
		t.Fatalf("%s %q: %+v", r.Query, r.Body, a)
	}
	quote := func(b []byte) string { // as the escape %A has it
		m := &sms.Message{Alphabet: sms.Binary}
		m.Set(sms.Address{}, sms.Address{}, b)
		return dialect.Inbound(&httpsms.Event{Message: m}, &dialect.InboundOptions{URL: "%A"}).URL
	}
	o := orders[0]
	text, _ := smstext.Append(nil, o.Alphabet, false, o.Text)
	kind := "text " + string(text)
	switch {
	case o.Header != nil && o.Alphabet == sms.Default:
		kind = "udh " + quote(o.Header) + " data " + quote(text)
	case o.Header != nil:
		kind = "udh " + quote(o.Header) + " data " + quote(o.Text)
	case o.Alphabet == sms.Binary:
		kind = "data " + quote(o.Text)
	case o.Alphabet == sms.UCS2:
		kind = "ucs-2 " + quote(o.Text)
	}
	return o.From + " " + o.To + " " + kind + "\n"
}

// Kannel and the dialect make the same calls of messages from mobiles.
func TestPeersSendsmsInbound(t *testing.T) {
	if !*all {
		t.Skip("make peers runs the peers")
	}
	s := startSendsms(t)
	w := bufio.NewWriter(s.smsc)
	for _, text := range []string{"vote", "vote 1*2  3 4", "a+b%20c&d=e?#/", "-_.!~*'(),;:@$", "~^[]{}|", "post", "post  1 2 ", "POST\t1"} {
		fmt.Fprintf(w, "0046700 1234 text %s\n", text)
		w.Flush()
		var want string
		select {
		case want = <-s.seen:
		case <-time.After(patience):
			t.Fatalf("%q: Kannel does not call", text)
		}
		m := &sms.Message{Kind: sms.MO, Alphabet: sms.DefaultUTF8}
		m.Set(sms.Address{Addr: []byte("0046700")}, sms.Address{Addr: []byte("1234")}, []byte(text))
		o := &dialect.InboundOptions{Name: "poll", URL: everyEscape}
		if strings.HasPrefix(strings.ToLower(text), "post") {
			o = &dialect.InboundOptions{Name: "post", URL: "/post?%k", Post: true, StripKeyword: true, SendSender: true}
		}
		c := dialect.Inbound(&httpsms.Event{Connector: "FAKE", At: time.Now().UnixNano(), Message: m}, o)
		h := http.Header{}
		for _, pair := range c.Header {
			h.Add(pair[0], pair[1])
		}
		if got := c.Method + " " + c.URL + "\n" + headersOf(h) + string(c.Body); got != want {
			t.Errorf("%q\n%s, Kannel calls\n%s", text, got, want)
		}
	}
}
