package smpp

import (
	"bytes"
	"strings"
	"testing"

	"pmg/protocols"
	"pmg/sms"
)

// A broadcast leaves as it came, without the time until which the gateway has waited, and its
// answer brings the SMSC's id. Peers of earlier versions take none.
func TestBroadcastThroughEncode(t *testing.T) {
	in, out := server(t, Version50), client(t, Version50)
	in.version.Store(Version50)
	out.version.Store(Version50)
	for _, fields := range []string{
		`broadcast_sm seq=7 service_type=CBS source_addr_ton=1 source_addr_npi=2 source_addr=1234 priority_flag=1 replace_if_present_flag=1 data_coding=0x19 sm_default_msg_id=2 ` +
			`broadcast_area_identifier="\x00North" broadcast_area_identifier="\x00South" broadcast_content_type="\x01\x00\x10" broadcast_rep_num=258 broadcast_frequency_interval="\x08\x00\x05" ` +
			`tlv_0x1400=00ff message_payload="hi"`,
		`broadcast_sm seq=7 source_addr=1234 broadcast_area_identifier="\x00North" broadcast_content_type="\x01\x00\x10" broadcast_rep_num=1 broadcast_frequency_interval="\x08\x00\x05"`,
	} {
		var p, sent PDU
		var m sms.Message
		if err := p.Decode(wireOf(t, fields)); err != nil {
			t.Fatal(err)
		}
		want := string(p.AppendLog(nil, true))
		if a := in.Receive(1, &p); a.Kind != protocols.Message {
			t.Fatalf("action %s: %s", a.Kind, p.AppendLog(nil, true))
		}
		if code := in.Message(1, &p, &m); code != sms.OK || m.Kind != sms.Submit || m.Flags&sms.Broadcast == 0 || len(m.Dest().Addr) != 0 {
			t.Fatalf("%s, kind %d, flags %b", code, m.Kind, m.Flags)
		}
		if hidden := string(p.AppendLog(nil, false)); strings.Contains(hidden, `"hi"`) {
			t.Errorf("the text is logged: %s", hidden)
		}
		out.Encode(1, &sent, &m, 7)
		if err := p.Decode(sent.AppendWire(nil)); err != nil {
			t.Fatal(err)
		}
		if got := string(p.AppendLog(nil, true)); got != want {
			t.Errorf("\ngot  %s\nwant %s", got, want)
		}
		if err := p.Decode(wireOf(t, `broadcast_sm_resp seq=7 status=0 message_id=0A1B broadcast_error_status=265 broadcast_area_identifier="\x00South"`)); err != nil {
			t.Fatal(err)
		}
		if a := out.Receive(2, &p); a.Kind != protocols.Answered || a.Sequence != 7 || a.Code != sms.OK || string(p.MessageID()) != "0A1B" {
			t.Errorf("the answer: %+v, id %q", a, p.MessageID())
		}
	}
	if !out.TakesBroadcasts() || client(t, Version34).TakesBroadcasts() || in.TakesBroadcasts() {
		t.Error("who takes broadcasts is wrong")
	}
}

// Broadcasts are messages: a client may send as many of them as its rate allows.
func TestManyBroadcasts(t *testing.T) {
	s := server(t, Version50)
	s.version.Store(Version50)
	wire := wireOf(t, `broadcast_sm seq=7 broadcast_area_identifier="\x00North" broadcast_content_type="\x01\x00\x10" broadcast_rep_num=1 broadcast_frequency_interval="\x08\x00\x05"`)
	for n := range 3 * checkBurst {
		var p PDU
		if err := p.Decode(wire); err != nil {
			t.Fatal(err)
		}
		if a := s.Receive(1, &p); a.Kind != protocols.Message {
			t.Fatalf("broadcast %d: %+v", n, a)
		}
	}
}

// An SMSC is asked for its broadcasts by operations of their own, and what it says of the areas is
// kept. The answer to an operation of another kind is none.
func TestAskBroadcast(t *testing.T) {
	m := &sms.Message{Flags: sms.Broadcast}
	m.Set(sms.Address{TON: 5, NPI: 1, Addr: []byte("PMG")}, sms.Address{}, nil)
	const source = "message_id=4711 source_addr_ton=5 source_addr_npi=1 source_addr=PMG"
	const areas = ` broadcast_area_identifier="\x00North" broadcast_area_success=40 broadcast_area_identifier="\x00South" broadcast_area_success=255 broadcast_end_time="261122120100000+"`
	for _, f := range []struct {
		kind         protocols.OperationKind
		want, answer string
		state        sms.State
		areas        string // "-": it is no answer to that
	}{
		{protocols.Query, "query_broadcast_sm seq=9 " + source, "query_broadcast_sm_resp seq=9 message_id=4711 message_state=1" + areas, sms.StateEnroute, areas},
		{protocols.Query, "query_broadcast_sm seq=9 " + source, "query_broadcast_sm_resp seq=9 message_id=4711 congestion_state=9", sms.NoState, ""},
		{protocols.Query, "query_broadcast_sm seq=9 " + source, "query_sm_resp seq=9 message_id=4711 message_state=2", sms.NoState, "-"},
		{protocols.Query, "query_broadcast_sm seq=9 " + source, "cancel_broadcast_sm_resp seq=9", sms.NoState, "-"},
		{protocols.Cancel, "cancel_broadcast_sm seq=9 " + source, "cancel_broadcast_sm_resp seq=9", sms.NoState, ""},
		{protocols.Cancel, "cancel_broadcast_sm seq=9 " + source, "cancel_sm_resp seq=9", sms.NoState, "-"},
	} {
		s := client(t, Version50)
		var p, want, answer PDU
		request := protocols.Request{Kind: f.kind, PeerID: []byte("4711"), Message: m}
		s.Ask(&p, &request, 9)
		if err := want.Decode(wireOf(t, f.want)); err != nil {
			t.Fatal(err)
		}
		if got, want := string(p.AppendLog(nil, true)), string(want.AppendLog(nil, true)); got != want {
			t.Errorf("\ngot  %s\nwant %s", got, want)
		}
		if err := answer.Decode(wireOf(t, f.answer)); err != nil {
			t.Fatal(err)
		}
		if a := s.Receive(2, &answer); a.Kind != protocols.Answered || a.Sequence != 9 || a.Code != sms.OK || !a.Asked {
			t.Errorf("%s: %+v", f.answer, a)
		}
		r, ok := s.Outcome(2, &answer, &request)
		if ok != (f.areas != "-") || r.State != f.state {
			t.Errorf("%s: %t, %+v", f.answer, ok, r)
		}
		if !ok {
			continue
		}
		if err := want.Decode(wireOf(t, "query_broadcast_sm_resp seq=9"+f.areas)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(r.Areas, want.Parameters()) {
			t.Errorf("%s: areas %x, want %x", f.answer, r.Areas, want.Parameters())
		}
	}
}
