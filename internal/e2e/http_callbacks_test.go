package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/httpapi/apitest"
	"pmg/internal/testkit/testutil"
)

// accepts takes a submit under an id.
func (p *peer) accepts(id string) {
	p.t.Helper()
	p.send(fmt.Sprintf("submit_sm_resp seq=%s status=0 message_id=%s", field(p.want("submit_sm"), "seq"), id))
}

// withHook returns a site whose account api has a webhook.
func withHook(t *testing.T, h *apitest.Hook, more string) site {
	return site{
		operator: newSMSC(t), store: vfs.NewMem(), out: "public_name: operator",
		more:     `{name: api, direction: in, protocol: http, address: "127.0.0.1:0", throttle_pause: 1ms, retry: {temporary: [10ms, repeat]}}`,
		accounts: fmt.Sprintf(`{system_id: api, password: s3cret, bind: [transmitter], webhook: "%s/hook", callback_urls: ["%s/given"], webhook_key: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" %s}`, h.URL, h.URL, more),
	}
}

func receiptOf(id, stat string) string {
	return fmt.Sprintf(`deliver_sm seq=90 source_addr=46700000001 destination_addr=1234 esm_class=0x04 short_message="id:%s sub:001 dlvrd:001 submit date:2611231200 done date:2611231200 stat:%s err:000 text:"`, id, stat)
}

// The events of a message that came by HTTP go to the webhook of its account, signed, and in order: also what
// happens while the webhook does not take it, and after a restart.
func TestHTTPWebhook(t *testing.T) {
	parallel(t)
	h := apitest.NewHook(t)
	s := withHook(t, h, "")
	g := start(t, s)
	a := g.api()
	a.name = "api"
	h.Answers(500, "", "")
	id := a.do("POST", "/v1/messages", `{"from":"1234","to":"46700000001","text":"hello","receipt":"all","client_reference":"order 7"}`).want(t, 202, "").text("id")
	smsc := s.operator.session()
	smsc.accepts("abc1")
	testutil.Eventually(t, "it was tried", func() bool { return len(h.Calls(id, "message.sent")) > 12 })
	smsc.send(receiptOf("abc1", "DELIVRD"))
	smsc.want("deliver_sm_resp")
	h.Answers(204, "", "")
	testutil.Eventually(t, "both are told", func() bool { return len(h.Calls(id, "message.delivered")) > 0 })
	g.settled()
	all := h.Calls(id)
	last := all[len(all)-1]
	if !containsAll(last.Body, []string{`"type":"message.delivered"`, `"client_reference":"order 7"`, `"from":"1234"`, `"to":"46700000001"`, `"smsc_id":"abc1"`}) {
		t.Error(last.Body)
	}
	if last.Header.Get("webhook-id") == "" || !strings.HasPrefix(last.Header.Get("webhook-signature"), "v1,") || last.Path != "/hook" {
		t.Errorf("%s %v", last.Path, last.Header)
	}
	if first := h.Calls("message.sent"); first[0].Header.Get("webhook-id") != first[len(first)-1].Header.Get("webhook-id") {
		t.Error("the id of an event changes with its attempts")
	}
	g.wantLog("api", "> http_call", "state=delivered", "id="+id, "account=api")
	g.wantLog("api", "< http_call_resp", "status=0(204-No-Content)", "id="+id)
}

// The webhook gets the end of a message that no SMSC has taken, and the message of a mobile to an account without sessions.
func TestHTTPWebhookOwn(t *testing.T) {
	parallel(t)
	h := apitest.NewHook(t)
	s := withHook(t, h, `, rewrite: [{out: source, ton: 0, strip: "46", add: "0"}]`)
	s.more = strings.Replace(s.more, "protocol: http", "protocol: http, long_messages: join", 1)
	s.routes = "{from: operator, to: {account: api}}\n{to: operator}"
	g := start(t, s)
	a := g.api()
	a.name = "api"
	id := a.do("POST", "/v1/messages", `{"from":"1234","to":"46700000001","text":"hello"}`).want(t, 202, "").text("id")
	smsc := s.operator.session()
	smsc.answer(11, field(smsc.want("submit_sm"), "seq"))
	testutil.Eventually(t, "it is told", func() bool { return len(h.Calls(id, "message.rejected", "ESME_RINVDSTADR")) == 1 })
	smsc.send(`deliver_sm seq=91 source_addr=46700000001 destination_addr=1234 short_message="STOP"`)
	smsc.want("deliver_sm_resp", "status=0")
	testutil.Eventually(t, "it is told", func() bool { return len(h.Calls("inbound.received", `"text":"STOP"`, `"from":"0700000001"`)) == 1 })
	for n, text := range []string{"one ", "two"} {
		smsc.send(fmt.Sprintf(`deliver_sm seq=%d source_addr=46700000001 destination_addr=1234 esm_class=0x40 short_message="\x05\x00\x03\x07\x02\x0%d%s"`, 92+n, n+1, text))
		smsc.want("deliver_sm_resp", "status=0")
	}
	testutil.Eventually(t, "both parts are told together", func() bool { return len(h.Calls("inbound.received", `"text":"one two"`)) == 1 })
	g.settled()
}

// Events that webhooks have not taken come after a restart.
func TestHTTPWebhookAfterRestart(t *testing.T) {
	parallel(t)
	h := apitest.NewHook(t)
	s := withHook(t, h, "")
	s.store = vfs.NewCrashableMem()
	g := start(t, s)
	a := g.api()
	a.name = "api"
	h.Answers(503, "", "")
	smsc := s.operator.session()
	a.do("POST", "/v1/messages", `{"from":"1234","to":"46700000001","text":"hello"}`).want(t, 202, "")
	smsc.accepts("abc1")
	smsc.send(receiptOf("abc1", "DELIVRD"))
	smsc.want("deliver_sm_resp")
	testutil.Eventually(t, "it was tried", func() bool { return len(h.Calls("message.delivered")) > 0 })
	testutil.Eventually(t, "the message has ended", g.synced)
	again := g.powerCut(&s, smsc)
	before := len(h.Calls("message.delivered"))
	h.Answers(200, "", "")
	s.operator.session()
	testutil.Eventually(t, "it is told", func() bool { return len(h.Calls("message.delivered")) > before })
	again.settled()
}
