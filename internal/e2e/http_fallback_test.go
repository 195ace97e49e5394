package e2e

import (
	"fmt"
	"strings"
	"testing"

	"pmg/gateway/webhooks"
	"pmg/internal/testutil"
)

// told sends a message, and waits until a hook has its end.
func told(t *testing.T, g *gw, smsc *peer, n int, h *hook) {
	t.Helper()
	id := dies(t, g, smsc, n)
	testutil.Eventually(t, fmt.Sprint("the end of message ", n, " is told"), func() bool { return len(h.of(id, "message.delivered")) > 0 })
	g.settled()
}

// While a webhook fails its fallback is called, signed in the same way, and one call in a while tries the webhook again, which
// is called when it answers. With webhook_batch, too.
func TestHTTPWebhookFallback(t *testing.T) {
	parallel(t)
	for _, more := range []string{"", ", webhook_batch: 10"} {
		first, second := newHook(t), newHook(t)
		s := withHook(t, first, fmt.Sprintf(", webhook_fallback: %q%s", second.URL+"/second", more))
		g := start(t, s)
		smsc := s.operator.session()
		told(t, g, smsc, 1, first)
		if n := len(second.of()); n > 0 {
			t.Errorf("the fallback has %d calls", n)
		}
		first.answersAfresh(500)
		told(t, g, smsc, 2, second)
		if n := len(first.of()); n < 10 {
			t.Errorf("the fallback is called after %d failures", n)
		}
		if c := second.at("/second")[0]; !strings.HasPrefix(c.header.Get("webhook-signature"), "v1,") {
			t.Errorf("%v", c.header)
		}
		if r := g.Webhooks.Rows("api")[0]; !r.Fallback || r.Failures < 10 || r.Succeeded != 2 {
			t.Errorf("%+v", r)
		}
		if all := g.Webhooks.Attempts(webhooks.Filter{Limit: 1000}); all[0].Taken != all[0].Fallback {
			t.Errorf("%+v", all[0])
		}
		told(t, g, smsc, 3, second)
		second.answers(500) // both fail
		id := dies(t, g, smsc, 4)
		testutil.Eventually(t, "both are tried", func() bool { return len(second.of(id)) > 10 && len(first.of(id)) > 2 })
		first.answersAfresh(200)
		testutil.Eventually(t, "the webhook is told", func() bool { return len(first.of(id)) > 0 })
		g.settled()
		told(t, g, smsc, 5, first)
		first.answers(500)
		id = dies(t, g, smsc, 6)
		testutil.Eventually(t, "both are tried", func() bool { return len(second.of(id)) > 12 && len(first.of(id)) > 10 })
		second.answersAfresh(200) // the one of both that fails is not all that is tried
		testutil.Eventually(t, "the fallback is told", func() bool { return len(second.of(id)) > 0 })
		first.answersAfresh(200)
		testutil.Eventually(t, "the webhook is tried again", func() bool {
			id := dies(t, g, smsc, len(first.of())+len(second.of())+100)
			g.settled()
			return len(first.of(id)) > 0
		})
		if r := g.Webhooks.Rows("api")[0]; r.Fallback || r.Failures != 0 {
			t.Errorf("%+v", r)
		}
		smsc.conn.Close()
	}
}

// A webhook that says that it is gone is not called any more, and nothing is lost, until an operator says otherwise, or a reload.
func TestHTTPWebhookGone(t *testing.T) {
	parallel(t)
	h := newHook(t)
	s := withHook(t, h, "")
	g := start(t, s)
	smsc := s.operator.session()
	for n, enable := range []func(){
		func() {
			if got := g.Webhooks.Enable("other", "me"); len(got) > 0 {
				t.Errorf("enabled %v", got)
			}
			if got := g.Webhooks.Enable("api", "me"); len(got) != 1 || got[0] != h.URL {
				t.Errorf("enabled %v", got)
			}
		},
		func() {
			if err := g.reload(s); err != nil {
				t.Fatal(err)
			}
		},
	} {
		h.answersAfresh(410)
		id := dies(t, g, smsc, 10*n)
		testutil.Eventually(t, "it is disabled", func() bool { return g.Webhooks.Rows("api")[0].Disabled != nil && len(g.Problems()) == 1 })
		if p := g.Problems()[0]; !containsAll(p, []string{"the webhook of account api at " + h.URL, "410 Gone", "pmg webhooks enable api"}) {
			t.Error(p)
		}
		testutil.Eventually(t, "the log says that it is disabled", func() bool { // which it does after the row
			return g.log.count("a client's webhook has answered 410 Gone", `"account":"api"`) == n+1
		})
		other := dies(t, g, smsc, 10*n+1)
		testutil.Eventually(t, "both wait", func() bool { return g.Webhooks.Rows("api")[0].Waiting == 2 })
		h.answers(200)
		if n := len(h.of(other)); n > 0 {
			t.Errorf("it has %d calls", n)
		}
		before := len(h.of(id))
		enable()
		testutil.Eventually(t, "both are told", func() bool { return len(h.of(id)) > before && len(h.of(other)) > 0 })
		g.settled()
		if p := g.Problems(); len(p) > 0 {
			t.Error(p)
		}
	}
}

