package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/gateway/operate"
	"pmg/httpapi/apitest"
	"pmg/internal/testkit/testutil"
	"pmg/store"
)

// setTimes sets how long events wait for a webhook, and how long they are dead letters.
func (g *gw) setTimes(waits, dead time.Duration) {
	cfg := *g.Gateway.Node.Config()
	cfg.Receipts.CallbackValidity, cfg.Receipts.DeadLetters = waits, dead
	g.Gateway.Node.SetConfig(&cfg)
}

// wantDead waits until the store has so many dead letters.
func (g *gw) wantDead(n int) {
	g.t.Helper()
	testutil.Eventually(g.t, fmt.Sprint(n, " dead letters are in the store"), func() bool {
		p, err := g.Operate.ListStored(operate.Selection{State: operate.StateDead}, 0, 100)
		return err == nil && len(p.Messages) == n && g.Gateway.Keeper.Aside(store.Dead) == int64(n)
	})
}

// dies sends a message whose end the webhook does not take in time.
func dies(t *testing.T, g *gw, smsc *peer, n int) (id string) {
	t.Helper()
	a := g.api()
	a.name = "api"
	id = a.do("POST", "/v1/messages", fmt.Sprintf(`{"from":"1234","to":"46700000001","text":"hello","client_reference":"%d"}`, n)).want(t, 202, "").text("id")
	smsc.accepts(fmt.Sprint("abc", n))
	smsc.send(receiptOf(fmt.Sprint("abc", n), "DELIVRD"))
	smsc.want("deliver_sm_resp")
	return id
}

// An event that a webhook does not take in time becomes a dead letter, after a power cut as well. When an operator
// replays it, it is delivered under its old id, and may wait as long as other events.
func TestHTTPDeadLetters(t *testing.T) {
	parallel(t)
	h := apitest.NewHook(t)
	h.Answers(503, "", "")
	s := withHook(t, h, "")
	s.store = vfs.NewCrashableMem()
	g := start(t, s)
	g.setTimes(time.Second, time.Hour)
	smsc := s.operator.session()
	ids := []string{dies(t, g, smsc, 1), dies(t, g, smsc, 2), dies(t, g, smsc, 3)}
	dead := operate.StateDead
	g.wantDead(3)
	g.wantStored() // they are not listed with those that wait
	testutil.Eventually(t, "that is stored", g.synced)
	first := h.Calls(ids[0])[0].Header.Get("webhook-id")

	again := g.powerCut(&s, smsc)
	smsc = s.operator.session()
	testutil.Eventually(t, "they are dead letters still", func() bool { return again.Gateway.Keeper.Aside(store.Dead) == 3 && again.Gateway.Keeper.Recovered() })
	if n := again.Settler.Dead.Counts()["api"]; n != 3 {
		t.Errorf("the account has %d", n)
	}
	again.wantChange(operate.RetryMessages, "", operate.Selection{Account: "api"}) // they do not wait
	again.wantChange(operate.RetryMessages, "", operate.Selection{State: dead, Account: "other"})
	again.wantChange(operate.RetryMessages, "", operate.Selection{State: dead, Delivery: "expired"})
	again.wantChange(operate.RetryMessages, "", operate.Selection{State: dead, Until: time.Now().Add(-time.Hour)})
	p, err := again.Operate.ListStored(operate.Selection{State: dead, Connector: h.URL, Delivery: "delivered", Since: time.Now().Add(-time.Hour)}, 0, 10)
	if err != nil || len(p.Messages) != 3 || p.Messages[0].About != ids[0] || p.Messages[0].Receiver != "api" || p.Messages[0].NextAttempt != nil || p.Messages[0].DeadSince == nil {
		t.Fatalf("%v %+v", err, p.Messages)
	}
	again.wantChange(operate.DeleteMessages, "", operate.Selection{State: dead, Until: p.Messages[0].Arrived.Add(time.Nanosecond)}, operate.ResultDeleted)

	h.AnswersAfresh(503)
	again.wantChange(operate.RetryMessages, "", operate.Selection{State: dead}, operate.ResultRetried, operate.ResultRetried)
	testutil.Eventually(t, "they are tried again and again", func() bool { return len(h.Calls(ids[1])) > 3 && len(h.Calls(ids[2])) > 3 })
	testutil.Eventually(t, "that is stored", again.synced)
	last := again.powerCut(&s, smsc)
	s.operator.session()
	h.AnswersAfresh(200)
	testutil.Eventually(t, "they are told", func() bool { return len(h.Calls(ids[1])) > 0 && len(h.Calls(ids[2])) > 0 })
	last.settled()
	last.wantStored()
	if len(h.Calls(ids[0])) > 0 || h.Calls(ids[1])[0].Header.Get("webhook-id") == first {
		t.Error("a deleted one was told")
	}
	if n := last.Gateway.Keeper.Aside(store.Dead); n != 0 || len(last.Settler.Dead.Counts()) != 0 {
		t.Errorf("%d are dead letters", n)
	}
}

// Dead letters end when their time is over, also those of a store in memory; without such a time there are none. A replay keeps
// the id of the event.
func TestHTTPDeadLettersEnd(t *testing.T) {
	parallel(t)
	for name, memory := range map[string]bool{"memory": true, "disk": false} {
		t.Run(name, func(t *testing.T) {
			h := apitest.NewHook(t)
			h.Answers(503, "", "")
			s := withHook(t, h, "")
			s.store = nil
			if s.memory = memory; !memory {
				s.store = vfs.NewMem()
			}
			g := start(t, s)
			g.setTimes(time.Second, time.Hour)
			smsc := s.operator.session()
			id := dies(t, g, smsc, 1)
			g.wantDead(1)
			event := h.Calls(id)[0].Header.Get("webhook-id")
			h.AnswersAfresh(200)
			g.wantChange(operate.RetryMessages, "", operate.Selection{State: operate.StateDead}, operate.ResultRetried)
			testutil.Eventually(t, "it is told", func() bool { return len(h.Calls(id)) > 0 })
			if got := h.Calls(id)[0].Header.Get("webhook-id"); got != event {
				t.Errorf("it has the id %s, had %s", got, event)
			}
			h.Answers(503, "", "")
			dies(t, g, smsc, 2)
			g.wantDead(1)
			g.setTimes(time.Second, time.Millisecond)
			g.wantDead(0)
			g.setTimes(time.Second, 0)
			dies(t, g, smsc, 3)
			testutil.Eventually(t, "the third one has expired", func() bool { return g.Pending() == 0 })
			g.wantDead(0)
			g.wantStored()
			smsc.conn.Close()
		})
	}
}
