package webhook

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pmg/connector"
	"pmg/gateway/webhooks"
	"pmg/httpapi/apitest"
	"pmg/internal/testkit/testutil"
	"pmg/protocols/httpsms"
	"pmg/sms"
)

// The webhook of an account is called, signed, with what becomes of a message, until it has taken it and in order. Operators see the attempts, and
// the pdu log has them.
func TestEvents(t *testing.T) {
	t.Parallel()
	h := apitest.NewHook(t)
	h.Answers(500, "no\x1b[2J\xff\n"+strings.Repeat("long ", 100), "")
	r := newRig(t, h, "", "")
	id := r.submit("shop", all, sms.Context{})
	r.SMSC.Accept("abc1")
	eventually(t, "it is tried often", func() bool { return len(h.Calls(id, "message.sent")) > failuresRest+2 })
	if row := r.row(); row.Succeeded != 0 || row.Failures < failuresRest || row.LastError != "answered 500 Internal Server Error" || row.Waiting != 1 {
		t.Errorf("%+v", row)
	}
	r.SMSC.Receipt("abc1", sms.StateDelivered)
	h.Answers(204, "", "")
	eventually(t, "the end is taken", func() bool { return len(h.Took(id, "message.delivered")) == 1 })
	r.Settled()
	last := h.Calls(id)[len(h.Calls(id))-1]
	for _, want := range []string{
		`"type":"message.delivered"`, `"client_reference":"order 1"`, `"from":"1234"`, `"to":"+46700000001"`, `"smsc_id":"abc1"`, `"connector":"operator"`,
	} {
		if !strings.Contains(last.Body, want) {
			t.Errorf("%s is not in %s", want, last.Body)
		}
	}
	if last.Method != "POST" || last.Path != "/hook" || !strings.HasPrefix(last.Header.Get("webhook-signature"), "v1,") {
		t.Errorf("%+v", last)
	}
	var numbers []int
	sent := h.Calls(id, "message.sent")
	for _, a := range slices.Backward(r.attempts(id)) {
		if a.Type != "message.sent" {
			continue
		}
		numbers = append(numbers, a.Number)
		if failed := a.Status == 500; failed != !a.Taken || a.Event != sent[0].Header.Get("webhook-id") || a.ID != id || a.Milliseconds < 0 ||
			failed && (!strings.HasPrefix(a.Reply, "no.[2J..long long") || a.Error == "") || !failed && a.Status != 204 {
			t.Errorf("%+v", a)
		}
	}
	if len(numbers) != len(sent) || !slices.IsSorted(numbers) || numbers[0] != 1 || numbers[len(numbers)-1] != len(numbers) {
		t.Errorf("attempts %v, %d calls", numbers, len(sent))
	}
	if row := r.row(); row.Succeeded == 0 || row.Failures != 0 || row.Waiting != 0 || row.UnderWay != 0 {
		t.Errorf("%+v", row)
	}
	if text := r.Log.String(); strings.Count(text, "a webhook did not take an event") != 1 || !strings.Contains(text, `"attempts":1,`) {
		t.Error(text)
	}
	calls, lines := len(h.Calls()), r.lines()
	if n := strings.Count(lines, " > http_call "); n != calls || strings.Count(lines, " < http_call_resp ") != calls {
		t.Errorf("%d lines, %d calls:\n%s", n, calls, lines)
	}
	for _, line := range []string{"state=delivered", "state=sent", "reference=\"order 1\"", `url="` + h.URL + `/hook"`, "id=" + id + " account=shop", "status=0(204-", "status=500(500-", `error="answered 500 Internal Server Error"`} {
		if !strings.Contains(lines, line) {
			t.Errorf("%s is not in\n%s", line, lines)
		}
	}
	failed := r.api.Stats.Statuses()[connector.StatusKey{Command: httpsms.ToldAnswer, Received: true, Status: 500}]
	if n := r.api.Stats.PDUsOut[httpsms.Told].Load(); n != int64(calls) || failed != int64(calls-len(h.Took())) {
		t.Errorf("%d calls count, %d as failures, of %d", n, failed, calls)
	}
}

