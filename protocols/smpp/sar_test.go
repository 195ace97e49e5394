package smpp

import (
	"testing"

	"pmg/protocols"
	"pmg/sms"
)

// A message with the parameters of segmentation is a part, and others are whole.
func TestPartOf(t *testing.T) {
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
		var p PDU
		if err := p.ParseLog([]byte("submit_sm seq=1 service_type=\"CMT\" source_addr=1 destination_addr=2 short_message=\"x\" " + line)); err != nil {
			t.Fatal(err)
		}
		var m sms.Message
		if code := s.Message(0, &p, &m); code != sms.OK {
			t.Fatal(code)
		}
		reference, ok := d.PartOf(m.Native(protocols.SMPP))
		if ok != (want >= 0) || ok && int(reference) != want {
			t.Errorf("%q: %d, %t", line, reference, ok)
		}
	}
	for _, native := range [][]byte{nil, {0, 0, 0, 0, 0, 9, 'a'}, {0, 0, 0, 0, 0, 0}} {
		if _, ok := New(Options{}).PartOf(native); ok {
			t.Errorf("%x is a part", native)
		}
	}
}
