package admin

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/operate"
	"pmg/gateway/webhooks"
	"pmg/internal/testkit/smpppeer"
	"pmg/internal/token"
	"pmg/pdulog/story"
)

// storyLogs contains a message that was throttled, sent, and reported, and one that waits.
const storyLogs = `2026-11-20T10:00:00.000000Z clients/1 < submit_sm seq=1 source_addr=acme destination_addr=46700000002 short_message="my secret" account=acme
2026-11-20T10:00:00.000001Z clients/1 > submit_sm_resp seq=1 status=0 message_id=00000000000000a1 account=acme
2026-11-20T10:00:00.000002Z clients/1 < submit_sm seq=2 source_addr=acme destination_addr=46700000002 short_message="another secret" account=other
2026-11-20T10:00:00.000003Z clients/1 > submit_sm_resp seq=2 status=0 message_id=00000000000000a2 account=other
2026-11-20T10:00:01.000000Z clients/2 > submit_sm seq=5 destination_addr=46700000002 short_message="my secret" id=00000000000000a1 account=acme
2026-11-20T10:00:01.500000Z clients/2 < submit_sm_resp seq=5 status=0x58(ESME_RTHROTTLED) id=00000000000000a1 account=acme
2026-11-20T10:00:02.000000Z clients/2 > submit_sm seq=6 destination_addr=46700000002 short_message="my secret" id=00000000000000a1 account=acme
2026-11-20T10:00:02.500000Z clients/2 < submit_sm_resp seq=6 status=0 message_id=7F id=00000000000000a1 account=acme
2026-11-20T10:00:08.500000Z clients/2 < deliver_sm seq=7 source_addr=46700000002 short_message="id:7F stat:DELIVRD text:my secret"
`

// startStories runs a gateway with the logs of earlier times, one that looks and one that operates.
func startStories(t *testing.T) (r *running, audit string) {
	t.Helper()
	cfg := parse(t, clientsOnly, t.TempDir())
	cfg.Admin.Audit = filepath.Join(t.TempDir(), "audit.log")
	if err := os.MkdirAll(cfg.PDULog.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cfg.PDULog.Dir, "old.log"), []byte(storyLogs), 0o600); err != nil {
		t.Fatal(err)
	}
	r = start(t, cfg, false)
	r.setTokens([]config.Token{
		{Name: "actor", Hash: token.Hash(testToken), Scope: config.OperateScope}, {Name: "looker", Hash: token.Hash("pmg_look"), Scope: config.LookScope},
	})
	return r, cfg.Admin.Audit
}

