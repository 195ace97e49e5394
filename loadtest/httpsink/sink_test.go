package httpsink

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
	"pmg/loadtest"
)

func start(t *testing.T, o Options) *Sink {
	t.Helper()
	o.Listen = "127.0.0.1:0"
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// call sends a request, and returns the status and the body of the answer; 0 if there is none.
func (s *Sink) call(ctx context.Context, method, path, body string, headers ...string) (int, string) {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+s.Addr()+path, strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	r.Close = true
	r.SetBasicAuth("pmg", "s3cret")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	if err != nil {
		return 0, err.Error()
	}
	return a.StatusCode, string(b)
}

// Each request is answered as the gateway and Kannel would, and as faults say; each is counted.
func TestSubmit(t *testing.T) {
	t.Parallel()
	const long = "123456789012345678901234567890"
	f := func(of Options, method, path, body string, status int, answer string, count func(*Result) int64) {
		t.Helper()
		s := start(t, of)
		got, said := s.call(t.Context(), method, path, body)
		if got != status || !strings.Contains(said, answer) {
			t.Errorf("%s %s %.200s: %d %q, want %d %q", method, path, body, got, said, status, answer)
		}
		if r := s.Result(); count(r) != 1 {
			t.Errorf("%s %s %.200s: %+v", method, path, body, r)
		}
	}
	faults := func(of loadtest.Faults) (o Options) {
		o.Faults = of
		return o
	}
	login := func(systemID, password string) (o Options) {
		o.SystemID, o.Password = systemID, password
		return o
	}
	accepted := func(r *Result) int64 { return r.Accepted }
	unnumbered := func(r *Result) int64 { return r.Unnumbered }
	malformed := func(r *Result) int64 { return r.Malformed }
	throttled := func(r *Result) int64 { return r.Throttled }
	refused := func(r *Result) int64 { return r.Refused }
	dropped := func(r *Result) int64 { return r.Dropped }
	const own, sendsms = "/v1/messages", "/cgi-bin/sendsms?username=pmg&password=s3cret&to=467&text=%23000000000042+"
	f(Options{}, "POST", own, `{"to":"+467","text":"#000000000042 "}`, 202, `"state":"queued"`, func(r *Result) int64 { return r.Unique })
	f(Options{}, "POST", own, `{"to":"+467","binary":"IzAwMDAwMDAwMDA0MiA="}`, 202, `"id":"`, func(r *Result) int64 { return r.Unique })
	f(Options{}, "POST", own, `{"to":"+467","text":"no number","client_reference":"a"}`, 202, `"client_reference":"a"`, unnumbered)
	f(login("pmg", "s3cret"), "POST", own, `{"to":"+467","text":"a"}`, 202, "", accepted)
	f(login("other", ""), "POST", own, `{"to":"+467","text":"a"}`, 401, "/problems/unauthenticated", refused)
	f(login("", "other"), "GET", sendsms, "", 403, "Authorization failed for sendsms", refused)
	f(Options{}, "POST", own, `{"to":"","text":"a"}`, 400, "malformed-json", malformed)
	f(Options{}, "POST", own, `{"to":"467","text":"a","callback_url":"http://a/","receipt":"perhaps"}`, 400, "", malformed)
	f(Options{}, "POST", own, `{"to":"467","binary":"%"}`, 400, "", malformed)
	f(Options{}, "POST", own, `{"to":"467","text":"a","client_reference":"`+strings.Repeat(long, 10)+`"}`, 400, "", malformed)
	f(Options{}, "POST", own, "["+strings.Repeat(" ", maxSubmit), 400, "", malformed)
	f(faults(loadtest.Faults{ThrottleEvery: 1}), "POST", own, `{"to":"467"}`, 429, "/problems/rate-limited", throttled)
	f(faults(loadtest.Faults{ThrottleTo: "467"}), "POST", own, `{"to":"+4670"}`, 429, "", throttled)
	f(faults(loadtest.Faults{FullTo: "467"}), "POST", own, `{"to":"4670"}`, 503, "/problems/queue-full", throttled)
	f(faults(loadtest.Faults{RefuseEvery: 1}), "POST", own, `{"to":"467"}`, 422, "/problems/invalid-message", refused)
	f(faults(loadtest.Faults{RefuseTo: "46"}), "POST", own, `{"to":"467"}`, 422, "", refused)
	f(faults(loadtest.Faults{RefuseTo: "47", ThrottleTo: "1", CloseTo: "2", CloseText: "b", ThrottleEvery: 2}), "POST", own, `{"to":"467","text":"a"}`, 202, "", accepted)
	f(faults(loadtest.Faults{DropEvery: 1}), "POST", own, `{"to":"467"}`, 0, "EOF", dropped)
	f(faults(loadtest.Faults{CloseTo: "467"}), "POST", own, `{"to":"467"}`, 0, "EOF", dropped)
	f(faults(loadtest.Faults{CloseText: "stop"}), "POST", own, `{"to":"467","text":"please stop"}`, 0, "EOF", dropped)
	f(faults(loadtest.Faults{LateEvery: 1, Late: time.Millisecond}), "POST", own, `{"to":"467"}`, 202, "", func(r *Result) int64 { return r.Late })
	f(Options{}, "GET", sendsms, "", 202, "0: Accepted for delivery", func(r *Result) int64 { return r.Unique })
	f(Options{}, "GET", strings.Replace(sendsms, "to=467", "to=", 1), "", 400, "", malformed)
	f(Options{}, "GET", sendsms+"&dlr-mask=all", "", 400, "", malformed)
	f(Options{}, "GET", strings.Replace(sendsms, "to=467", "to="+strings.Repeat(long, 10), 1), "", 400, "", malformed)
	f(faults(loadtest.Faults{ThrottleEvery: 1}), "GET", sendsms, "", 503, "Temporal failure, try again later.", throttled)
	f(faults(loadtest.Faults{RefuseTo: "467"}), "GET", sendsms, "", 400, "denied", refused)
	f(Options{}, "POST", "/webhook", `{"type":"a","data":{}}`, 204, "", func(r *Result) int64 { return r.Events })
	f(Options{}, "POST", "/v1/messages:stream", `{"to":"467"}`, 404, "", func(r *Result) int64 { return 1 + r.Calls + r.Submits })
}

// A client that hangs up in the middle of a body has sent nothing that is malformed.
func TestHungUp(t *testing.T) {
	s := start(t, Options{})
	for _, path := range []string{"/v1/messages", "/cgi-bin/sendsms", "/webhook"} {
		c, err := net.Dial("tcp", s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: a\r\nAuthorization: Basic cG1nOnMzY3JldA==\r\nContent-Length: 100\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n{", path)
		c.Close()
	}
	testutil.Eventually(t, "all three have come", func() bool {
		r := s.Result()
		return r.Submits == 2 && r.Calls == 1
	})
	s.Close() // waits for requests
	if r := s.Result(); r.Malformed != 0 {
		t.Errorf("%+v", r)
	}
}

// A message with a reference that has come is answered as the first one, and accepted once.
func TestRepeated(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	ids := map[string]bool{}
	for range 3 {
		for _, body := range []string{
			`{"to":"467","text":"#000000000001 ","client_reference":"a","deduplicate":true}`,
			`{"to":"467","text":"#000000000002 ","client_reference":"b","deduplicate":true}`,
		} {
			var m struct{ ID string }
			status, said := s.call(t.Context(), "POST", "/v1/messages", body)
			if err := json.Unmarshal([]byte(said), &m); err != nil || status != 202 {
				t.Fatalf("%d %s", status, said)
			}
			ids[m.ID] = true
		}
	}
	s.call(t.Context(), "POST", "/v1/messages", `{"to":"467","text":"#000000000002 ","client_reference":"b"}`)
	if r := s.Result(); len(ids) != 2 || r.Accepted != 3 || r.Repeated != 4 || r.Doubled != 1 {
		t.Errorf("%d ids, %+v", len(ids), r)
	}
	_, said := s.call(t.Context(), "GET", "/messages", "")
	var shown struct {
		Last []struct {
			To, Text, ID string
			At           time.Time
		}
	}
	if err := json.Unmarshal([]byte(said), &shown); err != nil || len(shown.Last) != 3 || shown.Last[1].Text != "#000000000002 " || !ids[shown.Last[0].ID] {
		t.Errorf("%v: %s", err, said)
	}
}

// A sink reports the states of its messages to another one, in their order, and again where the other refuses it for
// the moment.
func TestReceipts(t *testing.T) {
	t.Parallel()
	const messages = 300
	var mu sync.Mutex
	told := map[string][]string{}
	var receiver Options
	receiver.ThrottleEvery, receiver.RefuseEvery, receiver.DropEvery = 7, 11, 13
	receiver.Told = func(e Event) error {
		var data struct {
			ID, State, To string
			Sequence      int
		}
		err := json.Unmarshal(e.Data, &data)
		mu.Lock()
		defer mu.Unlock()
		told[data.ID] = append(told[data.ID], fmt.Sprint(data.Sequence, e.Type, data.State, data.To))
		return err
	}
	to := start(t, receiver)
	var o Options
	o.Receipts, o.Messages = true, messages
	o.Receipt.Delay, o.Receipt.DelayMax, o.Receipt.Fail, o.Receipt.IDForm = time.Millisecond, 3*time.Millisecond, 0.3, loadtest.DecimalForm
	s := start(t, o)
	for n := range messages {
		receipt := []string{"all", "final", "none"}[n%3]
		body := fmt.Sprintf(`{"to":"467","text":"#%012d ","receipt":%q,"callback_url":"http://%s/told"}`, n, receipt, to.Addr())
		if status, said := s.call(t.Context(), "POST", "/v1/messages", body); status != 202 {
			t.Fatalf("%d %s", status, said)
		}
	}
	<-s.Done()
	r, heard := s.Result(), to.Result()
	if p := r.Problems(); p != nil || r.Unique != messages || r.Receipts != messages*2/3 || r.ReceiptsAnswered != r.Receipts || r.Redelivered == 0 {
		t.Errorf("%v, %+v", p, r)
	}
	if heard.Events != messages || heard.EventTypes["message.sent"] != messages/3 || heard.EventTypes["message.undelivered"] == 0 || heard.CallsRefused != r.Redelivered {
		t.Errorf("%+v", heard)
	}
	mu.Lock()
	defer mu.Unlock()
	all := 0
	for id, states := range told {
		all += len(states)
		if len(states) == 2 && states[0] != "1message.sentsent467" || !strings.Contains(states[len(states)-1], "delivered467") && !strings.Contains(states[len(states)-1], "undelivered467") {
			t.Errorf("%s: %q", id, states)
		}
	}
	if len(told) != messages*2/3 || all != messages {
		t.Errorf("%d messages in %d events", len(told), all)
	}
}

// Receipts of messages that came as Kannel takes them call with its escapes filled in.
func TestKannelReceipts(t *testing.T) {
	t.Parallel()
	calls := make(chan string, 10)
	h := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { calls <- r.Method + " " + r.URL.String() }))
	defer h.Close()
	var o Options
	o.Receipts, o.Receipt.First = true, true
	s := start(t, o)
	send := func(mask string) {
		t.Helper()
		if status, said := s.call(t.Context(), "GET", "/cgi-bin/sendsms?from=Shop&to=%2B467&text=a&dlr-mask="+mask+"&dlr-url="+strings.ReplaceAll(h.URL, ":", "%3A")+"%2F%3Fn%3D1%26a%3D%2541%26type%3D%25d%26to%3D%25p", ""); status != 202 {
			t.Fatalf("%d %s", status, said)
		}
	}
	send("19")
	if got := <-calls; got != "GET /?n=1&a=%41&type=1&to=%2B467" {
		t.Error(got)
	}
	send("8")
	if got := <-calls; !strings.Contains(got, "type=8&") {
		t.Error(got)
	}
	send("9")
	for _, kind := range []string{"8", "1"} {
		if got := <-calls; !strings.Contains(got, "type="+kind+"&") {
			t.Error(got)
		}
	}
	send("2") // it is delivered, which nobody asks for
	testutil.Eventually(t, "receipts are answered", func() bool { return s.Result().ReceiptsAnswered == 3 })
	if r := s.Result(); r.Receipts != 3 || len(calls) != 0 {
		t.Errorf("%+v, %d more calls", r, len(calls))
	}
}

// A sink obeys what messages order, but only with the option to do so.
func TestOrders(t *testing.T) {
	t.Parallel()
	calls := make(chan string, 10)
	h := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		calls <- r.URL.RawQuery + string(b)
	}))
	defer h.Close()
	var o Options
	o.Receipts, o.Orders = true, true
	s := start(t, o)
	send := func(text, receipt string) int {
		body, err := json.Marshal(map[string]string{"to": "467", "text": text, "receipt": receipt, "callback_url": h.URL})
		if err != nil {
			t.Fatal(err)
		}
		status, _ := s.call(t.Context(), "POST", "/v1/messages", string(body))
		return status
	}
	for text, want := range map[string]int{
		"submit:{status:429}": 429, "submit:{status:503,delay:1ms}": 503, "submit:{status:204}": 204,
		"submit:{status:88},receipt:{send:false}": 202, "submit:{status:soon},receipt:{send:false}": 202, "receipt:{send:false}": 202,
	} {
		before := s.Result()
		malformed := int64(0)
		if strings.Contains(text, "88") || strings.Contains(text, "soon") { // the whole order is not obeyed
			malformed = 1
		}
		if got := send(text, "final"); got != want {
			t.Errorf("%s: %d", text, got)
		}
		if r := s.Result(); r.Malformed-before.Malformed != malformed || r.Receipts-before.Receipts != malformed || want != 202 && r.Refused == before.Refused {
			t.Errorf("%s: %+v", text, r)
		}
		if malformed > 0 {
			<-calls
		}
	}
	for text, want := range map[string]string{
		"receipt:{state:EXPIRED,err:045}": `"state":"expired","sequence":1,"network_error":"045"`,
		"receipt:{state:rejected}":        `"type":"message.rejected"`,
		"receipt:{state:DELIVRD}":         `"state":"delivered"`,
	} {
		send(text, "final")
		if got := <-calls; !strings.Contains(got, want) {
			t.Errorf("%s: %s", text, got)
		}
	}
	send("receipt:{state:ENROUTE,delay:1ms}", "final") // it is not asked for
	send("receipt:{state:ENROUTE,delay:1ms}", "all")
	for _, want := range []string{`"state":"sent"`, `"state":"buffered","sequence":2`} {
		if got := <-calls; !strings.Contains(got, want) {
			t.Errorf("%s: want %s", got, want)
		}
	}
	s.call(t.Context(), "GET", "/cgi-bin/sendsms?to=467&text=receipt:%7Bstate:EXPIRED,err:045%7D&dlr-mask=7&dlr-url="+h.URL+"%3F%25d%26%25A", "")
	if got := <-calls; got != "2&stat%3AEXPIRED+err%3A045" {
		t.Error(got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var calling sync.WaitGroup
	submits := s.Result().Submits
	calling.Go(func() {
		if status, _ := s.call(ctx, "POST", "/v1/messages", `{"to":"467","text":"submit:{answer:false}"}`); status != 0 {
			t.Errorf("it is answered %d", status)
		}
	})
	testutil.Eventually(t, "it is there", func() bool { return s.Result().Submits > submits })
	cancel()
	calling.Wait()
}

// A receipt that cannot be called is refused, or stays undelivered if nobody is there.
func TestReceiptsFail(t *testing.T) {
	t.Parallel()
	var o Options
	o.Receipts = true
	s := start(t, o)
	h := httptest.NewServer(http.NotFoundHandler())
	defer h.Close()
	for _, u := range []string{h.URL, "ftp://127.0.0.1/", "http://127.0.0.1:1 /", "http://" + testutil.FreeAddress(t)} {
		s.call(t.Context(), "POST", "/v1/messages", fmt.Sprintf(`{"to":"467","text":"#000000000001 ","callback_url":%q}`, u))
	}
	testutil.Eventually(t, "calls have failed", func() bool { r := s.Result(); return r.ReceiptsRefused == 3 && r.Redelivered > 0 })
	s.Close()
	if r := s.Result(); r.Receipts != 4 || r.ReceiptsAnswered != 0 || !strings.Contains(fmt.Sprint(r.Problems()), "3 receipts refused 1 receipts not delivered") {
		t.Errorf("%+v %q", r, r.Problems())
	}
}

// The end of a sink ends requests that are never answered, or late.
func TestClose(t *testing.T) {
	t.Parallel()
	var mute, late Options
	mute.Mute = true
	late.LateEvery, late.Late = 1, time.Hour
	for _, of := range []struct {
		o      Options
		path   string
		status int
	}{{mute, "/v1/messages", 0}, {mute, "/webhook", 0}, {late, "/v1/messages", 202}, {late, "/webhook", 204}} {
		s := start(t, of.o)
		var status int
		var said string
		var calling sync.WaitGroup
		calling.Go(func() { status, said = s.call(t.Context(), "POST", of.path, `{"type":"a","to":"467"}`) })
		testutil.Eventually(t, "the request is there", func() bool { r := s.Result(); return r.Submits+r.Calls == 1 })
		if r := s.Result(); r.Accepted+r.Events > 0 && of.o.Mute {
			t.Errorf("it counts: %+v", r)
		}
		s.Close()
		calling.Wait()
		if status != of.status {
			t.Errorf("%s: %d %s", of.path, status, said)
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Options){
		"protocol":  func(o *Options) { o.Protocol = "ucp" },
		"unbind":    func(o *Options) { o.UnbindEvery = 1 },
		"twice":     func(o *Options) { o.TwiceEvery = 1 },
		"bind":      func(o *Options) { o.CloseBindEvery = 1 },
		"mo":        func(o *Options) { o.MO.Count = 1 },
		"content":   func(o *Options) { o.Content = &loadtest.Content{} },
		"format":    func(o *Options) { o.Receipt.Format = loadtest.ReceiptTLV },
		"session":   func(o *Options) { o.Receipt.OtherSession = true },
		"first":     func(o *Options) { o.Receipt.First, o.Delay = true, 1 },
		"window":    func(o *Options) { o.Window = maxCalls + 1 },
		"delay":     func(o *Options) { o.Delay = -1 },
		"share":     func(o *Options) { o.Receipt.Fail = 2 },
		"key":       func(o *Options) { o.WebhookKey = "secret" },
		"publicKey": func(o *Options) { o.WebhookKey = "whpk_QUJD" },
		"address":   func(o *Options) { o.Listen = "nowhere" },
	} {
		o := Options{SinkOptions: loadtest.SinkOptions{Listen: "127.0.0.1:0"}}
		change(&o)
		if s, err := Start(o); err == nil {
			s.Close()
			t.Errorf("%s: no error", name)
		}
	}
}
