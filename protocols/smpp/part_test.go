package smpp

import (
	"testing"

	"pmg/protocols"
	"pmg/sms"
)

// A message with the parameters of segmentation is a part, and others are whole.
func TestPart(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int{
		"sar_msg_ref_num=0x1234 sar_total_segments=3 sar_segment_seqnum=1": 0x1234,
		"sar_msg_ref_num=7 sar_total_segments=3 sar_segment_seqnum=2":      7,
		"sar_msg_ref_num=7":                         -1,
		"sar_total_segments=3 sar_segment_seqnum=1": -1,
		"user_message_reference=7":                  -1,
		"":                                          -1,
	} {
		d := New(Options{})
		s := server(t, Version34)
		var pdu PDU
		if err := pdu.ParseLog([]byte("submit_sm seq=1 service_type=\"CMT\" source_addr=1 destination_addr=2 short_message=\"x\" " + line)); err != nil {
			t.Fatal(err)
		}
		var m sms.Message
		if code := s.Message(0, &pdu, &m); code != sms.OK {
			t.Fatal(code)
		}
		p, ok := d.Part(&m)
		if ok != (want >= 0) || ok && int(p.Reference) != want {
			t.Errorf("%q: %+v, %t", line, p, ok)
		}
	}
	for _, native := range [][]byte{nil, {0, 0, 0, 0, 0, 9, 'a'}, {0, 0, 0, 0, 0, 0}} {
		var m sms.Message
		m.SetNative(protocols.SMPP, native)
		if _, ok := New(Options{}).Part(&m); ok {
			t.Errorf("%x is a part", native)
		}
	}
}
