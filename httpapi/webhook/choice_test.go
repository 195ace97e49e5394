package webhook

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pmg/httpapi/apitest"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
)

// told delivers a message, and waits until a hook has taken its event.
func (r *rig) told(h *apitest.Hook) {
	r.t.Helper()
	id := r.delivered()
	testutil.Eventually(r.t, "the end of a message is taken", func() bool { return len(h.Took(id, "message.delivered")) > 0 })
	r.Settled()
}

// While a webhook fails its fallback is called, signed in the same way, and one call in a while tries the webhook again, which
// is called when it answers; while both fail both are tried. With webhook_batch, too.
func TestFallback(t *testing.T) {
	t.Parallel()
	for _, more := range []string{"", ", webhook_batch: 10"} {
		t.Run(more, func(t *testing.T) {
			t.Parallel()
			fallback(t, more)
		})
	}
}

// fallback is TestFallback with more options of the account.
func fallback(t *testing.T, more string) {
	first, second := apitest.NewHook(t), apitest.NewHook(t)
	r := newRig(t, first, fmt.Sprintf(", webhook_fallback: %q%s", second.URL+"/second", more), "")
	r.told(first)
	first.Answers(500, "", "")
	if n := len(second.Calls()); n > 0 {
		t.Errorf("the fallback has %d calls", n)
	}
	r.told(second)
	if n := len(first.Calls()) - 1; n < failuresRest {
		t.Errorf("the fallback is called after %d failures", n)
	}
	if c := second.Calls("/second")[0]; !strings.HasPrefix(c.Header.Get("webhook-signature"), "v1,") {
		t.Errorf("%v", c.Header)
	}
	if row := r.row(); !row.Fallback || row.Failures < failuresRest || row.Succeeded != 2 {
		t.Errorf("%+v", row)
	}
	if all := r.attempts(""); all[0].Taken != all[0].Fallback {
		t.Errorf("%+v", all[0])
	}
	second.Answers(500, "", "")
	id := r.delivered()
	eventually(t, "both are tried", func() bool { return len(second.Calls(id)) > failuresRest && len(first.Calls(id)) > 2 })
	eventually(t, "they rest", func() bool { return r.row().RestsUntil != nil })
	first.Answers(200, "", "")
	eventually(t, "the webhook is called", func() bool { return len(first.Took(id)) > 0 })
	r.Settled()
	if row := r.row(); row.Fallback || row.Failures != 0 {
		t.Errorf("%+v", row)
	}
	first.Answers(500, "", "")
	id = r.delivered()
	eventually(t, "both are tried", func() bool { return len(second.Calls(id)) > failuresRest+2 && len(first.Calls(id)) > failuresRest })
	second.Answers(200, "", "") // the one of both that fails is not all that is tried
	eventually(t, "the fallback is called", func() bool { return len(second.Took(id)) > 0 })
	first.Answers(200, "", "")
	eventually(t, "the webhook is tried again", func() bool {
		id := r.delivered()
		r.Settled()
		return len(first.Took(id)) > 0
	})
}

// The fallback is called meanwhile in the place of a webhook that asks not to be called.
func TestFallbackWhileAsked(t *testing.T) {
	t.Parallel()
	first, second := apitest.NewHook(t), apitest.NewHook(t)
	first.Answers(503, "", "Retry-After: 3600")
	r := newRig(t, first, fmt.Sprintf(", webhook_fallback: %q", second.URL+"/second"), "")
	for range 3 {
		r.told(second)
	}
	if n := len(first.Calls()); n != 1 || r.row().RestsUntil != nil {
		t.Errorf("the webhook has %d calls, %+v", n, r.row())
	}
}

// A webhook that asks not to be called for a while is not, and nothing else of its account leaves meanwhile for it; an
// operator can call it all the same.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	h := apitest.NewHook(t)
	h.Answers(429, "", "Retry-After: 3600")
	r := newRig(t, h, "", "")
	first := r.delivered()
	eventually(t, "it rests", func() bool { return r.row().RestsUntil != nil })
	second := r.delivered()
	eventually(t, "both wait", func() bool { return r.row().Waiting == 2 && r.row().Oldest != nil })
	h.Answers(200, "", "")
	calls := len(h.Calls())
	if got := r.Gateway.Webhooks.Retry("shop", "me"); len(got) != 1 || got[0] != h.URL || calls != 1 {
		t.Errorf("called %v, %d calls before", got, calls)
	}
	for _, id := range []string{first, second} {
		eventually(t, "it is taken", func() bool { return len(h.Took(id, "message.delivered")) == 1 })
	}
	r.Settled()
	if r.row().RestsUntil != nil {
		t.Error("it rests")
	}
}

