package ucp

import (
	"slices"
	"testing"

	"pmg/protocols"
	"pmg/protocols/smpp"
	"pmg/sms"
)

// lostBetween returns the fields that a message loses on its way to a peer of another protocol,
// for which it is made ready.
func lostBetween(from, to protocols.Driver, m *sms.Message, o protocols.Options) (fields []string) {
	left := from.Leave(m)
	for n := range left.All() {
		fields = append(fields, from.Losses()[n].Field)
	}
	lacks := to.Lacks(m, o)
	for n := range lacks.All() {
		fields = append(fields, to.Losses()[n].Field)
	}
	return fields
}

// What messages lose between the protocols, and what they keep.
func TestLosses(t *testing.T) {
	all := nodes(t)
	prioritized := NewConnectorOptions()
	prioritized.Priority = true
	f := func(from, to string, o protocols.Options, line, out string, want ...string) {
		t.Helper()
		m, code := all[from].take(t, line)
		if code != sms.OK {
			t.Errorf("%s: %s", line, code)
			return
		}
		for range 2 { // a message may leave twice
			if got := lostBetween(all[from].SessionDriver, all[to].SessionDriver, m, o); !slices.Equal(got, want) {
				t.Errorf("%s:\nloses %q, want %q", line, got, want)
			}
		}
		if got := all[to].give(t, m); got != out {
			t.Errorf("%s:\ngot  %s\nwant %s", line, got, out)
		}
	}

	const submit, plain = `submit_sm seq=1 source_addr=1234 destination_addr=1 `, `op51 seq=9 AdC=1 OAdC=1234 MT=3 AMsg="hi"`
	toSMSC := func(line, out string, want ...string) {
		t.Helper()
		f("smpp server", "ucp client", nil, line, out, want...)
	}
	toSMSC(submit+`short_message="hi"`, plain)
	toSMSC(`submit_sm seq=1 service_type=WAP source_addr=1234 destination_addr=1 esm_class=2 registered_delivery=4 replace_if_present_flag=1 data_coding=5 sm_default_msg_id=7 short_message="hi"`,
		`op51 seq=9 AdC=1 OAdC=1234 MT=4 NB=0016 TMsg="hi" XSer=020104`,
		"service_type", "esm_class", "registered_delivery", "replace_if_present_flag", "sm_default_msg_id", "coding")
	toSMSC(`submit_sm seq=1 source_addr_ton=2 source_addr_npi=8 source_addr=1234 dest_addr_ton=6 dest_addr_npi=9 destination_addr=1 priority_flag=1 short_message="hi"`,
		plain, "source_type", "destination_type", "priority")
	toSMSC(`submit_sm seq=1 source_addr_ton=5 source_addr="A name too long" destination_addr=12345678901234567 short_message="hi"`,
		`op51 seq=9 MT=3 AMsg="hi"`, "source", "destination")
	f("smpp server", "ucp client", NewConnectorOptions(), submit+`priority_flag=3 short_message="hi"`, plain, "priority")
	f("smpp server", "ucp client", prioritized, submit+`priority_flag=1 short_message="hi"`, plain) // the session has other options

	// Optional parameters that UCP has another place for, and those that it has none for.
	toSMSC(submit+`short_message="hi" sar_msg_ref_num=127 sar_total_segments=2 sar_segment_seqnum=1`,
		`op51 seq=9 AdC=1 OAdC=1234 MT=3 AMsg="hi" XSer=01060500037F0201`)
	toSMSC(submit+`short_message="hi" sar_msg_ref_num=300 sar_total_segments=3 sar_segment_seqnum=3 source_port=5505 destination_port=5506`,
		`op51 seq=9 AdC=1 OAdC=1234 MT=3 AMsg="hi" XSer=010D0C0804012C0303050415821581`)
	toSMSC(submit+`short_message="hi" destination_port=80`, `op51 seq=9 AdC=1 OAdC=1234 MT=3 AMsg="hi" XSer=010706050400500000`)
	toSMSC(submit+`short_message="hi" sar_msg_ref_num=127 sar_total_segments=2 sar_segment_seqnum=3`, plain,
		"sar_msg_ref_num", "sar_total_segments", "sar_segment_seqnum")
	toSMSC(submit+`short_message="hi" sar_msg_ref_num=127`, plain, "sar_msg_ref_num")
	toSMSC(submit+`esm_class=64 short_message="\x05\x00\x03\x7f\x02\x01hi" sar_msg_ref_num=127 sar_total_segments=2 sar_segment_seqnum=1`,
		`op51 seq=9 AdC=1 OAdC=1234 MT=3 AMsg="hi" XSer=01060500037F0201`, "sar_msg_ref_num", "sar_total_segments", "sar_segment_seqnum")
	toSMSC(submit+`short_message="hi" dest_addr_subunit=1`, `op51 seq=9 AdC=1 OAdC=1234 MT=3 AMsg="hi" MCLs=0`)
	toSMSC(submit+`data_coding=242 short_message="hi" dest_addr_subunit=1`, `op51 seq=9 AdC=1 OAdC=1234 MT=3 AMsg="hi" MCLs=2`, "dest_addr_subunit")
	toSMSC(submit+`short_message="" message_payload="hi"`, plain)
	toSMSC(submit+`short_message="hi" user_message_reference=1 callback_num="\x00\x00\x001" its_session_info=3 tlv_0x1400=78 tlv_0x1401=79`, plain,
		"vendor_parameter", "user_message_reference", "callback_num", "its_session_info")

	// From an SMSC.
	f("smpp client", "ucp server", nil,
		`deliver_sm seq=1 source_addr_ton=1 source_addr=46700000001 destination_addr=1234 esm_class=8 priority_flag=1 registered_delivery=1 short_message="hi" sar_msg_ref_num=1 sar_total_segments=2 sar_segment_seqnum=2`,
		`op52 seq=9 AdC=1234 OAdC=46700000001 SCTS=201126120000 MT=3 AMsg="hi" OTOA=1139 XSer=0106050003010202`, "esm_class", "priority", "notify")
	f("smpp client", "ucp server", nil,
		`deliver_sm seq=1 source_addr=46700000001 destination_addr=1234 esm_class=4 short_message="id:1 submit date:2611201159 done date:2611201200 stat:DELIVRD" receipted_message_id="1\x00" message_state=2 network_error_code="\x03\x00\x00" user_message_reference=1`,
		`op53 seq=9 AdC=1234 OAdC=46700000001 SCTS=201126115900 Dst=0 Rsn=000 DSCTS=201126120000 MT=3 AMsg="Message for 46700000001, with identification 261120115900 has been delivered on 2026-11-20 at 12:00:00"`,
		"user_message_reference")

	// The other way.
	f("ucp server", "smpp client", nil, `op51 seq=1 AdC=1 OAdC=1234 LRq=1 LRAd=46700000002 LPID=0100 MT=3 AMsg="hi" MMS=1 DCs=1 RPI=2 CPg=x RPLy=y XSer=0201C80301000C014101060500030102027F020102 RES4=z RES5=w`,
		`submit_sm seq=9 source_addr=1234 destination_addr=1 esm_class=64 short_message="\x05\x00\x03\x01\x02\x02hi"`,
		"LRAd", "MMS", "DCs", "RPI", "CPg", "XSer", "XSer_02", "XSer_03", "XSer_0C")
	f("ucp server", "smpp client", nil, `op51 seq=1 AdC=0046700000001 OAdC=06D0E611 AC=4321 NRq=1 NAdC=4711 NT=7 NPID=0539 DD=1 DDT=2011261300 VP=2011261400 RPID=0065 MT=2 Msg=12 PR=1 MCLs=1 RPI=1 OTOA=5039`,
		`submit_sm seq=9 source_addr_ton=5 source_addr=PMG dest_addr_ton=1 dest_addr_npi=1 destination_addr=46700000001 esm_class=128 protocol_id=65 priority_flag=1 validity_period=261120140000000+ registered_delivery=17 data_coding=241 short_message="12"`)
	f("ucp client", "smpp server", nil, `op52 seq=1 AdC=1234 OAdC=46700000001 SCTS=010203040506 MT=3 AMsg="hi" HPLMN=46705`,
		`deliver_sm seq=9 source_addr=46700000001 destination_addr=1234 short_message="hi"`, "HPLMN", "SCTS")
	f("ucp client", "smpp server", nil, `op53 seq=1 AdC=1234 OAdC=46700000001 SCTS=310726235959 Dst=1 Rsn=107 DSCTS=020826000000 MT=3 AMsg="buffered" HPLMN=46705`,
		`deliver_sm seq=9 source_addr=46700000001 destination_addr=1234 esm_class=32 short_message="id:46700000001:310726235959 sub:001 dlvrd:000 submit date:2607312359 done date:2608020000 stat:ENROUTE err:107 text:" receipted_message_id="46700000001:310726235959\x00" message_state=1 network_error_code="\x08\x00k"`,
		"HPLMN")
}

