package own

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pmg/sms"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// A message is read with all of its members.
func TestReadMessage(t *testing.T) {
	t.Parallel()
	m, p := new(Reader).Message([]byte(`{"from": "Shop", "to":"+46700000001", "text": "h\u00e9j \ud83d\ude00\n", "message_class": 0, "priority":3, "protocol_id": 65,
		"send_at":"2026-11-23T13:00:00+00:00","validity":"30m","receipt":"all","client_reference":"order 7","deduplicate":true,"max_parts": 2}`), noon)
	if p != nil {
		t.Fatalf("%+v", p)
	}
	if m.From != "Shop" || m.To != "+46700000001" || m.Alphabet != sms.UCS2 || m.Encoding != "ucs2" || string(m.Text) != "\x00h\x00\xe9\x00j\x00 \xd8\x3d\xde\x00\x00\n" {
		t.Errorf("%+v", m)
	}
	if m.Class != sms.Class0 || m.Priority != 3 || m.PID != 65 || m.MaxParts != 2 || m.Context.Reference != "order 7" || !m.Deduplicate {
		t.Errorf("%+v", m)
	}
	if m.Notify != sms.NotifySuccess|sms.NotifyFailure|sms.NotifyProgress|sms.NotifySent || m.DeliverAt != noon.Add(time.Hour).UnixNano() || m.Expires != noon.Add(90*time.Minute).UnixNano() {
		t.Errorf("%+v", m)
	}
	if a := m.Accepted(0xabc, 1, sms.Quote{}, noon); a.State != Scheduled || a.ID != "0000000000000abc" {
		t.Errorf("%+v", a)
	}
}

// Texts are sent in the alphabet that is asked for, or in the one that needs the fewest parts.
func TestEncodings(t *testing.T) {
	t.Parallel()
	f := func(members, octets string, want sms.Alphabet) {
		t.Helper()
		m, p := new(Reader).Message([]byte(`{"to":"1",`+members+`}`), noon)
		if p != nil || string(m.Text) != octets || m.Alphabet != want {
			t.Errorf("%s: %+v, %+v", members, m, p)
		}
	}
	f(`"text":"åäö€"`, "\x0f\x7b\x7c\x1be", sms.Default)
	f(`"text":"e\u0301"`, "\x05", sms.Default)
	f(`"text":"e\u0301","encoding":"gsm7"`, "\x05", sms.Default)
	f(`"text":"e\u0301\u2126\u041f"`, "\x00\xe9\x03\xa9\x04\x1f", sms.UCS2)
	f(`"text":"","protocol_id":64`, "", sms.Default)
	f(`"text":"","udh":"AnAA"`, "", sms.Default)
	f(`"text":"Привет"`, "\x04\x1f\x04\x40\x04\x38\x04\x32\x04\x35\x04\x42", sms.UCS2)
	f(`"text":"a","encoding":"ucs2"`, "\x00a", sms.UCS2)
	f(`"text":"ý","encoding":"latin1"`, "\xfd", sms.Latin1)
	f(`"binary":"AAEC"`, "\x00\x01\x02", sms.Binary)
	f(`"binary":"AAEC","encoding":"binary","udh":"AnAA"`, "\x00\x01\x02", sms.Binary)
}

