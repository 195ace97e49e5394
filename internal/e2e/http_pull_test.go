package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testutil"
)

func pullSite(t *testing.T) site {
	return site{
		operator: newSMSC(t), store: vfs.NewMem(),
		more:     `{name: api, direction: in, protocol: http, address: "127.0.0.1:0"}`,
		accounts: "{system_id: api, password: s3cret, bind: [transmitter], pull: true}\n{system_id: other, password: s3cret}",
		routes:   "{from: operator, to: {account: api}}\n{to: operator}",
	}
}

// events fetches events, and returns their ids and types.
func (a *api) events(query string) (ids, types []string) {
	a.t.Helper()
	var got struct {
		Events []struct{ ID, Type string }
	}
	if err := json.Unmarshal([]byte(a.do("GET", "/v1/events?"+query, "").want(a.t, 200, "").body), &got); err != nil {
		a.t.Fatal(err)
	}
	for _, e := range got.Events {
		ids, types = append(ids, e.ID), append(types, e.Type)
	}
	return ids, types
}

// acknowledges says that the client has events, and returns those that are not known.
func (a *api) acknowledges(ids ...string) string {
	a.t.Helper()
	return a.do("POST", "/v1/events:ack", fmt.Sprintf(`{"ids": ["%s"]}`, strings.Join(ids, `","`))).want(a.t, 200, "").body
}

// An account without a server fetches what became of its messages, and messages from mobiles. What it does not acknowledge
// is told again, after a restart too, and nothing that it has acknowledged is.
func TestHTTPPull(t *testing.T) {
	parallel(t)
	s := pullSite(t)
	g := start(t, s)
	a := g.api()
	a.name = "api"
	if ids, _ := a.events(""); len(ids) != 0 {
		t.Errorf("%q wait", ids)
	}
	id := a.do("POST", "/v1/messages", textBody("46700000001", "hello")).want(t, 202, "").text("id")
	smsc := s.operator.session()
	smsc.accepts("abc1")
	smsc.send(receiptOf("abc1", "DELIVRD"), `deliver_sm seq=91 source_addr_ton=1 source_addr_npi=1 source_addr=46700000001 destination_addr=1234 short_message="vote"`)
	smsc.want("deliver_sm_resp")
	smsc.want("deliver_sm_resp")
	var first, types []string
	for len(first) < 2 {
		ids, kinds := a.events("wait=10s")
		first, types = append(first, ids...), append(types, kinds...)
	}
	if all := fmt.Sprint(types); !strings.Contains(all, "message.delivered") || !strings.Contains(all, "inbound.received") {
		t.Errorf("%q", types)
	}
	if ids, _ := a.events(""); len(ids) != 0 {
		t.Errorf("%q are told again immediately", ids)
	}
	g.wantLog("api", "> http_call", "id="+id, "state=delivered")
	if said := a.acknowledges(first[0], "evt_1"); said != `{"unknown":["evt_1"]}`+"\n" {
		t.Error(said)
	}
	if said := a.acknowledges(first[0]); !strings.Contains(said, first[0]) {
		t.Error(said)
	}
	testutil.Eventually(t, "one is left", func() bool { return g.Pending() == 1 && g.synced() })
	smsc.conn.Close()
	g.stop()

	g = start(t, s)
	a = g.api()
	a.name = "api"
	ids, _ := a.events("wait=10s&limit=1")
	if len(ids) != 1 || ids[0] != first[1] {
		t.Errorf("%q, want %s", ids, first[1])
	}
	a.acknowledges(ids...)
	g.settled()
}

// Requests for events that are not valid, of accounts that fetch none, or too many, are refused.
func TestHTTPPullRefused(t *testing.T) {
	parallel(t)
	g := start(t, pullSite(t))
	a := g.api()
	a.name = "other"
	a.do("GET", "/v1/events", "").want(t, 403, "forbidden")
	a.name = "api"
	for _, query := range []string{"limit=0", "limit=101", "limit=x", "wait=x", "wait=-1s", "wait=31s"} {
		a.do("GET", "/v1/events?"+query, "").want(t, 422, "invalid-message")
	}
	for _, body := range []string{"{}", `{"ids":"a"}`, `{"ids":[1]}`, `{"ids":[],"x":1}`, "[", `{"ids":["` + strings.Repeat(`","`, 1000) + `"]}`} {
		a.do("POST", "/v1/events:ack", body).want(t, 422, "invalid-message")
	}
	a.do("POST", "/v1/events:ack", `{"ids":["`+strings.Repeat("a", 64<<10)+`"]}`).want(t, 413, "too-large")
	a.do("DELETE", "/v1/events", "").want(t, 405, "method-not-allowed")
	done := make(chan int, 9)
	for range 9 {
		go func() { done <- a.do("GET", "/v1/events?wait=1s", "").status }()
	}
	refused := 0
	for range 9 {
		if status := <-done; status == 429 {
			refused++
		} else if status != 200 {
			t.Errorf("status %d", status)
		}
	}
	if refused != 1 {
		t.Errorf("%d of 9 requests were refused", refused)
	}
	began := time.Now()
	a.events("")
	t.Logf("no event waits: %s", time.Since(began))
}

// An account that may also log in, and receive by its sessions, fetches the events of its messages all the same.
func TestHTTPPullOfReceiver(t *testing.T) {
	parallel(t)
	s := pullSite(t)
	s.accounts = "{system_id: api, password: s3cret, pull: true}"
	g := start(t, s)
	a := g.api()
	a.name = "api"
	id := a.do("POST", "/v1/messages", textBody("46700000001", "hello")).want(t, 202, "").text("id")
	smsc := s.operator.session()
	smsc.accepts("abc1")
	smsc.send(receiptOf("abc1", "DELIVRD"))
	smsc.want("deliver_sm_resp")
	ids, types := a.events("wait=10s")
	if len(ids) != 1 || types[0] != "message.delivered" {
		t.Fatalf("of %s it fetches %q", id, types)
	}
	a.acknowledges(ids...)
	g.settled()
}
