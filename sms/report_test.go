package sms

import (
	"reflect"
	"slices"
	"testing"
)

// A receipt says what it was given, and is read again from its text alone. A text that
// was cut or has more says nothing.
func TestReport(t *testing.T) {
	for _, want := range []Report{
		{},
		{Known: 1 << 60, State: StateDelivered, Submitted: 1, Done: -2, Parts: 3, Delivered: 2},
		{
			ID: []byte("0A"), TextID: []byte("10"), Err: []byte("E045"), Text: []byte("Hello"), Original: []byte("id:0A stat:…"),
			State: StateSkipped, Network: 3, NetworkError: 0x1234,
		},
		{ID: []byte("7"), Word: []byte("READ")},
		{ID: []byte("7"), Word: []byte("READ"), Extra: []byte("price:0.05")},
		{ID: []byte("7"), State: StateDelivered, Extra: []byte("price:0.05 mccmnc:26201")},
		{ID: []byte("8"), State: StateDelivered, Submitted: 1, Seconds: true},
		{ID: []byte("9"), State: StateDelivered, Submitted: 1, Context: []byte("order 7"), Accepted: 1 << 60},
		{Accepted: 6},
		{Known: 5, State: StateUndeliverable, Untaken: true, Seconds: true, Answer: []byte("\x00\x00\x00\x0bESME_RINVDSTADR")},
	} {
		var m Message
		m.SetReport(Address{Addr: []byte("46700000001")}, Address{Addr: []byte("acme")}, &want)
		got, ok := m.Report()
		if !ok || !reflect.DeepEqual(got, want) || m.Kind != Receipt || string(m.Dest().Addr) != "acme" {
			t.Errorf("%+v became %+v, %t", want, got, ok)
		}
		octets, older := want.append(nil), want
		var lengths []int // of reports of before there were these
		for _, forget := range []func(){
			func() { older.Accepted = 0 }, func() { older.Context = nil }, func() { older.Answer = nil }, func() { older.Extra = nil }, func() { older.Word = nil },
		} {
			forget()
			lengths = append(lengths, len(older.append(nil)))
		}
		for n := range octets {
			if slices.Contains(lengths, n) {
				continue
			}
			m.Set(Address{}, Address{}, octets[:n])
			if r, ok := m.Report(); ok {
				t.Errorf("%d of %d octets were read: %+v", n, len(octets), r)
			}
		}
		if m.Set(Address{}, Address{}, append(octets, 0)); func() bool { _, ok := m.Report(); return ok }() {
			t.Error("an octet too many was read")
		}
	}
	m := Message{Kind: Receipt}
	m.Set(Address{}, Address{}, (&Report{}).append(nil))
	if _, ok := m.Report(); ok {
		t.Error("a message without the flag has a report")
	}
}

// FuzzReport reads what no receipt has written.
func FuzzReport(f *testing.F) {
	f.Add((&Report{ID: []byte("1"), State: StateExpired}).append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r Report
		if r.read(b) && string(r.append(nil)) != string(b) {
			t.Errorf("%x was read as %+v", b, r)
		}
	})
}
