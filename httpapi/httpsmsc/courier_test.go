package httpsmsc

import (
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pmg/connector"
	"pmg/httpapi/apitest"
	"pmg/internal/testkit/testutil"
	"pmg/protocols"
	"pmg/protocols/httpsms"
	"pmg/sms"
)

// callbacks are the options of an SMSC that calls back at the connector api.
const callbacks = `callbacks: {listener: api, url: "http://192.0.2.1", secret: s3cret, receipts: {id: message, state: state, error: err}, inbound: {from: from, to: to, text: text}, reply: thanks}`

// A message is one call with its fields. The receipt brings the SMSC's id, by which the message is found. The pdu log and the
// counters have both.
func TestSend(t *testing.T) {
	t.Parallel()
	h := apitest.NewHook(t)
	h.Answers(202, `{"id": "abc"}`, "")
	r := newRig(t, `url: "`+h.URL+`/send?from={from}&to={to}&text={text}&id={id}&dlr={receipt}&url={receipt_url}&for={validity_seconds}", answers: {id: {json: /id}}, `+callbacks, nil)
	id := r.submit(func(m *sms.Message) {
		m.Expires, m.Notify = time.Now().Add(time.Hour).UnixNano(), sms.NotifySuccess|sms.NotifyFailure
	})
	r.Settled()
	calls := h.Calls()
	if len(calls) != 1 {
		t.Fatalf("%+v", calls)
	}
	for _, want := range []string{"/send?from=1234&to=%2B46700000001&text=hello&", "&id=" + id, "&dlr=final&", "url=http%3A%2F%2F192.0.2.1%2Ffrom%2Fsmsc%2Freceipts%3Fmessage%3D" + id} {
		if !strings.Contains(calls[0].Path, want) {
			t.Errorf("%s has no %s", calls[0].Path, want)
		}
	}
	var seconds int
	if _, text, _ := strings.Cut(calls[0].Path, "&for="); text != "" {
		_, _ = fmt.Sscan(text, &seconds)
	}
	if seconds < 3000 || seconds > 3600 {
		t.Errorf("its validity is %d s", seconds)
	}
	r.client.Do("GET /from/smsc/receipts?token=s3cret&message=abc&state=DELIVRD&err=7", "").Want(200, "thanks")
	if n := r.Gateway.Receipts.Counts.Unmatched.Load(); n != 0 {
		t.Error("the receipt is of no message")
	}
	stats := r.connector.Stats
	if stats.Sent.Load() != 1 || stats.PDUsOut[httpsms.Submit].Load() != 1 || stats.PDUsIn[httpsms.SubmitAnswer].Load() != 1 ||
		stats.PDUsIn[httpsms.Deliver].Load() != 1 || stats.PDUsOut[httpsms.DeliverAnswer].Load() != 1 || len(stats.Statuses()) > 0 {
		t.Errorf("%d sent, %v PDUs out, %v in, %v", stats.Sent.Load(), stats.PDUsOut, stats.PDUsIn, stats.Statuses())
	}
	if n := stats.Answer.Sum.Load(); n <= 0 || n > int64(time.Hour) {
		t.Errorf("answers took %d ns", n)
	}
	log := r.lines()
	r.wantLines(log, "> http_submit", "seq=1", "method=GET", `url="`+h.URL+`/send"`, "from=1234", "to=+46700000001", `text="hello"`, "id="+id, "account=shop")
	r.wantLines(log, "< http_submit_resp", "seq=1", "status=0(202-Accepted)", "message_id=abc", "id="+id, "account=shop")
	r.wantLines(log, "< http_deliver", "seq=2", "remote=127.0.0.1:", "message_id=abc", "state=DELIVRD", "error=7", "id=")
	r.wantLines(log, "> http_deliver_resp", "seq=2", "status=0(200-OK)")
	if strings.Contains(log, "answer=") {
		t.Error("the log has the body of an answer that was understood")
	}
}

