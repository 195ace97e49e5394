package smpp

import (
	"strings"
	"testing"

	"pmg/protocols"
	"pmg/sms"
)

// Rules change parameters on the way in and on the way out, of messages and of receipts.
// Others pass as they are.
func TestTLVRules(t *testing.T) {
	const dlr = `"id:0A sub:001 dlvrd:001 submit date:2611201200 done date:2611201201 stat:DELIVRD err:000 text:hi"`
	for _, f := range []struct {
		rules        []TLVRule
		mo           bool
		params, want string
	}{
		{nil, false, `user_message_reference=7 tlv_0x1400=0102 tlv_0x1400=03`, `user_message_reference=7 tlv_0x1400=0102 tlv_0x1400=03`},
		{[]TLVRule{{In: "drop", TLV: "0x1400"}}, false, `tlv_0x1400=01 source_port=7 tlv_0x1400=02`, `source_port=7`},
		{[]TLVRule{{Out: "drop", TLV: "user_message_reference"}}, false, `user_message_reference=258 source_port=7`, `source_port=7`},
		{[]TLVRule{{Out: "add", TLV: "0x1401", Value: "0x0007"}, {Out: "add", TLV: "source_port", Value: "0x10"}}, false, `source_port=7`, `source_port=7 tlv_0x1401=0007`},
		{[]TLVRule{{Out: "add", TLV: "0x1400", Value: "x"}, {Out: "drop", TLV: "0x1500"}}, false, `tlv_0x1500=01`, `tlv_0x1400=78`},
		{[]TLVRule{{In: "add", TLV: "0x3fff", Value: "0x00ff"}, {In: "add", TLV: "0x1700", Value: ""}, {In: "add", TLV: "receipted_message_id", Value: "7"}}, true, `tlv_0x1400=01`, `tlv_0x1400=01 tlv_0x3fff=00ff tlv_0x1700= receipted_message_id="7\x00"`},
	} {
		for _, receipt := range []bool{false, true} {
			if receipt && !f.mo && f.rules != nil {
				continue
			}
			o := NewConnectorOptions()
			o.TLVs = f.rules
			if problems := o.CompileTLVs(); problems != nil {
				t.Fatalf("%+v: %v", f.rules, problems)
			}
			from, to, pdu, out := server(t, Version34), client(t, Version34), `submit_sm seq=1 destination_addr=1 short_message="hi"`, `submit_sm seq=9 destination_addr=1 short_message="hi"`
			switch {
			case receipt:
				from, to, pdu = to, from, `deliver_sm seq=1 destination_addr=1 esm_class=4 short_message=`+dlr
				out = `deliver_sm seq=9 destination_addr=1 esm_class=4 short_message=` + dlr
			case f.mo:
				from, to, pdu, out = to, from, `deliver_sm seq=1 destination_addr=1 short_message="hi"`, `deliver_sm seq=9 destination_addr=1 short_message="hi"`
			}
			from.options, to.options = o, o
			var p, q, sent PDU
			var m sms.Message
			if err := p.Decode(wireOf(t, strings.TrimSpace(pdu+" "+f.params))); err != nil {
				t.Fatal(err)
			}
			if a := from.Receive(1, &p); a.Kind != protocols.Message || from.Message(1, &p, &m) != sms.OK {
				t.Fatalf("%s: refused", pdu)
			}
			p.Reset()
			to.Encode(1, &sent, &m, 9)
			if err := q.Decode(sent.AppendWire(nil)); err != nil {
				t.Fatal(err)
			}
			got := string(q.AppendLog(nil, true))
			if want := strings.TrimSpace(out + " " + f.want); got != want {
				t.Errorf("%+v, receipt %t:\ngot  %s\nwant %s", f.rules, receipt, got, want)
			}
		}
	}
}

// A peer of SMPP 3.3 gets no parameters, whatever the rules say.
func TestTLVRules33(t *testing.T) {
	o := NewConnectorOptions()
	o.TLVs = []TLVRule{{Out: "add", TLV: "source_port", Value: "7"}}
	o.CompileTLVs()
	s := client(t, Version33)
	s.options = o
	var m sms.Message
	m.Set(sms.Address{}, sms.Address{Addr: []byte("1")}, []byte("hi"))
	var p PDU
	if s.Encode(1, &p, &m, 9); len(p.SM.TLVs) != 0 {
		t.Errorf("%s", p.AppendLog(nil, true))
	}
}
