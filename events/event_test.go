package events

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pmg/sms"
)

func sample() *Event {
	at := time.Date(2026, 11, 22, 0, 50, 7, 41_003_999, time.UTC).UnixNano()
	return &Event{
		Number: 7, ID: 0x1a1fb0c12c230d41, State: Sent, Account: "acme", Connector: "clients", ToConnector: "operator",
		Source: []byte("Caf\xe9 \"1\"\\\x00"), Destination: []byte("46700000001"),
		Accepted: at, Sent: at + int64(time.Millisecond), Ended: at + int64(time.Second),
		Attempts: 1, Sends: 2, Answered: true, StatusName: "ESME_ROK", PeerID: []byte("4a-17"),
	}
}

// A line is JSON, whatever octets are in its fields, and leaves out what there is not.
func TestLine(t *testing.T) {
	t.Parallel()
	var p Printer
	const want = `{"number":7,"id":"1a1fb0c12c230d41","kind":"submit","state":"sent","reason":"ok","account":"acme","connector":"clients",` +
		`"to_connector":"operator","source":"Caf\u00e9 \"1\"\\\u0000","destination":"46700000001",` +
		`"accepted_at":"2026-11-22T00:50:07.041003Z","sent_at":"2026-11-22T00:50:07.042003Z","ended_at":"2026-11-22T00:50:08.041003Z",` +
		`"attempts":1,"sends":2,"status":0,"status_name":"ESME_ROK","smsc_id":"4a-17","parts":1}`
	got := string(p.Append(nil, sample()))
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if !json.Valid([]byte(got)) {
		t.Error("it is not JSON")
	}
	const least = `{"number":1,"id":"0000000000000002","kind":"receipt","state":"deleted","attempts":0,"sends":0,"parts":1}`
	if got := string(p.Append(nil, &Event{Number: 1, ID: 2, Kind: sms.Receipt, State: Deleted})); got != least {
		t.Errorf("%s\nwant\n%s", got, least)
	}
	about := strings.Replace(least, `"parts"`, `"client_id":"0000000000000001","about":"000000000000000f","delivery":"undeliverable","error":"0\u0022","network_type":3,"network_error":69,"parts"`, 1)
	about = strings.Replace(about, "\\u0022", "\\\"", 1)
	d := Delivery{Client: 15, Peer: []byte("17"), State: sms.StateUndeliverable, Error: []byte("0\""), Network: 3, NetworkError: 69}
	if got := string(p.Append(nil, &Event{Number: 1, ID: 2, Kind: sms.Receipt, State: Deleted, ClientID: 1, Delivery: &d})); got != about {
		t.Errorf("%s\nwant\n%s", got, about)
	}
	orphan := strings.Replace(least, `"parts"`, `"about_smsc_id":"17","parts"`, 1)
	if got := string(p.Append(nil, &Event{Number: 1, ID: 2, Kind: sms.Receipt, State: Deleted, Delivery: &Delivery{Peer: []byte("17")}})); got != orphan {
		t.Errorf("%s\nwant\n%s", got, orphan)
	}
	about = strings.Replace(about, `"attempts":0,"sends":0`, `"to_account":"bank","attempts":12,"sends":34,"status":88`, 1)
	if got := string(p.Append(nil, &Event{Number: 1, ID: 2, Kind: sms.Receipt, State: Deleted, ClientID: 1, Delivery: &d, ToAccount: "bank",
		Attempts: 12, Sends: 34, Answered: true, Status: 88})); got != about {
		t.Errorf("%s\nwant\n%s", got, about)
	}
	network, _ := sms.ReadNetwork("00101")
	of := strings.Replace(least, `"parts"`, `"network":"00101","parts"`, 1)
	if got := string(p.Append(nil, &Event{Number: 1, ID: 2, Kind: sms.Receipt, State: Deleted, Network: network})); got != of {
		t.Errorf("%s\nwant\n%s", got, of)
	}
	for tags, want := range map[string]string{
		"vip":                        `"tags":["vip"],`,
		"vip net:24001 held:content": `"tags":["vip","net:24001"],"plugin":"content","verdict":"hold",`,
		"held:a refused:b":           `"plugin":"b","verdict":"refuse",`,
		"changed:a vip":              `"tags":["vip"],"plugin":"a","verdict":"change",`,
	} {
		want = strings.Replace(least, `"parts"`, want+`"parts"`, 1)
		if got := string(p.Append(nil, &Event{Number: 1, ID: 2, Kind: sms.Receipt, State: Deleted, Tags: []byte(tags)})); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
	part := strings.Replace(least, `"parts":1`, `"part":3,"parts":4`, 1)
	if got := string(p.Append(nil, &Event{Number: 1, ID: 2, Kind: sms.Receipt, State: Deleted, Part: 2, Parts: 4})); got != part {
		t.Errorf("%s\nwant\n%s", got, part)
	}
}

// Whichever times are printed before a time, it is the same.
func TestTimes(t *testing.T) {
	t.Parallel()
	var p Printer
	for _, want := range []string{
		"1970-01-01T00:00:00.000001Z", "2026-11-22T00:50:07.000000Z", "2026-11-22T00:50:07.000001Z", "2026-11-22T00:50:07.999999Z",
		"2026-11-22T00:50:08.000000Z", "2026-11-22T00:51:08.120000Z", "2026-11-22T00:50:08.000010Z", "1969-12-31T23:59:59.999999Z",
		"2027-01-01T00:00:00.000100Z",
	} {
		at, err := time.Parse(time.RFC3339Nano, want)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(p.Append(nil, &Event{Accepted: at.UnixNano(), Sent: at.UnixNano() + 999, Ended: at.UnixNano()}), &fields); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"accepted_at", "sent_at", "ended_at"} {
			if fields[name] != want {
				t.Errorf("%s is %v, want %s", name, fields[name], want)
			}
		}
	}
}

// Every code leads to a state, and only a positive answer to sent.
func TestStates(t *testing.T) {
	t.Parallel()
	for _, c := range sms.Codes() {
		if s := StateOf(c); (s == Sent) != (c == sms.OK) || s.String() == "" {
			t.Errorf("%v: %v", c, s)
		}
	}
	for c, want := range map[sms.Code]State{
		sms.Throttled: Failed, sms.SystemError: Failed, sms.Rejected: Rejected, sms.BadDestination: Rejected,
		sms.Timeout: Unknown, sms.Lost: Unknown, sms.Expired: Expired,
	} {
		if got := StateOf(c); got != want {
			t.Errorf("%v: %v, want %v", c, got, want)
		}
	}
}

// An event costs no allocation.
func TestLineAllocates(t *testing.T) {
	var p Printer
	e, b := sample(), make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() {
		e.Ended += int64(time.Second)
		b = p.Append(b[:0], e)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkLine(b *testing.B) {
	var p Printer
	e, line := sample(), make([]byte, 0, 1024)
	for b.Loop() {
		e.Ended += 1000
		line = p.Append(line[:0], e)
	}
}