// An SMSC that answers without an id knows the message by ours. One whose text are octets gets these.
func TestSendOctets(t *testing.T) {
	t.Parallel()
	h := apitest.NewHook(t)
	r := newRig(t, `url: "`+h.URL+`/?to={to}&octets={octets_hex}", `+callbacks, nil)
	id := r.submit(func(m *sms.Message) {
		m.Alphabet, m.Notify = sms.Binary, sms.NotifySuccess
		m.SetText([]byte("\x01\x02\xff"))
	})
	r.Settled()
	r.client.Do("GET /from/smsc/receipts?token=s3cret&message="+id+"&state=DELIVRD", "").Want(200)
	if n := r.Gateway.Receipts.Counts.Unmatched.Load(); n != 0 {
		t.Error("the receipt is of no message")
	}
	if len(h.Calls("octets=0102ff")) != 1 {
		t.Errorf("%+v", h.Calls())
	}
	log := r.lines()
	r.wantLines(log, "> http_submit", `text="\x01\x02\xff"`)
	r.wantLines(log, "< http_submit_resp", "message_id="+id)
}

// givenUp waits until a message is given up, and checks that the log says why.
func (r *rig) givenUp(words ...string) {
	r.t.Helper()
	r.Settled()
	text := r.Log.String()
	i := strings.Index(text, "message given up")
	if i < 0 {
		r.t.Fatalf("no message was given up:\n%s", text)
	}
	line := text[strings.LastIndex(text[:i], "\n")+1 : i]
	for _, w := range words {
		if !strings.Contains(line, w) {
			r.t.Errorf("%s: no %s", line, w)
		}
	}
	if n := r.connector.Stats.Failed.Load(); n != 1 {
		r.t.Errorf("%d messages were given up", n)
	}
}

// An SMSC's refusal ends the message. The pdu log has the beginning of the answer, the counters the status.
func TestRefused(t *testing.T) {
	t.Parallel()
	h := apitest.NewHook(t)
	h.Answers(400, strings.Repeat("n", shownAnswer)+"more", "")
	r := newRig(t, `url: "`+h.URL+`/?to={to}"`, nil)
	r.submit(nil)
	r.givenUp(`"reason":"rejected"`, `"status":"Bad-Request"`)
	if n := r.connector.Stats.Statuses()[connector.StatusKey{Command: httpsms.SubmitAnswer, Received: true, Status: 400}]; n != 1 {
		t.Errorf("%v", r.connector.Stats.Statuses())
	}
	r.wantLines(r.lines(), "< http_submit_resp", "status=400", `answer="`+strings.Repeat("n", shownAnswer)+`"`)
}

// An answer that fits none of the conditions leaves it open whether the SMSC has the message. The log says so, once.
func TestNotUnderstood(t *testing.T) {
	t.Parallel()
	h := apitest.NewHook(t)
	h.Answers(200, "well", "")
	r := newRig(t, `url: "`+h.URL+`/?to={to}", on_unknown: resend, answers: {success: {body: taken}}`, nil)
	r.submit(nil)
	testutil.Eventually(t, "the SMSC is called again", func() bool { return len(h.Calls()) > 2 })
	h.Answers(200, "taken", "")
	r.Settled()
	if n := strings.Count(r.Log.String(), "matches none of answers"); n != 1 || r.connector.Stats.Sent.Load() != 1 {
		t.Errorf("%d lines:\n%s", n, r.Log.String())
	}
}

// A message that the SMSC refuses for a while is sent again. An SMSC may ask not to be called for some minutes, but not for hours.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	h := apitest.NewHook(t)
	h.Answers(503, "", "")
	r := newRig(t, `url: "`+h.URL+`/?to={to}"`, nil)
	r.submit(nil)
	testutil.Eventually(t, "the SMSC is called again", func() bool { return len(h.Calls()) > 1 })
	h.Answers(200, "", "Retry-After: 36000")
	r.Settled()
	lane := r.Gateway.Table.LaneOf(r.connector)
	h.Answers(503, "", "Retry-After: 36000")
	before := r.connector.Stats.Retried.Load()
	r.submit(nil)
	testutil.Eventually(t, "the message waits", func() bool { return r.connector.Stats.Retried.Load() > before })
	pause := make(chan time.Duration)
	r.Do(lane, func(now int64) {
		_, again := lane.Next(now)
		pause <- time.Duration(again - now)
	})
	if d := <-pause; d > longestPause || d < longestPause/2 {
		t.Errorf("the lane rests for %v", d)
	}
}

