package e2e

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

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
