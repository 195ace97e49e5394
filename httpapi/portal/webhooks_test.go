package portal

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/webhooks"
)

// A callingService makes test calls that go nowhere.
type callingService struct{}

func (callingService) Serve(*connector.Lane) {}

func (callingService) Test(_ context.Context, account string, _ bool) (webhooks.Attempt, error) {
	if account != "acme" {
		return webhooks.Attempt{}, errors.New("account " + account + " has no webhook")
	}
	return webhooks.Attempt{Status: 204, Taken: true, Reply: "a secret"}, nil
}

// Somebody who manages an account sets its URL, where the operator allows it, makes a key, makes a test call and queues lost events
// again; nobody else does, and nothing of another account.
func TestWebhookChanges(t *testing.T) {
	t.Parallel()
	r := newRig(t, accounts(""), "", "")
	r.makeAcme(`callback_urls: ["http://192.0.2.2/"]`)
	r.Gateway.Webhooks.Begin(callingService{})
	r.letters.of = map[string][]uint64{"acme": {1, 2}, "rival": {3}}
	b := r.user("acme", config.ManageScope)
	for _, c := range []struct {
		to   string
		code int
	}{
		{"http://127.0.0.1:8080/", 422}, {"http://10.1.2.3/", 422}, {"http://[::1]/", 422}, {"http://169.254.169.254/latest", 422}, {"ftp://shop.example/", 422},
		{"x", 422}, {"https://shop.example:22/", 422}, {"https://shop.example/${ENV:HOME}", 422}, {"https://shop.example/sms?token=s", 422},
		{"https://shop.example/" + strings.Repeat("a", mostURL), 422},
		{"http://192.0.2.2/sms", 303}, {"https://shop.example/sms", 303},
	} {
		w := b.post("webhooks", "do", "url", "url", c.to)
		if w.code != c.code {
			t.Errorf("%s: %+v", c.to, w)
		}
		if a := r.Gateway.Node.Config().Accounts; c.code == 303 && !slices.ContainsFunc(a, func(a config.Account) bool {
			return a.SystemID == "acme" && a.Webhook == c.to && a.WebhookPublic
		}) {
			t.Errorf("%s is not in force, or as an operator's", c.to)
		}
	}
	b.has("webhooks", "https://shop.example/sms", "2 events were given up")
	var keys []string
	for range 3 {
		found := regexp.MustCompile(`<code>(whsec_[^<]+)</code>`).FindStringSubmatch(b.post("webhooks", "do", "key").body)
		if found == nil {
			t.Fatal("no key is shown")
		}
		keys = append(keys, strings.ReplaceAll(found[1], "&#43;", "+"))
	}
	text, err := os.ReadFile(filepath.Join(r.dir, "accounts", "acme.yaml"))
	if err != nil || !strings.Contains(string(text), `"`+keys[2]+" "+keys[1]+`"`) {
		t.Errorf("%v %s: %q", err, text, keys)
	}
	if w := b.post("webhooks", "do", "test"); w.code != 200 || !strings.Contains(w.body, "The test event was taken, status 204") || strings.Contains(w.body, "a secret") {
		t.Errorf("%+v", w)
	}
	if w := b.post("webhooks", "do", "replay"); w.code != 303 || len(r.letters.queued) != 1 || r.letters.queued[0].Account != "acme" || !slices.Equal(r.letters.queued[0].IDs, []uint64{1, 2}) {
		t.Errorf("%+v: %+v", w, r.letters.queued)
	}
	b.has("webhooks", "Events queued again: 2.")
	if w := b.post("webhooks", "do", "call"); w.code != 303 {
		t.Errorf("%+v", w)
	}
	for range mostChanges - 3 {
		b.post("webhooks", "do", "test")
	}
	if w := b.post("webhooks", "do", "test"); w.code != 429 {
		t.Errorf("calls have no bound: %+v", w)
	}
	if w := b.post("webhooks", "do", "url", "url", ""); w.code != 303 {
		t.Errorf("%+v", w)
	}
	sender := r.user("acme", config.SendScope)
	for _, do := range []string{"url", "key", "test", "replay", "call", "other"} {
		if w := sender.post("webhooks", "do", do, "url", "https://shop.example/"); w.code != 403 {
			t.Errorf("%s: %+v", do, w)
		}
		want := map[string]int{"url": 409, "key": 409, "test": 422, "replay": 303, "call": 303, "other": 400}[do]
		if w := r.user("shop", config.ManageScope).post("webhooks", "do", do); w.code != want {
			t.Errorf("%s: %+v", do, w)
		}
	}
	for _, want := range []string{"portal/webhooks/url map[account:acme name:acme]: ok\n", "portal/webhooks/test map[]: status 204\n", "portal/webhooks/replay map[]: 2 events\n"} {
		if !r.records.has(want) {
			t.Errorf("without %s: %q", want, r.records.lines)
		}
	}
	if len(r.letters.queued) != 1 || strings.Contains(strings.Join(r.records.lines, "\n"), "whsec") {
		t.Errorf("%+v %q", r.letters.queued, r.records.lines)
	}
}
