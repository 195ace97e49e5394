package loadtest

import (
	"fmt"
	"testing"
	"time"

	"pmg/protocols"
	"pmg/protocols/ucp"
)

// A load and a sink that speak UCP agree about messages, receipts and messages of the sink.
func TestUCP(t *testing.T) {
	t.Parallel()
	for name, receipt := range map[string]ReceiptOptions{
		"plain":   {},
		"delayed": {Delay: time.Millisecond, DelayMax: 20 * time.Millisecond, Fail: 0.1},
		"first":   {First: true, OtherSession: true},
	} {
		for _, window := range []int{1, 10, 99} {
			t.Run(fmt.Sprint(name, window), func(t *testing.T) {
				t.Parallel()
				s := startSink(t, SinkOptions{Protocol: "ucp", Receipts: true, Receipt: receipt, Messages: 2000, Window: window,
					SystemID: "load", Password: "secret", MO: MOOptions{Count: 300}})
				r := load(t, s, func(o *LoadOptions) {
					o.Protocol, o.Window, o.Receipts, o.MO = "ucp", window, true, 300
				})
				wantClean(t, r.Problems())
				<-s.Done()
				seen := s.Result()
				wantClean(t, seen.Problems())
				want(t, "accepted", r.Accepted, 2000)
				want(t, "receipts", r.Receipts, 2000)
				want(t, "messages of the sink", r.MO, 300)
				want(t, "delivered", Compare(r, seen).Delivered, 2000)
			})
		}
	}
}

func TestUCPRefusals(t *testing.T) {
	t.Parallel()
	s := startSink(t, SinkOptions{Protocol: "ucp", Orders: true, Faults: Faults{ThrottleEvery: 10, RefuseTo: "46700000100"}})
	r := load(t, s, func(o *LoadOptions) { o.Protocol, o.Messages, o.Retry = "ucp", 200, time.Millisecond })
	want(t, "refused", r.Statuses["EC 06"], 1)
	want(t, "accepted", r.Accepted, 199)
	r = load(t, s, func(o *LoadOptions) {
		o.Protocol, o.Messages, o.Text, o.First = "ucp", 5, `{"submit":{"status":5}}`, 1000
	})
	want(t, "barred", r.Statuses["EC 05"], 5)
}

// What load and sink write is what UCP's driver reads.
func TestUCPFrames(t *testing.T) {
	t.Parallel()
	var w ucpWire
	driver := ucp.New(ucp.Options{})
	o := DefaultLoadOptions()
	o.Text, o.Receipts = "[text] {$_@}", true
	submit := w.newTemplate(&o).append(nil, 78, 123_456_789_012)
	h := header{sequence: 100, command: ucpSubmit}
	d := delivery{id: 1_790_000_000, state: stateUndeliverable, err: [3]byte{'1', '0', '8'}, number: 7}
	d.source.set(address{digits: []byte("4670")})
	d.destination.set(address{digits: []byte("1001")})
	mo := d
	mo.mo = true
	for want, b := range map[string][]byte{
		"op60":        w.appendLogin(nil, 1, &loginRequest{Account{"load", "pass$"}, protocols.Transceiver}),
		"op60_result": w.appendLoginAnswer(nil, header{sequence: 1, command: ucpLogin}, 0),
		"op51":        submit,
		"op51_result": w.appendAccepted(nil, h, &submitted{destination: address{digits: []byte("4670")}}, messageID{id: 1_790_000_000}),
		"op53":        w.appendDelivery(nil, 3, &d, nil),
		"op52":        w.appendDelivery(nil, 3, &mo, nil),
		"op53_result": w.appendDeliverAnswer(nil, header{sequence: 3, command: ucpNotify}, nil),
		"op31_result": w.appendKeepAliveAnswer(nil, header{sequence: 3, command: ucpAlert}),
		"op61_result": w.appendNotUnderstood(nil, header{sequence: 3, command: 61}),
	} {
		if n, err := w.frame(b); n != len(b) || err != nil {
			t.Errorf("%s: %q: %d, %v", want, b, n, err)
		}
		p := driver.NewPDU()
		if err := driver.Decode(p, b); err != nil {
			t.Errorf("%s: %q: %v", want, b, err)
		} else if got := driver.Commands()[p.Command()]; got != want {
			t.Errorf("%s: %q is %s", want, b, got)
		}
	}
	var m submitted
	if err := w.submit(submit, &m); err != nil || string(m.text[:27]) != "#123456789012 [text] {$_@}x" || !m.wantsSuccess || !m.wantsFailure {
		t.Errorf("submit %q: %+v, %v", submit, m, err)
	}
	got, err := w.delivery(w.appendDelivery(nil, 3, &d, nil))
	if id := string(w.messageID(w.appendAccepted(nil, h, &submitted{destination: address{digits: []byte("4670")}}, messageID{id: d.id}))); err != nil ||
		string(got.id) != id || got.state != stateUndeliverable || string(got.to) != "1001" {
		t.Errorf("notification: %+v for %s, %v", got, id, err)
	}
}

// Frames that are wrong are found.
func TestUCPWrongFrames(t *testing.T) {
	t.Parallel()
	var w ucpWire
	whole := w.appendKeepAliveAnswer(nil, header{sequence: 3, command: ucpAlert})
	for n := range len(whole) {
		if got, err := w.frame(whole[:n]); got != 0 || err != nil {
			t.Errorf("%d octets of %q: got %d, %v", n, whole, got, err)
		}
	}
	for at, c := range map[int]byte{0: '1', 5: 'x', 8: '0', 16: '1', len(whole) - 2: 'g', len(whole) - 1: 0} {
		wrong := append([]byte(nil), whole...)
		wrong[at] = c
		if _, err := w.frame(wrong); err == nil {
			t.Errorf("%q: no error", wrong)
		}
	}
	for _, data := range []string{"A", "A/B/C/D/E/F/", "/"} {
		f := beginUCP(nil, 1, 'O', ucpSubmit)
		f.b = append(f.b, data...)
		b := f.end()
		if err := w.submit(b, new(submitted)); err == nil {
			t.Errorf("%q: no error", b)
		}
	}
}

// Nothing is allocated for a message and its receipt.
func TestUCPAllocations(t *testing.T) {
	var w ucpWire
	o := DefaultLoadOptions()
	template := w.newTemplate(&o)
	var b []byte
	var m submitted
	var d delivery
	once := func() {
		b = template.append(b[:0], 5, 77)
		if _, err := w.frame(b); err != nil {
			t.Fatal(err)
		}
		h := w.header(b)
		if err := w.submit(b, &m); err != nil {
			t.Fatal(err)
		}
		d.source.set(m.destination)
		b = w.appendAccepted(b[:0], h, &m, messageID{id: 7})
		b = w.appendDelivery(b[:0], 5, &d, nil)
		if _, err := w.delivery(b); err != nil {
			t.Fatal(err)
		}
	}
	once()
	if n := testing.AllocsPerRun(100, once); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
