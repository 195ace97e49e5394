package compat

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
)

// Requests of an account that has its share of the connections are refused, in whatever form they come, and their connections closed.
// Those of another are taken.
func TestShare(t *testing.T) {
	t.Parallel()
	r := newRig(t, "dialects: [kannel, jasmin], instances: 20", "", "", "{system_id: load, password: secret}")
	dial := func(host int) net.Conn {
		t.Helper()
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(host))}}
		c, err := d.Dial("tcp", strings.TrimPrefix(r.client.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		_ = c.SetDeadline(time.Now().Add(testutil.Patience))
		return c
	}
	for i := range 18 {
		c := dial(2 + i%2)
		fmt.Fprint(c, "POST /cgi-bin/sendsms HTTP/1.1\r\nHost: x\r\nX-Kannel-Username: load\r\nX-Kannel-Password: secret\r\n"+
			"Content-Type: text/plain\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n")
		if _, err := c.Read(make([]byte, 1)); err != nil { // its body is awaited: it has logged in
			t.Fatal(err)
		}
	}
	other := dial(4)
	kept := bufio.NewReader(other)
	ask := func(request string) {
		t.Helper()
		name, _, _ := strings.Cut(request, "\r\n")
		c := dial(4)
		fmt.Fprint(c, strings.NewReplacer("NAME", "load", "BASIC", "bG9hZDpzZWNyZXQ=").Replace(request))
		answer, err := io.ReadAll(c)
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 503 ") || !strings.Contains(string(answer), "Retry-After: 5") {
			t.Errorf("%s of load: %v, %s", name, err, answer)
		}
		fmt.Fprint(other, strings.NewReplacer("NAME", "shop", "BASIC", "c2hvcDpzZWNyZXQ=").Replace(request))
		w, err := http.ReadResponse(kept, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, w.Body); err != nil || w.StatusCode/100 != 2 || w.Close {
			t.Errorf("%s of shop: %d, closes %t, %v", name, w.StatusCode, w.Close, err)
		}
	}
	post := func(path, header, body string) string {
		return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n%s", path, header, len(body), body)
	}
	const form, login = "Content-Type: application/x-www-form-urlencoded\r\n", "username=NAME&password=secret"
	for path, message := range map[string]string{"/cgi-bin/sendsms": "&from=46700000002&to=46700000001&text=a", "/send": "&to=46700000001&content=a"} {
		ask("GET " + path + "?" + login + message + " HTTP/1.1\r\nHost: x\r\n\r\n")
		ask(post(path, form, login+message))
	}
	ask(post("/cgi-bin/sendsms", "X-Kannel-Username: NAME\r\nX-Kannel-Password: secret\r\nX-Kannel-To: 46700000001\r\nX-Kannel-From: 1\r\n", "a"))
	ask(post("/send?"+login, form, "to=46700000001&content=a"))
	ask(post("/secure/send", "Authorization: Basic BASIC\r\n", `{"to": 46700000001, "from": "1", "content": "a"}`))
	if n := r.listener.Connector.Stats.Accepted.Load(); n != 7 {
		t.Errorf("%d are accepted", n)
	}
}