// The end of a message is delivered last: while a call about it is under way it waits, and what has failed before it is not delivered after it.
func TestEndIsLast(t *testing.T) {
	t.Parallel()
	h := apitest.NewHook(t)
	r := newRig(t, h, "", "")
	release := make(chan struct{})
	h.Before(func(body string) {
		if strings.Contains(body, "message.sent") {
			<-release
		}
	})
	for _, status := range []int{200, 503} { // of the first event
		h.Answers(status, "", "")
		id := r.submit("shop", all, sms.Context{})
		r.delivers()
		other := r.submit("shop", theEnd, sms.Context{})
		h.Answers(200, "", "")
		r.delivers()
		eventually(t, "another message's end is delivered", func() bool { return len(h.Took(other)) == 1 })
		if n := len(h.Calls(id)); n != 0 {
			t.Errorf("%d calls are answered about the message whose first event is under way", n)
		}
		h.Answers(status, "", "")
		release <- struct{}{}
		eventually(t, "the first event is answered", func() bool { return len(h.Calls(id)) > 0 })
		h.Answers(200, "", "")
		if status != 200 {
			go func() { release <- struct{}{} }() // it may be tried again before the end
		}
		eventually(t, "the end is taken", func() bool { return len(h.Took(id, "message.delivered")) == 1 })
		r.Settled()
		calls := h.Calls(id)
		if last := calls[len(calls)-1]; !strings.Contains(last.Body, "message.delivered") {
			t.Errorf("the last call of %d is %s", len(calls), last.Body)
		}
	}
}

// Where an account wants that, a call has all events that wait, each once, and of a message in their order. URLs of messages
// are called for one event each.
func TestBatch(t *testing.T) {
	t.Parallel()
	h := apitest.NewHook(t)
	r := newRig(t, h, fmt.Sprintf(`, webhook_batch: 10, callback_urls: ["%s/given"]`, h.URL), "")
	h.Answers(500, "", "")
	const messages = 30
	for n := range messages {
		context := sms.Context{}
		if n%10 == 9 {
			context.URL = fmt.Sprintf("%s/given/%d", h.URL, n)
		}
		r.submit("shop", all, context)
		r.delivers()
	}
	eventually(t, "it is tried", func() bool { return len(h.Calls("message.")) > 40 })
	h.Answers(200, "", "")
	r.Settled()
	ends, most, ids := map[string]int{}, 0, map[string]string{}
	for _, c := range h.Took(`"type":"batch"`) {
		var b struct {
			Data []struct {
				ID, Type string
				Data     struct {
					ID string
				}
			}
		}
		id := c.Header.Get("webhook-id")
		if err := json.Unmarshal([]byte(c.Body), &b); err != nil || len(b.Data) > 10 || c.Path != "/hook" || len(id) != len("bat_")+24 || !strings.HasPrefix(id, "bat_") {
			t.Fatalf("%v: %v %s", err, c.Header, c.Body)
		}
		most = max(most, len(b.Data))
		for _, e := range b.Data {
			if ends[e.Data.ID] > 0 {
				t.Errorf("%s of %s comes after its end", e.Type, e.Data.ID)
			}
			if e.Type == "message.delivered" {
				ends[e.Data.ID]++
			}
			ids[id] += e.ID
		}
	}
	if len(ends) != messages*9/10 || most < 2 {
		t.Errorf("%d messages have ended, the largest call has %d", len(ends), most)
	}
	if given := h.Calls("/given/"); len(given) < messages/10 || len(h.Calls(`{"type":"message.`)) != len(given) {
		t.Errorf("%d calls of URLs of messages", len(given))
	}
	taken := map[string]int{}
	for _, a := range r.Gateway.Webhooks.Attempts(webhooks.Filter{Account: "shop", Limit: 10_000}) {
		if a.Taken && a.Type == "message.delivered" {
			taken[a.Event]++
		}
	}
	if len(taken) < messages*9/10 {
		t.Errorf("attempts of %d events were taken", len(taken))
	}
}

// A server that does not answer gets no more calls than it may have under way, and holds up no other.
func TestHangs(t *testing.T) {
	t.Parallel()
	h := apitest.NewHook(t)
	release := make(chan struct{})
	var under, most atomic.Int64
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		most.Store(max(most.Load(), under.Add(1)))
		<-release
		under.Add(-1)
	}))
	t.Cleanup(hangs.Close)
	r := newRig(t, h, fmt.Sprintf(`, callback_urls: [%q, %q]`, h.URL, hangs.URL), "")
	const n = 2 * atATime
	for i := range 2 * n {
		url := hangs.URL + "/x"
		if i%2 == 0 {
			url = h.URL + "/given"
		}
		r.submit("shop", theEnd, sms.Context{URL: url})
		r.SMSC.Refuse()
	}
	eventually(t, "the other is called", func() bool { return len(h.Took("message.rejected")) == n })
	eventually(t, "it is called", func() bool { return under.Load() == atATime })
	eventually(t, "the others wait", func() bool { return r.Gateway.Pending() == n })
	for _, row := range r.Gateway.Webhooks.Rows("shop") {
		if row.Endpoint == hangs.URL && (row.UnderWay != atATime || row.Waiting != n) {
			t.Errorf("%+v", row)
		}
	}
	close(release)
	r.Settled()
	if most.Load() > atATime {
		t.Errorf("%d calls were under way", most.Load())
	}
}

