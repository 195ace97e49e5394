package e2e

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"pmg/internal/testkit/testutil"
)

// head sends the head of a request whose body does not come.
func (a *api) head(path, login string, length int, more string) *http.Response {
	a.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(a.url, "http://"))
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { c.Close() })
	fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n%s\r\n", path, login, length, more)
	if login == held {
		return nil
	}
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { r.Body.Close() })
	return r
}

const held = "Authorization: Basic YWNtZTpzM2NyZXQ=\r\n" // acme:s3cret; nobody waits for its answer

// Bodies that do not end take a part of the memory, and whoever has wrong credentials need not send one.
func TestHTTPBodies(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), more: strings.Replace(withAPI, "protocol: http", "protocol: http, dialects: [pmg, kannel, jasmin]", 1), limits: "memory: 256MiB", accounts: "{system_id: api, password: s3cret}"}
	g := start(t, s)
	a := g.api()
	before := g.Gateway.Node.Memory.Used()
	for range 10 {
		a.head("/v1/batches", held, 16<<20, "")
	}
	testutil.Eventually(t, "one is read", func() bool { return g.Gateway.Node.Memory.Used() > before+16<<20 })
	if used := g.Gateway.Node.Memory.Used(); used > 64<<20 {
		t.Errorf("%d octets are counted", used)
	}
	const other = "Authorization: Basic YWNtZTpzM2NyZXQ= \r\n"
	if r := a.head("/v1/batches", other, 16<<20, ""); r.StatusCode != 503 || r.Header.Get("Retry-After") == "" {
		t.Errorf("%+v", r)
	}
	a.do("POST", "/v1/messages", textBody("46700000001", "a")).want(t, 202, "")
	const form = "Content-Type: application/x-www-form-urlencoded\r\n"
	for _, c := range []struct {
		path, login string
		length      int
		more        string
		status      int
	}{
		{"/cgi-bin/sendsms?username=api&password=wrong", "", 1000, form, 403},
		{"/cgi-bin/sendsms", "X-Kannel-Username: api\r\nX-Kannel-Password: wrong\r\n", 1000, "Content-Type: text/plain\r\n", 403},
		{"/cgi-bin/sendsms", "", maxStranger + 1, form, 413},
		{"/cgi-bin/sendsms?username=api&password=s3cret", "", 1<<20 + 1, form, 413},
		{"/send?username=api&password=wrong", "", 1000, form, 403},
		{"/send", "", maxStranger + 1, form, 413},
		{"/secure/send", "Authorization: Basic YXBpOndyb25n\r\n", 1000, "", 403},
	} {
		if r := a.head(c.path, c.login, c.length, c.more); r.StatusCode != c.status {
			t.Errorf("%s: %d, want %d", c.path, r.StatusCode, c.status)
		}
	}
}

const maxStranger = 256 << 10