// A message is not sent again if the SMSC has hung up behind it, and on_unknown forbids that.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	h := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		calls.Add(1)
		panic(http.ErrAbortHandler)
	}))
	defer h.Close()
	r := newRig(t, `url: "`+h.URL+`/?to={to}", on_unknown: fail`, nil)
	r.submit(nil)
	r.givenUp(`"reason":"timeout"`, `"status":"No-Answer"`)
	if calls.Load() != 1 || r.smsc.ReachedAt() == 0 {
		t.Errorf("%d calls, reached at %d", calls.Load(), r.smsc.ReachedAt())
	}
	r.wantLines(r.lines(), "< http_submit_resp", `error="closed the connection`, "status="+fmt.Sprint(uint32(httpsms.NoAnswer)))
}

// gone returns the URL of a server that has ended.
func gone() string {
	h := httptest.NewServer(http.NotFoundHandler())
	h.Close()
	return h.URL
}

// While nothing may leave, messages wait, and none of them counts as tried. When it may again, each is sent once.
func TestUnsent(t *testing.T) {
	t.Parallel()
	h := apitest.NewHook(t)
	var holds atomic.Bool
	r := newRig(t, `url: "`+h.URL+`/?to={to}&text={text}", on_unknown: fail`, func(rooms *Rooms) { rooms.Holds = holds.Load })
	failing := &r.connector.Stats.Failing
	r.submit(nil)
	testutil.Eventually(t, "the way is shut", func() bool { return failing.Load() > 0 && r.smsc.ReachedAt() == 0 })
	holds.Store(true)
	r.Settled()
	testutil.Eventually(t, "the way is open", func() bool { return failing.Load() == 0 && r.smsc.ReachedAt() != 0 })
	if n := len(h.Calls()); n != 1 {
		t.Errorf("%d calls", n)
	}
	if r.connector.Stats.Sent.Load() != 1 || r.connector.Stats.Failed.Load()+r.connector.Stats.Retried.Load() != 0 {
		t.Error(r.Log.String())
	}
	r.wantLines(r.lines(), "< http_submit_resp", "error=", "status="+fmt.Sprint(uint32(httpsms.NoAnswer)))
}

// An SMSC that does not answer is tried again after a pause, which ends when an operator wants that or other options are in
// force. Its messages wait meanwhile, and are sent as the new options say.
func TestNotReached(t *testing.T) {
	t.Parallel()
	h, other := apitest.NewHook(t), apitest.NewHook(t)
	options := func(url string) string { return fmt.Sprintf(`url: "%s/?to={to}", reconnect_delay: 1h`, url) }
	nobody := gone()
	r := newRig(t, options(nobody), nil)
	failing := &r.connector.Stats.Failing
	testutil.Eventually(t, "it was tried", func() bool { return failing.Load() == 1 })
	r.smsc.Wake(false)
	testutil.Eventually(t, "it was tried again", func() bool { return failing.Load() == 2 })
	r.submit(nil)
	if text := r.Log.String(); r.smsc.ReachedAt() != 0 || !strings.Contains(text, strings.TrimPrefix(nobody, "http://")+" refused the connection; next attempt in ") {
		t.Errorf("reached at %d\n%s", r.smsc.ReachedAt(), text)
	}
	r.Reload(yaml(options(h.URL)))
	r.smsc.Wake(true)
	r.Settled()
	if len(h.Calls()) != 1 || r.smsc.ReachedAt() == 0 || failing.Load() != 0 {
		t.Errorf("%d calls, reached at %d, failing %d", len(h.Calls()), r.smsc.ReachedAt(), failing.Load())
	}
	r.smsc.Wake(false) // nothing rests
	r.Reload(yaml(options(other.URL)))
	before := r.smsc.current.Load()
	r.smsc.Wake(true)
	testutil.Eventually(t, "the options are in force", func() bool { return r.smsc.current.Load() != before })
	r.submit(nil)
	r.Settled()
	if len(h.Calls()) != 1 || len(other.Calls()) != 1 {
		t.Errorf("%d calls, and %d of the other", len(h.Calls()), len(other.Calls()))
	}
	r.Reload(yaml(options(nobody)))
	r.smsc.Wake(true)
	testutil.Eventually(t, "the way is shut", func() bool { return failing.Load() > 0 && r.smsc.ReachedAt() == 0 })
}