// What is wrong is named, with its place.
func TestReadMessageRefused(t *testing.T) {
	t.Parallel()
	f := func(body string, want ...string) {
		t.Helper()
		m, p := new(Reader).Message([]byte(body), noon)
		if p == nil {
			t.Errorf("%s is %+v", body, m)
			return
		}
		if len(want) == 0 {
			if p.Type != "/problems/malformed-json" || p.Status != 400 {
				t.Errorf("%s: %+v", body, p)
			}
			return
		}
		if len(p.Errors) != len(want) || p.Status != 422 {
			t.Errorf("%s: %+v", body, p)
			return
		}
		for i, e := range p.Errors {
			if got := e.Pointer + " " + e.Code; got != want[i] {
				t.Errorf("%s: %s, want %s", body, got, want[i])
			}
		}
	}
	f("")
	f("{")
	f(`{"to":"1","text":"a"} x`)
	f(`{"to":"1","to":"2","text":"a"}`) // which of them?
	f(`{"to":"1","text":"` + "\x01" + `"}`)
	f(`{"to":"1","text":"` + "\xff" + `"}`)
	f(`{"to":"1","text":"\ud800"}`)
	f(`{"to":"1","text":"\x"}`)
	f(`{"to":"1","text":"a","priority":01}`)
	f(`{"to":"1","text":"a","priority":true}`, "/priority wrong-type")
	f(`{"to":"1","text":"a","deduplicate":tru}`)
	f(`{"to":"1","text":"a","x":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}`)
	f(`{"to":"1","text":"a",}`)
	f(`{"to" "1"}`)
	f(`[]`, " wrong-type")
	f(`{"to":46700000001,"text":"a"}`, "/to wrong-type")
	f(`{"to":["+46700000001"],"text":"a"}`, "/to wrong-type")
	f(`{"to":"1","text":"a","deduplicate":true,"client_reference":7}`, "/client_reference wrong-type")
	f(`{"to":"1","text":"a","priority":"1"}`, "/priority wrong-type")
	f(`{"to":"1","text":"a","priority":9}`, "/priority out-of-range")
	f(`{"to":"1","text":"a","priority":-1}`, "/priority out-of-range")
	f(`{"to":"1","text":"a","deduplicate":false,"message_class":4}`, "/message_class out-of-range")
	f(`{"to":"1","text":"a","priority":1.5}`, "/priority out-of-range")
	f(`{"to":"1","text":"a","a/b~":{"c":[1,null,true,"x"]}}`, "/a~1b~0 unknown-field")
	f(`{"to":"1","text":""}`, "/text missing")
	f(`{"to":"1","text":7}`, "/text wrong-type")
	f(`{"to":"1","text":"a","binary":"AA=="}`, "/text conflict")
	f(`{"to":"1","binary":"?"}`, "/binary invalid")
	f(`{"to":"1","binary":"AA==","encoding":"gsm7"}`, "/encoding conflict")
	f(`{"to":"1","text":"a","udh":"BQAD"}`, "/udh invalid")
	f(`{"to":"1","text":"Ж","encoding":"gsm7"}`, "/text missing-characters")
	f(`{"to":"1","text":"a","encoding":"utf8"}`, "/encoding invalid")
	f(`{"to":"1","text":"a","receipt":"yes"}`, "/receipt invalid")
	f(`{"to":"1","text":"a","send_at":"tomorrow","validity":"x"}`, "/send_at invalid", "/validity invalid")
	f(`{"to":"1","text":"a","expires_at":"2026-11-23T11:00:00Z"}`, "/expires_at invalid")
	f(`{"to":"1","text":"a","expires_at":"2026-11-24T11:00:00Z","validity":"1h"}`, "/validity conflict")
	f(`{"to":"1","text":"a","client_reference":"`+strings.Repeat("x", 65)+`"}`, "/client_reference too-long")
	f(`{"to":"1","text":"a","deduplicate":true}`, "/client_reference missing")
}

// What is no JSON says why, and where reading ended.
func TestMalformed(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"": "a value is missing at octet 0", `{"to":"1"`: "the document does not end at octet 9", `{"to":"1"} x`: "'x' at start of value at octet 11",
		`{"to":"1"} {}`: "a value follows the document at octet 12", `{"x":{"a/b":1,"a/b":2}}`: "/x/a~1b comes twice at octet 14",
		`{"x":tru}`: "(expecting 'e') at octet 8", `{"to" "1"}`: "(expecting ':') at octet 6", `{"to":"\ud800"}`: "at octet 7",
		`{"x":` + strings.Repeat("[", maxDepth): "more than 16 levels at octet 21", `{"` + strings.Repeat("a", maxName+1) + `":1}`: "more than 256 octets at octet 260",
		`{"x":{` + strings.Repeat(`"a":1,`, 2): "/x/a comes twice at octet 12",
	} {
		_, p := new(Reader).Message([]byte(body), noon)
		if p == nil || p.Type != "/problems/malformed-json" || !strings.HasSuffix(p.Detail, want) {
			t.Errorf("%.40s: %+v", body, p)
		}
	}
	var many strings.Builder
	for i := range maxMembers + 1 {
		fmt.Fprintf(&many, `"%d":1,`, i)
	}
	for _, body := range []string{"{" + many.String(), `{"x":{` + many.String()} {
		if _, p := new(Reader).Message([]byte(body), noon); p == nil || !strings.Contains(p.Detail, "more than 128 members") {
			t.Errorf("%.40s: %+v", body, p)
		}
	}
}

