package smpp

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pmg/protocols"
	"pmg/protocols/prototest"
	"pmg/sms"
)

// Every rare PDU with all of its fields, in the form of the pdu log.
var operationLines = []string{
	`outbind seq=1 system_id=SMSC`,
	`query_sm seq=1 message_id=12345 source_addr_ton=1 source_addr_npi=2 source_addr=1234`,
	`query_sm_resp seq=1 status=0 message_id=12345 final_date=261120120000000+ message_state=2 error_code=7`,
	`query_sm_resp seq=1 status=0 message_id=""`,
	`query_sm_resp seq=1 status=0x67(ESME_RQUERYFAIL)`,
	`cancel_sm seq=1 service_type=CMT message_id=12345 source_addr_ton=1 source_addr_npi=2 source_addr=1234 dest_addr_ton=1 dest_addr_npi=2 destination_addr=46700000001`,
	`cancel_sm_resp seq=1 status=0`,
	`replace_sm seq=1 message_id=12345 source_addr_ton=1 source_addr_npi=2 source_addr=1234 schedule_delivery_time=261120120000000+ ` +
		`validity_period=000001000000000R registered_delivery=1 sm_default_msg_id=2 short_message="hello" message_payload="more"`,
	`replace_sm_resp seq=1 status=0`,
	`data_sm seq=1 service_type=CMT source_addr_ton=1 source_addr_npi=2 source_addr=1234 dest_addr_ton=1 dest_addr_npi=2 ` +
		`destination_addr=123456789012345678901234567890 esm_class=4 registered_delivery=1 data_coding=8 message_payload="hi" tlv_0x1400=00ff`,
	`data_sm_resp seq=1 status=0 message_id=12345 delivery_failure_reason=1 network_error_code="\x03\x00\x1b" additional_status_info_text="no" dpf_result=1`,
	`submit_multi seq=1 service_type=CMT source_addr_ton=1 source_addr_npi=2 source_addr=1234 number_of_dests=4 dest_flag=1 dest_addr_ton=1 dest_addr_npi=2 ` +
		`destination_addr=46700000001 dest_flag=2 dl_name=friends dest_flag=1 dest_flag=2 esm_class=1 protocol_id=2 priority_flag=3 schedule_delivery_time=261120120000000+ ` +
		`validity_period=000001000000000R registered_delivery=1 replace_if_present_flag=1 data_coding=8 sm_default_msg_id=2 short_message="hello" source_port=7`,
	`submit_multi seq=1`,
	`submit_multi_resp seq=1 status=0 message_id=12345 no_unsuccess=3 dest_addr_ton=1 dest_addr_npi=2 destination_addr=46700000001 error_status_code=0xb(ESME_RINVDSTADR) ` +
		`error_status_code=0 destination_addr=46700000002 error_status_code=0x22 congestion_state=50`,
	`submit_multi_resp seq=1 status=0 message_id=""`,
	`alert_notification seq=1 source_addr_ton=1 source_addr_npi=2 source_addr=46700000001 esme_addr_ton=1 esme_addr_npi=2 esme_addr=1234 ms_availability_status=0`,
	`broadcast_sm seq=1 service_type=CBS source_addr_ton=1 source_addr_npi=2 source_addr=1234 message_id=12345 priority_flag=1 schedule_delivery_time=261120120000000+ ` +
		`validity_period=000001000000000R replace_if_present_flag=1 data_coding=8 sm_default_msg_id=2 broadcast_area_identifier="\x00North" broadcast_area_identifier="\x00South" ` +
		`broadcast_content_type="\x01\x00\x10" broadcast_rep_num=258 broadcast_frequency_interval="\x08\x00\x05" message_payload="hi"`,
	`broadcast_sm_resp seq=1 status=0 message_id=12345 broadcast_error_status=265 broadcast_area_identifier="\x00North"`,
	`query_broadcast_sm seq=1 message_id=12345 source_addr_ton=1 source_addr_npi=2 source_addr=1234 user_message_reference=7`,
	`query_broadcast_sm_resp seq=1 status=0 message_id=12345 message_state=2 broadcast_area_identifier="\x00North" broadcast_area_success=100 broadcast_end_time="261120120000000+\x00"`,
	`cancel_broadcast_sm seq=1 service_type=CBS message_id=12345 source_addr_ton=1 source_addr_npi=2 source_addr=1234 broadcast_content_type="\x01\x00\x10" user_message_reference=7`,
	`cancel_broadcast_sm_resp seq=1 status=0`,
	`param_retrieve seq=1 param_name=max_msgs`,
	`param_retrieve_resp seq=1 status=0 param_value=100`,
	`query_last_msgs seq=1 source_addr_ton=1 source_addr_npi=2 source_addr=1234 num_msgs=3`,
	`query_last_msgs_resp seq=1 status=0 no_messages=2 message_id=00000A01 message_id=""`,
	`query_last_msgs_resp seq=1 status=0 no_messages=0`,
	`query_msg_details seq=1 message_id=00000A01 source_addr_ton=1 source_addr_npi=2 source_addr=1234 sm_length=160`,
	`query_msg_details_resp seq=1 status=0 service_type=CMT source_addr_ton=1 source_addr_npi=2 source_addr=1234 number_of_dests=1 dest_flag=1 destination_addr=46700000001 ` +
		`protocol_id=2 priority_flag=1 schedule_delivery_time=261120120000 validity_period=261121120000 registered_delivery=1 data_coding=8 short_message="hello" ` +
		`message_id=00000A01 final_date=261120120000 message_status=2 error_code=7`,
	`query_msg_details_resp seq=1 status=0 service_type=""`,
}

