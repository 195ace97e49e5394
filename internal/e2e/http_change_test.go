package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"pmg/protocols/httpsms/own"
)

// A client changes a message that waits: its text, and when it is sent. What has left stays as it is.
func TestHTTPChange(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s.more, s.out = withAPI, "window: 1"
		g := start(t, s)
		a, smsc := g.api(), s.operator.session()
		g.online("operator", 1)
		submit := func(more string) string {
			return "/v1/messages/" + a.do("POST", "/v1/messages", `{"from":"1234","to":"46700000001","text":"hello"`+more+`}`).want(t, 202, "").text("id")
		}
		in := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339) }
		one := submit("")
		line := smsc.want("submit_sm")
		two := submit(`,"client_reference":"r2"`)
		later := submit(`,"send_at":"` + in(time.Hour) + `"`)
		if r := a.do("PATCH", two, `{"text":"changed"}`).want(t, 200, ""); r.text("state") != "queued" || r.text("client_reference") != "r2" {
			t.Error(r.body)
		}
		if r := a.do("PATCH", later, `{"send_at":"`+in(3*time.Hour)+`","validity":"2h"}`).want(t, 200, ""); r.text("send_at") < in(2*time.Hour) || r.text("expires_at") < in(4*time.Hour) || r.text("state") != "scheduled" {
			t.Error(r.body)
		}
		a.do("PATCH", later, `{"send_at":"`+in(6*time.Hour)+`"}`).want(t, 422, "invalid-message")   // behind its end
		a.do("PATCH", later, `{"send_at":"`+in(600*time.Hour)+`"}`).want(t, 422, "invalid-message") // too far ahead
		a.do("PATCH", one, `{"text":"late"}`).want(t, 409, "not-changeable")                        // it is under way
		other := g.api()
		other.name = "other"
		other.do("PATCH", two, `{"text":"of another"}`).want(t, 404, "not-found")
		a.do("PATCH", "/v1/messages/0000000000000001", `{"text":"a"}`).want(t, 404, "not-found")
		a.do("PATCH", two, `{"text":1}`).want(t, 422, "invalid-message")
		a.do("PATCH", two, `{`).want(t, 400, "malformed-json")
		smsc.answer(0, field(line, "seq"))
		smsc.answer(0, field(smsc.want("submit_sm", `short_message="changed"`), "seq"))
		a.do("PATCH", later, `{"send_at":"`+in(-time.Hour)+`","text":"now"}`).want(t, 200, "")
		smsc.answer(0, field(smsc.want("submit_sm", `short_message="now"`), "seq"))
		g.settled()
		a.do("PATCH", two, `{"text":"late"}`).want(t, 409, "already-sent")
	})
}

// A client reads what it may, what it has done, and how much of its rate is left.
func TestHTTPAccount(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), more: withAPI, accounts: "{system_id: other, password: s3cret, rate: 10, burst: 5}"}
	g := start(t, s)
	a := g.api()
	if r := a.do("GET", "/v1/account", "").want(t, 200, ""); r.text("account") != "acme" || r.header.Get("RateLimit") != "" {
		t.Errorf("%v %s", r.header, r.body)
	}
	a.name = "other"
	a.do("POST", "/v1/messages", textBody("46700000001", "a")).want(t, 202, "")
	r := a.do("GET", "/v1/account", "").want(t, 200, "")
	if counters, _ := r.fields["counters"].(map[string]any); counters["accepted"] != 1.0 || r.fields["rate"] != 10.0 || r.fields["burst"] != 5.0 {
		t.Error(r.body)
	}
	if policy, left := r.header.Get("RateLimit-Policy"), r.header.Get("RateLimit"); policy != `"account";q=10;w=1` || !strings.HasPrefix(left, `"account";r=`) {
		t.Errorf("%s, %s", policy, left)
	}
	smsc := s.operator.session()
	smsc.answer(0, field(smsc.want("submit_sm"), "seq"))
	g.settled()
}

// A path that does not know a method names those that it knows, and each problem has a page.
func TestHTTPPages(t *testing.T) {
	parallel(t)
	a := start(t, site{operator: newSMSC(t), more: withAPI}).api()
	f := func(method, path, allowed string) {
		t.Helper()
		if r := a.do(method, path, "").want(t, 405, "method-not-allowed"); r.header.Get("Allow") != allowed {
			t.Error(r.header)
		}
	}
	f("PUT", "/v1/messages/0000000000000001", "GET, PATCH, DELETE")
	f("DELETE", "/v1/messages", "GET, POST")
	f("POST", "/v1/account", "GET")
	a.do("PUT", "/v1/nothing", "").want(t, 404, "not-found")
	a.do("GET", "/problems/nothing", "").want(t, 404, "not-found")
	for _, k := range own.Kinds() {
		resp, err := http.Get(a.url + "/problems/" + k.Name) // without a login
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 200 || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: %s", k.Name, resp.Status)
		}
	}
}

// The contract can be read, by programs and by people.
func TestHTTPContract(t *testing.T) {
	parallel(t)
	a := start(t, site{operator: newSMSC(t), more: withAPI}).api()
	c := a.contract()
	if served := a.do("GET", "/v1/openapi.json", ""); served.fields["openapi"] != "3.1.0" {
		t.Errorf("%.100s", served.body)
	}
	r := a.do("GET", "/v1/docs", "")
	for path := range c.Paths {
		if !strings.Contains(r.body, path+"</code>") {
			t.Errorf("the page lacks %s", path)
		}
	}
	for event := range c.Webhooks {
		if !strings.Contains(r.body, "<code>"+event+"</code>") {
			t.Errorf("the page lacks %s", event)
		}
	}
	for name := range c.Components.Schemas {
		if !strings.Contains(r.body, "<h2 id="+name+">") {
			t.Errorf("the page lacks %s", name)
		}
	}
}
