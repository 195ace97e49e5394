package smpp

import (
	"fmt"
	"testing"
	"time"

	"pmg/protocols"
	"pmg/sms"
)

// clientWith returns a session that is bound to an SMSC of a version, with options.
func clientWith(t testing.TB, version uint8, o Submit) *session {
	t.Helper()
	options := NewConnectorOptions()
	options.Submit = o
	s := New(Options{}).NewSession(protocols.SessionOptions{Role: protocols.Client, Options: options}).(*session)
	s.enter(1, BindTransceiver, version)
	return s
}

// What a message does not say itself is as the connector has it, in submit_sm and in data_sm.
func TestSubmitDefaults(t *testing.T) {
	all := Submit{ServiceType: "CMT", ProtocolID: 65, Priority: 3, Mode: "store"}
	long := "1234567890123456789012"
	for _, f := range []struct {
		version  uint8
		options  Submit
		in, want string // %s is the address
	}{
		{Version34, Submit{}, "%s", "%s"},
		{Version34, Submit{Mode: "default"}, "%s", "%s"},
		{Version34, all, "%s", "service_type=CMT %s esm_class=3 protocol_id=65 priority_flag=3"},
		{
			Version34, all, "service_type=WAP %s esm_class=1 protocol_id=2 priority_flag=1",
			"service_type=WAP %s esm_class=1 protocol_id=2 priority_flag=1",
		},
		{Version34, all, "%s esm_class=192 priority_flag=2", "service_type=CMT %s esm_class=195 protocol_id=65 priority_flag=2"},
		{Version34, Submit{Mode: "forward"}, "%s esm_class=64", "%s esm_class=66"},
		{Version33, all, "%s", "service_type=CMT %s esm_class=3 protocol_id=65 priority_flag=1"},
	} {
		pdu := func(fields string) string {
			return "submit_sm seq=9 " + fmt.Sprintf(fields, "destination_addr=1") + ` short_message="\x01ABC"`
		}
		m, code := message(t, server(t, Version34), 1, pdu(f.in))
		if code != sms.OK {
			t.Fatalf("%s: %s", f.in, code)
		}
		var p, want PDU
		clientWith(t, f.version, f.options).Encode(1, &p, m, 9)
		if err := want.Decode(wireOf(t, pdu(f.want))); err != nil {
			t.Fatal(err)
		}
		if got, want := p.AppendLog(nil, true), want.AppendLog(nil, true); string(got) != string(want) {
			t.Errorf("%+v:\ngot  %s\nwant %s", f.options, got, want)
		}
	}
	m, code := message(t, server(t, Version34), 1, `data_sm seq=9 destination_addr=`+long+` message_payload="hi"`)
	if code != sms.OK {
		t.Fatal(code)
	}
	var p PDU
	clientWith(t, Version34, all).Encode(1, &p, m, 9)
	if p.ID != DataSM || string(p.SM.ServiceType) != "CMT" || p.SM.ESMClass != 3 {
		t.Errorf("data_sm is %s", p.AppendLog(nil, true))
	}
}

// Deliveries to clients have none of it.
func TestSubmitDefaultsAreOfSubmits(t *testing.T) {
	m, code := message(t, client(t, Version34), 1, `deliver_sm seq=1 destination_addr=1 short_message="hi"`)
	if code != sms.OK {
		t.Fatal(code)
	}
	options := NewConnectorOptions()
	options.Submit = Submit{ServiceType: "CMT", ProtocolID: 65, Priority: 3, Mode: "store"}
	s := New(Options{}).NewSession(protocols.SessionOptions{Options: options}).(*session)
	s.enter(1, BindTransceiver, Version34)
	var p PDU
	s.Encode(1, &p, m, 9)
	if b := &p.SM; len(b.ServiceType) > 0 || b.ESMClass != 0 || b.ProtocolID != 0 || b.PriorityFlag != 0 {
		t.Errorf("deliver_sm is %s", p.AppendLog(nil, true))
	}
}

// The SMSC gets the validity in the form that it takes, and no longer one. The message keeps its own.
func TestSubmitValidity(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).UnixNano()
	const day, date, month = "000001000000000R", "261121120000000+", "270220120000000+" // in a day, the same, in three months
	for _, f := range []struct {
		version             uint8
		form                string
		most                time.Duration
		asked, sent, forced string // forced: what a replace_sm says, which has no durations of its own
	}{
		{Version34, "sender", 0, day, day, date},
		{Version34, "sender", 0, date, date, date},
		{Version34, "absolute", 0, day, date, date},
		{Version34, "relative", 0, date, day, day},
		{Version34, "relative", 0, month, "000031000000000R", "000031000000000R"},
		{Version33, "relative", 0, day, date, date},
		{Version34, "none", 0, date, "", ""},
		{Version34, "sender", 12 * time.Hour, day, "000000120000000R", "261121000000000+"},
		{Version34, "sender", 12 * time.Hour, date, "261121000000000+", "261121000000000+"},
		{Version34, "sender", 25 * time.Hour, date, date, date},
		{Version34, "relative", 48 * time.Hour, month, "000002000000000R", "000002000000000R"},
		{Version34, "relative", 48 * time.Hour, "", "", ""},
	} {
		pdu := "submit_sm seq=1 destination_addr=1"
		if f.asked != "" {
			pdu += " validity_period=" + f.asked
		}
		m, code := message(t, server(t, Version34), now, pdu)
		if code != sms.OK {
			t.Fatal(code)
		}
		s, expires := clientWith(t, f.version, Submit{Validity: f.form, MaxValidity: f.most}), m.Expires
		var p, q PDU
		s.Encode(now, &p, m, 9)
		if got := string(p.SM.ValidityPeriod); got != f.sent || m.Expires != expires {
			t.Errorf("%s of at most %s: %s is sent as %q, want %q", f.form, f.most, f.asked, got, f.sent)
		}
		s.Ask(now, &q, &protocols.Request{Kind: protocols.Replace, PeerID: []byte("1"), Message: m}, 9)
		if got := string(q.Other().(*Replace).ValidityPeriod); got != f.forced {
			t.Errorf("%s of at most %s: %s is asked for as %q, want %q", f.form, f.most, f.asked, got, f.forced)
		}
	}
	m, _ := message(t, server(t, Version34), now, `data_sm seq=9 destination_addr=1234567890123456789012 message_payload="hi" qos_time_to_live=7200`)
	for _, f := range []struct {
		Submit
		want string
	}{{Submit{MaxValidity: time.Hour}, "\x00\x00\x0e\x10"}, {Submit{Validity: "none"}, ""}, {Submit{}, "\x00\x00\x1c\x20"}} {
		var p PDU
		clientWith(t, Version34, f.Submit).Encode(now, &p, m, 9)
		if got, _ := FindTLV(p.SM.TLVs, TagTimeToLive); string(got) != f.want {
			t.Errorf("%+v: data_sm lives for %x", f.Submit, got)
		}
	}
}
