package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"pmg/httpapi/apitest"
	"pmg/internal/testkit/testutil"
)

const (
	clientTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	clientSpan  = "00f067aa0ba902b7"
	traceparent = "traceparent: 00-" + clientTrace + "-" + clientSpan + "-01"
)

// traced makes a request that is part of the client's trace.
func (a *api) traced(method, path, body string) {
	a.t.Helper()
	r, err := http.NewRequest(method, a.url+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	r.SetBasicAuth(a.name, "s3cret")
	r.Header.Set("traceparent", strings.TrimPrefix(traceparent, "traceparent: "))
	answer, err := a.http.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	defer answer.Body.Close()
	if said, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode/100 != 2 {
		a.t.Errorf("%s: %s %s", path, answer.Status, said)
	}
}

// A request with traceparent makes its message part of the client's trace, in each dialect. So are its attempts, its
// receipt and the calls of the webhook, which carry the header. A request with a malformed header, or one that says
// that nobody records the trace, is like one without.
func TestTraceparent(t *testing.T) {
	parallel(t)
	c, h := &collector{}, apitest.NewHook(t)
	server := httptest.NewServer(c)
	defer server.Close()
	s := withHook(t, h, "")
	s.more = strings.Replace(s.more, "protocol: http", "protocol: http, dialects: [pmg, kannel, jasmin]", 1)
	s.top = fmt.Sprintf("telemetry: {otlp: %q, one_in: 1000000000, client_rate: 1000}\n", server.URL)
	g := start(t, s)
	a := g.api()
	a.name = "api"
	h.Answers(503, "", "")
	smsc := s.operator.session()
	const body = `{"from":"1234","to":"46700000001","text":"hello","receipt":"all"}`
	for i, header := range []string{"a: b", strings.TrimSuffix(traceparent, "1") + "0", strings.ToUpper(traceparent), traceparent + "x"} {
		a.do("POST", "/v1/messages", body, header).want(t, 202, "")
		smsc.accepts(fmt.Sprintf("no%d", i))
	}
	a.do("POST", "/v1/messages", body, traceparent).want(t, 202, "")
	smsc.accepts("yes")
	smsc.send(receiptOf("yes", "DELIVRD"))
	smsc.want("deliver_sm_resp")
	testutil.Eventually(t, "an attempt to tell the client has failed", func() bool { return len(c.named("webhook")) > 0 })
	h.AnswersAfresh(204)
	testutil.Eventually(t, "the client is told", func() bool { return len(c.named("receipt")) > 0 && len(h.Calls("message.delivered")) > 0 })
	for _, path := range []string{
		"/cgi-bin/sendsms?username=api&password=s3cret&from=1234&to=46700000001+46700000002&text=hello",
		"/send?username=api&password=s3cret&from=1234&to=46700000001&content=hello",
	} {
		a.traced("GET", path, "")
		if smsc.accepts("k" + path[1:2]); strings.Contains(path, "+") {
			smsc.accepts("k2")
		}
	}
	for _, path := range []string{"/v1/batches", "/v1/messages:stream"} {
		body := body + "\n"
		if path == "/v1/batches" {
			body = `{"messages": [` + body + `]}`
		}
		a.traced("POST", path, body)
		smsc.accepts("m" + path[4:])
	}
	testutil.Eventually(t, "the collector has the messages", func() bool { return len(c.named("submit")) >= 6 && len(c.named("send")) >= 6 })
	g.settled()
	if n := len(c.named("submit")); n != 6 {
		t.Errorf("%d are traced", n)
	}
	for _, s := range c.named("submit") {
		if s.TraceID != clientTrace || s.ParentSpanID != clientSpan {
			t.Errorf("%+v", s)
		}
	}
	root := c.named("submit")[0].SpanID
	if r := c.named("receipt")[0]; r.TraceID != clientTrace || r.ParentSpanID != root {
		t.Errorf("%+v", r)
	}
	called := map[string]bool{}
	for _, s := range c.named("webhook") {
		called["00-"+clientTrace+"-"+s.SpanID+"-01"] = s.TraceID == clientTrace && (s.Status.Code == 2) == (s.attribute("http.response.status_code") == "503")
	}
	traced := 0
	for _, call := range h.Calls("message.delivered") {
		if parent := call.Header.Get("traceparent"); parent != "" {
			if traced++; !called[parent] {
				t.Errorf("called with %s, of %v", parent, called)
			}
		}
	}
	if traced == 0 {
		t.Error("no call has the header")
	}
	smsc.conn.Close()
}

// A message that waits over a restart stays part of its client's trace.
func TestTraceparentRestart(t *testing.T) {
	parallel(t)
	c := &collector{}
	server := httptest.NewServer(c)
	defer server.Close()
	s := withHook(t, apitest.NewHook(t), "")
	s.top = fmt.Sprintf("telemetry: {otlp: %q, one_in: 1000000000}\n", server.URL)
	s.operator.down()
	g := start(t, s)
	a := g.api()
	a.name = "api"
	a.do("POST", "/v1/messages", textBody("46700000001", "hello"), traceparent).want(t, 202, "")
	g.stop()
	s.operator.up()
	g = start(t, s)
	s.operator.session().accepts("1")
	testutil.Eventually(t, "the collector has the message", func() bool { return len(c.named("submit")) > 0 })
	if s := c.named("submit")[0]; s.TraceID != clientTrace || s.ParentSpanID != clientSpan {
		t.Errorf("%+v", s)
	}
	g.settled()
}

// Clients cannot have more traced than client_rate.
func TestTraceparentRate(t *testing.T) {
	parallel(t)
	c := &collector{}
	server := httptest.NewServer(c)
	defer server.Close()
	s := withHook(t, apitest.NewHook(t), "")
	s.top = fmt.Sprintf("telemetry: {otlp: %q, one_in: 1000000000, client_rate: 0}\n", server.URL)
	g := start(t, s)
	a := g.api()
	a.name = "api"
	smsc := s.operator.session()
	a.do("POST", "/v1/messages", textBody("46700000001", "hello"), traceparent).want(t, 202, "")
	smsc.accepts("1")
	g.settled()
	g.stop()
	if n := len(c.named("submit")); n != 0 {
		t.Errorf("%d are traced", n)
	}
}

// The calls of an SMSC that speaks HTTP have the header of their attempt.
func TestTraceparentSMSC(t *testing.T) {
	parallel(t)
	c := &collector{}
	server := httptest.NewServer(c)
	defer server.Close()
	var mu sync.Mutex
	var headers []string
	smsc := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if headers = append(headers, r.Header.Get("traceparent")); len(headers) == 1 {
			w.WriteHeader(503)
		}
	}))
	defer smsc.Close()
	s := smscSite(t, smsc.URL+"/?to={to}&text={text}", "retry: {temporary: [1ms, repeat]}")
	s.top = fmt.Sprintf("telemetry: {otlp: %q, one_in: 1}\n", server.URL)
	g := start(t, s)
	g.bind("transmitter").submitOne(1)
	testutil.Eventually(t, "the collector has both attempts", func() bool { return len(c.named("send")) == 2 })
	mu.Lock()
	defer mu.Unlock()
	for i, s := range c.named("send") {
		if want := "00-" + s.TraceID + "-" + s.SpanID + "-01"; len(headers) != 2 || headers[i] != want {
			t.Errorf("%q, want %s", headers, want)
		}
	}
}
