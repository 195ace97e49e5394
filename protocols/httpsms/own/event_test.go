package own

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pmg/protocols/httpsms"
	"pmg/sms"
)

var at = time.Date(2026, 11, 23, 7, 30, 0, 123456789, time.UTC).UnixNano()

func numbered(text string) sms.Address { return sms.Address{TON: 1, NPI: 1, Addr: []byte(text)} }

// event returns an event that says what became of a message.
func event(r *sms.Report, fill func(*httpsms.Event)) *httpsms.Event {
	e := &httpsms.Event{ID: 0xabc, Attempt: 7, Account: "acme", Connector: "operator", At: at, Report: r,
		From: sms.Address{TON: 5, Addr: []byte("Shop")}, To: numbered("46700000001"), Context: httpsms.Context{Reference: "order 7", URL: "https://crm.example.net/dlr"}}
	if fill != nil {
		fill(e)
	}
	return e
}

func checkBody(t *testing.T, c *httpsms.Call, want string) {
	t.Helper()
	if got := string(c.Body); got != strings.ReplaceAll(want, "\n", "") {
		t.Errorf("%s, want\n%s", got, want)
	}
	if c.Method != "POST" || len(c.Header) != 1 || c.Header[0] != [2]string{"Content-Type", "application/json"} || c.Taken != nil {
		t.Errorf("%+v", c)
	}
}

// A delivery, with all that is known of it.
func TestReport(t *testing.T) {
	t.Parallel()
	c := Tell(event(&sms.Report{ID: []byte("4a-17"), State: sms.StateDelivered, Submitted: at - 60e9, Accepted: at - 2e9, Done: at - 1e9, Err: []byte("000"), Parts: 2}, nil))
	if c.URL != "https://crm.example.net/dlr" {
		t.Error(c.URL)
	}
	checkBody(t, c, `{"type":"message.delivered","timestamp":"2026-11-23T07:30:00.123Z","data":{"id":"0000000000000abc","client_reference":"order 7","from":"Shop","to":"+46700000001",
"state":"delivered","sequence":3,"network_error":"000","smsc_id":"4a-17","parts":2,"connector":"operator","accepted_at":"2026-11-23T07:29:58.123Z","at":"2026-11-23T07:29:59.123Z"}}`)
}

// The events of a message, from being sent to each of its ends.
func TestStatesOfReports(t *testing.T) {
	t.Parallel()
	f := func(r sms.Report, fill func(*httpsms.Event), want Status) {
		t.Helper()
		var e struct {
			Type string
			Data Status
		}
		if err := json.Unmarshal(Tell(event(&r, fill)).Body, &e); err != nil {
			t.Fatal(err)
		}
		d := e.Data
		if e.Type != "message."+want.State || d.State != want.State || d.Sequence != want.Sequence || d.Reason != want.Reason || d.SMSCStatus != want.SMSCStatus || d.NetworkError != want.NetworkError || d.AcceptedAt != nil {
			t.Errorf("%s %+v, want %+v", e.Type, d, want)
		}
	}
	id := []byte("4a-17")
	f(sms.Report{ID: id, State: sms.StateEnroute}, func(e *httpsms.Event) { e.Taken = true }, Status{State: "sent", Sequence: 1})
	f(sms.Report{ID: id, State: sms.StateEnroute}, nil, Status{State: "buffered", Sequence: 2})
	f(sms.Report{ID: id, State: sms.StateScheduled}, nil, Status{State: "buffered", Sequence: 2})
	f(sms.Report{ID: id, State: sms.StateAccepted}, nil, Status{State: "buffered", Sequence: 2})
	f(sms.Report{ID: id, State: sms.NoState, Word: []byte("LOST")}, nil, Status{State: "unknown", Sequence: 3, Reason: "LOST"})
	f(sms.Report{ID: id, State: sms.StateUndeliverable, Network: 3, NetworkError: 27}, nil, Status{State: "undelivered", Sequence: 3, NetworkError: "27"})
	f(sms.Report{ID: id, State: sms.StateSkipped}, nil, Status{State: "undelivered", Sequence: 3})
	f(sms.Report{State: sms.StateUndeliverable, Parts: 3}, nil, Status{State: "undelivered", Sequence: 3}) // joined of parts, it has no id
	f(sms.Report{Untaken: true, State: sms.StateUndeliverable}, func(e *httpsms.Event) { e.Reason, e.Status = "ESME_RSYSERR", 8 }, Status{State: "failed", Sequence: 3, Reason: "ESME_RSYSERR", SMSCStatus: 8})
	f(sms.Report{State: sms.StateRejected}, func(e *httpsms.Event) { e.Reason, e.Status = "ESME_RINVDSTADR", 11 }, Status{State: "rejected", Sequence: 3, Reason: "ESME_RINVDSTADR", SMSCStatus: 11})
	f(sms.Report{State: sms.StateExpired}, nil, Status{State: "expired", Sequence: 3})
	f(sms.Report{State: sms.StateDeleted}, nil, Status{State: "deleted", Sequence: 3})
	f(sms.Report{ID: id, State: sms.StateUnknown}, nil, Status{State: "unknown", Sequence: 3})
}