// If other options are in force, a wish for another attempt that comes before or after does not hide that.
func TestWake(t *testing.T) {
	t.Parallel()
	for _, both := range [][2]bool{{true, false}, {false, true}} {
		v := &SMSC{again: make(chan bool, 1)}
		v.Wake(both[0])
		v.Wake(both[1])
		if !<-v.again || len(v.again) > 0 {
			t.Errorf("%v: the other options are forgotten", both)
		}
	}
}

// Of many messages that are under way together, each is sent once, as it is.
func TestMany(t *testing.T) {
	t.Parallel()
	h := apitest.NewHook(t)
	r := newRig(t, `url: "`+h.URL+`/?to={to}&text={text}&id={id}", instances: 2`, nil)
	const n = 100
	ids := map[string]string{}
	for i := range n {
		text := fmt.Sprint("message-", i)
		ids[text] = r.submit(func(m *sms.Message) { m.SetText([]byte(text)) })
	}
	r.Settled()
	for text, id := range ids {
		if got := len(h.Calls("&text=" + text + "&id=" + id)); got != 1 {
			t.Errorf("%s was sent %d times", text, got)
		}
	}
	if all := h.Calls(); len(all) != n {
		t.Errorf("%d calls", len(all))
	}
}

// A client that cannot be made leaves nothing behind: with other options it is made. If it cannot be made anew, the earlier one
// stays.
func TestCannotCall(t *testing.T) {
	t.Parallel()
	h := apitest.NewHook(t)
	r := newRig(t, `url: "`+h.URL+`/?to={to}"`, nil)
	good := r.connector.Config()
	bad := *good
	bad.HTTP.URL = "none"
	r.connector.SetConfig(&bad)
	r.smsc.Wake(true)
	testutil.Eventually(t, "the log says so", func() bool { return strings.Contains(r.Log.String(), "the earlier options stay in force") })
	r.submit(nil)
	r.Settled()
	if len(h.Calls()) != 1 {
		t.Errorf("%d calls", len(h.Calls()))
	}
	r.lines()
	for range 2 {
		if _, err := New(t.Context(), r.smsc.rooms, r, r.connector); err == nil || !strings.HasPrefix(err.Error(), "cannot call the SMSC of connector smsc: url ") {
			t.Errorf("%v", err)
		}
	}
	if i := r.connector.Acquire(); i == nil {
		t.Error("the instance is in use")
	}
}

// A converting converts as the test says.
type converting struct {
	Converter
	refuses func(m *sms.Message) sms.Code
	leaving func(m *sms.Message) *sms.Message
}

func (c converting) Refuses(s *connector.Slot) sms.Code {
	if c.refuses != nil {
		return c.refuses(s.Leaving())
	}
	return c.Converter.Refuses(s)
}

func (c converting) Leaving(to *connector.Source, m *sms.Message) *sms.Message {
	if c.leaving != nil {
		return c.leaving(m)
	}
	return c.Converter.Leaving(to, m)
}

// What cannot be sent to the SMSC is refused here, and the SMSC is not called.
func TestNotSent(t *testing.T) {
	t.Parallel()
	binary := func(m *sms.Message) { m.Alphabet = sms.Binary }
	unreadable := func(m *sms.Message) { m.Alphabet = sms.Other }
	for _, c := range []struct {
		name    string
		message func(m *sms.Message)
		refuses func(m *sms.Message) sms.Code
		log     []string
		why     string
	}{
		{"refused by the converter", nil, func(*sms.Message) sms.Code { return sms.BadLength }, []string{`"reason":"bad_length"`}, ""},
		{"octets", binary, nil, []string{`"reason":"rejected"`}, "message refused: the request has no field for octets"},
		{"unreadable", unreadable, nil, []string{`"reason":"rejected"`}, "message refused: its text cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := apitest.NewHook(t)
			r := newRig(t, `url: "`+h.URL+`/?to={to}&text={text}"`, func(rooms *Rooms) {
				rooms.Converter = converting{Converter: rooms.Converter, refuses: c.refuses, leaving: func(m *sms.Message) *sms.Message { return m }}
			})
			r.submit(c.message)
			r.givenUp(c.log...)
			if len(h.Calls()) > 0 || !strings.Contains(r.Log.String(), c.why) {
				t.Errorf("%d calls\n%s", len(h.Calls()), r.Log.String())
			}
		})
	}
}

