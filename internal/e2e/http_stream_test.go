package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"pmg/internal/testutil"
)

// Each line of a stream is a message, answered by a line, in order; lines that are refused do not end it, and those that
// come again with their reference are not sent again.
func TestHTTPStream(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s.more = withAPI
		g := start(t, s)
		a, smsc := g.api(), s.operator.session()
		var body strings.Builder
		const n = 1000
		for i := range n {
			fmt.Fprintf(&body, `{"from":"1234","to":"46700000001","text":"%d","client_reference":"r%d","deduplicate":true}`+"\n", i, i)
		}
		body.WriteString("{\n\n" + `{"to":"x","text":"a","client_reference":"bad"}` + "\n" + `{"from":"1234","to":"46700000001","text":"last"}`)
		go func() {
			for i := 0; i <= n; i++ {
				line, err := smsc.next()
				if err != nil || !strings.HasPrefix(line, "submit_sm ") {
					t.Errorf("%s, %v", line, err)
					return
				}
				smsc.answer(0, field(line, "seq"))
			}
		}()
		r := a.do("POST", "/v1/messages:stream", body.String(), "Content-Type: application/x-ndjson").want(t, 200, "")
		lines := strings.Split(strings.TrimSpace(r.body), "\n")
		if len(lines) != n+3 {
			t.Fatalf("%d lines, the last: %s", len(lines), lines[len(lines)-1])
		}
		for i, line := range lines[:n] {
			if !containsAll(line, []string{fmt.Sprintf(`"client_reference":"r%d"`, i), `"state":"queued"`}) {
				t.Fatalf("line %d: %s", i, line)
			}
		}
		if !strings.Contains(lines[n], "malformed-json") || !containsAll(lines[n+1], []string{"invalid-message", `"client_reference":"bad"`}) || !strings.Contains(lines[n+2], `"state":"queued"`) {
			t.Errorf("%q", lines[n:])
		}
		again := a.do("POST", "/v1/messages:stream", body.String()[:strings.Index(body.String(), "{\n")]).want(t, 200, "")
		for i, line := range strings.Split(strings.TrimSpace(again.body), "\n") {
			if line[:30] != lines[i][:30] {
				t.Fatalf("%s, before %s", line, lines[i])
			}
		}
		g.settled()
		if sent := g.stats("operator").Sent.Load(); sent != n+1 {
			t.Errorf("%d were sent", sent)
		}
	})
}

// A stream that stops in the middle of a line has what came before it answered.
func TestHTTPStreamStops(t *testing.T) {
	parallel(t)
	g := start(t, site{operator: newSMSC(t), more: withAPI, limits: "pdu_timeout: 300ms"})
	c, err := net.Dial("tcp", g.addr("api"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	message := textBody("46700000001", "a") + "\n"
	fmt.Fprintf(c, "POST /v1/messages:stream HTTP/1.1\r\nHost: x\r\nAuthorization: Basic YWNtZTpzM2NyZXQ=\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n5\r\n{\"to\r\n", len(message), message)
	b, _ := io.ReadAll(c)
	if !containsAll(string(b), []string{`"state":"queued"`, "malformed-json"}) {
		t.Errorf("%s", b)
	}
	testutil.Eventually(t, "one waits", func() bool { return g.Pending() == 1 })
}

// Each message of a batch has its own outcome; the whole of it may come again with its key.
func TestHTTPBatch(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s.more = withAPI
		g := start(t, s)
		a := g.api()
		body := `{"from":"1234","receipt":"none","messages":[{"to":"46700000001","text":"one"},{"to":"x","text":"two"},{"to":"46700000002","text":"three","from":"Shop"},{"text":"four"}]}`
		r := a.do("POST", "/v1/batches", body, "Idempotency-Key: b1").want(t, 200, "")
		if r.fields["accepted"] != 2.0 || r.fields["refused"] != 2.0 || !containsAll(r.body, []string{`"pointer":"/messages/3/to"`, `"from":"Shop"`}) {
			t.Error(r.body)
		}
		again := a.do("POST", "/v1/batches", body, "Idempotency-Key: b1").want(t, 200, "")
		first, second := r.fields["messages"].([]any), again.fields["messages"].([]any)
		for i := range first {
			if first[i].(map[string]any)["id"] != second[i].(map[string]any)["id"] {
				t.Errorf("%v, then %v", first[i], second[i])
			}
		}
		smsc := s.operator.session()
		smsc.answer(0, field(smsc.want("submit_sm", "source_addr=1234", `short_message="one"`), "seq"))
		smsc.answer(0, field(smsc.want("submit_sm", "source_addr=Shop", `short_message="three"`), "seq"))
		g.settled()
		smsc.fence()
		if !smsc.silent("submit_sm") {
			t.Error("more was sent")
		}
		a.do("POST", "/v1/batches", `{"messages":[]}`).want(t, 422, "invalid-message")
		a.do("POST", "/v1/batches", `{"messages":{}}`).want(t, 422, "invalid-message")
		a.do("POST", "/v1/batches", `{"messages":[{]}`).want(t, 400, "malformed-json")
		a.do("POST", "/v1/batches", `{"messages":[`+strings.Repeat("1,", 1000)+`1]}`).want(t, 422, "invalid-message")
		a.do("POST", "/v1/batches", body+" ", "Idempotency-Key: b1").want(t, 422, "idempotency-mismatch")
	})
}

