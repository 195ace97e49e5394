package e2e

import (
	"fmt"
	"strings"
	"testing"

	"pmg/gateway/webhooks"
	"pmg/internal/testutil"
)

// Operators see how the server of a client answers, and the last attempts to tell it something, whatever it replies.
func TestHTTPAttempts(t *testing.T) {
	parallel(t)
	h := newHook(t)
	s := withHook(t, h, "")
	g := start(t, s)
	a := g.api()
	a.name = "api"
	h.answers(500)
	h.say("no\x1b[2J\xff\n" + strings.Repeat("long ", 100))
	id := a.do("POST", "/v1/messages", `{"from":"1234","to":"46700000001","text":"hello"}`).want(t, 202, "").text("id")
	smsc := s.operator.session()
	smsc.accepts("abc1")
	smsc.send(receiptOf("abc1", "DELIVRD"))
	smsc.want("deliver_sm_resp")
	row := func() webhooks.Row {
		for _, r := range g.Webhooks.Rows("api") {
			if r.Endpoint == h.URL {
				return r
			}
		}
		return webhooks.Row{}
	}
	testutil.Eventually(t, "it has failed often", func() bool { return row().Failures > 10 })
	if r := row(); r.Succeeded != 0 || r.LastFailure == nil || r.LastSuccess != nil || r.LastError != "answered 500 Internal Server Error" || r.Waiting != 1 {
		t.Errorf("%+v", r)
	}
	all := g.Webhooks.Attempts(webhooks.Filter{ID: id, Limit: 1000, Replies: true})
	if len(all) < 10 {
		t.Fatalf("%d attempts", len(all))
	}
	last := all[0]
	if last.Type != "message.delivered" || last.Status != 500 || last.Taken || !strings.HasPrefix(last.Event, "evt_") || last.Number < 10 ||
		!strings.HasPrefix(last.Reply, "no.[2J..long long") || len(last.Reply) > 256 || last.Account != "api" {
		t.Errorf("%+v", last)
	}
	if first := all[len(all)-1]; first.Number != 1 || first.Event != last.Event {
		t.Errorf("%+v", first)
	}
	h.answers(204)
	testutil.Eventually(t, "it is told", func() bool { return row().Succeeded == 1 })
	g.settled()
	if r := row(); r.Failures != 0 || r.LastSuccess == nil || r.Waiting != 0 {
		t.Errorf("%+v", r)
	}
	if all = g.Webhooks.Attempts(webhooks.Filter{Account: "api", Endpoint: h.URL, Limit: 1}); len(all) != 1 || !all[0].Taken || all[0].Reply != "" || all[0].Status != 204 {
		t.Errorf("%+v", all)
	}
}

// Of a batch each event is an attempt. A URL that the account may not have called any more is one, too.
func TestHTTPAttemptsOfBatch(t *testing.T) {
	parallel(t)
	h := newHook(t)
	s := withHook(t, h, ", webhook_batch: 10")
	g := start(t, s)
	a := g.api()
	a.name = "api"
	h.answers(500)
	smsc := s.operator.session()
	for n := range 5 {
		a.do("POST", "/v1/messages", fmt.Sprintf(`{"from":"1234","to":"46700000001","text":"hello","client_reference":"%d"}`, n)).want(t, 202, "")
		smsc.accepts(fmt.Sprintf("A%d", n))
		smsc.send(receiptOf(fmt.Sprintf("A%d", n), "DELIVRD"))
		smsc.want("deliver_sm_resp")
	}
	testutil.Eventually(t, "it was tried", func() bool { return len(h.of("batch")) > 20 })
	h.answers(200)
	testutil.Eventually(t, "each event was taken", func() bool {
		g.settled()
		taken := map[string]bool{}
		for _, one := range g.Webhooks.Attempts(webhooks.Filter{Limit: 1000}) {
			taken[one.Event] = taken[one.Event] || one.Taken
		}
		return len(taken) == 5
	})
}