// The SMSC gets the converted message. A fault at one message puts that aside, and the next one is sent.
func TestConverted(t *testing.T) {
	t.Parallel()
	h := apitest.NewHook(t)
	var pool sms.Pool
	r := newRig(t, `url: "`+h.URL+`/?to={to}&text={text}"`, func(rooms *Rooms) {
		rooms.Converter = converting{rooms.Converter, nil, func(m *sms.Message) *sms.Message {
			if string(m.Text()) == "fault" {
				panic("fault")
			}
			out := pool.Copy(m)
			out.SetText([]byte("converted"))
			return out
		}}
	})
	r.submit(func(m *sms.Message) { m.SetText([]byte("fault")) })
	r.submit(nil)
	r.submit(nil)
	testutil.Eventually(t, "the others are sent", func() bool { return len(h.Calls("text=converted")) == 2 })
	if all := h.Calls(); len(all) != 2 || !strings.Contains(r.Log.String(), "a call failed at a message") {
		t.Errorf("%+v\n%s", all, r.Log.String())
	}
}

// An operation about a message has no request at such an SMSC.
func TestInquiry(t *testing.T) {
	t.Parallel()
	h := apitest.NewHook(t)
	r := newRig(t, `url: "`+h.URL+`/?to={to}"`, nil)
	lane := r.Gateway.Table.LaneOf(r.connector)
	testutil.Eventually(t, "the SMSC is reached", func() bool { return r.smsc.ReachedAt() != 0 })
	code := make(chan sms.Code, 1)
	r.Do(lane, func(now int64) {
		lane.Ask(&connector.Inquiry{
			Request: protocols.Request{Kind: protocols.Query, PeerID: []byte("1"), Message: &sms.Message{}}, Deadline: now + int64(time.Hour),
			Done: func(c sms.Code) { code <- c },
		})
	})
	if c := testutil.Receive(t, "the answer", code); c != sms.Unsupported || len(h.Calls()) > 0 {
		t.Errorf("%v, %d calls", c, len(h.Calls()))
	}
}

// What is under way when the client ends is neither refused nor lost, and the client ends without waiting for the SMSC.
func TestClose(t *testing.T) {
	t.Parallel()
	called := make(chan bool, 1)
	h := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		called <- true
		<-r.Context().Done()
	}))
	defer h.Close()
	r := newRig(t, `url: "`+h.URL+`/?to={to}", response_timeout: 10m`, nil)
	r.submit(nil)
	testutil.Receive(t, "the call", called)
	r.wantLines(r.lines(), "< http_submit_resp", `error="was not waited for"`)
}

// An SMSC is called by HTTPS with the connector's authorities, and so is its authorization server if it has the same host.
func TestTLS(t *testing.T) {
	t.Parallel()
	var tokens atomic.Int32
	h := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			tokens.Add(1)
			_, _ = w.Write([]byte(`{"access_token": "t"}`))
		}
	}))
	defer h.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	options := func(token string) string {
		return fmt.Sprintf(`url: "%s/?to={to}", tls: {ca: %q}, request: {login: oauth2, token: {url: "%s/token", client_id: a, client_secret: b}}`, h.URL, ca, token)
	}
	r := newRig(t, options(h.URL), nil)
	r.submit(nil)
	r.Settled()
	if tokens.Load() != 1 || r.connector.Stats.Sent.Load() != 1 {
		t.Errorf("%d tokens\n%s", tokens.Load(), r.Log.String())
	}
	another := newRig(t, options(strings.Replace(h.URL, "127.0.0.1", "localhost", 1)), nil)
	testutil.Eventually(t, "the other host is not trusted", func() bool { return strings.Contains(another.Log.String(), "localhost:") })
	if tokens.Load() != 1 || another.smsc.ReachedAt() != 0 {
		t.Errorf("%d tokens\n%s", tokens.Load(), another.Log.String())
	}
}

