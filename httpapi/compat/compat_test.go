package compat

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"pmg/connector"
	"pmg/gateway"
	"pmg/httpapi/apitest"
	"pmg/httpapi/body"
	"pmg/httpapi/server"
	"pmg/httpapi/webhook"
	"pmg/internal/testkit/testutil"
	"pmg/protocols/httpsms"
	"pmg/sms"
)

// A rig is the interfaces of other gateways, whose client is the account shop. The test is its SMSC, and its client's server.
type rig struct {
	*apitest.Site
	t        *testing.T
	client   apitest.Client
	hook     *apitest.Hook
	listener *server.Listener
	reached  int64 // since when the SMSC has been reached, as one that is called by HTTP
}

// newRig serves a configuration: options of the listener, of its account and of the operator, and rows of other accounts.
func newRig(t *testing.T, api, shop, operator string, rows ...string) *rig {
	t.Helper()
	r := &rig{t: t, hook: apitest.NewHook(t)}
	accounts := fmt.Sprintf(`{system_id: shop, password: secret, pull: true, callback_urls: ["%s/given"]%s}`, r.hook.URL, shop)
	accounts = strings.Join(append([]string{accounts}, rows...), ", ")
	r.Site = apitest.New(t, apitest.YAML(accounts, api, operator, "{from: operator, to: {account: shop}}, {to: operator, destination: 46}"))
	g := r.Gateway
	calls := webhook.Rooms{
		Node: g.Node, Options: g.Table, Logins: g.Logins, Converter: g.Convert, Tracer: g.Settler, Submitter: g.Requests,
		Servers: g.Webhooks,
	}
	events := webhook.NewEvents(calls, func(*connector.Connector) *server.Log { return nil })
	hooks := webhook.New(calls, r, events)
	g.Webhooks.Begin(hooks)
	t.Cleanup(hooks.Close)
	status := NewStatus(
		roomsOf(g), func(*connector.Connector) []netip.AddrPort { return r.listener.Addresses() }, func(*connector.Connector) int64 { return r.reached },
	)
	all := New(roomsOf(g), hooks, status)
	l, err := server.Listen(listenerRooms(g), g.Table.Connector("api"), nil, body.NewRoom(&g.Node.Memory), nil, func(l *server.Listener) http.Handler {
		m := http.NewServeMux()
		for _, d := range l.Connector.Config().HTTP.Dialects {
			switch d {
			case "kannel":
				all.KannelRoutes(l, m)
			case "jasmin":
				all.JasminRoutes(l, m)
			}
		}
		return m
	})
	if err != nil {
		t.Fatal(err)
	}
	r.listener = l
	l.Serve()
	t.Cleanup(l.Close)
	r.client = apitest.Client{T: t, URL: "http://" + l.Addresses()[0].String()}
	return r
}

// listenerRooms returns what a listener needs of a gateway.
func listenerRooms(g *gateway.Gateway) server.Rooms {
	return server.Rooms{Node: g.Node, Admission: g.Sessions, Logins: g.Logins, Tracer: g.Settler}
}

// roomsOf returns the rooms of a gateway.
func roomsOf(g *gateway.Gateway) Rooms {
	return Rooms{Node: g.Node, Logins: g.Logins, Submitter: g.Requests, Lanes: g.Table, Store: g.Keeper, Backlog: g}
}

// want makes a request, "METHOD /path", with a body and headers, and compares its answer, "status body".
func (r *rig) want(request, body, answer string, headers ...string) apitest.Reply {
	r.t.Helper()
	w := r.client.Do(request, body, headers...)
	if got := fmt.Sprint(w.Status, " ", w.Body); got != answer {
		r.t.Errorf("%s %s: %q, want %q", request, body, got, answer)
	}
	return w
}

// takes waits for a message at the SMSC, which takes it under an id.
func (r *rig) takes(id, from, to, text string) {
	r.t.Helper()
	one := r.SMSC.Take()
	m := one.Message
	if string(m.Source().Addr) != from || string(m.Dest().Addr) != to || string(m.Text()) != text {
		r.t.Errorf("%q from %s to %s, want %q from %s to %s", m.Text(), m.Source().Addr, m.Dest().Addr, text, from, to)
	}
	one.Answer(sms.OK, 0, id)
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	testutil.Eventually(t, what, ok)
}

const form = "Content-Type: application/x-www-form-urlencoded"

