package smpp

import (
	"bytes"
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

// A message of an account gets the account's parameters that it lacks, before the rules of the connector. Receipts to clients,
// and peers of SMPP 3.3, do not.
func TestParametersOfAccounts(t *testing.T) {
	octets, problems := CompileParameters([]Parameter{
		{"0x1400", "11"}, {"0x1401", "0x3232"}, {"0x1400", "33"}, {"source_port", "7"},
	})
	if problems != nil {
		t.Fatal(problems)
	}
	var m sms.Message
	m.Set(sms.Address{}, sms.Address{Addr: []byte("1")}, []byte("hi"))
	m.Origin = &sms.Origin{Account: "acme", Parameters: &sms.Parameters{}}
	o := NewConnectorOptions()
	o.TLVs = []TLVRule{{Out: "drop", TLV: "source_port"}, {Out: "add", TLV: "0x1401", Value: "y"}, {Out: "add", TLV: "0x1402", Value: "x"}}
	if problems := o.CompileTLVs(); problems != nil {
		t.Fatal(problems)
	}
	plain := NewConnectorOptions()
	for _, c := range []struct {
		what    string
		s       *session
		options *ConnectorOptions
		octets  []byte
		want    []byte
	}{
		{"without", client(t, Version34), plain, nil, nil},
		{"with", client(t, Version34), plain, octets, []byte("\x14\x00\x00\x0211\x14\x01\x00\x0222\x02\x0a\x00\x02\x00\x07")},
		{"with rules", client(t, Version34), o, octets, []byte("\x14\x00\x00\x0211\x14\x01\x00\x0222\x14\x02\x00\x01x")},
		{"3.3", client(t, Version33), plain, octets, nil},
		{"to a client", server(t, Version34), plain, octets, nil},
	} {
		c.s.options = c.options
		m.Origin.Parameters.Set(c.octets)
		var sent PDU
		if c.s.Encode(1, &sent, &m, 9); !bytes.Equal(sent.SM.TLVs, c.want) {
			t.Errorf("%s: %q, want %q", c.what, sent.SM.TLVs, c.want)
		}
	}
	for _, bad := range []Parameter{{"source_prt", "1"}, {"0", "1"}, {"message_payload", "x"}, {"source_port", "65536"}, {"0x1400", "0x1"}} {
		if _, problems := CompileParameters([]Parameter{bad}); len(problems) != 1 {
			t.Errorf("%+v: %v", bad, problems)
		}
	}
}
