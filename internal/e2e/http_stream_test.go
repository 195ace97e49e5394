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
