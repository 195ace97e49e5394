package httpsmsc

import (
	"slices"
	"strings"
	"testing"

	"pmg/httpapi/apitest"
	"pmg/protocols/httpsms/smsc"
	"pmg/sms"
)

// A message from a mobile, of a callback that shows the secret, goes to the account of its route. The pdu log has it.
func TestInbound(t *testing.T) {
	t.Parallel()
	h := apitest.NewHook(t)
	r := newRig(t, `url: "`+h.URL+`/?to={to}", `+callbacks, nil)
	r.client.Do("GET /from/smsc/inbound?token=s3cret&from=%2B46700000001&to=1234&text=hello", "").Want(200, "thanks")
	if want := []string{"1 46700000001 1234 hello"}; !slices.Equal(r.brought.all, want) {
		t.Errorf("%q, want %q", r.brought.all, want)
	}
	if n := r.Gateway.Table.Connector("smsc").Stats.Accepted.Load(); n != 1 {
		t.Errorf("%d messages were accepted", n)
	}
	log := r.lines()
	r.wantLines(log, "< http_deliver", "seq=1", "remote=127.0.0.1:", "from=+46700000001", "to=1234", `text="hello"`, "id=")
	r.wantLines(log, "> http_deliver_resp", "seq=1", "status=0(200-OK)", "id=")
}

// Callbacks that are not the SMSC's, or cannot be read, are refused, each with its own status, and bring nothing.
func TestCallbacksRefused(t *testing.T) {
	t.Parallel()
	h := apitest.NewHook(t)
	r := newRig(t, `url: "`+h.URL+`/?to={to}", `+callbacks, nil)
	const receipt = "&message=1&state=DELIVRD"
	for _, c := range []struct {
		request, body string
		status        int
		says          string
	}{
		{"GET /from/nobody/receipts?token=s3cret" + receipt, "", 404, "there is no such connector here"},
		{"GET /from/smsc/other?token=s3cret" + receipt, "", 404, ""},
		{"GET /from/smsc/receipts?token=s3cre" + receipt, "", 403, "the secret is missing or wrong"},
		{"GET /from/smsc/receipts?x=1" + receipt, "", 403, "the secret is missing or wrong"},
		{"GET /from/smsc/receipts?token=s3cret&message=1", "", 400, "a receipt must have message and state"},
		{"GET /from/smsc/inbound?token=s3cret&from=1", "", 400, "a message must have from and to"},
		{"POST /from/smsc/receipts?token=s3cret" + receipt, strings.Repeat(" ", smsc.MaxCallback+1), 413, "the body is too large"},
	} {
		r.client.Do(c.request, c.body).Want(c.status, c.says)
	}
	if len(r.brought.all) > 0 {
		t.Errorf("%q", r.brought.all)
	}
	if n := strings.Count(r.Log.String(), "a callback of an SMSC was refused"); n != 1 {
		t.Errorf("%d lines of refusals, want one for all:\n%s", n, r.Log.String())
	}
}

// Callbacks come to the listener that the SMSC's options name, and to no other.
func TestCallbacksElsewhere(t *testing.T) {
	t.Parallel()
	h := apitest.NewHook(t)
	r := newRig(t, `url: "`+h.URL+`/?to={to}", `+strings.Replace(callbacks, "listener: api", "listener: other", 1), nil)
	r.client.Do("GET /from/smsc/receipts?token=s3cret&message=1&state=DELIVRD", "").Want(404, "there is no such connector here")
}

// Where the gateway has no room for a callback's body, or for what it brings, the SMSC is asked to bring it again.
func TestCallbacksAgain(t *testing.T) {
	t.Parallel()
	h := apitest.NewHook(t)
	r := newRig(t, `url: "`+h.URL+`/?to={to}", callbacks: {listener: api, url: "http://192.0.2.1", networks: [127.0.0.0/8], inbound: {list: /all, from: /from, to: /to, text: /text}}`, nil)
	post := func(body string) apitest.Reply { return r.client.Do("POST /from/smsc/inbound", body) }

	full := r.bodies.Claim("from smsc")
	for full.Take(1 << 20) {
	}
	if again := post(strings.Repeat(" ", 1<<20)).Want(503, "too many large bodies").Header.Get("Retry-After"); again != "5" {
		t.Errorf("Retry-After: %q", again)
	}
	full.Release()

	const two = `{"all": [{"from": "+46700000001", "to": "1234", "text": "one"}, {"from": "+46700000001", "to": "1234", "text": "two"}]}`
	for _, c := range []struct {
		results []sms.Code
		status  int
		says    string
	}{
		{[]sms.Code{sms.QueueFull, sms.BadDestination}, 503, "not taken: " + sms.QueueFull.String()},
		{[]sms.Code{sms.BadDestination, sms.QueueFull}, 503, "not taken: " + sms.QueueFull.String()},
		{[]sms.Code{sms.OK, sms.BadDestination}, 422, "not taken: " + sms.BadDestination.String()},
		{nil, 200, ""},
	} {
		r.brought.results = c.results
		reply := post(two).Want(c.status, c.says)
		if again := reply.Header.Get("Retry-After"); (again == "5") != (c.status == 503) {
			t.Errorf("%d: Retry-After: %q", c.status, again)
		}
	}
	if want := []string{"1 46700000001 1234 one", "1 46700000001 1234 two"}; !slices.Equal(r.brought.all, want) {
		t.Errorf("%q, want %q", r.brought.all, want)
	}
	r.wantLines(r.lines(), "> http_deliver_resp", "seq=2", "status=422", "reason=bad_destination(room)")
}

// A receipt whose word the options leave out is none; those beside it count.
func TestReceiptsIgnored(t *testing.T) {
	t.Parallel()
	h := apitest.NewHook(t)
	r := newRig(t, `url: "`+h.URL+`/?to={to}", callbacks: {listener: api, secret: s3cret, receipts: {list: /all, id: /id, state: /state, states: ["BUFFERED=ignored"]}}`, nil)
	r.client.Do("POST /from/smsc/receipts", `{"all": [{"id": "1", "state": "BUFFERED"}, {"id": "2", "state": "DELIVRD"}]}`, "Authorization: Bearer s3cret").Want(200)
	if len(r.brought.all) != 1 {
		t.Errorf("%q", r.brought.all)
	}
}
