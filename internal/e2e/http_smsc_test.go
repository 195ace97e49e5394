package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pmg/httpapi/apitest"
	"pmg/internal/testkit/testutil"
)

// smscSite is a site whose operator is an SMSC that is called by HTTP, and brings what it has to the connector
// "callbacks".
func smscSite(t *testing.T, url, options string) site {
	callbacks := testutil.FreeAddress(t)
	return site{
		more: fmt.Sprintf(`{name: callbacks, direction: in, protocol: http, address: %q}
			{name: operator, direction: out, protocol: http, url: %q, system_id: pmg, password: s3cret, reconnect_delay: 20ms, connect_timeout: 5s, callbacks: {listener: callbacks, url: "http://%s", secret: 0123456789}, %s}`, callbacks, url, callbacks, oneLine(options)),
		routes: "{from: clients, to: operator}\n{from: operator, to: {account: acme}}", memory: true,
	}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// callBack calls a URL as an SMSC does, and returns the status and the body of the answer.
func callBack(t *testing.T, method, u, kind, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, u, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	r.Close = true // a connection that waits would hold up the end of the gateway
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Error(err)
	}
	return answer.StatusCode, string(said)
}

// A message of an SMPP client leaves by HTTP, as the gateways take it whose interfaces are presets, and their receipts and
// the messages of mobiles come back.
func TestHTTPSMSC(t *testing.T) {
	parallel(t)
	form := "application/x-www-form-urlencoded"
	for _, of := range []struct {
		preset             string
		status             int
		says, method, path string

		fields  map[string]string // of the request
		receipt func(receiptURL string) (method, u, kind, body string)
		inbound func(u string) (method, at, kind, body string)
		reply   string
	}{{
		preset: "kannel", status: 202, says: "0: Accepted for delivery", path: "/cgi-bin/sendsms",
		fields: map[string]string{"username": "pmg", "password": "s3cret", "from": "1234", "to": "46700000001", "text": "1", "coding": "0", "charset": "UTF-8", "dlr-mask": "19"},
		receipt: func(u string) (string, string, string, string) {
			return "GET", strings.Replace(u, "%d", "1", 1), "", ""
		},
		inbound: func(u string) (string, string, string, string) {
			return "GET", u + "&from=%2B46700000001&to=1234&text=hello&charset=ISO-8859-1", "", ""
		},
	}, {
		preset: "jasmin", status: 200, says: `Success "07033084-5cfd-4812-90a4-e4d24ffb6e3d"`, path: "/send",
		fields: map[string]string{"username": "pmg", "password": "s3cret", "from": "1234", "to": "46700000001", "hex-content": "31", "coding": "0", "dlr": "yes", "dlr-level": "3", "dlr-method": "POST"},
		receipt: func(u string) (string, string, string, string) {
			return "POST", u, form, "id=07033084-5cfd-4812-90a4-e4d24ffb6e3d&level=2&message_status=DELIVRD&connector=x&err=000"
		},
		inbound: func(u string) (string, string, string, string) {
			return "POST", u, form, "from=46700000001&to=1234&content=hello&binary=68656c6c6f&coding=0&id=1"
		},
		reply: "ACK/Jasmin",
	}, {
		preset: "pmg", status: 202, says: `{"id":"00000000000004d2","state":"queued"}`, path: "/v1/messages",
		fields: map[string]string{"from": "1234", "to": "46700000001", "text": "1", "receipt": "final"},
		receipt: func(u string) (string, string, string, string) {
			return "POST", u, "application/json", `{"type":"batch","data":[{"type":"message.delivered","data":{"id":"00000000000004d2","state":"delivered"}}]}`
		},
		inbound: func(u string) (string, string, string, string) {
			return "POST", u, "application/json", `{"type":"inbound.received","data":{"from":"+46700000001","to":"1234","text":"hello"}}`
		},
	}} {
		t.Run(of.preset, func(t *testing.T) {
			t.Parallel()
			h := apitest.NewHook(t)
			h.Answers(of.status, of.says, "")
			s := smscSite(t, h.URL, "preset: "+of.preset)
			g := start(t, s)
			g.online("operator", 1)
			client := g.bind("transceiver")
			client.submitOne(1, "registered_delivery=1")
			testutil.Eventually(t, "the SMSC is called", func() bool { return len(h.Calls(of.path)) > 0 })
			fields := fieldsOf(t, h.Calls(of.path)[0])
			for name, want := range of.fields {
				if fields[name] != want {
					t.Errorf("%s is %q, want %q: %q", name, fields[name], want, fields)
				}
			}
			u := fields["dlr-url"] + fields["callback_url"]
			g.settled()
			method, at, kind, body := of.receipt(u)
			if status, said := callBack(t, method, at, kind, body); status != 200 || said != of.reply {
				t.Errorf("%d %s", status, said)
			}
			client.want("deliver_sm", "stat:DELIVRD", "source_addr=46700000001", "destination_addr=1234")
			method, at, kind, body = of.inbound(strings.Replace(strings.Split(u, "?")[0], "receipts", "inbound", 1) + "?token=0123456789")
			if status, said := callBack(t, method, at, kind, body); status != 200 || said != of.reply {
				t.Errorf("%d %s", status, said)
			}
			client.want("deliver_sm", "source_addr=46700000001", "destination_addr=1234", `short_message="hello"`)
			if status, _ := callBack(t, method, strings.Replace(at, "0123456789", "012345678", 1), kind, body); status != 403 {
				t.Errorf("without the secret: %d", status)
			}
		})
	}
}

