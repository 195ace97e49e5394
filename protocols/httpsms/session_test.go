package httpsms

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"pmg/protocols"
	"pmg/sms"
)

// toy is a payload whose query is name&password&to&text, and whose path is /toy.
func toy() *Payload {
	return &Payload{
		Dialect: "pmg", Path: "/toy",
		Read: func(r *Request, s *Submission) bool {
			f := strings.Split(r.Query+string(r.Body), "&")
			if len(f) < 4 {
				return false
			}
			s.Name, s.Password = f[0], f[1]
			s.Order = Order{From: "1", To: f[2], Text: []byte(f[3]), Alphabet: sms.Default}
			if len(f) > 4 {
				s.Calls = f[4]
			}
			if len(f) > 5 {
				s.Order.Expires, s.Order.DeliverAt = 7, 3
			}
			return true
		},
		Answer: func(s *Submission, r Result) *Answer {
			return &Answer{Status: 200 + int(r.Code), ContentType: "text/plain", Body: []byte(s.Name + sms.FormatID(r.ID))}
		},
		Denied: func(s *Submission) *Answer {
			return &Answer{Status: 403, ContentType: "text/plain", Body: []byte("not " + s.Name)}
		},
		Busy: func() *Answer { return Later(&Answer{Status: 503, ContentType: "text/plain"}) },
	}
}

// A talk is a session with the PDU of its request.
type talk struct {
	t *testing.T
	protocols.Requests
	p protocols.PDU
}

func newTalk(t *testing.T) *talk {
	d := New(toy())
	s := d.NewRequests(protocols.SessionOptions{
		Options: &ConnectorOptions{Dialects: []string{"pmg"}}, MayCall: func(url string) bool { return url == "good" },
		Remote: netip.MustParseAddrPort("192.0.2.1:5"),
	})
	s.Start(1, nil)
	return &talk{t, s, d.NewPDU()}
}

// comes decodes a whole request, and reports whether the session takes it.
func (k *talk) comes(octets string) bool {
	k.t.Helper()
	b := []byte(octets)
	n, err := k.Frame(b)
	if err == nil && n != len(b) {
		k.t.Fatalf("%q has the extent %d", octets, n)
	}
	k.p.Reset()
	if err == nil {
		err = k.Decode(k.p, b)
	}
	if err != nil && !errors.Is(err, protocols.ErrForeign) {
		k.t.Fatal(err)
	}
	return err == nil
}

// answered returns the octets of the answer.
func (k *talk) answered() string { return string(k.p.AppendWire(nil)) }

func get(query string, fields ...string) string {
	return "GET /toy?" + query + " HTTP/1.1\r\nHost: x\r\n" + strings.Join(fields, "") + "\r\n"
}

