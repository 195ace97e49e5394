package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testutil"
)

// listed walks over the pages of a list, and returns the id and the state of each message.
func (a *api) listed(query string) (all []string) {
	a.t.Helper()
	for pages := 1; ; pages++ {
		r := a.do("GET", "/v1/messages?"+query, "").want(a.t, 200, "")
		var page struct {
			Messages []struct{ ID, State string }
			Next     string `json:"next_cursor"`
		}
		if err := json.Unmarshal([]byte(r.body), &page); err != nil {
			a.t.Fatal(err)
		}
		for _, m := range page.Messages {
			all = append(all, m.ID+" "+m.State)
		}
		link := r.header.Get("Link")
		if page.Next == "" || pages == 100 {
			if link != "" || pages == 100 {
				a.t.Errorf("page %d has the link %q", pages, link)
			}
			return all
		}
		next, _, ok := strings.Cut(strings.TrimPrefix(link, "</v1/messages?"), `>; rel="next"`)
		if !ok || !strings.Contains(next, "cursor="+page.Next) {
			a.t.Fatalf("the link is %q, the cursor %q", link, page.Next)
		}
		query = next
	}
}

// A client lists its messages: those that wait and those that have left, the latest first, whichever protocol brought
// them, and none of another account. After a restart the list is the same.
func TestHTTPList(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), more: withAPI, out: "window: 1", store: vfs.NewMem(), accounts: "{system_id: other, password: s3cret}"}
	g := start(t, s)
	a, smsc := g.api(), s.operator.session()
	other := g.api()
	other.name = "other"
	g.online("operator", 1)
	began := time.Now().Add(-time.Minute)
	submit := func(a *api, to, more string) string {
		return a.do("POST", "/v1/messages", `{"from":"Shop","to":"`+to+`","text":"hello"`+more+`}`).want(t, 202, "").text("id")
	}
	first := submit(a, "+46700000001", `,"client_reference":"order 7"`)
	smsc.accepts("1")
	smsc.send(receiptOf("1", "DELIVRD"))
	smsc.want("deliver_sm_resp")
	sent := submit(a, "+46700000002", "")
	smsc.accepts("2")
	foreign := submit(other, "+46700000001", `,"client_reference":"order 7"`)
	smsc.accepts("3")
	under := submit(a, "+46700000003", "")
	smsc.want("submit_sm") // and no answer
	later := submit(a, "+46700000001", `,"send_at":"`+time.Now().Add(time.Hour).UTC().Format(time.RFC3339)+`"`)
	gone := submit(a, "+46700000004", "")
	a.do("DELETE", "/v1/messages/"+gone, "").want(t, 202, "")

	all := []string{gone + " deleted", later + " scheduled", under + " queued", sent + " sent", first + " delivered"}
	want := func(query string, want ...string) {
		t.Helper()
		if got := a.listed(query); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	testutil.Eventually(t, "the receipt is noted", func() bool { return slices.Equal(a.listed(""), all) })
	want("limit=1", all...)
	want("limit=2", all...)
	want("limit=5", all...)
	want("to=%2B46700000001", later+" scheduled", first+" delivered")
	want("to=+46700000001&limit=1", later+" scheduled", first+" delivered")
	want("client_reference=order+7", first+" delivered")
	want("state=sent", sent+" sent")
	want("from=Shop&state=deleted", gone+" deleted")
	want("from=Other")
	want("since="+url.QueryEscape(began.Format(time.RFC3339)), all...)
	want("until=" + url.QueryEscape(began.Format(time.RFC3339)))
	want("since=" + url.QueryEscape(time.Now().Add(48*time.Hour).Format(time.RFC3339)))
	if got := other.listed(""); !slices.Equal(got, []string{foreign + " sent"}) {
		t.Errorf("the other account has %q", got)
	}
	for _, query := range []string{"x=1", "limit=0", "to=", "state=gone", "since=now", "cursor=x", "to=1&to=2", "%zz"} {
		a.do("GET", "/v1/messages?"+query, "").want(t, 400, "malformed-query")
	}
	cursor := a.do("GET", "/v1/messages?limit=1", "").text("next_cursor")
	a.do("GET", "/v1/messages?to=1&cursor="+cursor, "").want(t, 400, "malformed-query")
	newest := submit(a, "+46700000005", "")
	if r := a.do("GET", "/v1/messages?limit=1&cursor="+cursor, ""); !strings.Contains(r.body, later) || strings.Contains(r.body, newest) {
		t.Errorf("a page behind a message that came meanwhile: %s", r.body)
	}
	g.stop()
	g = start(t, s)
	a = g.api()
	testutil.Eventually(t, "the gateway is ready", func() bool { return a.do("GET", "/v1/messages", "").status == 200 })
	want("", slices.Concat([]string{newest + " queued"}, all)...)
}

// A message that is cut into several is one in the list, by the id that its client knows.
func TestHTTPListLong(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), more: withAPI, out: "window: 10, long_messages: split8, public_name: operator", store: vfs.NewMem()}
	g := start(t, s)
	a, smsc := g.api(), s.operator.session()
	g.online("operator", 1)
	id := a.do("POST", "/v1/messages", textBody("46700000001", strings.Repeat("a", 400))).want(t, 202, "").text("id")
	for i := range 3 {
		smsc.accepts(fmt.Sprint(i))
	}
	testutil.Eventually(t, "it is sent", func() bool { return slices.Equal(a.listed(""), []string{id + " sent"}) })
	for i := range 3 {
		smsc.send(receiptOf(fmt.Sprint(i), []string{"DELIVRD", "DELIVRD", "UNDELIV"}[i]))
		smsc.want("deliver_sm_resp")
	}
	if got := a.do("GET", "/v1/messages/"+id, "").want(t, 200, "").text("id"); got != id {
		t.Errorf("asked for %s, it is %s", id, got)
	}
	testutil.Eventually(t, "it is undelivered", func() bool { return slices.Equal(a.listed("state=undelivered"), []string{id + " undelivered"}) })
	for _, path := range []string{"/v1/messages/" + id, "/v1/messages"} {
		const want = `"network_error":"000","smsc_id":"0","connector":"operator"`
		if r := a.do("GET", path, ""); !strings.Contains(r.body, `"parts":3,`) || !strings.Contains(r.body, want) {
			t.Errorf("%s, want %s", r.body, want)
		}
	}
	if got := a.listed("state=failed"); got != nil {
		t.Errorf("%s", got)
	}
}

// A store in memory says that it does not list.
func TestHTTPListMemory(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), more: withAPI}
	g := start(t, s)
	g.api().do("GET", "/v1/messages", "").want(t, 503, "unavailable")
}
