package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pmg/httpapi/apitest"
	"pmg/internal/testkit/testutil"
)

// A webhook is down for the attempts of a day (some thirty, because the pauses grow to an hour). When it is back it
// gets the end of every message, once, and nothing behind that. Another one, that is up, hears of its messages
// meanwhile.
func TestHTTPWebhookDay(t *testing.T) {
	parallel(t)
	const messages, attempts = 10, 30
	down, up := apitest.NewHook(t), apitest.NewHook(t)
	s := withHook(t, down, "")
	s.accounts += fmt.Sprintf("\n{system_id: up, password: s3cret, bind: [transmitter], webhook: %q}", up.URL+"/hook")
	g := start(t, s)
	down.Answers(503, "", "")
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
	testutil.Eventually(t, "each was tried often", func() bool { return len(down.Calls("message.")) > messages*attempts })
	for n := range messages {
		send("up", n)
	}
	testutil.Eventually(t, "the other server hears of its messages", func() bool { return len(up.Calls("message.delivered")) == messages })
	down.AnswersAfresh(204)
	testutil.Eventually(t, "the server hears of everything", func() bool {
		g.settled()
		return len(down.Calls("message.delivered")) >= messages
	})
	for name, h := range map[string]*apitest.Hook{"down": down, "up": up} {
		told := map[string][]string{}
		for _, c := range h.Calls("message.") {
			var e struct {
				Type string
				Data struct {
					Reference string `json:"client_reference"`
				}
			}
			if err := json.Unmarshal([]byte(c.Body), &e); err != nil {
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