// A URL that came with a message is not called while its account does not allow it, which counts as an attempt, and is called when it does. Nothing
// is called for an account that is gone, until it is back.
func TestNotAllowed(t *testing.T) {
	t.Parallel()
	h := apitest.NewHook(t)
	r := newRig(t, h, "", "")
	id := r.submit("shop", theEnd, sms.Context{URL: h.URL + "/given?order=8"})
	r.delivers()
	eventually(t, "it is tried", func() bool { return len(r.attempts(id)) > 1 })
	if a := r.attempts(id)[0]; !strings.HasPrefix(a.Error, "is not called: the URL ") || a.Status != 0 || a.Taken || len(h.Calls()) > 0 {
		t.Errorf("%+v", a)
	}
	if text := r.Log.String(); !strings.Contains(text, "a webhook did not take an event") {
		t.Error(text)
	}
	r.Reload(apitest.YAML("{system_id: other, password: secret}", "", "public_name: operator", ""))
	r.Gateway.Webhooks.Retry("shop", "me")
	r.Reload(yaml(h, fmt.Sprintf(`, callback_urls: ["%s/given"]`, h.URL), ""))
	eventually(t, "it is called", func() bool { return len(h.Took("/given?order=8", "message.delivered")) == 1 })
	r.Settled()
}

// The pdu log has that nobody has answered, and how a message has ended that an SMSC had taken.
func TestDown(t *testing.T) {
	t.Parallel()
	h := apitest.NewHook(t)
	down := "http://" + testutil.FreeAddress(t)
	r := newRig(t, h, fmt.Sprintf(", callback_urls: [%q]", down), "")
	id := r.submit("shop", theEnd, sms.Context{URL: down + "/given"})
	r.SMSC.Accept("abc1")
	eventually(t, "it has left", func() bool { return r.Gateway.Keeper.Batches.Sync() == nil && r.left() })
	r.SMSC.Receipt("abc1", sms.StateUndeliverable)
	eventually(t, "it is tried", func() bool { return len(r.attempts(id)) > 0 })
	if a := r.attempts(id)[0]; a.Taken || a.Status != 0 || a.Error == "" || a.Type != "message.undelivered" {
		t.Errorf("%+v", a)
	}
	lines := r.lines()
	for _, want := range []string{"state=undelivered", fmt.Sprintf("status=%d(", httpsms.NoAnswer)} {
		if !strings.Contains(lines, want) {
			t.Errorf("%s is not in\n%s", want, lines)
		}
	}
}

// A message from a mobile is delivered as the rules of its account leave it. With webhook_reply the server's reply goes back to the mobile once, or
// the log says that it does not.
func TestInbound(t *testing.T) {
	t.Parallel()
	h, other := apitest.NewHook(t), apitest.NewHook(t)
	replies := fmt.Sprintf(`{system_id: replies, password: secret, bind: [transmitter], webhook: "%s/mo?from=%%p&text=%%a", webhook_form: kannel-get, webhook_reply: true}`, other.URL)
	r := newRig(t, h, `, rewrite: [{out: source, ton: 0, strip: "46", add: "0"}]`,
		"{from: operator, keyword: vote, to: {account: replies}}, {from: operator, to: {account: shop}}, {to: operator, destination: 46}", replies)
	r.SMSC.Deliver("STOP")
	eventually(t, "it is delivered", func() bool { return len(h.Took("inbound.received", `"text":"STOP"`, `"from":"0700000001"`)) == 1 })
	other.Answers(200, "Thanks", "Content-Type: text/plain")
	r.SMSC.Deliver("vote 42")
	one := r.SMSC.Take()
	if m := one.Message; string(m.Text()) != "Thanks" || string(m.Dest().Addr) != "46700000001" || string(m.Source().Addr) != "1234" {
		t.Errorf("%s to %s of %s", m.Text(), m.Dest().Addr, m.Source().Addr)
	}
	one.Answer(sms.OK, 0, "")
	r.Settled()
	other.Answers(200, "", "Content-Type: text/plain")
	r.SMSC.Deliver("vote 44")
	eventually(t, "it is delivered", func() bool { return len(other.Took("vote+44"))+len(other.Took("text=vote%2044")) == 1 })
	r.Settled()
	if !r.SMSC.Idle() {
		t.Error("an empty reply is sent to the mobile")
	}
	other.Answers(200, "Thanks", "Content-Type: text/plain")
	r.Reload(yaml(h, "", "{from: operator, to: {account: replies}}, {to: operator, destination: 47}", replies))
	r.SMSC.Deliver("vote 43")
	eventually(t, "the log has the reply that is not sent", func() bool {
		return strings.Contains(r.Log.String(), "the reply of a client's server to a message from a mobile was not sent")
	})
	r.Settled()
	if n := len(other.Calls("/mo?from=%2B46700000001&text=vote")); n != 3 || !r.SMSC.Idle() {
		t.Errorf("%d calls, or a reply too many", n)
	}
}
