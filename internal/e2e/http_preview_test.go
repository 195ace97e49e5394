package e2e

import (
	"strings"
	"testing"
)

// A preview tells what a message would be, or why it would be refused, and leaves nothing behind.
func TestHTTPPreview(t *testing.T) {
	parallel(t)
	g := start(t, site{operator: newSMSC(t), more: withAPI, out: "long_messages: split8, public_name: operator", routes: "{destination: [467], to: operator}"})
	a := g.api()
	for _, c := range []struct {
		body, encoding string
		parts          float64
	}{
		{textBody("46700000001", "hello"), "gsm7", 1},
		{`{"from":"1234","to":"46700000001","text":"{{a}} {{a}}","parameters":{"a":"` + strings.Repeat("x", 80) + `"}}`, "gsm7", 2},
		{textBody("46700000001", strings.Repeat("П", 71)), "ucs2", 2},
	} {
		r := a.do("POST", "/v1/messages:preview", c.body).want(t, 200, "")
		if r.text("encoding") != c.encoding || r.fields["parts"] != c.parts || r.text("connector") != "operator" {
			t.Errorf("%.60s: %s", c.body, r.body)
		}
	}
	a.do("POST", "/v1/messages:preview", textBody("1", "hello")).want(t, 422, "no-route")
	a.do("POST", "/v1/messages:preview", `{"from":"1234","to":"46700000001","text":"`+strings.Repeat("x", 161)+`","max_parts":1}`).want(t, 422, "invalid-message")
	a.do("POST", "/v1/messages:preview", `{"to":1}`).want(t, 422, "invalid-message")
	g.settled()
	if n := g.stats("api").Accepted.Load(); n != 0 {
		t.Errorf("%d messages were accepted", n)
	}
	for _, l := range g.Gateway.Table.Lanes() {
		if n := l.Queued.Load(); n != 0 {
			t.Errorf("%d messages wait", n)
		}
	}
}