// Each state has a word, and those of messages that wait are not those of messages that an SMSC has.
func TestStateOf(t *testing.T) {
	t.Parallel()
	for _, s := range append(sms.States(), sms.NoState) {
		waits, taken := StateOf(s, false), StateOf(s, true)
		if waits == "" || taken == "" || taken == "queued" || taken == "scheduled" || s.Final() != (sequence(waits) == 3 && waits != "queued" && waits != "scheduled") {
			t.Errorf("%s: %q, %q", s, waits, taken)
		}
	}
	if StateOf(sms.State(99), true) != "unknown" {
		t.Error("a state that is not known")
	}
}

// received returns an event that brings a message from a mobile.
func received(a sms.Alphabet, flags sms.Flags, text string) *httpsms.Event {
	m := &sms.Message{Kind: sms.MO, Alphabet: a, Flags: flags}
	m.Set(numbered("46700000001"), sms.Address{Addr: []byte("1234")}, []byte(text))
	return &httpsms.Event{ID: 0xabd, Connector: "operator", At: at, Message: m}
}

// Messages from mobiles come as text where they are one, and as octets where they are not.
func TestInbound(t *testing.T) {
	t.Parallel()
	f := func(a sms.Alphabet, flags sms.Flags, text, want string) {
		t.Helper()
		checkBody(t, Tell(received(a, flags, text)), `{"type":"inbound.received","timestamp":"2026-11-23T07:30:00.123Z","data":{"id":"0000000000000abd","from":"+46700000001","to":"1234",`+
			want+`,"connector":"operator","received_at":"2026-11-23T07:30:00.123Z"}}`)
	}
	f(sms.Default, 0, "h\x05llo \x1be", `"encoding":"gsm7","text":"héllo €"`)
	f(sms.Default, 0, "", `"encoding":"gsm7","text":""`)
	f(sms.Latin1, 0, "h\xe9llo", `"encoding":"latin1","text":"héllo"`)
	f(sms.UCS2, 0, "\x04\x1f\xd8\x3d\xde\x00", `"encoding":"ucs2","text":"П😀"`)
	f(sms.UCS2, sms.HasHeader, "\x05\x00\x03\xcc\x02\x01\x04\x1f", `"encoding":"ucs2","text":"П","udh":"BQADzAIB","part":{"reference":204,"number":1,"parts":2}`)
	f(sms.Binary, sms.HasHeader, "\x06\x05\x04\x15\x8a\x00\x00\x01\x02", `"encoding":"binary","binary":"AQI=","udh":"BgUEFYoAAA=="`)
	f(sms.Binary, 0, "\x00\xff", `"encoding":"binary","binary":"AP8="`)
	f(sms.UCS2, 0, "odd", `"encoding":"ucs2","binary":"b2Rk"`)
	f(sms.Default, sms.HasHeader, "\x09abc", `"encoding":"gsm7","binary":"CWFiYw=="`)
	f(sms.Default, 0, "\"<\x00", `"encoding":"gsm7","text":"\"\u003c@"`)
}

// Events in one call have ids of their own.
func TestTellAll(t *testing.T) {
	t.Parallel()
	e := EventOf(event(&sms.Report{State: sms.StateDeleted}, nil))
	e.ID = "evt_7"
	checkBody(t, TellAll("https://crm.example.net/", at, []Event{e, {ID: "evt_8", Type: "webhook.test"}}), `{"type":"batch","timestamp":"2026-11-23T07:30:00.123Z","data":[
{"id":"evt_7","type":"message.deleted","timestamp":"2026-11-23T07:30:00.123Z","data":{"id":"0000000000000abc","client_reference":"order 7","from":"Shop","to":"+46700000001",
"state":"deleted","sequence":3,"connector":"operator","at":"2026-11-23T07:30:00.123Z"}},{"id":"evt_8","type":"webhook.test","timestamp":"0001-01-01T00:00:00Z","data":null}]}`)
}