// Each rare PDU is written to the log, and read from it, with all of its fields. Optional
// parameters may stand in each that has a body.
func TestOperationsInLog(t *testing.T) {
	seen := map[CommandID]bool{}
	for _, line := range operationLines {
		var p PDU
		in := wireOf(t, line)
		if err := p.Decode(in); err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if got := strings.Replace(string(p.AppendLog(nil, true)), " password=***", "", 1); got != line {
			t.Errorf("\ngot  %s\nwant %s", got, line)
		}
		throughLog(t, &p, in)
		seen[p.ID] = true
		visited(t, &p)
		if len(in) > HeaderLen && p.ID != Outbind {
			more := line + ` tlv_0x1401=0102`
			if got := wireOf(t, more); !bytes.HasSuffix(got, []byte{0x14, 1, 0, 2, 1, 2}) || len(got) != len(in)+6 {
				t.Errorf("%s: %x", more, got)
			}
		}
	}
	for _, c := range commands {
		if (c.body == bodyOther || c.body >= bodyData) && !seen[c.id] {
			t.Errorf("no line for %s", c.name)
		}
	}
}

// Lists that do not fit their number are no PDU, in the log and on the wire.
func TestListsAreChecked(t *testing.T) {
	for _, line := range []string{
		`submit_multi seq=1 number_of_dests=1 dest_flag=3`,
		`submit_multi seq=1 number_of_dests=1`,
		`submit_multi seq=1 number_of_dests=2 dest_flag=1 destination_addr=1`,
		`submit_multi seq=1 number_of_dests=1 dest_flag=1 destination_addr=1234567890123456789012`,
		`submit_multi seq=1 number_of_dests=1 dest_flag=1 destination_addr="1\x002"`,
		`submit_multi seq=1 number_of_dests=256`,
		`query_last_msgs_resp seq=1 status=0 no_messages=1 message_id=123456789`,
	} {
		var p PDU
		if err := p.ParseLog([]byte(line)); err == nil {
			t.Errorf("%s: no error", line)
		}
	}
}

