package store

import (
	"bytes"
	"reflect"
	"testing"

	"pmg/sms"
)

// A network is in the record only of a message that has one, with the rest or without it, and only one that can be.
func TestRecordNetwork(t *testing.T) {
	t.Parallel()
	m := sample(7, "Hello")
	plain := AppendRecord(nil, m, sampleLane, 0)
	for _, tagged := range []bool{false, true} {
		if tagged {
			sms.AddTag(m, "vip")
		}
		m.Network, _ = sms.ReadNetwork("24001")
		record := AppendRecord(nil, m, sampleLane, 0)
		var got sms.Message
		if err := Decode(record, &got, 0); err != nil || len(record) != RecordSize(m, sampleLane) {
			t.Fatalf("error %v, %d octets", err, len(record))
		}
		if got.Network != m.Network || len(got.Tags()) > 0 != tagged || string(got.Text()) != "Hello" {
			t.Errorf("network %s, tags %q, text %q", got.Network, got.Tags(), got.Text())
		}
		copy(record[len(record)-4:], []byte{0, 0, 0, 7})
		if err := Decode(record, &got, 0); err == nil {
			t.Error("7 is a network")
		}
	}
	m.Network = 0
	m.SetTags(nil)
	if got := AppendRecord(nil, m, sampleLane, 0); !bytes.Equal(got, plain) {
		t.Errorf("without a network: %x, not %x", got, plain)
	}
}

// A mapping has the network of its message, whatever else it has.
func TestMappingNetwork(t *testing.T) {
	t.Parallel()
	m := sample(1000, "text")
	m.Network, _ = sms.ReadNetwork("310410")
	v := MappingOf(m, 5)
	for _, by := range []string{"", "operator"} {
		v.ReportedBy(by)
		if by == "" {
			v.By = nil
		}
		record := v.Append(nil)
		if got, err := DecodeMapping(record); err != nil || !reflect.DeepEqual(got, v) || got.Network.String() != "310410" {
			t.Errorf("got %+v %v, want %+v", got, err, v)
		}
		for n := range record {
			if _, err := DecodeMapping(record[:n]); err == nil {
				t.Errorf("%d of %d octets are a mapping", n, len(record))
			}
		}
	}
}

// A price is in the record only of a message that has one, with a network or without, and its head has it.
func TestRecordPrice(t *testing.T) {
	t.Parallel()
	for shorts, network := range []string{"", "24001", "24001"} {
		m := sample(7, "Hello")
		sms.SetPrice(m, 45_000, uint8(shorts))
		m.Network, _ = sms.ReadNetwork(network)
		record := AppendRecord(nil, m, sampleLane, 0)
		var got sms.Message
		err := Decode(record, &got, 0)
		h, failed := DecodeHead(record)
		if err != nil || failed != nil || len(record) != RecordSize(m, sampleLane) || sms.PriceOf(&got) != 45_000 || h.Price != 45_000 || got.Network != m.Network ||
			sms.ShortsOf(&got) != uint8(max(shorts, 1)) {
			t.Errorf("%v %v, %+v", err, failed, sms.PriceOf(&got))
		}
	}
}