// What is wrong says what to do instead, and codes have hyphens.
func TestWordsOfProblems(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"to":["+46700000001"],"text":"a"}`, `{"to":[],"messages":[{"text":"a"}]}`} {
		_, p := new(Reader).Message([]byte(body), noon)
		if strings.Contains(body, "messages") {
			_, p = new(Reader).Batch([]byte(body), 1)
		}
		if p == nil || len(p.Errors) != 1 || p.Errors[0].Pointer != "/to" || !strings.Contains(p.Errors[0].Detail, "/v1/batches") {
			t.Errorf("%s: %+v", body, p)
		}
	}
	if _, p := ReadList("status=delivered"); p == nil || !strings.Contains(p.Detail, "state is") {
		t.Errorf("%+v", p)
	}
	for _, code := range sms.Codes() {
		for _, e := range Refused("read", code, "").Errors {
			if want := strings.ReplaceAll(code.String(), "_", "-"); e.Code != want {
				t.Errorf("%s, want %s", e.Code, want)
			}
		}
	}
	for code, want := range map[sms.Code]string{sms.BadDestination: "bad-destination", sms.BadSource: "bad-source", sms.BadSchedule: "bad-schedule"} {
		if p := Refused("read", code, ""); len(p.Errors) != 1 || p.Errors[0].Code != want {
			t.Errorf("%+v, want %s", p, want)
		}
	}
}

// A message that was to be sent long ago is refused where it is submitted, so that a request with a key may come late.
func TestLate(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]sms.Code{"2020-01-01T00:00:00Z": sms.BadSchedule, "2026-11-23T11:54:59Z": sms.BadSchedule, "2026-11-23T11:55:00Z": sms.OK} {
		m, p := new(Reader).Message([]byte(`{"to":"1","text":"a","send_at":"`+at+`"}`), noon)
		if p != nil {
			t.Fatal(p)
		}
		var x sms.Message
		if code := m.Fill(&x); code != want || x.DeliverAt != 0 {
			t.Errorf("%s: %v, want %v", at, code, want)
		}
	}
}

// Every refusal of the gateway is one of the problems.
func TestRefused(t *testing.T) {
	t.Parallel()
	f := func(step string, code sms.Code, want string, status int) {
		t.Helper()
		if p := Refused(step, code, ""); p.Type != "/problems/"+want || p.Status != status {
			t.Errorf("%s, %s: %+v", step, code, p)
		}
	}
	f("rate", sms.Throttled, "rate-limited", 429)
	f("open", sms.QueueFull, "unavailable", 503)
	f("room", sms.QueueFull, "queue-full", 503)
	f("flood", sms.Throttled, "rate-limited", 429)
	f("route", sms.BadDestination, "no-route", 422)
	f("rewrite", sms.BadSource, "forbidden", 403)
	f("duplicates", sms.Rejected, "duplicate", 409)
	f("read", sms.BadSource, "invalid-message", 422)
	f("", sms.SystemError, "unavailable", 503)
	if e := Refused("quiet", sms.BadValidity, "").Errors[0]; e.Pointer != "/expires_at" || !strings.Contains(e.Detail, "quiet hours") {
		t.Errorf("%+v", e)
	}
	if e := Refused("plausible", sms.BadDestination, "has 2 digits").Errors[0]; e != (Error{"/to", "bad-destination", "has 2 digits"}) {
		t.Errorf("%+v", e)
	}
	for code, want := range map[sms.Code]string{sms.BadSource: "/from must be given", sms.BadDestination: "/to begins with 0"} {
		if e := Refused("addresses", code, "").Errors[0]; !strings.HasPrefix(e.Pointer+" "+e.Detail, want) {
			t.Errorf("%+v, want %s", e, want)
		}
	}
	for _, code := range sms.Codes() {
		if p := Refused("fit", code, ""); p.Status < 400 || len(p.Errors) > 0 && p.Errors[0].Detail == "" {
			t.Errorf("%s: %+v", code, p)
		}
	}
	names := map[string]bool{}
	for _, k := range Kinds() {
		if names[k.Name] || k.Title == "" || k.Doc == "" || k.Status < 400 {
			t.Errorf("%+v", k)
		}
		names[k.Name] = true
	}
}

// FuzzReadMessage compares what is valid with the standard library's opinion.
func FuzzReadMessage(f *testing.F) {
	for _, seed := range []string{
		`{"to":"1","text":"a"}`, `{"to":"1","text":"\u00e5\ud83d\ude00","priority":3}`, `{"to":"1","x":[{},[],null,-1.5e3,true]}`, `{`, `{"a":1,"a":2}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, p := new(Reader).Message(b, noon)
		if (m == nil) == (p == nil) {
			t.Fatalf("%q: %v, %v", b, m, p)
		}
		if p != nil && p.Type == "/problems/malformed-json" {
			return
		}
		if !json.Valid(b) {
			t.Errorf("%q was read", b)
		}
	})
}

func BenchmarkReadMessage(b *testing.B) {
	body := []byte(`{"from":"Shop","to":"+46700000001","text":"Your code is 123456. Do not give it to anybody.","client_reference":"7f3a"}`)
	b.ReportAllocs()
	var r Reader // as the API has one
	for b.Loop() {
		if _, p := r.Message(body, noon); p != nil {
			b.Fatal(p)
		}
	}
}