// ask asks as the one with a token.
func (r *running) ask(token, path string) (int, string) {
	r.t.Helper()
	c := &http.Client{Transport: authorized(token)}
	defer c.CloseIdleConnections()
	a, err := c.Get(r.url + Base + "/" + path)
	if err != nil {
		r.t.Fatal(err)
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return a.StatusCode, string(body)
}

// The story of a message has what it costs in the currencies of its account and of its SMSC, and what is reserved while it waits.
func TestStoryMoney(t *testing.T) {
	t.Parallel()
	cfg := &config.Config{
		Prices:     []config.Prices{{Name: "p", Currency: "EUR"}, {Name: "c", Currency: "SEK"}},
		Accounts:   []config.Account{{SystemID: "shop", Policies: config.Policies{Prices: "p"}}},
		Connectors: []config.Connector{{Name: "telia", Supplier: config.Supplier{Costs: "c"}}},
	}
	for _, c := range []struct {
		account string
		one     story.Story
		want    StoryMoney
	}{
		{"shop", story.Story{}, StoryMoney{}},
		{"shop", story.Story{Price: 45_000}, StoryMoney{Price: "0.045", Currency: "EUR"}},
		{"shop", story.Story{Price: 45_000, Refund: 45_000, Cost: 12_000, By: "telia"}, StoryMoney{"0.045", "0.045", "EUR", "0.012", "SEK"}},
		{"gone", story.Story{Price: 45_000, Cost: 12_000, By: "gone"}, StoryMoney{Price: "0.045", Cost: "0.012"}},
		{"shop", story.Story{Waits: &operate.StoredMessage{Price: "0.09 EUR"}}, StoryMoney{Price: "0.09", Currency: "EUR"}},
		{"shop", story.Story{Waits: &operate.StoredMessage{}}, StoryMoney{}},
	} {
		got := storyMoneyOf(&c.one, c.account, cfg)
		if c.want == (StoryMoney{}) != (got == nil) || got != nil && *got != c.want {
			t.Errorf("%+v: %+v, not %+v", c.one, got, c.want)
		}
	}
}

// Messages are found by number, account, id and the SMSC's id; the story of one has its steps with what their statuses mean. Texts
// are hidden from those who may only look, and from those who have not asked for them. The audit log has each search, and who saw texts.
func TestMessages(t *testing.T) {
	t.Parallel()
	r, audit := startStories(t)
	const since = "&since=2026-11-20"
	for path, want := range map[string]string{
		"messages?q=46700000002" + since:                  "00000000000000a2 00000000000000a1",
		"messages?q=0700000002&account=acme" + since:      "00000000000000a1",
		"messages?q=7F" + since:                           "00000000000000a1",
		"messages?q=00000000000000A2" + since:             "00000000000000a2",
		"messages?q=46700000002":                          "",
		"messages?q=46700000002&until=10:00" + since:      "00000000000000a2 00000000000000a1",
		"messages?q=46700000002&until=2026-11-20" + since: "",
		"messages?" + since:                               "00000000000000a2 00000000000000a1",
		"messages?account=acme" + since:                   "00000000000000a1",
		"messages?connector=clients" + since:              "00000000000000a2 00000000000000a1",
		"messages?connector=operator" + since:             "",
		"messages?state=delivered" + since:                "00000000000000a1",
		"messages?state=failed" + since:                   "",
		"messages?state=failed&account=acme" + since:      "",
		"messages": "",
	} {
		code, body := r.ask("pmg_look", path)
		var m Messages
		if err := json.Unmarshal([]byte(body), &m); code != 200 || err != nil {
			t.Fatalf("%s: %d %s", path, code, body)
		}
		var ids []string
		for _, one := range m.Messages {
			ids = append(ids, one.ID)
		}
		if got := strings.Join(ids, " "); got != want || m.Cut != "" {
			t.Errorf("%s: %s, not %s; %s", path, got, want, m.Cut)
		}
	}
	var s Story
	code, body := r.ask("pmg_look", "messages/00000000000000a1?since=2026-11-20")
	if err := json.Unmarshal([]byte(body), &s); code != 200 || err != nil || strings.Contains(body, "secret") {
		t.Fatalf("%d %s %v", code, body, err)
	}
	var says []string
	for _, step := range s.Steps {
		says = append(says, step.Says)
	}
	if got := strings.Join(says, ", "); got != "accepted from acme, sent to clients, clients did not take it, sent to clients, taken by clients, clients reported DELIVRD" {
		t.Error(got)
	}
	throttled := s.Steps[2]
	if throttled.What != story.Answered || throttled.Status != "ESME_RTHROTTLED" || !strings.HasPrefix(throttled.Meaning, "allowed message limits exceeded") || throttled.Session != "clients/2" ||
		!strings.Contains(s.PDUs[*throttled.PDU].Line, "submit_sm_resp seq=5") {
		t.Errorf("%+v", throttled)
	}
	if s.PDUs[0].Text != "[9 characters]" || s.PDUs[0].Hex != "" || !strings.Contains(s.PDUs[0].Line, "short_message=*9") || s.Destination != "46700000002" || s.Texts {
		t.Errorf("%+v", s)
	}
	if code, body := r.ask("pmg_look", "messages/00000000000000a1?text=1"+since); code != 403 || strings.Contains(body, "secret") {
		t.Errorf("%d %s", code, body)
	}
	if code, body := r.ask(testToken, "messages/00000000000000A1?text=1"+since); code != 200 || !strings.Contains(body, `"text":"my secret","hex":"00000`) || strings.Contains(body, "another") {
		t.Errorf("%d %s", code, body)
	}
	for path, want := range map[string]int{"messages": 200, "messages?state=x": 400, "messages?q=1&since=x": 400, "messages?q=" + strings.Repeat("1", 101): 400, "messages/x": 404, "messages/00000000000000a1": 404, "messages/00000000000000ff?since=7d": 404} {
		if code, body := r.ask(testToken, path); code != want {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	b, err := os.ReadFile(audit)
	if err != nil {
		t.Fatal(err)
	}
	log := string(b)
	for _, want := range []string{`"who":"token looker from `, `"act":"messages","parameters":{"q":["7F"],"since":["2026-11-20"]},"result":"ok"`, `"act":"messages/00000000000000a1","parameters":{"since":["2026-11-20"]},"result":"ok"`,
		`"act":"messages/00000000000000a1 with texts","parameters":{"since":["2026-11-20"],"text":["1"]},"result":"403 cannot show the texts`, `"act":"messages/00000000000000a1 with texts","parameters":{"since":["2026-11-20"],"text":["1"]},"result":"ok"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the audit log does not have %s:\n%s", want, log)
		}
	}
	if strings.Contains(log, "secret") {
		t.Errorf("a text: %s", log)
	}
}

// Two searches are made at a time, and one whose time is over answers with what it has, and says so.
func TestSearchBounds(t *testing.T) {
	t.Parallel()
	r, _ := startStories(t)
	const path = "messages?q=46700000002&since=2026-11-20"
	for range mostSearches {
		r.admin.searcher.places <- struct{}{}
	}
	if code, body := r.ask(testToken, path); code != 503 || !strings.HasPrefix(body, "cannot search: too many searches are under way") {
		t.Errorf("%d %s", code, body)
	}
	<-r.admin.searcher.places
	if code, body := r.ask(testToken, path); code != 200 || strings.Contains(body, `"cut"`) {
		t.Errorf("%d %s", code, body)
	}
	gone, stop := context.WithCancel(t.Context())
	stop()
	if _, err := r.admin.Messages(httptest.NewRequestWithContext(gone, "GET", "/"+path, nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("the search of a client that has gone ends with %v", err)
	}
	r.admin.searcher.time = -time.Second
	if code, body := r.ask(testToken, path); code != 200 || !strings.Contains(body, `"cut":"Not all files were searched`) {
		t.Errorf("%d %s", code, body)
	}
	if code, body := r.ask(testToken, "messages/00000000000000a1?since=2026-11-20"); code != 404 || !strings.Contains(body, "Not all files were searched") {
		t.Errorf("%d %s", code, body)
	}
}

// A message that waits, is sent and is receipted is found by its number, by our id and by the SMSC's id; its story says where it waits, and
// then what became of it and of its receipt.
func TestMessageIsFound(t *testing.T) {
	t.Parallel()
	sink := smpppeer.StartSMSC(t, smscPassword, true)
	r := start(t, parse(t, strings.Replace(wholeConfig, ", receipt_ids: decimal", "", 1), t.TempDir(), sink.Addr()), false)
	r.await("/readyz", 200, "ok\n")
	r.gateway.Table.Connector("operator").SetHold(&connector.Hold{})
	client := r.client()
	client.Receipts = true
	loaded := make(chan error, 1)
	go func() { loaded <- client.Send(t.Context(), 1) }()
	const number = "46700000000"
	waits := r.awaitMessage(number, "Waits for connector operator. Accepted ")
	if before := r.awaitMessage("00"+number+"&until=1h", "Waits for connector operator."); before.ID != waits.ID || before.Account != "load" { // the logs of that time do not know it
		t.Errorf("%+v", before)
	}
	var s Story
	for n := 0; len(s.PDUs) < 2 && n < 1000; n++ { // they come into the file a little later
		if _, body := r.ask(testToken, "messages/"+waits.ID); json.Unmarshal([]byte(body), &s) != nil || s.Waits == nil || s.Waits.Connector != "operator" || s.InMemory {
			t.Fatal(body)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if len(s.PDUs) != 2 || len(s.Steps) != 1 {
		t.Errorf("%+v", s)
	}
	r.gateway.Table.Connector("operator").SetHold(nil)
	if err := <-loaded; err != nil {
		t.Fatal(err)
	}
	m := r.awaitMessage(number, " (operator). The customer has the receipt.")
	if m.ID != waits.ID || m.Account != "load" || m.Source != "46700000001" || m.Destination != number {
		t.Errorf("%+v, not %s", m, waits.ID)
	}
	s = Story{}
	_, body := r.ask(testToken, "messages/"+m.ID)
	if err := json.Unmarshal([]byte(body), &s); err != nil {
		t.Fatal(err)
	}
	var what []string
	for _, step := range s.Steps {
		what = append(what, string(step.What))
	}
	if got := strings.Join(what, " "); got != "accepted sent taken reported receipt_sent receipt_taken" || s.Waits != nil || s.Steps[2].SMSCID == "" || len(s.Receipts) > 0 {
		t.Fatalf("%s: %s", got, body)
	}
	if n := len(s.PDUs); n != 8 {
		t.Errorf("%d PDUs: %s", n, body)
	}
	for _, q := range []string{m.ID, s.Steps[2].SMSCID} {
		if found := r.awaitMessage(q, " (operator). The customer has the receipt."); found.ID != m.ID {
			t.Errorf("%s: %+v", q, found)
		}
	}
}

// The story of a message whose client does not take receipts says where its receipt waits, and what came of the calls of a server, whose
// replies are texts.
func TestReceiptWaits(t *testing.T) {
	t.Parallel()
	sink := smpppeer.StartSMSC(t, smscPassword, true)
	forced := strings.NewReplacer(", receipt_ids: decimal", "", "password: "+accountPassword, "password: "+accountPassword+", receipts: force").Replace(wholeConfig)
	r := start(t, parse(t, forced, t.TempDir(), sink.Addr()), false)
	r.await("/readyz", 200, "ok\n")
	client := r.client()
	client.Transmitter = true
	if err := client.Send(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	m := r.awaitMessage("46700000000", " (operator).")
	r.gateway.Webhooks.Server(&connector.Lane{Client: connector.Client{Account: "load", Endpoint: "https://shop.example"}}).
		Tried(webhooks.Attempt{ID: m.ID, Type: "message.delivered", Number: 1, Status: 500, Error: "answered 500", Reply: "secret"})
	for path, secret := range map[string]bool{"messages/" + m.ID: false, "messages/" + m.ID + "?text=1": true} {
		var s Story
		_, body := r.ask(testToken, path)
		if err := json.Unmarshal([]byte(body), &s); err != nil {
			t.Fatal(err)
		}
		if len(s.Receipts) != 1 || s.Receipts[0].Receiver != "load" || s.Receipts[0].About != m.ID || len(s.Attempts) != 1 || s.Attempts[0].Status != 500 || strings.Contains(body, "secret") != secret {
			t.Errorf("%s: %s", path, body)
		}
	}
}

// awaitMessage searches until the only message that is found has come to where it is wanted.
func (r *running) awaitMessage(q, last string) Message {
	r.t.Helper()
	var m Messages
	for range 1000 {
		code, body := r.ask(testToken, "messages?q="+q)
		if err := json.Unmarshal([]byte(body), &m); code != 200 || err != nil {
			r.t.Fatalf("%d %s", code, body)
		}
		if len(m.Messages) == 1 && strings.Contains(m.Messages[0].Last, last) {
			return m.Messages[0]
		}
		time.Sleep(10 * time.Millisecond)
	}
	r.t.Fatalf("%s: %+v", q, m)
	return Message{}
}
