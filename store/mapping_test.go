package store

import (
	"reflect"
	"testing"

	"pmg/sms"
)

// A mapping is read as it was written, by the wall clock.
func TestMapping(t *testing.T) {
	m := sample(1000, "text")
	v := MappingOf(m, 5)
	got, err := DecodeMapping(v.Append(nil))
	if err != nil || !reflect.DeepEqual(got, v) {
		t.Fatalf("got %+v %v, want %+v", got, err, v)
	}
	if first := v.Append(nil)[0]; first != mappingOfPeer {
		t.Errorf("without a way to the peer the version is %d", first)
	}
	v.By, v.PeerID, v.Flags, v.Alphabet = []byte("operator"), []byte("4711"), sms.HasHeader, sms.UCS2
	record := v.Append(nil)
	if got, err = DecodeMapping(record); err != nil || !reflect.DeepEqual(got, v) || record[0] != mappingWithWay {
		t.Errorf("got %+v %v, want %+v", got, err, v)
	}
	v.Submitted = []byte("submitted")
	for range 2 {
		record = v.Append(nil)
		if got, err = DecodeMapping(record); err != nil || !reflect.DeepEqual(got, v) || record[0] != mappingSubmitted {
			t.Errorf("got %+v %v, want %+v", got, err, v)
		}
		v.By, v.PeerID, v.Flags, v.Alphabet = nil, nil, 0, 0
	}
	if v.Arrived != 1005 || v.DeliverAt != 2005 || v.KnownID() != m.KnownID() || v.WholeID() != m.WholeID() || string(v.Account) != "acme" {
		t.Errorf("%+v", v)
	}
}

// A record of a mapping that is damaged is refused, and never ends the process.
// One that is read is written again as it was.
func FuzzMapping(f *testing.F) {
	v := MappingOf(sample(7, "text"), 1)
	f.Add(v.Append(nil))
	v.By, v.PeerID = []byte("operator"), []byte("4711")
	f.Add(v.Append(nil))
	v.Submitted = []byte("submitted")
	f.Add(v.Append(nil))
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if v, err := DecodeMapping(b); err == nil && string(v.Append(nil)) != string(b) {
			t.Errorf("%x is written again as %x", b, v.Append(nil))
		}
	})
}