// A peer may say that a list has 255 items, of which the PDU has none. Reading that costs
// nothing.
func TestLongListAllocations(t *testing.T) {
	in := prototest.Octets(t, "0000001600000021000000000000000800000000ff01")
	var p PDU
	if p.Decode(in) == nil {
		t.Fatal("it decodes")
	}
	if n := testing.AllocsPerRun(100, func() { _ = p.Decode(in) }); n > 8 {
		t.Errorf("%v allocations", n)
	}
}

// Each request gets the answer that the matrix says, in each state, from each side, with each
// version; and responses are never answered.
func TestMatrix(t *testing.T) {
	lines := append(slices.Clone(operationLines), `bind_receiver seq=1`, `bind_transmitter seq=1`, `bind_transceiver seq=1`,
		`unbind seq=1`, `enquire_link seq=1`, `submit_sm seq=1 destination_addr=1`, `deliver_sm seq=1`,
		`submit_sm_resp seq=1 status=0`, `deliver_sm_resp seq=1 status=0`, `enquire_link_resp seq=1 status=0`,
		`unbind_resp seq=1 status=0`, `generic_nack seq=1 status=3`)
	for _, line := range lines {
		for _, peer := range []side{esme, smsc} {
			for _, in := range []state{open, tx, rx, trx} {
				for _, version := range []uint32{Version33, Version34, Version50} {
					checkMatrix(t, line, peer, in, version)
				}
			}
		}
	}
}

func checkMatrix(t *testing.T, line string, peer side, in state, version uint32) {
	t.Helper()
	o := protocols.SessionOptions{Name: "PMG"}
	if peer == smsc {
		o.Role = protocols.Client
	}
	s := New(Options{}).NewSession(o).(*session)
	s.state = in
	s.version.Store(version)
	var p PDU
	if err := p.Decode(wireOf(t, line)); err != nil {
		t.Fatal(err)
	}
	id, c := p.ID, &commands[p.Command()]
	a := s.Receive(1, &p)
	answered := a.Kind == protocols.Send
	where := fmt.Sprintf("%s in state %d of version %#x to %s: %+v, %s", line, in, version, o.Role, a, p.AppendLog(nil, true))
	switch allowed := c.in[peer]&in != 0; {
	case id.IsResponse(), id == Outbind, id == AlertNotification:
		if answered {
			t.Errorf("%s: it was answered", where)
		}
	case peer == esme && in != open && c.only != 0 && !c.only.has(version):
		if !answered || p.ID != GenericNack || p.CommandStatus != StatusInvCmdID {
			t.Errorf("%s: want that the version does not have it", where)
		}
	case id.IsBind() && peer == esme && in != open:
		if !answered || p.ID != id|Response || p.CommandStatus != StatusAlyBnd {
			t.Errorf("%s: want that it is bound already", where)
		}
	case !allowed:
		if !answered || p.ID != id|Response || p.CommandStatus != StatusInvBndSts {
			t.Errorf("%s: want that it may not be sent", where)
		}
	case c.operates && p.ID == id:
		if a.Kind != protocols.Operate && p.CommandStatus != StatusInvParLen {
			t.Errorf("%s: want that the gateway does it", where)
		}
	case c.refusal != 0:
		if !answered || p.ID != id|Response || p.CommandStatus != c.refusal {
			t.Errorf("%s: want status %#x", where, c.refusal)
		}
	case answered && p.CommandStatus == StatusInvBndSts:
		t.Errorf("%s: it may be sent", where)
	}
}

