package smpp

import (
	"testing"
	"time"

	"pmg/protocols"
	"pmg/sms"
)

// A message that came by data_sm leaves by submit_sm or deliver_sm, unless an address is too
// long for these.
func TestDataThroughEncode(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).UnixNano()
	f := func(from, to *session, in, want string) {
		t.Helper()
		m, code := message(t, from, now, in)
		if code != sms.OK {
			t.Fatalf("%s: %s", in, code)
		}
		var p PDU
		to.Encode(now+int64(time.Minute), &p, m, 9)
		if got := string(p.AppendLog(nil, true)); got != want {
			t.Errorf("\ngot  %s\nwant %s", got, want)
		}
		wire := p.AppendWire(nil)
		var q PDU
		if err := q.Decode(wire); err != nil {
			t.Fatal(err)
		}
		throughLog(t, &q, wire)
	}
	const long = "123456789012345678901234567890"
	in, out := server(t, Version34), client(t, Version34)
	f(in, out, `data_sm seq=1 service_type=CMT source_addr_ton=5 source_addr=PMG dest_addr_ton=1 dest_addr_npi=1 destination_addr=46700000001 esm_class=67 `+
		`registered_delivery=1 data_coding=8 set_dpf=1 message_payload="\x00A" tlv_0x1400=0102`,
		`submit_sm seq=9 service_type=CMT source_addr_ton=5 source_addr=PMG dest_addr_ton=1 dest_addr_npi=1 destination_addr=46700000001 esm_class=67 `+
			`registered_delivery=1 data_coding=8 short_message="\x00A" set_dpf=1 tlv_0x1400=0102`)
	f(in, out, `data_sm seq=1 destination_addr=1 qos_time_to_live=3600`, `submit_sm seq=9 destination_addr=1 validity_period=000000005900000R`)
	f(in, out, `data_sm seq=1 destination_addr=`+long+` qos_time_to_live=3600 message_payload="hi" source_port=7`,
		`data_sm seq=9 destination_addr=`+long+` source_port=7 qos_time_to_live=3540 message_payload="hi"`)
	f(in, client(t, Version33), `data_sm seq=1 destination_addr=`+long+` message_payload="hi"`, `submit_sm seq=9 short_message="hi"`)
	f(out, in, `data_sm seq=1 source_addr=`+long+` destination_addr=1 message_payload="hi"`,
		`data_sm seq=9 source_addr=`+long+` destination_addr=1 message_payload="hi"`)
	f(out, in, `data_sm seq=1 source_addr=2 destination_addr=1 esm_class=4 receipted_message_id="0A\x00" message_state=2`,
		`deliver_sm seq=9 source_addr=2 destination_addr=1 esm_class=4 receipted_message_id="0A\x00" message_state=2`)
	f(out, in, `data_sm seq=1 source_addr=2 destination_addr=1 qos_time_to_live=3600 message_payload="hi"`,
		`deliver_sm seq=9 source_addr=2 destination_addr=1 short_message="hi" qos_time_to_live=3600`)
	f(in, out, `submit_multi seq=1 source_addr=2 number_of_dests=1 dest_flag=1 dest_addr_ton=1 destination_addr=46700000001 priority_flag=1 short_message="hi"`,
		`submit_sm seq=9 source_addr=2 dest_addr_ton=1 destination_addr=46700000001 priority_flag=1 short_message="hi"`)
}

// A data_sm of an SMSC is a message or a receipt, as its esm_class says.
func TestDataKinds(t *testing.T) {
	f := func(s *session, line string, want sms.Kind) {
		t.Helper()
		if m, code := message(t, s, 1, line); m.Kind != want || code != sms.OK {
			t.Errorf("%s: got kind %d, %s", line, m.Kind, code)
		}
	}
	f(server(t, Version34), `data_sm seq=1 destination_addr=1 esm_class=4`, sms.Submit)
	f(client(t, Version34), `data_sm seq=1`, sms.MO)
	f(client(t, Version34), `data_sm seq=1 esm_class=4`, sms.Receipt)
	f(client(t, Version34), `data_sm seq=1 esm_class=32`, sms.Receipt)
}

// A data_sm that uses the PDU of a submit_sm keeps nothing of it.
func TestDataReuse(t *testing.T) {
	var p PDU
	for _, line := range []string{`submit_sm seq=1 destination_addr=1 priority_flag=1 validity_period=000001000000000R short_message="old"`, `data_sm seq=1 destination_addr=1`} {
		if err := p.Decode(wireOf(t, line)); err != nil {
			t.Fatal(err)
		}
	}
	var m sms.Message
	if code := server(t, Version34).Message(1, &p, &m); code != sms.OK || len(m.Text()) > 0 || m.Priority != 0 || m.Expires != 0 {
		t.Errorf("%s, text %q, priority %d, expires %d", code, m.Text(), m.Priority, m.Expires)
	}
}

// data_sm is handled without allocation, as submit_sm is.
func TestDataDoesNotAllocate(t *testing.T) {
	in := wireOf(t, `data_sm seq=1 source_addr=1234 destination_addr=46700000001 message_payload="hello"`)
	from, to := server(t, Version34), client(t, Version34)
	var p, q PDU
	var m sms.Message
	out := make([]byte, 0, 1024)
	n := testing.AllocsPerRun(100, func() {
		if p.Decode(in) != nil || from.Receive(2, &p).Kind != protocols.Message || from.Message(2, &p, &m) != sms.OK {
			t.Fatal("not a message")
		}
		to.Encode(2, &q, &m, 1)
		out = q.AppendWire(out[:0])
		from.Answer(&p, sms.OK, 1)
		out = p.AppendLog(p.AppendWire(out[:0]), true)
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
