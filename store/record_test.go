package store

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pmg/sms"
)

// sample returns a message with every field set.
func sample(id uint64, text string) *sms.Message {
	m := &sms.Message{
		ID: id, Origin: &sms.Origin{Account: "acme", Connector: "clients"},
		Arrived: 1_000, DeliverAt: 2_000, NotBefore: 3_000, Expires: 4_000,
		Kind: sms.Receipt, Priority: 3, PID: 0x41, Alphabet: sms.UCS2, Class: sms.Class2,
		Notify: sms.NotifySuccess | sms.NotifyProgress, Flags: sms.HasHeader | sms.RelativeValidity, Offset: 258, Part: 1, Parts: 3,
		Attempts: 1, Losses: 2, Throttles: 3, Earlier: 4, Sends: 5, Tried: 0x0607, TriedOf: 0x0809,
	}
	m.Set(sms.Address{TON: 5, NPI: 1, Addr: []byte("Sender")}, sms.Address{TON: 1, NPI: 2, Addr: []byte("46700000001")}, []byte(text))
	m.SetNative(1, []byte("native"))
	return m
}

var sampleLane = Lane{Connector: "north"}

// A record gives back the message, by the clock of the reader.
func TestRecord(t *testing.T) {
	const ahead = 1_000_000
	want := sample(7, "Hello")
	want.Flags |= sms.Scheduled | sms.Settled // are not stored
	record := AppendRecord([]byte("before"), want, sampleLane, ahead)
	record, ok := bytes.CutPrefix(record, []byte("before"))
	if !ok || len(record) != RecordSize(want, sampleLane) {
		t.Fatalf("the record has %d octets, not %d", len(record), RecordSize(want, sampleLane))
	}
	h, err := DecodeHead(record)
	if err != nil {
		t.Fatal(err)
	}
	if string(h.Account) != "acme" || string(h.Connector) != "clients" || string(h.LaneConnector) != "north" ||
		h.LaneAccount != nil || h.Arrived != ahead+1_000 || h.DeliverAt != ahead+2_000 || h.Expires != ahead+4_000 ||
		h.Priority != 3 || h.Kind != sms.Receipt {
		t.Errorf("head %+v", h)
	}
	var got sms.Message
	if err := Decode(record, &got, ahead+10); err != nil {
		t.Fatal(err)
	}
	if got.Arrived != 990 || got.DeliverAt != 1_990 || got.Expires != 3_990 {
		t.Errorf("times %d %d %d", got.Arrived, got.DeliverAt, got.Expires)
	}
	if got.NotBefore != 0 || got.Attempts != 0 || got.Losses != 0 || got.Throttles != 0 {
		t.Errorf("the record has the state: %+v", got)
	}
	if got.Flags != sms.HasHeader|sms.RelativeValidity {
		t.Errorf("flags %b", got.Flags)
	}
	if got.Kind != want.Kind || got.Priority != want.Priority || got.PID != want.PID || got.Alphabet != want.Alphabet || got.Class != want.Class ||
		got.Notify != want.Notify || got.Offset != want.Offset || got.Part != want.Part || got.Parts != want.Parts ||
		!reflect.DeepEqual(got.Source(), want.Source()) || !reflect.DeepEqual(got.Dest(), want.Dest()) {
		t.Errorf("got %+v", &got)
	}
	protocol, native := got.NativePart()
	if protocol != 1 || string(native) != "native" || string(got.Text()) != "Hello" || string(got.Dest().Addr) != "46700000001" {
		t.Errorf("parts %d %q %q %q", protocol, native, got.Text(), got.Dest().Addr)
	}
	got.Origin = want.Origin
	if again := AppendRecord(nil, &got, sampleLane, ahead+10); !bytes.Equal(again, record) {
		t.Errorf("decoded and encoded:\n%x, not\n%x", again, record)
	}
}