// A session uses the lower version of both sides.
func TestVersions(t *testing.T) {
	for _, f := range []struct {
		ours   string
		theirs uint8
		want   uint32
		sent   string // sc_interface_version
	}{
		{"5.0", 0x50, Version50, "80"}, {"5.0", 0x51, Version50, "80"}, {"5.0", 0xFF, Version50, "80"},
		{"5.0", 0x34, Version34, "52"}, {"5.0", 0x35, Version34, "52"}, {"5.0", 0x4F, Version34, "52"},
		{"5.0", 0x33, Version33, ""}, {"5.0", 0x10, Version33, ""}, {"5.0", 0, Version33, ""},
		{"3.4", 0x50, Version34, "52"}, {"3.4", 0x34, Version34, "52"}, {"3.4", 0, Version33, ""},
		{"3.3", 0x50, Version33, ""}, {"3.3", 0x34, Version33, ""},
	} {
		o := NewConnectorOptions()
		o.Version = f.ours
		in := New(Options{}).NewSession(protocols.SessionOptions{Name: "PMG", Options: o}).(*session)
		p := PDU{ID: BindTransceiver, SequenceNumber: 1}
		p.Bind().InterfaceVersion = f.theirs
		in.Receive(1, &p)
		in.Login(1, &p, sms.OK)
		want := "bind_transceiver_resp seq=1 status=0 system_id=PMG"
		if f.sent != "" {
			want += " sc_interface_version=" + f.sent
		}
		if got := string(p.AppendLog(nil, true)); got != want || in.version.Load() != f.want {
			t.Errorf("%+v: version %#x, %s", f, in.version.Load(), got)
		}
		out := New(Options{}).NewSession(protocols.SessionOptions{Role: protocols.Client, Options: o}).(*session)
		p.Reset()
		out.Start(1, &p)
		p.ID, p.Body = p.ID|Response, true
		*p.BindResp() = BindResp{TLVs: AppendTLV(nil, TagVersion, []byte{f.theirs})}
		if out.Receive(1, &p); out.version.Load() != f.want {
			t.Errorf("%+v: version %#x as client", f, out.version.Load())
		}
	}
}

// Answers to a client of SMPP 5.0 say how full the queue is.
func TestCongestion(t *testing.T) {
	f := func(s *session, code sms.Code, want string) {
		t.Helper()
		p := PDU{ID: SubmitSM, SequenceNumber: 3}
		s.Answer(&p, code, 1)
		if got := string(p.AppendLog(nil, true)); got != want {
			t.Errorf("\ngot  %s\nwant %s", got, want)
		}
		throughLog(t, &p, p.AppendWire(nil))
	}
	s := server(t, Version50)
	f(s, sms.QueueFull, "submit_sm_resp seq=3 status=0x14(ESME_RMSGQFUL)")
	s.version.Store(Version50)
	f(s, sms.QueueFull, `submit_sm_resp seq=3 status=0x14(ESME_RMSGQFUL) message_id="" congestion_state=100`)
	f(s, sms.Throttled, "submit_sm_resp seq=3 status=0x58(ESME_RTHROTTLED)")
	f(s, sms.OK, "submit_sm_resp seq=3 status=0 message_id=0000000000000001")
	load := 29
	s.o.Load = func() int { return load }
	f(s, sms.OK, "submit_sm_resp seq=3 status=0 message_id=0000000000000001")
	load = 30
	f(s, sms.OK, "submit_sm_resp seq=3 status=0 message_id=0000000000000001 congestion_state=30")
	f(s, sms.Throttled, "submit_sm_resp seq=3 status=0x58(ESME_RTHROTTLED)")
	load = 100 // it was taken all the same
	f(s, sms.OK, "submit_sm_resp seq=3 status=0 message_id=0000000000000001 congestion_state=99")
	s.version.Store(Version34)
	f(s, sms.OK, "submit_sm_resp seq=3 status=0 message_id=0000000000000001")
}

