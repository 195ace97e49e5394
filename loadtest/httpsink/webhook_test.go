package httpsink

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Events are counted by their ids, in calls of one and of several; GET /events shows the last.
func TestWebhook(t *testing.T) {
	t.Parallel()
	var o Options
	o.Told = func(e Event) error {
		if e.Type == "wrong" {
			return errors.New("it is wrong")
		}
		return nil
	}
	s := start(t, o)
	f := func(id, body string, status int, events, again, malformed int64) {
		t.Helper()
		got, _ := s.call(t.Context(), "POST", "/hook", body, "Webhook-Id", id)
		if r := s.Result(); got != status || r.Events != events || r.EventsAgain != again || r.Malformed != malformed {
			t.Errorf("%s: %d, %+v", body, got, r)
		}
	}
	f("e1", `{"type":"message.delivered","data":{"id":"1"}}`, 204, 1, 0, 0)
	f("e1", `{"type":"message.delivered","data":{"id":"1"}}`, 204, 1, 1, 0)
	f("b1", `{"type":"batch","data":[{"id":"e1","type":"a"},{"id":"e2","type":"b","data":{}}]}`, 204, 2, 2, 0)
	f("b2", `{"type":"batch","data":[{"id":"e2","type":"a"},{"id":"e3","type":"b"}]}`, 204, 3, 3, 0)
	f("", `{"type":"a"}`, 204, 4, 3, 0)
	f("", `{"type":"a"}`, 204, 5, 3, 0)
	f("e4", `{"type":"wrong"}`, 400, 5, 3, 1)
	f("e4", `{"type":"right"}`, 204, 6, 3, 1)
	f("e5", `{"data":{}}`, 400, 6, 3, 2)
	f("e5", `{"type":"batch","data":{}}`, 400, 6, 3, 3)
	f("e5", `{"type":"batch","data":[`+strings.Repeat(`{"type":"a"},`, maxEvents)+`{"type":"a"}]}`, 400, 6, 3, 4)
	f("e5", `{"type":"`+strings.Repeat("a", maxType+1)+`"}`, 400, 6, 3, 5)
	f(strings.Repeat("e", maxName+1), `{"type":"a"}`, 400, 6, 3, 6)
	f("e6", `{"type":"large","data":"`+strings.Repeat("a", maxKept)+`"}`, 204, 7, 3, 6)
	_, said := s.call(t.Context(), "GET", "/events", "")
	var shown struct {
		Last []struct {
			Event
			Path string
		}
	}
	if err := json.Unmarshal([]byte(said), &shown); err != nil || len(shown.Last) != 7 || shown.Last[0].ID != "e1" ||
		shown.Last[0].Path != "/hook" || string(shown.Last[0].Data) != `{"id":"1"}` || len(said) > maxKept {
		t.Errorf("%v: %s", err, said)
	}
	if r := s.Result(); r.EventTypes["b"] != 2 || r.EventTypes["message.delivered"] != 1 {
		t.Errorf("%+v", r)
	}
}

// Events that faults refuse do not count; they count when they come again.
func TestWebhookFaults(t *testing.T) {
	t.Parallel()
	var o Options
	o.ThrottleEvery, o.RefuseEvery, o.DropEvery, o.LateEvery, o.Late = 2, 3, 5, 7, time.Millisecond
	s := start(t, o)
	got := map[int]int{}
	for n := range 30 {
		status, _ := s.call(t.Context(), "POST", "/", fmt.Sprintf(`{"type":"a","data":%d}`, n), "Webhook-Id", fmt.Sprint(n))
		got[status]++
	}
	if got[429] != 12 || got[500] != 4 || got[0] != 6 || got[204] != 8 {
		t.Errorf("%v", got)
	}
	if r := s.Result(); r.Events != 8 || r.CallsRefused != 22 || r.Calls != 30 {
		t.Errorf("%+v", r)
	}
}

// The example of Standard Webhooks is signed, and nothing like it; signatures with a public key are known as well.
func TestSigned(t *testing.T) {
	t.Parallel()
	const secret, id, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", `{"test": 2432232314}`
	const good = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	at := time.Unix(1614265330, 0)
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	asymmetric := "v1a," + base64.StdEncoding.EncodeToString(ed25519.Sign(private, []byte(id+".1614265330."+body)))
	whpk := "whpk_" + base64.StdEncoding.EncodeToString(public)
	f := func(text, id, timestamp, signature, body string, now time.Time, want bool) {
		t.Helper()
		k, err := readKey(text)
		if err != nil {
			t.Fatal(err)
		}
		h := http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {timestamp}, "Webhook-Signature": {signature}}
		if got := k.signed(h, []byte(body), now); got != want {
			t.Errorf("%s %s %s %s: %t", id, timestamp, signature, body, got)
		}
	}
	f(secret, id, "1614265330", good, body, at, true)
	f(secret, id, "1614265330", "v1,AAAA "+good, body, at.Add(time.Minute), true)
	f(whpk, id, "1614265330", asymmetric, body, at, true)
	f(whpk, id, "1614265330", good, body, at, false)
	f(secret, id, "1614265330", asymmetric, body, at, false)
	f(secret, id, "1614265330", good, body+" ", at, false)
	f(secret, "msg_2", "1614265330", good, body, at, false)
	f(secret, id, "1614265331", good, body, at, false)
	f(secret, id, "1614265330", good, body, at.Add(6*time.Minute), false)
	f(secret, id, "soon", good, body, at, false)
	f(secret, id, "1614265330", "", body, at, false)
	f(secret, id, "1614265330", strings.Repeat("v1,AAAA ", maxSignatures)+good, body, at, false)
	f(secret, "", "1614265330", good, body, at, false)
}

// A call without the signature of the key is answered 401, and its event does not count.
func TestForged(t *testing.T) {
	t.Parallel()
	s := start(t, Options{WebhookKey: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"})
	status, _ := s.call(t.Context(), "POST", "/", `{"type":"a"}`, "Webhook-Id", "e1", "Webhook-Timestamp", fmt.Sprint(time.Now().Unix()), "Webhook-Signature", "v1,AAAA")
	if r := s.Result(); status != 401 || r.Forged != 1 || r.Events != 0 || r.Problems() == nil {
		t.Errorf("%d %+v", status, r)
	}
}

// What is remembered and shown has bounds.
func TestBounds(t *testing.T) {
	t.Parallel()
	r := newRecent[int](10)
	for n := range 1000 {
		name := fmt.Sprint(n)
		if _, known := r.add(name, n); known {
			t.Fatalf("%s is known", name)
		}
		if first, known := r.add(name, -1); !known || first != n {
			t.Fatalf("%s is not known: %d", name, first)
		}
		last := fmt.Sprint(max(n-9, 0))
		if _, now := r.now[last]; !now {
			if _, before := r.before[last]; !before {
				t.Fatalf("%s is forgotten after %d", last, n)
			}
		}
		if len(r.now)+len(r.before) > 20 {
			t.Fatalf("%d are remembered", len(r.now)+len(r.before))
		}
	}
	var shown ring[int]
	for n := range maxShown + 10 {
		shown.add(n)
	}
	if all := shown.all(); len(all) != maxShown || all[0] != 10 || all[maxShown-1] != maxShown+9 {
		t.Errorf("%d are shown, %d first", len(all), all[0])
	}
	var of types
	for n := range 2 * maxTypes {
		of.add(fmt.Sprint(n))
	}
	if all := of.all(); len(all) != maxTypes+1 || all["other"] != maxTypes {
		t.Errorf("%d types, %d others", len(all), all["other"])
	}
}