// A webhook that says that it is gone is not called any more, and nothing is lost, until an operator says otherwise, or a reload, here one that
// names a fallback.
func TestGone(t *testing.T) {
	t.Parallel()
	h, second := apitest.NewHook(t), apitest.NewHook(t)
	given := fmt.Sprintf(", callback_urls: [%q]", second.URL)
	r := newRig(t, h, given, "")
	for n, goOn := range []func() *apitest.Hook{
		func() *apitest.Hook {
			h.Answers(200, "", "")
			if got := r.Gateway.Webhooks.Enable("shop", "me"); len(got) != 1 || got[0] != h.URL {
				t.Errorf("enabled %v", got)
			}
			return h
		},
		func() *apitest.Hook {
			r.Reload(yaml(h, given+fmt.Sprintf(", webhook_fallback: %q", second.URL+"/second"), ""))
			return second
		},
	} {
		h.Answers(410, "", "")
		first := r.delivered()
		eventually(t, "it is disabled", func() bool { return r.row().Disabled != nil })
		other := r.delivered()
		eventually(t, "both wait", func() bool { return r.row().Waiting == 2 })
		last := r.submit("shop", theEnd, sms.Context{URL: second.URL + "/given"})
		r.delivers()
		eventually(t, "a later one is delivered elsewhere", func() bool { return len(second.Took(last)) == 1 })
		if calls := len(h.Calls(other)); calls > 0 {
			t.Errorf("it has %d calls", calls)
		}
		if got := r.Gateway.Webhooks.Retry("shop", "me"); slices.Contains(got, h.URL) {
			t.Errorf("called %v", got)
		}
		eventually(t, "the log says so", func() bool {
			return strings.Count(r.Log.String(), "a client's webhook has answered 410 Gone") == n+1
		})
		problems := strings.Join(r.Gateway.Webhooks.Problems(), "\n")
		for _, want := range []string{"the webhook of account shop at " + h.URL, "410 Gone", "pmg webhooks enable shop"} {
			if !strings.Contains(problems, want) {
				t.Errorf("%s is not in %s", want, problems)
			}
		}
		to := goOn()
		eventually(t, "both are taken", func() bool { return len(to.Took(first)) > 0 && len(to.Took(other)) > 0 })
		r.Settled()
	}
	if text := r.Log.String(); !strings.Contains(text, `"fallback":false`) || !strings.Contains(text, `"fallback":true`) {
		t.Error(text)
	}
	before := len(h.Calls())
	for range 3 {
		r.told(second)
	}
	if n := len(h.Calls()) - before; n > 0 {
		t.Errorf("the webhook has %d calls more", n)
	}
}

// A URL that came with a message and says that it is gone is called again: others may be at the same server.
func TestURLGone(t *testing.T) {
	t.Parallel()
	h := apitest.NewHook(t)
	r := newRig(t, h, fmt.Sprintf(", callback_urls: [%q]", h.URL), "")
	h.Answers(410, "", "")
	id := r.submit("shop", theEnd, sms.Context{URL: h.URL + "/given"})
	r.delivers()
	eventually(t, "it is tried", func() bool { return len(h.Calls("/given", id)) > 0 })
	eventually(t, "that it failed is counted", func() bool { return r.row().Failed > 0 })
	if row := r.row(); row.Disabled != nil {
		t.Errorf("%+v", row)
	}
	h.Answers(200, "", "")
	r.Gateway.Webhooks.Retry("shop", "me")
	eventually(t, "it is taken", func() bool { return len(h.Took("/given", id)) > 0 })
}

// An operator calls a webhook with a test event, and sees its answer.
func TestTestCall(t *testing.T) {
	t.Parallel()
	h := apitest.NewHook(t)
	r := newRig(t, h, fmt.Sprintf(", webhook_fallback: %q", h.URL+"/second"), "",
		"{system_id: none, password: secret}",
		fmt.Sprintf("{system_id: jasmin, password: secret, bind: [transmitter], webhook: %q, webhook_form: jasmin-get}", h.URL))
	h.Answers(200, "hello", "")
	a, err := r.Gateway.Webhooks.Test(t.Context(), "shop", false)
	if err != nil || !a.Taken || a.Status != 200 || a.Reply != "hello" || a.Type != "webhook.test" || a.Endpoint != h.URL || a.Error != "" || a.Number != 1 {
		t.Errorf("%v %+v", err, a)
	}
	c := h.Calls("webhook.test", `"data":{"account":"shop"}`)
	if len(c) != 1 || c[0].Path != "/hook" || c[0].Header.Get("webhook-id") != a.Event || !strings.HasPrefix(c[0].Header.Get("webhook-signature"), "v1,") {
		t.Errorf("%+v", c)
	}
	h.Answers(410, "", "")
	if a, err = r.Gateway.Webhooks.Test(t.Context(), "shop", true); err != nil || a.Taken || a.Status != 410 || !a.Fallback || len(h.Calls("/second")) != 1 {
		t.Errorf("%v %+v", err, a)
	}
	if r.row().Disabled != nil || r.row().Failed != 0 {
		t.Errorf("%+v", r.row())
	}
	before := len(h.Calls())
	for options, want := range map[string]int{`, webhook_public: true`: 0, fmt.Sprintf(`, webhook_public: true, callback_urls: [%q]`, h.URL): 1} {
		r.Reload(yaml(h, options, ""))
		if _, err := r.Gateway.Webhooks.Test(t.Context(), "shop", false); (err == nil) != (want == 1) || len(h.Calls()) != before+want {
			t.Errorf("%s: %v, %d calls", options, err, len(h.Calls())-before)
		}
		before = len(h.Calls())
	}
	r.Reload(yaml(h, "", "", "{system_id: none, password: secret}",
		fmt.Sprintf("{system_id: jasmin, password: secret, bind: [transmitter], webhook: %q, webhook_form: jasmin-get}", h.URL)))
	for _, c := range []struct {
		account  string
		fallback bool
		want     string
	}{
		{"none", false, "has no webhook."}, {"none", true, "has no webhook_fallback."}, {"nobody", false, "no account"}, {"jasmin", false, "webhook_form"},
	} {
		if _, err = r.Gateway.Webhooks.Test(t.Context(), c.account, c.fallback); err == nil || !strings.Contains(err.Error()+".", c.want) {
			t.Errorf("%s: %v", c.account, err)
		}
	}
}