// fieldsOf returns the fields of a call, whatever its form.
func fieldsOf(t *testing.T, c apitest.Call) map[string]string {
	t.Helper()
	fields := map[string]string{}
	if strings.HasPrefix(c.Body, "{") {
		var all map[string]any
		if err := json.Unmarshal([]byte(c.Body), &all); err != nil {
			t.Fatal(err)
		}
		for name, value := range all {
			fields[name] = fmt.Sprint(value)
		}
		return fields
	}
	_, query, _ := strings.Cut(c.Path, "?")
	values, err := url.ParseQuery(query + c.Body)
	if err != nil {
		t.Fatal(err)
	}
	for name := range values {
		fields[name] = values.Get(name)
	}
	return fields
}

// Behind the gateway Kannel's smsbox takes messages by HTTP. Each reaches Kannel's SMSC once, and each report that Kannel
// calls the gateway with reaches the client that has sent the message.
func TestHTTPSMSCKannel(t *testing.T) {
	parallel(t)
	const messages = 150
	operator := newSMSC(t)
	kannel := startKannel(t, operator.addr(), "smpp", "transceiver-mode = true\nsystem-type = \"\"\ninterface-version = 34\nmax-pending-submits = 10")
	smsc := operator.session()
	go smsc.serveReceipts()
	s := smscSite(t, strings.TrimSuffix(kannel.sendsms, "/cgi-bin/sendsms"), "preset: kannel, window: 5")
	s.more = strings.Replace(s.more, "system_id: pmg", "system_id: acme", 1)
	g := start(t, s)
	client := g.bind("transceiver")
	want := map[string]int{}
	for n := range messages {
		client.send(fmt.Sprintf(`submit_sm seq=%d source_addr=1234 destination_addr=467%08d registered_delivery=17 short_message="%d"`, n+1, n, n))
		if _, words := fates(n, dlrExpired); len(words) > 0 {
			for _, w := range words {
				want[fmt.Sprintf("467%08d %s", n, w)]++
			}
		}
	}
	got := map[string]int{}
	for reports := 0; reports < len(want); {
		line, err := client.next()
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(line, "deliver_sm ") {
			_, stat, _ := strings.Cut(line, "stat:")
			got[field(line, "source_addr")+" "+stat[:min(len(stat), 7)]]++
			reports++
			client.send("deliver_sm_resp seq=" + field(line, "seq") + " status=0")
		}
	}
	for one, n := range got {
		if want[one] != n {
			t.Errorf("%s: %d reports, want %d", one, n, want[one])
		}
	}
}

// A message that an SMSC has by HTTP cannot be withdrawn there. That the SMSC is not asked is no answer of it, so that no time of
// one is observed.
func TestHTTPSMSCIsNotAsked(t *testing.T) {
	parallel(t)
	h := apitest.NewHook(t)
	h.Answers(202, `{"id":"00000000000004d2","state":"queued"}`, "")
	s := smscSite(t, h.URL, "preset: pmg")
	s.routes += "\n{from: callbacks, to: operator}"
	g := start(t, s)
	g.online("operator", 1)
	a := &api{t: t, url: "http://" + g.addr("callbacks"), http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, name: "acme"}
	id := a.do("POST", "/v1/messages", `{"from":"1234","to":"+46700000001","text":"1","receipt":"final"}`).text("id")
	g.settled()
	a.do("DELETE", "/v1/messages/"+id, "").want(t, 409, "already-sent")
	if n := len(h.Calls()); n != 1 {
		t.Errorf("the SMSC was called %d times", n)
	}
	if sum := time.Duration(g.Table.Connector("operator").Stats.Answer.Sum.Load()); sum <= 0 || sum > time.Hour {
		t.Errorf("answers took %v", sum)
	}
}