// Programs that send by Kannel get its answers, octet by octet, and nothing is sent that it would not send.
func TestKannel(t *testing.T) {
	t.Parallel()
	r := newRig(t, "dialects: [kannel]", "", "")
	const send, login = "GET /cgi-bin/sendsms?", "username=shop&password=secret&from=1234&to=46700000001"
	r.want("GET /cgi-bin/xmlrpc", "", "404 Unknown request.")
	r.want(send+"username=shop&password=wrong&to=46&text=a", "", "403 Authorization failed for sendsms")
	r.want(send+"username=shop&password=secret&text=a", "", "400 Missing receiver number, rejected")
	r.want(send+"username=shop&password=secret&to=46700000001&text=a", "", "400 Sender missing and no global set, rejected")
	r.want(send+login+"&text=a&dlr-mask=31&dlr-url=http://192.0.2.1/x%3Fsecret", "", "400 DLR-URL field misformed, rejected")
	r.want(send+strings.Replace(login, "to=46", "to=47", 1)+"&text=a", "", "403 Not routable. Do not try again.")
	for _, method := range []string{"PUT", "DELETE", "PATCH", "OPTIONS"} {
		r.want(method+" /cgi-bin/sendsms?"+login+"&text=a", "", "400 Method not supported, rejected")
	}
	r.want("HEAD /cgi-bin/sendsms?"+login+"&text=a", "", "400 ")
	r.client.Do("POST /cgi-bin/sendsms?"+login, strings.Repeat("a", 1<<20+1), form).Want(413, "Request is too large, rejected")
	r.client.Do("POST /cgi-bin/sendsms", strings.Repeat("a", maxStranger+1), form).Want(413, "Request is too large, rejected")
	if text := r.Log.String(); strings.Count(text, "its URL may not be called") != 1 || !strings.Contains(text, `"url":"http://192.0.2.1/x"`) {
		t.Error(text)
	}
	if stats := r.listener.Connector.Stats; stats.Accepted.Load() != 0 || !r.SMSC.Idle() {
		t.Error("something was accepted")
	}

	dlr := "&dlr-mask=31&dlr-url=" + url.QueryEscape(r.hook.URL+"/given/%d?id=7&reply=%A")
	r.want(send+login+"+alice+46700000002&text=hello"+dlr, "", "202 0: Accepted for delivery")
	r.takes("a1", "1234", "46700000001", "hello")
	r.takes("a2", "1234", "46700000002", "hello")
	if text := r.Log.String(); !strings.Contains(text, "receivers of a request were omitted") || !strings.Contains(text, `"receivers":1`) {
		t.Error(text)
	}
	r.want("POST /cgi-bin/sendsms", login+"&text=by+form", "202 0: Accepted for delivery", form)
	r.takes("a3", "1234", "46700000001", "by form")
	r.want("POST /cgi-bin/sendsms", "by text", "202 0: Accepted for delivery", "Content-Type: text/plain", "X-Kannel-Username: shop",
		"X-Kannel-Password: secret", "X-Kannel-From: 1234", "X-Kannel-To: 46700000001")
	r.takes("a4", "1234", "46700000001", "by text")
	r.want(send+login+"+47000000001&text=one", "", "202 0: Accepted for delivery")
	r.takes("a5", "1234", "46700000001", "one")
	// three were refused above for what they have, and the last has a receiver that no route takes
	refused := r.listener.Connector.Stats.Statuses()
	if n := refused[connector.StatusKey{Command: httpsms.SubmitAnswer, Status: 400}]; n != 4 || refused[connector.StatusKey{Command: httpsms.SubmitAnswer, Status: 403}] != 2 {
		t.Errorf("%v", refused)
	}
	eventually(t, "its client is called", func() bool { return len(r.hook.Took("/given/8?id=7&reply=ACK%2F")) == 2 })
	r.SMSC.Receipt("a1", sms.StateDelivered)
	eventually(t, "its client is called", func() bool { return len(r.hook.Took("/given/1?id=7&reply=")) == 1 })
	r.Settled()
}

// A message of an account whose rules make senders needs none.
func TestKannelSenderless(t *testing.T) {
	t.Parallel()
	r := newRig(t, "dialects: [kannel]", `, rewrite: [{in: source, default: "555"}]`, "")
	r.want("GET /cgi-bin/sendsms?username=shop&password=secret&to=46700000001&text=a", "", "202 0: Accepted for delivery")
	r.takes("a1", "555", "46700000001", "a")
}

