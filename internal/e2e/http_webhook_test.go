package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pmg/internal/testutil"
)

// A server that is down for as many attempts as a day has (some thirty, where the pauses grow to an hour) hears of every message
// when it is back: of its end, once, and of nothing behind that. Another one, that is up, hears of its messages meanwhile.
func TestHTTPWebhookDay(t *testing.T) {
	parallel(t)
	const messages, attempts = 10, 30
	down, up := newHook(t), newHook(t)
	s := withHook(t, down, "")
	s.accounts += fmt.Sprintf("\n{system_id: up, password: s3cret, bind: [transmitter], webhook: %q}", up.URL+"/hook")
	g := start(t, s)
	down.answers(503)
	smsc := s.operator.session()
	send := func(account string, n int) {
		a := g.api()
		a.name = account
		a.do("POST", "/v1/messages", fmt.Sprintf(`{"from":"1234","to":"46700000001","text":"hello","receipt":"all","client_reference":"%d"}`, n)).want(t, 202, "")
		smsc.accepts(fmt.Sprintf("%s%d", account, n))
		smsc.send(receiptOf(fmt.Sprintf("%s%d", account, n), "DELIVRD"))
		smsc.want("deliver_sm_resp")
	}
	for n := range messages {
		send("api", n)
	}
	testutil.Eventually(t, "each was tried often", func() bool { return len(down.of("message.")) > messages*attempts })
	for n := range messages {
		send("up", n)
	}
	testutil.Eventually(t, "the other server hears of its messages", func() bool { return len(up.of("message.delivered")) == messages })
	down.answersAfresh(204)
	testutil.Eventually(t, "the server hears of everything", func() bool {
		g.settled()
		return len(down.of("message.delivered")) >= messages
	})
	for name, h := range map[string]*hook{"down": down, "up": up} {
		told := map[string][]string{}
		for _, c := range h.of("message.") {
			var e struct {
				Type string
				Data struct {
					Reference string `json:"client_reference"`
				}
			}
			if err := json.Unmarshal([]byte(c.body), &e); err != nil {
				t.Fatal(err)
			}
			told[e.Data.Reference] = append(told[e.Data.Reference], e.Type)
		}
		for n := range messages {
			all := told[fmt.Sprint(n)]
			if slices.Index(all, "message.delivered") != len(all)-1 || len(all) == 0 {
				t.Errorf("%s: of message %d %v", name, n, all)
			}
		}
	}
}

// The end of a message is told last: while a call about it is under way it waits, and what fails before it is not told after it.
func TestHTTPWebhookOrder(t *testing.T) {
	parallel(t)
	h := newHook(t)
	s := withHook(t, h, "")
	s.more = strings.Replace(s.more, "10ms", "1s", 1) // the end comes before the second attempt
	g := start(t, s)
	h.before(func(body string) {
		if containsAll(body, []string{"message.sent", "slow"}) {
			time.Sleep(600 * time.Millisecond) // the end is due meanwhile
		}
	})
	a, smsc := g.api(), s.operator.session()
	a.name = "api"
	for _, reference := range []string{"slow", "refused"} {
		if reference == "refused" {
			h.answers(503)
		}
		a.do("POST", "/v1/messages", fmt.Sprintf(`{"from":"1234","to":"46700000001","text":"a","receipt":"all","client_reference":%q}`, reference)).want(t, 202, "")
		smsc.accepts(reference)
		smsc.send(receiptOf(reference, "DELIVRD"))
		smsc.want("deliver_sm_resp")
		testutil.Eventually(t, "its server is called", func() bool { return len(h.of("message.sent", reference)) > 0 })
		h.answers(200)
		testutil.Eventually(t, "its end is told", func() bool { return len(h.of("message.delivered", reference)) > 0 })
		g.settled()
		all := h.of(reference)
		ends := h.of("message.delivered", reference) // on a busy machine the second attempt may come before the end
		if last := all[len(all)-1].body; !strings.Contains(last, "message.delivered") || len(ends) > 1 || len(all) > 3 {
			t.Errorf("%s: %d calls, the last: %s", reference, len(all), last)
		}
	}
}

// What waits for a webhook is told together, where its account wants that: each event once, those of a message in their
// order, and URLs of messages for themselves.
func TestHTTPWebhookBatch(t *testing.T) {
	parallel(t)
	h := newHook(t)
	s := withHook(t, h, ", webhook_batch: 10")
	g := start(t, s)
	a := g.api()
	a.name = "api"
	h.answers(500)
	const messages = 40
	smsc := s.operator.session()
	for n := range messages {
		more := ""
		if n%10 == 9 {
			more = fmt.Sprintf(`, "callback_url": "%s/given/%d"`, h.URL, n)
		}
		a.do("POST", "/v1/messages", fmt.Sprintf(`{"from":"1234","to":"46700000001","text":"hello","receipt":"all","client_reference":"%d"%s}`, n, more)).want(t, 202, "")
		smsc.accepts(fmt.Sprintf("A%d", n))
		smsc.send(receiptOf(fmt.Sprintf("A%d", n), "DELIVRD"))
		smsc.want("deliver_sm_resp")
	}
	testutil.Eventually(t, "it was tried", func() bool { return len(h.of("message.")) > 50 })
	h.answersAfresh(200)
	ended := func() (ends map[string]int, most int) {
		ends = map[string]int{}
		for _, c := range h.of(`"type":"batch"`) {
			var b struct {
				Data []struct {
					ID, Type string
					Data     struct {
						Reference string `json:"client_reference"`
					}
				}
			}
			if err := json.Unmarshal([]byte(c.body), &b); err != nil || len(b.Data) > 10 || !strings.HasPrefix(c.header.Get("webhook-id"), "bat_") {
				t.Fatalf("%v: %v %s", err, c.header, c.body)
			}
			most = max(most, len(b.Data))
			for _, e := range b.Data {
				if ends[e.Data.Reference] > 0 {
					t.Errorf("%s of %s comes after its end", e.Type, e.Data.Reference)
				}
				if e.Type == "message.delivered" {
					ends[e.Data.Reference]++
				}
			}
		}
		return ends, most
	}
	testutil.Eventually(t, "everything is told", func() bool {
		g.settled()
		ends, _ := ended()
		return len(ends) == messages*9/10 && len(h.at("/given/")) >= messages/10
	})
	if _, most := ended(); most < 2 {
		t.Error("each event has a call of its own")
	}
	if len(h.of(`{"type":"message.`)) != len(h.at("/given/")) {
		t.Error("the webhook was called for one event")
	}
}