// What the client has submitted is in the record only where the message differs from it.
func TestRecordSubmitted(t *testing.T) {
	m := sample(7, "Hello")
	plain := AppendRecord(nil, m, sampleLane, 0)
	m.KeepAddresses(m.Source(), m.Dest())
	if got := AppendRecord(nil, m, sampleLane, 0); !bytes.Equal(got, plain) {
		t.Errorf("the record of a message that did not change: %x, not %x", got, plain)
	}
	m.KeepAddresses(m.Source(), sms.Address{Addr: []byte("1")})
	m.SetAddresses(sms.Address{}, sms.Address{Addr: []byte("1")})
	record := AppendRecord(nil, m, sampleLane, 0)
	var got sms.Message
	if err := Decode(record, &got, 0); err != nil || len(record) != RecordSize(m, sampleLane) {
		t.Fatalf("error %v, %d octets", err, len(record))
	}
	clear(record) // the message has octets of its own
	s, ok := got.Submitted()
	if !ok || s.Source.TON != 5 || string(s.Source.Addr) != "Sender" || s.Dest.NPI != 2 || string(s.Dest.Addr) != "46700000001" {
		t.Errorf("got %+v", s)
	}
	if err := Decode(plain, &got, 0); err != nil || got.SubmittedOctets() != nil {
		t.Errorf("error %v, still %x", err, got.SubmittedOctets())
	}
}

// Tags are in the record only of a message that has some, with what the client has submitted or without it.
func TestRecordTags(t *testing.T) {
	m := sample(7, "Hello")
	plain := AppendRecord(nil, m, sampleLane, 0)
	for _, submitted := range []bool{false, true} {
		if submitted {
			m.KeepAddresses(m.Source(), sms.Address{Addr: []byte("1")})
		}
		sms.AddTag(m, "vip")
		sms.AddTag(m, "net:24001")
		record := AppendRecord(nil, m, sampleLane, 0)
		var got sms.Message
		if err := Decode(record, &got, 0); err != nil || len(record) != RecordSize(m, sampleLane) {
			t.Fatalf("error %v, %d octets", err, len(record))
		}
		clear(record)
		if _, ok := got.Submitted(); ok != submitted || string(got.Tags()) != "vip net:24001" || string(got.Text()) != "Hello" {
			t.Errorf("submitted %v, tags %q, text %q", ok, got.Tags(), got.Text())
		}
		m.SetTags(nil)
		sms.AddTag(m, "a")
		record = AppendRecord(nil, m, sampleLane, 0)
		record[len(record)-1-2+1] = 0 // no tag
		if err := Decode(record[:len(record)-1], new(sms.Message), 0); err == nil {
			t.Error("a record with tags and without any is read")
		}
		m.SetTags(nil)
	}
	if record := AppendRecord(nil, sample(7, "Hello"), sampleLane, 0); !bytes.Equal(record, plain) {
		t.Errorf("the record of a message without tags: %x, not %x", record, plain)
	}
}

// A time that is not set stays so, whatever the clocks.
func TestRecordTimes(t *testing.T) {
	m := &sms.Message{Arrived: 5}
	record := AppendRecord(nil, m, sampleLane, -5)
	var got sms.Message
	if err := Decode(record, &got, 70); err != nil {
		t.Fatal(err)
	}
	if got.Arrived == 0 || got.DeliverAt != 0 || got.Expires != 0 {
		t.Errorf("times %d %d %d", got.Arrived, got.DeliverAt, got.Expires)
	}
}

// A state gives back what has changed of a message.
func TestState(t *testing.T) {
	want := State{Lane: Lane{Account: "acme"}, Aside: Quarantined, Reason: strings.Repeat("r", maxReason+1)}
	got, err := DecodeState(AppendState(nil, sample(1, ""), want, 100))
	if err != nil {
		t.Fatal(err)
	}
	want.Reason = want.Reason[:maxReason]
	want.Attempts, want.Losses, want.Throttles, want.NotBefore = 1, 2, 3, 3_100
	want.Earlier, want.Sends, want.Tried, want.TriedOf = 4, 5, 0x0607, 0x0809
	if got != want {
		t.Errorf("%+v, not %+v", got, want)
	}
	var m sms.Message
	got.Restore(&m, 50)
	if m.Attempts != 1 || m.Losses != 2 || m.Throttles != 3 || m.NotBefore != 3_050 || m.Earlier != 4 || m.Sends != 5 || m.Tried != 0x0607 || m.TriedOf != 0x0809 {
		t.Errorf("restored %+v", &m)
	}
	want = State{Lane: want.Lane, UnderWay: true}
	if got, err := DecodeState(AppendState(nil, &sms.Message{}, want, 0)); err != nil || got != want {
		t.Errorf("%+v, error %v, not %+v", got, err, want)
	}
}