// Programs that send by either of Jasmin's interfaces get its answers, octet by octet, and are called until they say ACK/Jasmin.
func TestJasmin(t *testing.T) {
	t.Parallel()
	r := newRig(t, "dialects: [jasmin]", "", "public_name: operator")
	const login = "username=shop&password=secret"
	secure := "Authorization: Basic c2hvcDpzZWNyZXQ="
	r.want("GET /ping", "", "200 Jasmin/PONG")
	r.want("GET /", "", "200 Jasmin 0.11.1")
	r.want("GET /send", "", `400 Error "Mandatory argument [to] is not found."`)
	r.want("GET /send?username=shop&password=wrong&to=46700000001&content=a", "", `403 Error "Authentication failure for username:shop"`)
	r.want("GET /send?"+login+"&to=46700000001&content=a&dlr-url=http://192.0.2.1/x", "", `400 Error "Argument [dlr-url] has an invalid value: [http://192.0.2.1/x]."`)
	r.want("GET /balance?"+login, "", `200 {"balance": "ND", "sms_count": "ND"}`)
	r.want("GET /rate?"+login+"&to=1", "", `412 "No route found"`)
	for _, method := range []string{"PUT", "DELETE", "PATCH", "OPTIONS"} {
		r.want(method+" /send?"+login+"&to=46700000001&content=a", "", "405 Method Not Allowed")
	}
	r.want("HEAD /send?"+login+"&to=46700000001&content=a", "", "405 ")
	r.want("GET /secure/rate?to=46700000001&content=a", "", `200 {"data":{"unit_rate":0.0,"submit_sm_count":1}}`, secure)
	r.client.Do("POST /secure/send", strings.Repeat(" ", 1<<20+1), secure).Want(413, `{"message":"Error \"Request is too large"}`)
	if text := r.Log.String(); !strings.Contains(text, "its URL may not be called") || !r.SMSC.Idle() {
		t.Error(text)
	}

	r.hook.Answers(200, "no", "")
	dlr := "&dlr=yes&dlr-level=3&dlr-url=" + url.QueryEscape(r.hook.URL+"/given/dlr")
	sent := r.client.Do("GET /send?"+login+"&from=Shop&to=%2B46700000001&content=hej"+dlr, "").Want(200, `Success "`)
	id := strings.TrimSuffix(strings.TrimPrefix(sent.Body, `Success "`), `"`)
	r.takes("00ab", "Shop", "46700000001", "hej")
	eventually(t, "it is called again without ACK/Jasmin", func() bool { return len(r.hook.Calls("id="+id, "level=1&", "connector=operator&")) > 1 })
	r.hook.Answers(200, "ACK/Jasmin\n", "")
	r.SMSC.Receipt("00ab", sms.StateDelivered)
	eventually(t, "it is delivered", func() bool {
		return len(r.hook.Took("id="+id, "level=2&", "message_status=DELIVRD", "id_smsc=AB&")) == 1
	})

	r.client.Do("POST /send", login+"&from=1&to=46700000001&content=form", form).Want(200, `Success "`)
	r.takes("ab2", "1", "46700000001", "form")
	batch := fmt.Sprintf(`{"messages":[{"to":["46700000002",46700000003],"content":"two"},{"to":47,"content":"lost"}],"globals":{"from":"1234"},`+
		`"batch_config":{"callback_url":"%[1]s/given/batch","errback_url":"%[1]s/given/failed"}}`, r.hook.URL)
	w := r.client.Do("POST /secure/sendbatch", batch, secure).Want(200, `{"data":{"batchId":"`, `"messageCount":2}}`)
	if strings.Contains(w.Body, `batchId":"00000000-`) {
		t.Error(w.Body)
	}
	r.takes("ab3", "1234", "46700000002", "two")
	r.takes("ab4", "1234", "46700000003", "two")
	eventually(t, "the batch is told", func() bool {
		return len(r.hook.Calls("/given/batch?batchId=")) == 2 && len(r.hook.Calls("/given/failed?batchId=")) == 1
	})
	r.want("POST /secure/sendbatch", strings.ReplaceAll(batch, r.hook.URL, "http://192.0.2.1"),
		`400 {"message":"Error \"Argument [callback_url or errback_url] has an invalid value: [http://192.0.2.1/given/batch]."}`, secure)
	r.Settled()
}

