package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmg/httpapi/apitest"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
)

// shows is the option that shows an account its prices.
const shows = ", show_price: true"

// quoting is a site of priced whose account shop has a webhook and further options. What the SMSC charges is 0.012.
func quoting(t *testing.T, h *apitest.Hook, options string) site {
	t.Helper()
	s, _ := priced(t)
	costs := filepath.Join(t.TempDir(), "costs.csv")
	if err := os.WriteFile(costs, []byte("*,0.012\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.top = strings.Replace(s.top, "prices: [", "prices: [{name: costs, currency: EUR, file: "+costs+"}, ", 1)
	s.out += ", costs: costs"
	s.accounts = fmt.Sprintf(
		"{system_id: shop, password: s3cret, bind: [transmitter], prices: standard, webhook: \"%s/shop\"%s}\n", h.URL, options,
	)
	return s
}

// wantPrice checks the price in a JSON object; "" is none. No client ever sees what an SMSC charges.
func wantPrice(t *testing.T, what, body, want string) {
	t.Helper()
	if want == "" && strings.Contains(body, `"price"`) || want != "" && !strings.Contains(body, `"price":"`+want+`","currency":"EUR"`) ||
		strings.Contains(body, `"0.012"`) || strings.Contains(body, `"0.024"`) || strings.Contains(body, `"cost`) {
		t.Errorf("%s: the price is not %q: %s", what, want, body)
	}
}

// toldOf returns the last call of a webhook about a message.
func toldOf(t *testing.T, h *apitest.Hook, id, kind string) (body string) {
	t.Helper()
	testutil.Eventually(t, "the webhook was called with "+kind+" of "+id, func() bool {
		for _, c := range h.Calls(kind) {
			if strings.Contains(c.Body, id) {
				body = c.Body
			}
		}
		return body != ""
	})
	return body
}

// An account with show_price sees what each message costs, in each answer, and in each event what was paid in the end.
func TestPriceShown(t *testing.T) {
	parallel(t)
	h := apitest.NewHook(t)
	s := quoting(t, h, shows+", balance: {charge: delivered}")
	g := start(t, s)
	smsc, a := s.operator.session(), g.shop()
	one := `{"from":"1234","to":"+46700000001","text":"hello","receipt":"all"}`
	long := strings.Replace(one, "hello", strings.Repeat("a", 170), 1)
	wantPrice(t, "a preview", a.do("POST", "/v1/messages:preview", one).want(t, 200, "").body, "0.045")
	wantPrice(t, "a preview of two", a.do("POST", "/v1/messages:preview", long).want(t, 200, "").body, "0.09")
	r := a.do("POST", "/v1/batches", `{"messages":[`+one+`]}`)
	wantPrice(t, "a batch", r.want(t, 200, "").body, "0.045")
	r = a.do("POST", "/v1/messages:stream", one+"\n")
	wantPrice(t, "a stream", r.want(t, 200, "").body, "0.045")
	for i := range 2 {
		smsc.accepts(fmt.Sprint("first", i))
	}
	taken := sms.Money(2) // short messages that the SMSC has taken, of which each costs 0.012
	for name, c := range map[string]struct {
		body   string
		parts  int
		status int
		state  string // that of the receipt
		kind   string // of the last event
		price  string // at first
		paid   string // in the end
	}{
		"delivered":               {one, 1, 0, "DELIVRD", "message.delivered", "0.045", "0.045"},
		"given back":              {one, 1, 0, "UNDELIV", "message.undelivered", "0.045", "0.00"},
		"refused":                 {one, 1, 0x0b, "", "message.rejected", "0.045", "0.00"},
		"in parts":                {long, 2, 0, "DELIVRD", "message.delivered", "0.09", "0.09"},
		"given back in parts":     {long, 2, 0, "UNDELIV", "message.undelivered", "0.09", ""},
		"nobody knows: it counts": {one, 1, 0, "UNKNOWN", "message.unknown", "0.045", "0.045"},
	} {
		r := a.do("POST", "/v1/messages", c.body).want(t, 202, "")
		id := r.text("id")
		wantPrice(t, name+", answer", r.body, c.price)
		for i := range c.parts {
			seq := field(smsc.want("submit_sm"), "seq")
			if c.status != 0 {
				smsc.answer(c.status, seq)
				continue
			}
			smsc.send(fmt.Sprintf("submit_sm_resp seq=%s message_id=%s-%d", seq, id, i))
		}
		if c.status == 0 {
			wantPrice(t, name+", sent", toldOf(t, h, id, "message.sent"), c.price)
			taken += sms.Money(c.parts)
			testutil.Eventually(t, "all parts have ended, since a receipt before the end does not know what is charged", func() bool {
				_, cost := g.Node.Origins.TallyOf("shop").Margin.Sums()
				return cost == taken*12_000
			})
			for i := range c.parts {
				smsc.send(receiptOf(fmt.Sprintf("%s-%d", id, i), c.state))
				smsc.want("deliver_sm_resp")
			}
		}
		wantPrice(t, name+", event", toldOf(t, h, id, c.kind), c.paid)
		wantPrice(t, name+", in the end", a.do("GET", "/v1/messages/"+id, "").want(t, 200, "").body, c.paid)
	}
	price, cost := g.Node.Origins.TallyOf("shop").Margin.Sums() // nine short messages were taken, in seven messages
	if price.String() != "0.405" || cost.String() != "0.108" {
		t.Errorf("the account was charged %s, the SMSC charges %s", price, cost)
	}
	if p := a.do("GET", "/v1/messages", "").body; strings.Count(p, `"price"`) != 7 || strings.Contains(p, `"0.012"`) {
		t.Errorf("the list is %s", p)
	}
}

// A message that waits has the price that is reserved for it, after a restart too, whatever a later list says; a cancelled one
// costs nothing. A repeated request gets the price of the first answer.
func TestPriceStays(t *testing.T) {
	parallel(t)
	h := apitest.NewHook(t)
	s := quoting(t, h, shows)
	s.operator.down() // so that messages wait
	g := start(t, s)
	submit := func(want string) string {
		t.Helper()
		r := g.shop().do("POST", "/v1/messages", oneShort, "Idempotency-Key: k").want(t, 202, "")
		wantPrice(t, "an answer", r.body, want)
		batch := g.shop().do("POST", "/v1/batches", `{"messages":[`+oneShort+`]}`, "Idempotency-Key: b")
		wantPrice(t, "a batch", batch.want(t, 200, "").body, want)
		return r.text("id")
	}
	id := submit("0.045")
	g = g.powerCut(&s)
	if again := submit("0.045"); again != id {
		t.Errorf("the message %s is repeated as %s", id, again)
	}
	wantPrice(t, "it waits", g.shop().do("GET", "/v1/messages/"+id, "").want(t, 200, "").body, "0.045")
	g.shop().do("DELETE", "/v1/messages/"+id, "").want(t, 202, "")
	wantPrice(t, "it is cancelled", g.shop().do("GET", "/v1/messages/"+id, "").want(t, 200, "").body, "0.00")
	g.stop()
	s.accounts = strings.Replace(s.accounts, shows, "", 1)
	g = start(t, s)
	submit("")
	wantPrice(t, "no longer shown", g.shop().do("GET", "/v1/messages/"+id, "").want(t, 200, "").body, "")
	g.stop()
}

// Without prices an account has no price, and without show_price it sees none.
func TestPriceHidden(t *testing.T) {
	parallel(t)
	h := apitest.NewHook(t)
	for _, options := range []string{"", shows} {
		s := quoting(t, h, options)
		if options == shows {
			s.accounts = strings.Replace(s.accounts, "prices: standard, ", "", 1)
		}
		g := start(t, s)
		smsc := s.operator.session()
		body := strings.Replace(oneShort, "none", "all", 1)
		wantPrice(t, "a preview", g.shop().do("POST", "/v1/messages:preview", body).want(t, 200, "").body, "")
		r := g.shop().do("POST", "/v1/messages", body).want(t, 202, "")
		wantPrice(t, "an answer", r.body, "")
		smsc.accepts("1")
		smsc.send(receiptOf("1", "DELIVRD"))
		smsc.want("deliver_sm_resp")
		wantPrice(t, "an event", toldOf(t, h, r.text("id"), "message.delivered"), "")
		wantPrice(t, "a message", g.shop().do("GET", "/v1/messages/"+r.text("id"), "").body, "")
		var listed struct{ Messages []json.RawMessage }
		list := g.shop().do("GET", "/v1/messages", "").body
		if err := json.Unmarshal([]byte(list), &listed); err != nil || len(listed.Messages) != 1 {
			t.Errorf("%v: %s", err, list)
		}
		wantPrice(t, "a list", list, "")
		smsc.conn.Close()
		g.stop()
	}
}