// Each optional parameter is logged by its name, refused if its length is wrong, and sent on byte
// for byte; so are those that are not assigned.
func TestParameters(t *testing.T) {
	submit := func(tlvs []byte) (*sms.Message, protocols.Action, *PDU) {
		p := &PDU{ID: SubmitSM, SequenceNumber: 1, SM: SM{DestAddr: []byte("1"), TLVs: tlvs}}
		var q PDU
		if err := q.Decode(p.AppendWire(nil)); err != nil {
			t.Fatal(err)
		}
		throughLog(t, &q, p.AppendWire(nil))
		s, m := server(t, Version34), new(sms.Message)
		a := s.Receive(1, &q)
		if a.Kind == protocols.Message {
			s.Message(1, &q, m)
		}
		return m, a, &q
	}
	for i := range parameters {
		p := &parameters[i]
		for n := range min(p.size, 300) + 3 {
			value := bytes.Repeat([]byte{'1'}, n)
			if p.kind == cstring && n > 0 {
				value[n-1] = 0
			}
			m, a, q := submit(AppendTLV(nil, p.tag, value))
			if a.Kind != protocols.Message {
				if p.fits(value) || q.CommandStatus != StatusInvParLen {
					t.Errorf("%s of %d octets: %s", p.name, n, q.AppendLog(nil, true))
				}
				continue
			}
			if !p.fits(value) {
				t.Errorf("%s of %d octets is not refused", p.name, n)
			}
			if named := bytes.Contains(q.AppendLog(nil, true), []byte(" "+p.name+"=")); !named {
				t.Errorf("%s of %d octets: %s", p.name, n, q.AppendLog(nil, true))
			}
			var out PDU
			if client(t, Version34).Encode(1, &out, m, 2); p.tag != TagPayload && !bytes.Equal(out.SM.TLVs, q.SM.TLVs) {
				t.Errorf("%s: %x is sent on as %x", p.name, q.SM.TLVs, out.SM.TLVs)
			}
		}
	}
	for _, tag := range []uint16{0, 0x0009, 0x0424 + 0x1000, 0x1400, 0x3FFF, 0xFFFF} {
		in := AppendTLV(AppendTLV(nil, tag, nil), tag, []byte{0, 0xFF, 0})
		m, _, _ := submit(in)
		var out PDU
		if client(t, Version34).Encode(1, &out, m, 2); !bytes.Equal(out.SM.TLVs, in) {
			t.Errorf("%x is sent on as %x", in, out.SM.TLVs)
		}
	}
}

// The states in which the client and the server may send each command, as §2.3 has them, with
// those of SMPP 5.0 for enquire_link, generic_nack and the client's data_sm.
func TestMatrixIsOfTheSpecification(t *testing.T) {
	const matrix = `
generic_nack             open tx rx trx / open tx rx trx
bind_receiver            open /
bind_transmitter         open /
bind_transceiver         open /
outbind                  / open
unbind                   tx rx trx / tx rx trx
enquire_link             open tx rx trx / open tx rx trx
submit_sm                tx trx /
deliver_sm               / rx trx
data_sm                  tx trx / tx rx trx
submit_multi             tx trx /
query_sm                 tx trx /
cancel_sm                tx trx /
replace_sm               tx trx /
alert_notification       / rx trx
broadcast_sm             tx trx /
query_broadcast_sm       tx trx /
cancel_broadcast_sm      tx trx /
param_retrieve           tx trx /
query_last_msgs          tx trx /
query_msg_details        tx trx /`
	states := map[string]state{"open": open, "tx": tx, "rx": rx, "trx": trx}
	want := map[string][2]state{}
	for _, line := range strings.Split(strings.TrimSpace(matrix), "\n") {
		name, sides, _ := strings.Cut(line, " ")
		var in [2]state
		for i, side := range strings.Split(sides, "/") {
			for _, word := range strings.Fields(side) {
				in[i] |= states[word]
			}
		}
		want[name] = in
		if id := name + "_resp"; name != "data_sm" { // its response is allowed in all bound states
			want[id] = [2]state{in[smsc], in[esme]}
		} else {
			want[id] = [2]state{bound, bound}
		}
	}
	for _, c := range commands[1:] {
		if in, ok := want[c.name]; !ok || in != c.in {
			t.Errorf("%s may be sent in %v, want %v", c.name, c.in, in)
		}
	}
}
