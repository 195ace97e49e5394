package e2e

import (
	"fmt"
	"pmg/httpapi/apitest"
	"pmg/internal/testkit/testutil"
	"strings"
	"testing"
)

// A client of HTTP hears how many short messages its text becomes, whether the gateway cuts it, which it does by itself, or the SMSC.
func TestHTTPLong(t *testing.T) {
	parallel(t)
	for options, cut := range map[string]bool{"": true, ", long_messages: pass": false, ", long_messages: payload": false} {
		h := apitest.NewHook(t)
		s := withHook(t, h, "")
		s.out = "window: 10" + options
		g := start(t, s)
		a, smsc := g.api(), s.operator.session()
		g.online("operator", 1)
		body := textBody("46700000001", strings.Repeat("a", 400))
		if r := a.do("POST", "/v1/messages:preview", body).want(t, 200, ""); !strings.Contains(r.body, `"parts":3`) {
			t.Errorf("%s: %s", options, r.body)
		}
		r := a.do("POST", "/v1/messages", body).want(t, 202, "")
		if !strings.Contains(r.body, `"parts":3`) {
			t.Errorf("%s: %s", options, r.body)
		}
		id := r.text("id")
		if !cut {
			smsc.answer(0, field(smsc.want("submit_sm", `message_payload="`+strings.Repeat("a", 400)+`"`), "seq"))
		} else {
			for i := range 3 {
				smsc.accepts(fmt.Sprint(i))
			}
		}
		testutil.Eventually(t, "it is sent", func() bool { return a.do("GET", "/v1/messages/"+id, "").text("state") == "sent" })
		if r := a.do("GET", "/v1/messages/"+id, ""); !strings.Contains(r.body, `"parts":3`) {
			t.Errorf("%s: %s", options, r.body)
		}
		a.do("POST", "/v1/messages", textBody("46700000001", strings.Repeat("a", 4000))).want(t, 422, "invalid-message")
		a.do("POST", "/v1/messages", strings.Replace(body, "{", `{"max_parts":2,`, 1)).want(t, 422, "invalid-message")
		if r := a.do("POST", "/v1/messages:preview", textBody("46700000001", "a")).want(t, 200, ""); !strings.Contains(r.body, `"parts":1`) {
			t.Errorf("%s: %s", options, r.body)
		}
		g.settled()
	}
}