// Every field of a table has a name of its own and a text, and fits the set.
func TestLossesTables(t *testing.T) {
	for _, d := range []protocols.Driver{New(Options{}), smpp.New(smpp.Options{})} {
		names := map[string]bool{}
		for _, l := range d.Losses() {
			if names[l.Field] || l.Field == "" || l.Text == "" {
				t.Errorf("%s: %+v", d.Name(), l)
			}
			names[l.Field] = true
		}
		var s protocols.Lost
		if n := len(names); n > 64*len(s) {
			t.Errorf("%s has %d fields", d.Name(), n)
		}
	}
	if m := new(sms.Message); New(Options{}).Leave(m) != (protocols.Lost{}) || smpp.New(smpp.Options{}).Leave(m) != (protocols.Lost{}) {
		t.Error("a message that came by no protocol loses something")
	}
	var s protocols.Lost
	rows := []int{0, 5, 63, 64, 127}
	for _, n := range rows {
		s.Add(n)
	}
	if got := slices.Collect(s.All()); !slices.Equal(got, rows) || !s.Has(64) || s.Has(65) {
		t.Errorf("got %v", got)
	}
}

// A validity that has seconds is not cut short.
func TestValidityIsRoundedUp(t *testing.T) {
	for seconds, want := range map[int64]string{0: "", 20: "2011261201", 60: "2011261201", 61: "2011261202"} {
		m := &sms.Message{}
		m.Set(sms.Address{Addr: []byte("1")}, sms.Address{Addr: []byte("2")}, nil)
		if seconds > 0 {
			m.Expires = now + seconds*1e9
		}
		var p PDU
		loggedIn(t, protocols.Client, nil).Encode(now, &p, m, 1)
		if got := string(p.get(p.SM.VP)); got != want {
			t.Errorf("%d s: VP %s, want %s", seconds, got, want)
		}
	}
}