// The status is that of a bearerbox, for those who have its password.
func TestStatus(t *testing.T) {
	t.Parallel()
	r := newRig(t, "dialects: [kannel], status_password: look", "", "")
	r.want("GET /status", "", "200 Denied")
	r.want("GET /status.xml?password=wrong", "", "200 <?xml version=\"1.0\"?>\n<gateway>\nDenied</gateway>\n")
	r.SMSC.Deliver("one")
	r.SMSC.Deliver("two")
	r.want("GET /cgi-bin/sendsms?username=shop&password=secret&from=1234&to=46700000001&dlr-mask=1&dlr-url="+r.hook.URL+"/given&text=a",
		"", "202 0: Accepted for delivery")
	r.takes("a1", "1234", "46700000001", "a")
	eventually(t, "it has left", func() bool {
		return r.Gateway.Keeper.Batches.Sync() == nil && r.Gateway.Table.Connector("operator").Stats.Sent.Load() == 1
	})
	r.SMSC.Receipt("a1", sms.StateDelivered)
	eventually(t, "its client is called", func() bool { return len(r.hook.Took("/given")) == 1 && r.Gateway.Pending() == 2 })
	for _, path := range []string{"/status", "/status.txt", "/cgi-bin/status", "/cgi-bin/status.txt"} {
		r.client.Do("GET "+path+"?password=look", "").Want(200, "Kannel bearerbox version `1.4.5'.\n", "Status: running, uptime 0d 0h 0m")
	}
	for _, path := range []string{"/status.xml", "/cgi-bin/status.xml"} {
		r.client.Do("GET "+path+"?password=look", "").Want(
			200, "<status>running, uptime 0d 0h 0m ", "<received><total>2</total><queued>2</queued></received>",
			"<sent><total>1</total><queued>0</queued></sent>", "<storesize>2</storesize>", "<received><total>1</total></received>",
			"<id>api</id>", "<IP>127.0.0.1</IP>", "<ssl>no</ssl>", "<name>SMPP:127.0.0.1:1:pmg</name>", "<id>operator</id>",
			"<status>connecting</status>", "<failed>0</failed>", "<received>2</received>", "<sent>1</sent>",
		)
	}
	if text := r.Log.String(); !strings.Contains(text, "does not show status_password") || strings.Contains(text, "look") {
		t.Error(text)
	}
	silent := newRig(t, "dialects: [kannel]", "", "")
	for _, path := range []string{"/status.xml", "/status", "/cgi-bin/status.txt"} {
		silent.want("GET "+path+"?password=", "", "404 Unknown request.")
	}
}

// The state of the gateway and of its SMSCs is said in the words of Kannel.
func TestStates(t *testing.T) {
	t.Parallel()
	r := newRig(t, "dialects: [kannel]", "", "static: true")
	g, operator := r.Gateway, r.Gateway.Table.Connector("operator")
	v := NewStatus(roomsOf(g), func(*connector.Connector) []netip.AddrPort { return nil }, func(*connector.Connector) int64 { return r.reached })
	now := g.Node.Clock.Now()
	eventually(t, "the SMSC is connected", func() bool { return operator.Online() == 1 })
	for _, c := range []struct {
		why     string
		reached int64
		failing int64
		hold    *connector.Hold
		want    string
		online  time.Duration
	}{
		{"it has no session yet", 0, 0, nil, "connecting", 0},
		{"it was reached", now - int64(time.Minute), 0, nil, "", time.Minute},
		{"it was reached before another call failed", now - int64(time.Minute), 1, nil, "", time.Minute},
		{"nobody is there", 0, 1, nil, "re-connecting", 0},
		{"an operator holds it", now - int64(time.Minute), 1, &connector.Hold{}, "disconnected", 0},
	} {
		r.reached = c.reached
		operator.Stats.Failing.Store(c.failing)
		operator.SetHold(c.hold)
		if state, online := v.stateOf(now, operator); state != c.want || online != c.online {
			t.Errorf("%s: %q for %v, want %q for %v", c.why, state, online, c.want, c.online)
		}
	}
	if s := v.read(); s.State != "running" || len(s.SMSCs) != 1 || len(s.Boxes) != 1 || s.Boxes[0].IP != "" || s.Stored != 0 {
		t.Errorf("%+v", s)
	}
	limit := g.Node.Memory.Limit()
	g.Node.Memory.SetLimit(1)
	g.Node.Memory.Add(1)
	operator.Removed.Store(true)
	r.listener.Connector.Removed.Store(true)
	if s := v.read(); s.State != "filled" || len(s.SMSCs) != 0 || len(s.Boxes) != 0 {
		t.Errorf("%+v", s)
	}
	g.Node.Memory.Add(-1)
	g.Node.Memory.SetLimit(limit)
	g.Node.Drain()
	if s := v.read(); s.State != "going down" {
		t.Errorf("%+v", s)
	}
	other := newRig(t, "dialects: [kannel]", "", "static: false").Gateway // it connects when it has a message
	reached := func(*connector.Connector) int64 { return 0 }
	if state, _ := NewStatus(roomsOf(other), nil, reached).stateOf(now, other.Table.Connector("operator")); state != "disconnected" {
		t.Error(state)
	}
}
