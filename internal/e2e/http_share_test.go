package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
)

// Requests of an account that has its share of the connections are refused, in whatever form they come, and their connections closed.
func TestHTTPShare(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs 127.0.0.2")
	}
	parallel(t)
	g := start(t, site{
		operator: newSMSC(t), accounts: "{system_id: shop, password: s3cret}",
		more: `{name: api, direction: in, protocol: http, dialects: [pmg, kannel, jasmin], address: "127.0.0.1:0", instances: 20}`,
	})
	for i := range 18 {
		c := g.dialFrom(fmt.Sprintf("127.0.0.%d", 2+i%2), "api").conn
		fmt.Fprint(c, "POST /v1/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Basic YWNtZTpzM2NyZXQ=\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n")
		if _, err := c.Read(make([]byte, 1)); err != nil { // its body is awaited: it has logged in
			t.Fatal(err)
		}
	}
	other := g.dialFrom("127.0.0.4", "api").conn
	kept := bufio.NewReader(other)
	ask := func(request string) {
		t.Helper()
		name := strings.SplitN(request, "\r\n", 2)[0]
		c := g.dialFrom("127.0.0.4", "api").conn
		fmt.Fprint(c, strings.NewReplacer("NAME", "acme", "BASIC", "YWNtZTpzM2NyZXQ=").Replace(request))
		answer, err := io.ReadAll(c)
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 503 ") || !strings.Contains(string(answer), "Retry-After") {
			t.Errorf("%s of acme: %v, %s", name, err, answer)
		}
		fmt.Fprint(other, strings.NewReplacer("NAME", "shop", "BASIC", "c2hvcDpzM2NyZXQ=").Replace(request))
		resp, err := http.ReadResponse(kept, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode/100 != 2 || resp.Close {
			t.Errorf("%s of shop: %d, close %v, %v", name, resp.StatusCode, resp.Close, err)
		}
	}
	post := func(path, header, body string) string {
		return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n%s", path, header, len(body), body)
	}
	const form, login = "Content-Type: application/x-www-form-urlencoded\r\n", "username=NAME&password=s3cret"
	for path, message := range map[string]string{"/cgi-bin/sendsms": "&from=46700000002&to=46700000001&text=a", "/send": "&to=46700000001&content=a"} {
		ask("GET " + path + "?" + login + message + " HTTP/1.1\r\nHost: x\r\n\r\n")
		ask(post(path, form, login+message))
	}
	ask(post("/cgi-bin/sendsms", "X-Kannel-Username: NAME\r\nX-Kannel-Password: s3cret\r\nX-Kannel-To: 46700000001\r\nX-Kannel-From: 46700000002\r\n", "a"))
	ask(post("/send?"+login, form, "to=46700000001&content=a"))
	ask(post("/secure/send", "Authorization: Basic BASIC\r\n", `{"to": 46700000001, "from": "46700000002", "content": "a"}`))
	if n := g.stats("api").Accepted.Load(); n != 7 {
		t.Errorf("%d are accepted", n)
	}
}
