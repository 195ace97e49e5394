package ucp

import (
	"strings"
	"testing"
	"time"

	"pmg/protocols"
	"pmg/protocols/prototest"
	"pmg/sms"
)

// What the vectors of notifications say.
func TestReportsOfVectors(t *testing.T) {
	at := func(year, month, day, hour, minute, second int) int64 {
		return time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC).UnixNano()
	}
	want := map[string]sms.Report{
		"op53_buffered": {
			ID: []byte("3155555:090196161057"), TextID: []byte("003155555:090196161057"), State: sms.StateEnroute,
			Submitted: at(1996, 1, 9, 16, 10, 57), Done: at(1996, 1, 9, 16, 11, 5), Err: []byte("108"), Network: 8, NetworkError: 108,
		},
		"op53_not_delivered": {
			ID: []byte("0041791234567:310726235959"), TextID: []byte("41791234567:310726235959"), State: sms.StateUndeliverable,
			Submitted: at(2026, 7, 31, 23, 59, 59), Done: at(2026, 8, 2, 0, 0, 0), Err: []byte("107"), Network: 8, NetworkError: 107,
		},
	}
	client := node{New(Options{}), loggedIn(t, protocols.Client, nil)}
	seen := 0
	valid, _ := prototest.Vectors(t, "testdata")
	for _, v := range valid {
		var p PDU
		if p.Decode(v.Octets(t)) != nil || p.OT != Notify || p.Result {
			continue
		}
		seen++
		m := new(sms.Message)
		if a := client.Receive(now, &p); a.Kind != protocols.Message || client.Message(now, &p, m) != sms.OK {
			t.Fatalf("%s: %+v", v.Name, a)
		}
		client.Answer(&p, sms.OK, 1)
		r, ok := m.Report()
		w := want[v.Name]
		if !ok || string(r.ID) != string(w.ID) || string(r.TextID) != string(w.TextID) || r.State != w.State || r.Submitted != w.Submitted ||
			r.Done != w.Done || string(r.Err) != string(w.Err) || r.Network != w.Network || r.NetworkError != w.NetworkError || r.Original != nil {
			t.Errorf("%s: got %+v, want %+v", v.Name, r, w)
		}
	}
	if seen != len(want) {
		t.Errorf("%d notifications", seen)
	}
}

// A client is notified of a message by what it was answered: the recipient as it wrote
// it, and the SCTS of the result, whatever the SMSC's were.
func TestNotificationIsOfTheResult(t *testing.T) {
	all := nodes(t)
	server := all["ucp server"]
	for _, f := range []struct{ submit, oadc string }{
		{`op51 seq=7 AdC=0046700000001 OAdC=1234 NRq=1 MT=3`, "0046700000001"},
		{`op51 seq=7 AdC=46700000001 OAdC=1234 NRq=1 MT=3`, "46700000001"},
	} {
		p := server.read(t, f.submit)
		server.Receive(now, p)
		m := new(sms.Message)
		if code := server.Message(now, p, m); code != sms.OK {
			t.Fatal(code)
		}
		const id = 0x0190f3a2c81b0a0b
		server.Answer(p, sms.OK, id)
		if got := string(p.MessageID()); got != f.oadc+":"+stampOf(id) {
			t.Errorf("%s: answered with %s", f.submit, got)
		}
		for _, from := range []string{
			`op53 seq=1 AdC=1234 OAdC=999 SCTS=310726235959 Dst=2 Rsn=107 DSCTS=020826000000 MT=3 AMsg="310726235959"`,
			`deliver_sm seq=1 source_addr=999 destination_addr=1234 esm_class=4 short_message="id:1 submit date:2607312359 done date:2608020000 stat:UNDELIV err:107 text:310726235959"`,
		} {
			smsc := all["smpp client"]
			if strings.HasPrefix(from, "op") {
				smsc = all["ucp client"]
			}
			in, _ := smsc.take(t, from)
			r, _ := in.Report()
			r.Known = id
			receipt := new(sms.Message)
			receipt.SetReport(m.Dest(), m.Source(), &r)
			receipt.SetNative(in.NativePart())
			want := "op53 seq=9 AdC=1234 OAdC=" + f.oadc + " SCTS=" + stampOf(id) + " Dst=2 Rsn=107 DSCTS=020826000000 MT=3 AMsg=\"Message for " + f.oadc + ", "
			if got := server.give(t, receipt); !strings.HasPrefix(got, want) || strings.Contains(got, "310726235959") || strings.Contains(got, "260731235959") {
				t.Errorf("got %s, want %s…", got, want)
			}
		}
	}
}

// Times are in the zone of the SMSC, and in the zone of the client.
func TestTimesOfANotification(t *testing.T) {
	stockholm := NewConnectorOptions()
	stockholm.Timezone = "Europe/Stockholm"
	smsc := node{New(Options{}), loggedIn(t, protocols.Client, stockholm)}
	m, _ := smsc.take(t, `op53 seq=1 AdC=1234 OAdC=46700000001 SCTS=310726235959 Dst=0 Rsn=000 DSCTS=010826000000 MT=3`)
	r, _ := m.Report()
	if got := time.Unix(0, r.Done).UTC().Format(time.DateTime); got != "2026-07-31 22:00:00" {
		t.Errorf("done at %s", got)
	}
	client := node{New(Options{}), loggedIn(t, protocols.Server, nil)}
	if got := client.give(t, m); !strings.Contains(got, " DSCTS=310726220000 ") {
		t.Error(got)
	}
}