// The first request of a connection logs in. Its message follows, and those of later requests with the same login.
func TestSession(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	if !k.comes(get("anna&secret&491&Hello")) || k.Bound() != 0 || k.Accepting() {
		t.Fatal("the first request is not taken, or logs in by itself")
	}
	a := k.Receive(5, k.p)
	if a.Kind != protocols.Login || string(a.Credentials.SystemID) != "anna" || string(a.Credentials.Password) != "secret" || !a.Credentials.Bind.CanSubmit() {
		t.Fatalf("%+v", a)
	}
	if a := k.Login(6, k.p, sms.OK); a.Kind != protocols.Message || k.Bound() != protocols.Transmitter {
		t.Fatalf("%+v", a)
	}
	m := new(sms.Message)
	if code := k.Message(7, k.p, m); code != sms.OK || string(m.Dest().Addr) != "491" || string(m.Text()) != "Hello" || m.Expires != 0 {
		t.Errorf("%v %v", code, m)
	}
	if a := k.Unbind(8, nil); a.Kind != protocols.None {
		t.Errorf("a session with an unanswered request: %v", a)
	}
	k.Answer(k.p, sms.OK, 9)
	r, err := http.ReadResponse(bufio.NewReader(strings.NewReader(k.answered())), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(r.Body)
	if r.StatusCode != 200 || string(body) != "anna"+sms.FormatID(9) || !strings.HasPrefix(r.Header.Get("Request-Id"), "r1-") || r.Close ||
		r.Header.Get("Date") != time.Unix(0, 5).UTC().Format(http.TimeFormat) {
		t.Errorf("%s", k.answered())
	}
	if a := k.Tick(10, nil, true); a.Kind != protocols.HandOver {
		t.Errorf("a session that is to be logged out: %v", a)
	}
}

// What else a request may be, before the login and behind it.
func TestForeignRequests(t *testing.T) {
	t.Parallel()
	ours := get("anna&secret&491&Hello")
	for _, c := range []struct {
		name, octets string
		open, bound  bool
	}{
		{"the login", ours, true, true},
		{"a body", "POST /toy HTTP/1.1\r\nHost: x\r\nContent-Length: 21\r\n\r\nanna&secret&491&Hello", true, true},
		{"another login", get("bert&secret&491&Hello"), true, false},
		{"another password", get("anna&Secret&491&Hello"), true, false},
		{"a URL", get("anna&secret&491&Hello&good"), true, true},
		{"another URL", get("anna&secret&491&Hello&bad"), true, false},
		{"another path", strings.Replace(ours, "/toy", "/v1/messages", 1), false, false},
		{"no message", get("anna"), false, false},
		{"a trace", get("anna&secret&491&Hello", "Traceparent: 1\r\n"), false, false},
		{"a method", strings.Replace(ours, "GET", "HEAD", 1), false, false},
		{"octets", "\x00\x00\x00\x10\x00\x00\x00\x15", false, false},
	} {
		if got := newTalk(t).comes(c.octets); got != c.open {
			t.Errorf("%s before the login: %v", c.name, got)
		}
		k := newTalk(t)
		k.comes(ours)
		k.Receive(1, k.p)
		k.Login(1, k.p, sms.OK)
		k.Answer(k.p, sms.OK, 1)
		if got := k.comes(c.octets); got != c.bound {
			t.Errorf("%s behind the login: %v", c.name, got)
		} else if a := k.Receive(2, k.p); (a.Kind == protocols.Message) != c.bound || (a.Kind == protocols.HandOver) == c.bound {
			t.Errorf("%s behind the login: %v", c.name, a)
		}
		if c.open { // it was read before the login, and waited for the login's outcome
			k := newTalk(t)
			first := k.p
			k.comes(ours)
			k.p = New().NewPDU()
			k.comes(c.octets)
			k.Receive(1, first)
			k.Login(1, first, sms.OK)
			k.Answer(first, sms.OK, 1)
			if a := k.Receive(2, k.p); (a.Kind == protocols.Message) != c.bound {
				t.Errorf("%s that has waited: %v", c.name, a)
			}
		}
	}
}

func TestLoginOfRequests(t *testing.T) {
	t.Parallel()
	for code, want := range map[sms.Code]string{sms.BindFailed: "HTTP/1.1 403 Forbidden", sms.Throttled: "HTTP/1.1 503 Service Unavailable"} {
		k := newTalk(t)
		k.comes(get("anna&secret&491&Hello"))
		k.Receive(1, k.p)
		a := k.Login(1, k.p, code)
		if a.Kind != protocols.SendClose || k.Bound() != 0 || !strings.HasPrefix(k.answered(), want) || !strings.Contains(k.answered(), "Connection: close\r\n") {
			t.Errorf("%v: %+v %q", code, a, k.answered())
		}
		if log := string(k.p.(protocols.Pair).Request().AppendLog(nil, true)); strings.Contains(log, "491") || strings.Contains(log, "Hello") || !strings.Contains(log, `path="/toy"`) {
			t.Errorf("the log of a refused login: %s", log)
		}
	}
	k := newTalk(t) // a URL that may not be called, in the request that logs in
	k.comes(get("anna&secret&491&Hello&bad"))
	k.Receive(1, k.p)
	if a := k.Login(1, k.p, sms.OK); a.Kind != protocols.HandOver {
		t.Errorf("%v", a)
	}
}

// The lines of the pdu log have the same number and id.
func TestSessionLog(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	k.comes(get("anna&secret&491&Hello"))
	if k.comes(get("anna&secret&491&Hello")); k.p.Sequence() != 2 {
		t.Errorf("the second request is number %d", k.p.Sequence())
	}
	asked := string(k.p.AppendLog(nil, true))
	for _, want := range []string{`http_submit seq=2 method=GET path="/toy" remote=192.0.2.1:5 request=r2-`, ` from=1 to=491 text="Hello"`} {
		if !strings.Contains(asked, want) {
			t.Errorf("%s has no %s", asked, want)
		}
	}
	if strings.Contains(asked, "secret") {
		t.Errorf("a password: %s", asked)
	}
	k.Receive(1, k.p)
	k.Login(1, k.p, sms.OK)
	k.Answer(k.p, sms.Throttled, 0)
	pair := k.p.(protocols.Pair)
	if got := string(k.p.AppendLog(nil, true)); !strings.HasPrefix(got, "http_submit_resp seq=2 status=") || k.p.Sequence() != 2 || !k.p.IsAnswer() {
		t.Errorf("%s", got)
	}
	if got := string(pair.Request().AppendLog(nil, true)); got != asked {
		t.Errorf("%s, not %s", got, asked)
	}
}

func TestConnectionsEnd(t *testing.T) {
	t.Parallel()
	ours := get("anna&secret&491&Hello")
	for octets, want := range map[string]string{
		ours: "HTTP/1.1 200", get("anna&secret&491&Hello", "Connection: close\r\n"): "HTTP/1.1 200",
		strings.Replace(ours, "HTTP/1.1", "HTTP/1.0", 1):                            "HTTP/1.0 200",
		"GET /toy?anna&secret&491&Hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n": "HTTP/1.0 200",
	} {
		k := newTalk(t)
		k.comes(octets)
		k.Receive(1, k.p)
		k.Login(1, k.p, sms.OK)
		k.Answer(k.p, sms.OK, 1)
		r, err := http.ReadResponse(bufio.NewReader(strings.NewReader(k.answered())), nil)
		if err != nil || !strings.HasPrefix(k.answered(), want) || r.Close != k.p.(protocols.Pair).Last() {
			t.Errorf("%q: %v, %q, last is %v", octets, err, k.answered(), k.p.(protocols.Pair).Last())
		}
	}
	second := int64(time.Second)
	k := newTalk(t)
	if a := k.Tick(4*second, nil, true); a.Kind != protocols.None {
		t.Errorf("%v", a)
	}
	if a := k.Tick(6*second+1, nil, true); a.Kind != protocols.HandOver {
		t.Errorf("no first request: %+v", a)
	}
	k = newTalk(t)
	k.comes(ours)
	k.Receive(second, k.p)
	k.Login(second, k.p, sms.OK)
	if a := k.Tick(100*second, nil, true); a.Kind != protocols.None {
		t.Errorf("an unanswered request: %v", a)
	}
	k.Answer(k.p, sms.OK, 1)
	if a := k.Tick(50*second, nil, true); a.Kind != protocols.None {
		t.Errorf("%v", a)
	}
	if a := k.Tick(62*second, nil, true); a.Kind != protocols.HandOver {
		t.Errorf("no next request: %v", a)
	}
	k = newTalk(t)
	if a := k.Unbind(1, nil); a.Kind != protocols.HandOver {
		t.Errorf("%v", a)
	}
}

// Times of a submission are relative to the request.
func TestTimesOfRequests(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	k.comes(get("anna&secret&491&Hello&&times"))
	m := new(sms.Message)
	if k.Message(1000, k.p, m); m.Expires != 1007 || m.DeliverAt != 1003 {
		t.Errorf("%d %d", m.Expires, m.DeliverAt)
	}
}

// Large incomplete requests are left to the general server, which counts their memory.
func TestPartialRequests(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	head := "POST /toy HTTP/1.1\r\nHost: x\r\nContent-Length: 20000\r\n\r\n"
	if n, err := k.Frame([]byte(head + strings.Repeat("a", 100))); err != nil || n != len(head)+20000 {
		t.Errorf("%d %v", n, err)
	}
	if _, err := k.Frame([]byte(head + strings.Repeat("a", maxPartial))); !errors.Is(err, protocols.ErrForeign) {
		t.Errorf("%v", err)
	}
	if n, err := k.Frame([]byte(head + strings.Repeat("a", 20000))); err != nil || n != len(head)+20000 {
		t.Errorf("a whole one: %d %v", n, err)
	}
}

// Without payloads of the connector's dialects, every request is foreign.
func TestOtherDialects(t *testing.T) {
	t.Parallel()
	d := New(toy())
	for _, dialects := range [][]string{nil, {"kannel", "jasmin"}} {
		s := d.NewRequests(protocols.SessionOptions{Options: &ConnectorOptions{Dialects: dialects}})
		if err := s.Decode(d.NewPDU(), []byte(get("anna&secret&491&Hello"))); !errors.Is(err, protocols.ErrForeign) {
			t.Errorf("%v: %v", dialects, err)
		}
	}
}

// A request allocates little: its strings, and those of the payload.
func TestAllocationsOfRequests(t *testing.T) {
	k := newTalk(t)
	payload := toy()
	fixed := &Answer{Status: 200, ContentType: "text/plain", Body: []byte("ok")}
	payload.Read = func(_ *Request, s *Submission) bool {
		s.Name, s.Password, s.Order.From, s.Order.To = "a", "b", "1", "2"
		return true
	}
	payload.Answer = func(*Submission, Result) *Answer { return fixed }
	k.Requests = New(payload).NewRequests(protocols.SessionOptions{Options: &ConnectorOptions{Dialects: []string{"pmg"}}})
	octets, out := []byte(get("anna&secret&491&Hello")), bytes.NewBuffer(nil).AvailableBuffer()
	k.comes(string(octets))
	k.Receive(1, k.p)
	k.Login(1, k.p, sms.OK)
	if n := testing.AllocsPerRun(100, func() {
		k.p.Reset()
		if k.Decode(k.p, octets) != nil || k.Receive(1, k.p).Kind != protocols.Message {
			t.Fatal("not taken")
		}
		k.Answer(k.p, sms.OK, 1)
		out = k.p.AppendWire(out[:0])
	}); n > 2 { // the query and the id of the request
		t.Errorf("%v allocations", n)
	}
}