// Kannel's clients need another address and nothing else.
func TestHTTPKannel(t *testing.T) {
	parallel(t)
	h := newHook(t)
	s := withHook(t, h, "")
	s.more = strings.Replace(s.more, "protocol: http", "protocol: http, dialects: [kannel]", 1)
	g := start(t, s)
	a := g.api()
	get := func(query string) string {
		resp, err := a.http.Get(a.url + "/cgi-bin/sendsms?" + query)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		return fmt.Sprint(resp.StatusCode, " ", string(b))
	}
	f := func(query, want string) {
		t.Helper()
		if got := get(query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	login := "username=api&password=s3cret&from=1234&to=46700000001"
	a.url += "/cgi-bin/xmlrpc?"
	f("", "404 Unknown request.")
	a.url = strings.TrimSuffix(a.url, "/cgi-bin/xmlrpc?")
	f("username=api&password=wrong&to=1&text=a", "403 Authorization failed for sendsms")
	f("username=api&password=s3cret&text=a", "400 Missing receiver number, rejected")
	f("username=api&password=s3cret&to=46700000001&text=a", "400 Sender missing and no global set, rejected")
	resp, err := a.http.Post(a.url+"/cgi-bin/sendsms?"+login+"&text=hello", "text/plain", strings.NewReader(strings.Repeat("a", 1<<20+1)))
	if err != nil || resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("%+v, %v", resp, err)
	} else {
		resp.Body.Close()
	}
	for _, method := range []string{"PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"} { // nothing comes to the SMSC before what is sent below
		request, _ := http.NewRequest(method, a.url+"/cgi-bin/sendsms?"+login+"&text=hello", nil)
		resp, err := a.http.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %s", method, resp.Status)
		}
	}
	f(login+"&text=hello&dlr-mask=31&dlr-url=http://192.0.2.1/x", "400 DLR-URL field misformed, rejected")
	f(login+"+alice&text=hello&dlr-mask=31&dlr-url="+h.URL+"/given/%25d%3Fid%3D7%26type%3D%25d%26reply%3D%25A%26smscid%3D%25F", "202 0: Accepted for delivery")
	smsc := s.operator.session()
	smsc.accepts("abc1")
	testutil.Eventually(t, "it is taken", func() bool { return len(h.at("/given/8?id=7&type=8&reply=ACK%2F&smscid=abc1")) == 1 })
	smsc.send(receiptOf("abc1", "DELIVRD"))
	smsc.want("deliver_sm_resp")
	testutil.Eventually(t, "it is delivered", func() bool { return len(h.at("/given/1?id=7&type=1&")) == 1 })
	g.settled()
}

// A client that streams and never reads is not read any more, and its connection ends. Others are served meanwhile.
func TestHTTPStreamNotRead(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), more: withAPI, limits: "pdu_timeout: 300ms", routes: "{destination: [467], to: operator}"}
	g := start(t, s)
	c, err := net.Dial("tcp", g.addr("api"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "POST /v1/messages:stream HTTP/1.1\r\nHost: x\r\nAuthorization: Basic YWNtZTpzM2NyZXQ=\r\nTransfer-Encoding: chunked\r\n\r\n")
	line := `{"to":"1","text":"no route leads there, so that each line has a long answer"}` + "\n"
	chunk := fmt.Sprintf("%x\r\n%s\r\n", len(line)*100, strings.Repeat(line, 100))
	a := g.api()
	for written := 0; ; written++ {
		if _, err := io.WriteString(c, chunk); err != nil {
			break // it was ended
		}
		if written%100 == 0 {
			a.do("GET", "/v1/account", "").want(t, 200, "")
		}
	}
}
