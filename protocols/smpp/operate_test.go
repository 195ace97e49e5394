package smpp

import (
	"testing"

	"pmg/protocols"
	"pmg/sms"
)

// A replace_sm changes what it names, and leaves addresses, coding and the optional parameters.
func TestReplaceKeeps(t *testing.T) {
	in, out := server(t, Version34), client(t, Version34)
	var p, q, sent PDU
	var m sms.Message
	read := func(p *PDU, line string) {
		t.Helper()
		if err := p.Decode(wireOf(t, line)); err != nil {
			t.Fatal(err)
		}
	}
	read(&p, `submit_sm seq=1 service_type=CMT source_addr_ton=5 source_addr=1234 dest_addr_ton=1 destination_addr=46700000001 esm_class=0x2 `+
		`registered_delivery=5 data_coding=0x10 short_message="old" source_port=7 tlv_0x1400=00ff`)
	if in.Receive(1, &p); in.Message(1, &p, &m) != sms.OK {
		t.Fatal("the message is refused")
	}
	read(&q, `replace_sm seq=2 message_id=0000000000000001 source_addr=1234 registered_delivery=1 sm_default_msg_id=3 short_message="a new and longer text, `+
		`for which the message needs another storage than that in which it came to the gateway, so that nothing of it may be lost"`)
	a := in.Receive(1, &q)
	o, code := in.Operation(1, &q)
	if a.Kind != protocols.Operate || code != sms.OK || o.Change(1, &m) != sms.OK {
		t.Fatalf("%v, %s", a.Kind, code)
	}
	out.Encode(1, &sent, &m, 3)
	want := `submit_sm seq=3 service_type=CMT source_addr_ton=5 source_addr=1234 dest_addr_ton=1 destination_addr=46700000001 esm_class=0x2 ` +
		`registered_delivery=1 data_coding=0x10 sm_default_msg_id=3 short_message="a new and longer text, ` +
		`for which the message needs another storage than that in which it came to the gateway, so that nothing of it may be lost" source_port=7 tlv_0x1400=00ff`
	read(&p, want)
	if got, want := sent.AppendLog(nil, true), p.AppendLog(nil, true); string(got) != string(want) {
		t.Errorf("\ngot  %s\nwant %s", got, want)
	}
}

// A message that was replaced still is one of SMPP, also if it has no native part.
func TestReplaceKeepsProtocol(t *testing.T) {
	m := &sms.Message{}
	m.Set(sms.Address{}, sms.Address{Addr: []byte("46700000001")}, []byte("old"))
	m.SetNative(protocols.SMPP, nil)
	for _, b := range []Replace{{ShortMessage: []byte("new")}, {ShortMessage: []byte("new"), DefaultMsgID: 1}, {ShortMessage: []byte("newer")}} {
		if code := b.change(1, nil, m); code != sms.OK || m.Protocol() != protocols.SMPP || (len(m.Native(protocols.SMPP)) > 0) != (b.DefaultMsgID > 0) {
			t.Errorf("%s: %s, protocol %d, native part %x", b.ShortMessage, code, m.Protocol(), m.Native(protocols.SMPP))
		}
	}
}

// The ids of messages are read in the forms in which they are written, and in no other.
func TestParseID(t *testing.T) {
	for _, id := range []uint64{1, 36, shortIDs - 1, shortIDs, 0x0006_1234_5678_9ABC, 1<<64 - 1} {
		if got, modulo, ok := parseID(sms.AppendID(nil, id)); got != id || modulo != 0 || !ok {
			t.Errorf("%d is read as %d modulo %d, %t", id, got, modulo, ok)
		}
		if got, modulo, ok := parseID([]byte(shortText(id))); got != id%shortIDs || modulo != shortIDs || !ok {
			t.Errorf("the short form of %d is read as %d modulo %d, %t", id, got, modulo, ok)
		}
	}
	for _, text := range []string{"", "1", "0000000000000000", "000000000000000g", "00000000000000001", "0000000!", "+0000001", "0x00000000000001", "_0000001"} {
		if id, modulo, ok := parseID([]byte(text)); ok {
			t.Errorf("%q is read as %d modulo %d", text, id, modulo)
		}
	}
}