// A webhook that rests for long is called when an operator says so, with all that waits.
func TestHTTPWebhookRetry(t *testing.T) {
	parallel(t)
	h := newHook(t)
	s := withHook(t, h, "")
	s.more = strings.NewReplacer("1ms", "10m", "10ms", "1h").Replace(s.more)
	g := start(t, s)
	smsc := s.operator.session()
	if got := g.Webhooks.Retry("api", "me"); len(got) > 0 {
		t.Errorf("called %v", got)
	}
	h.answersAfresh(500)
	var ids []string
	rests := func() bool {
		rows := g.Webhooks.Rows("api")
		return len(rows) > 0 && rows[0].RestsUntil != nil
	}
	for n := range 10 {
		id := dies(t, g, smsc, n)
		testutil.Eventually(t, "it was called", func() bool { return len(h.of(id)) > 0 })
		ids = append(ids, id)
	}
	testutil.Eventually(t, "it rests", rests)
	ids = append(ids, dies(t, g, smsc, 10)) // it waits, and was never tried
	h.answersAfresh(200)
	if got := g.Webhooks.Retry("api", "me"); len(got) != 1 || got[0] != h.URL {
		t.Errorf("called %v", got)
	}
	for _, id := range ids {
		testutil.Eventually(t, "it is told", func() bool { return len(h.of(id, "message.delivered")) > 0 })
	}
	g.settled()
	if rests() {
		t.Error("it rests")
	}
}

// Where there is a fallback that takes the events of a webhook that is gone.
func TestHTTPWebhookGoneFallback(t *testing.T) {
	parallel(t)
	first, second := newHook(t), newHook(t)
	first.answers(410)
	s := withHook(t, first, fmt.Sprintf(", webhook_fallback: %q", second.URL+"/second"))
	g := start(t, s)
	smsc := s.operator.session()
	for n := range 4 {
		told(t, g, smsc, n, second)
	}
	if n := len(first.of()); n > 2 {
		t.Errorf("the webhook has %d calls", n)
	}
	g.settled()
}

// An operator has a webhook called with an event that tells nothing, and sees what it answers.
func TestHTTPWebhookTest(t *testing.T) {
	parallel(t)
	h := newHook(t)
	s := withHook(t, h, fmt.Sprintf(", webhook_fallback: %q", h.URL+"/second"))
	s.accounts += fmt.Sprintf("\n{system_id: jasmin, password: s3cret, bind: [transmitter], webhook: %q, webhook_form: jasmin-get}", h.URL)
	g := start(t, s)
	h.say("hello\x00")
	a, err := g.Webhooks.Test(t.Context(), "api", false)
	if err != nil || !a.Taken || a.Status != 200 || a.Reply != "hello." || a.Type != "webhook.test" || a.Endpoint != h.URL || a.Error != "" {
		t.Errorf("%v %+v", err, a)
	}
	c := h.of("webhook.test", `"data":{"account":"api"}`)
	if len(c) != 1 || c[0].path != "/hook" || c[0].header.Get("webhook-id") != a.Event || !strings.HasPrefix(c[0].header.Get("webhook-signature"), "v1,") {
		t.Errorf("%+v", c)
	}
	h.answers(410)
	if a, err = g.Webhooks.Test(t.Context(), "api", true); err != nil || a.Taken || a.Status != 410 || !a.Fallback || len(h.at("/second")) != 1 {
		t.Errorf("%v %+v", err, a)
	}
	if p := g.Problems(); len(p) > 0 {
		t.Error(p)
	}
	for account, want := range map[string]string{"acme": "has no webhook", "none": "no account", "jasmin": "webhook_form"} {
		if _, err = g.Webhooks.Test(t.Context(), account, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", account, err)
		}
	}
}