// A record that is cut off, too long or of a later version is refused, and says so.
func TestRecordRefused(t *testing.T) {
	record := AppendRecord(nil, sample(1, "Hello"), sampleLane, 0)
	state := AppendState(nil, sample(1, ""), State{}, 0)
	read := map[string]func([]byte) error{
		"message": func(b []byte) error { return Decode(b, new(sms.Message), 0) },
		"state":   func(b []byte) error { _, err := DecodeState(b); return err },
	}
	for what, good := range map[string][]byte{"message": record, "state": state} {
		for n := range good {
			if read[what](good[:n]) == nil {
				t.Errorf("a %s of %d octets instead of %d is accepted", what, n, len(good))
			}
		}
		if err := read[what](append(bytes.Clone(good), 0)); err == nil {
			t.Errorf("a %s with an octet too many is accepted", what)
		}
		later := bytes.Clone(good)
		later[0] = max(recordLast, stateVersion) + 1
		if err := read[what](later); !errors.Is(err, ErrNewer) {
			t.Errorf("a %s of a later version: %v", what, err)
		}
	}
	if _, err := DecodeHead(record[:20]); err == nil {
		t.Error("half a head is accepted")
	}
	for name, at := range map[string]int{"version": 0, "kind": 1} {
		wrong := bytes.Clone(record)
		wrong[at] = map[int]byte{0: 0, 1: byte(sms.Receipt) + 1}[at]
		_, err := DecodeHead(wrong)
		if err == nil || !strings.Contains(err.Error(), "its "+name+" has a value that is not allowed") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Fields that are longer than a record has room for are cut, and do no harm to those behind them.
func TestRecordLong(t *testing.T) {
	m := sample(1, strings.Repeat("t", 70_000))
	m.SetAddresses(sms.Address{Addr: []byte(strings.Repeat("1", 300))}, m.Dest())
	lane := Lane{Connector: strings.Repeat("c", 70_000)}
	record := AppendRecord(nil, m, lane, 0)
	var got sms.Message
	if err := Decode(record, &got, 0); err != nil || len(record) != RecordSize(m, lane) {
		t.Fatalf("error %v, %d octets", err, len(record))
	}
	h, err := DecodeHead(record)
	if err != nil || len(h.LaneConnector) != 65_535 {
		t.Errorf("a name of %d octets, error %v", len(h.LaneConnector), err)
	}
	if len(got.Source().Addr) != 255 || string(got.Dest().Addr) != "46700000001" || len(got.Text()) != 70_000 {
		t.Errorf("addresses %q and %q, and a text of %d octets", got.Source().Addr, got.Dest().Addr, len(got.Text()))
	}
}

// Neither the head of a record nor the record itself costs an allocation.
func TestRecordAllocs(t *testing.T) {
	m := sample(1, "Hello")
	record := AppendRecord(nil, m, sampleLane, 0)
	var got sms.Message
	b := make([]byte, 0, 2*len(record))
	if n := testing.AllocsPerRun(100, func() {
		h, err := DecodeHead(record)
		if err != nil || h.Priority != 3 || Decode(record, &got, 0) != nil {
			t.Error("cannot decode")
		}
		if len(AppendRecord(b, m, sampleLane, 0)) != RecordSize(m, sampleLane) {
			t.Error("the size is wrong")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// What can be read is written the same, and nothing that is read makes more of itself.
func FuzzRecord(f *testing.F) {
	f.Add(AppendRecord(nil, sample(1, "Hello"), sampleLane, 0))
	f.Add(AppendRecord(nil, &sms.Message{}, Lane{Account: "acme"}, 0))
	f.Add(AppendState(nil, sample(1, ""), State{Lane: sampleLane, Reason: "why"}, 0))
	f.Add([]byte{recordVersion, 0xFF})
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := DecodeState(b); err == nil {
			var m sms.Message
			s.Restore(&m, 0)
			if again := AppendState(nil, &m, s, 0); !bytes.Equal(again, b) {
				t.Errorf("state %x, not %x", again, b)
			}
		}
		h, headErr := DecodeHead(b)
		var m sms.Message
		if err := Decode(b, &m, 0); err != nil {
			return
		}
		if headErr != nil {
			t.Fatalf("the message can be read, but not its head: %v", headErr)
		}
		if m.Size() > int64(len(b))+1024 {
			t.Errorf("%d octets make a message of %d", len(b), m.Size())
		}
		m.Origin = &sms.Origin{Account: string(h.Account), Connector: string(h.Connector)}
		lane := Lane{Connector: string(h.LaneConnector), Account: string(h.LaneAccount)}
		if again := AppendRecord(nil, &m, lane, 0); !bytes.Equal(again, b) {
			t.Errorf("record %x, not %x", again, b)
		}
	})
}