// A guarded server is an SMSC that takes messages which show the valid token, and the authorization server, which gives the tokens
// t1, t2 and so on.
type guarded struct {
	mu     sync.Mutex
	down   bool // no token is given
	given  int
	valid  string
	taken  int
	denied int
}

// ServeHTTP implements http.Handler.
func (g *guarded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch token := r.Header.Get("Authorization"); {
	case r.URL.Path == "/token" && g.down:
		w.WriteHeader(503)
	case r.URL.Path == "/token":
		g.given++
		fmt.Fprintf(w, `{"access_token": "hidden%d"}`, g.given)
	case token != "Bearer "+g.valid:
		g.denied++
		w.WriteHeader(401)
		fmt.Fprintf(w, "you have sent %s", token)
	default:
		g.taken++
	}
}

func (g *guarded) set(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f()
}

// wants checks how many messages were taken and refused, and how many tokens given.
func (g *guarded) wants(t *testing.T, taken, denied, given int) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.taken != taken || g.denied != denied || g.given != given {
		t.Errorf("%d messages taken, %d refused, %d tokens; want %d, %d, %d", g.taken, g.denied, g.given, taken, denied, given)
	}
}

// A message whose token the SMSC refuses is sent again with another one. While there is none, it waits and does not count as tried.
// If the SMSC refuses the new one too, the message is tried later. The pdu log has each call, and no token.
func TestTokenRefused(t *testing.T) {
	t.Parallel()
	g := &guarded{valid: "hidden2"}
	h := httptest.NewUnstartedServer(g)
	var open atomic.Int32 // connections
	h.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		switch s {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed:
			open.Add(-1)
		}
	}
	h.Start()
	defer h.Close()
	r := newRig(t, fmt.Sprintf(`url: "%s/?to={to}", request: {login: oauth2, token: {url: "%s/token", client_id: a, client_secret: b}}`, h.URL, h.URL), nil)
	failing := &r.connector.Stats.Failing
	var clock atomic.Int64
	r.submit(nil)
	r.Settled()
	g.wants(t, 1, 1, 2)
	if n := r.connector.Stats.Retried.Load() + failing.Load(); n != 0 {
		t.Errorf("the message was tried %d times more", n)
	}

	tokens := r.smsc.current.Load().tokens // on a clock of the test's: a token may be replaced after a time
	testutil.Eventually(t, "nothing runs", func() bool { return r.connector.Stats.InFlight.Load() == 0 })
	clock.Store(1 << 62)
	tokens.mu.Lock()
	tokens.now = clock.Load
	tokens.mu.Unlock()
	g.set(func() { g.down, g.valid = true, "hidden3" })
	r.submit(nil)
	testutil.Eventually(t, "there is no token", func() bool { return failing.Load() > 0 })
	g.wants(t, 1, 2, 2)
	g.set(func() { g.down = false })
	r.Settled()
	g.wants(t, 2, 2, 3)
	if n := r.connector.Stats.Retried.Load(); n != 0 {
		t.Errorf("the message was tried %d times more", n)
	}

	g.set(func() { g.valid = "another" })
	r.submit(nil)
	testutil.Eventually(t, "the message is tried again", func() bool { return r.connector.Stats.Retried.Load() > 1 })
	g.set(func() { g.valid = fmt.Sprint("hidden", g.given) })
	r.Settled()
	if open.Load() == 0 {
		t.Error("no connection waits for another call")
	}
	log := r.lines()
	testutil.Eventually(t, "no connection is left", func() bool { return open.Load() == 0 })
	r.wantLines(log, "< http_submit_resp", "status=401", `answer="you have sent Bearer ***"`)
	if n := strings.Count(log, "> http_submit "); n != g.taken+g.denied || strings.Count(log, "< http_submit_resp ") != n || strings.Contains(log, "hidden") {
		t.Errorf("%d calls, %d and %d answers\n%s", n, g.taken, g.denied, log)
	}
}
