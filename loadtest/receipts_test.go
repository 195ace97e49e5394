package loadtest

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"pmg/protocols"
)

// Every message has one receipt, in every form and order that a sink sends them.
func TestReceipts(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]ReceiptOptions{
		"plain":   {},
		"text":    {Format: ReceiptText, ReceiptIDForm: SameForm},
		"tlv":     {Format: ReceiptTLV, IDForm: DecimalForm},
		"delayed": {Delay: time.Millisecond, DelayMax: 20 * time.Millisecond},
		"other":   {OtherSession: true},
		"first":   {First: true},
		"both":    {First: true, OtherSession: true, IDForm: UpperForm},
		"short":   {IDForm: ShortUpperForm},
		"long":    {IDForm: LongDecimalForm},
	} {
		for _, separate := range []bool{false, true} {
			t.Run(fmt.Sprint(name, separate), func(t *testing.T) {
				t.Parallel()
				s := startSink(t, SinkOptions{Receipts: true, Receipt: o, Messages: 2000})
				r := load(t, s, func(o *LoadOptions) { o.Receipts, o.Separate = true, separate })
				wantClean(t, r.Problems())
				<-s.Done()
				seen := s.Result()
				wantClean(t, seen.Problems())
				want(t, "receipts", r.Receipts, 2000)
				want(t, "delivered", r.ReceiptStates["DELIVRD"], 2000)
				want(t, "receipts sent", seen.Receipts, 2000)
				want(t, "unnumbered", r.Unnumbered, 0)
				if o.First && !o.OtherSession && !separate {
					want(t, "early", r.ReceiptsEarly, 2000)
				}
				if r.ReceiptsPerSecond <= 0 {
					t.Errorf("%f receipts a second", r.ReceiptsPerSecond)
				}
				if l := r.ReceiptLatency; l.P50 <= 0 || l.P50 > l.P99 || l.P99 > l.Max {
					t.Errorf("latency is not a distribution: %+v", l)
				}
			})
		}
	}
}

// Some messages fail, and only the clients that want receipts get them.
func TestReceiptsOfFailures(t *testing.T) {
	t.Parallel()
	s := startSink(t, SinkOptions{Receipts: true, Receipt: ReceiptOptions{Fail: 0.5}})
	r := load(t, s, func(o *LoadOptions) { o.Receipts = true })
	wantClean(t, r.Problems())
	want(t, "receipts", r.ReceiptStates["DELIVRD"]+r.ReceiptStates["UNDELIV"], 2000)
	if n := r.ReceiptStates["UNDELIV"]; n < 800 || n > 1200 {
		t.Errorf("%d of 2000 failed, and half of them should", n)
	}
}

// Ids in receipts that are written in another way are not those of the messages: only a
// gateway that knows how its SMSC writes them can pair the two.
func TestReceiptsWithOtherIDsAreUnknown(t *testing.T) {
	t.Parallel()
	s := startSink(t, SinkOptions{Receipts: true, Receipt: ReceiptOptions{ReceiptIDForm: DecimalForm}})
	r := load(t, s, func(o *LoadOptions) { o.Receipts, o.Timeout = true, 3*time.Second })
	if !r.GaveUp {
		t.Error("did not give up")
	}
	want(t, "receipts", r.Receipts, 0)
	want(t, "missing", r.ReceiptsMissing, 2000)
	want(t, "unknown", r.ReceiptsUnknown, 2000)
}

// Two accounts submit, and each gets its own receipts.
func TestReceiptsOfAccounts(t *testing.T) {
	t.Parallel()
	s := startSink(t, SinkOptions{Receipts: true, Receipt: ReceiptOptions{OtherSession: true}})
	r := load(t, s, func(o *LoadOptions) {
		o.Receipts, o.Connections, o.Accounts = true, 4, []Account{{"a", "pw"}, {"b", "pw"}}
	})
	wantClean(t, r.Problems())
	want(t, "receipts", r.Receipts, 2000)
}

// Receipts that are doubled, for another account, unknown or with the text of another
// message are found, also if they come before the answer.
func TestReceiptsThatAreWrong(t *testing.T) {
	t.Parallel()
	one, other := newAccountReceipts(), newAccountReceipts()
	var b receiptBatch
	b.received = []receivedReceipt{{id: 1, number: -1, state: stateDelivered}, {id: 1, number: -1}, {id: 8, number: -1}, {id: 9, number: -1}}
	var taken []int64
	matched := func(ns int64) { taken = append(taken, ns) }
	one.match(&b, matched)
	b.accepted = []acceptedMessage{{1, 101, -5, 0}, {2, 102, -6, 0}, {3, 103, -7, 0}}
	b.received = []receivedReceipt{{id: 2, number: 102, at: 4}, {id: 3, number: 104, at: 3}, {id: 3, number: 103, at: 3}}
	one.match(&b, matched)
	o := receiptBatch{accepted: []acceptedMessage{{8, 108, 0, 0}}}
	other.match(&o, matched)

	want(t, "doubled", b.doubled, 2)
	want(t, "wrong", b.wrong, 1)
	want(t, "before", b.before, 1)
	if got := []int64{101, 102, 103}; !reflect.DeepEqual(b.numbers, got) {
		t.Errorf("messages with a receipt: %v", b.numbers)
	}
	if want := []int64{5, 10, 10}; !reflect.DeepEqual(taken, want) {
		t.Errorf("times: %v, want %v", taken, want)
	}
	misrouted, unknown := one.strays([]*accountReceipts{one, other})
	want(t, "misrouted", misrouted, 1)
	want(t, "unknown", unknown, 1)
}

// Receipts wait for a session that can receive them, and one that a session has not
// answered is sent again on another.
func TestReceiptsWaitForReceiver(t *testing.T) {
	t.Parallel()
	const messages, window = 50, 7
	s := startSink(t, SinkOptions{Receipts: true, Messages: messages, Window: window})
	submitted := dial(t, s, protocols.Transmitter)
	o := DefaultLoadOptions()
	o.Receipts = true
	template := submitted.wire.newTemplate(&o)
	for i := range int64(messages) {
		submitted.write(template.append(nil, uint32(i+2), i))
		submitted.read(submitAnswer)
	}
	silent := dial(t, s, protocols.Receiver)
	for range window {
		silent.read(deliverKind)
	}
	silent.conn.Close()
	receiver := dial(t, s, protocols.Transceiver)
	ids := map[string]bool{}
	for len(ids) < messages {
		pdu := receiver.read(deliverKind)
		d, err := receiver.wire.delivery(pdu)
		if err != nil || !d.receipt || !d.final || ids[string(d.id)] {
			t.Fatalf("not a receipt that is awaited: %+v, %v", d, err)
		}
		ids[string(d.id)] = true
		receiver.write(receiver.wire.appendDeliverAnswer(nil, receiver.wire.header(pdu), pdu))
	}
	<-s.Done()
	seen := s.Result()
	wantClean(t, seen.Problems())
	want(t, "sent again", seen.Redelivered, window)
}

// A receipt that is refused for the moment is sent again, and one that is refused for good
// is a problem.
func TestReceiptsRefused(t *testing.T) {
	t.Parallel()
	s := startSink(t, SinkOptions{Receipts: true, Messages: 2})
	c := dial(t, s, protocols.Transceiver)
	o := DefaultLoadOptions()
	o.Receipts = true
	template := c.wire.newTemplate(&o)
	c.write(template.append(template.append(nil, 2, 1), 3, 2))
	for _, status := range []byte{statusTemporary, 0x65, 0} {
		h := c.wire.header(c.read(deliverKind))
		answer := c.wire.appendDeliverAnswer(nil, h, nil)
		answer[11] = status
		c.write(answer)
	}
	<-s.Done()
	seen := s.Result()
	want(t, "refused", seen.ReceiptsRefused, 1)
	want(t, "answered", seen.ReceiptsAnswered, 1)
	want(t, "sent again", seen.Redelivered, 1)
	if got := seen.Problems(); !reflect.DeepEqual(got, []string{"1 receipts refused"}) {
		t.Errorf("problems: %q", got)
	}
}

func TestIDForms(t *testing.T) {
	t.Parallel()
	const id = 0x10000000abc
	for name, want := range map[string]string{
		"same": "0000010000000abc", "hex": "0000010000000abc", "upper": "0000010000000ABC", "hex-short": "10000000abc",
		"upper-short": "10000000ABC", "decimal": "1099511630524", "decimal-long": "00000001099511630524",
	} {
		form, err := ParseIDForm(name)
		if got := string(messageID{id, form}.append(nil)); got != want || err != nil {
			t.Errorf("%s: got %s, want %s, %v", name, got, want, err)
		}
	}
	if _, err := ParseIDForm("octal"); err == nil {
		t.Error("octal is a form")
	}
}

// A receipt in text can be read whatever the text of its message is.
func TestReceiptText(t *testing.T) {
	t.Parallel()
	d := delivery{state: stateUndeliverable, err: [3]byte{'0', '1', '1'}, submitted: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	d.textLen = uint8(copy(d.text[:], "id:2 stat:DELIVRD"))
	text := appendReceiptText(nil, []byte("17"), &d)
	if !bytes.HasPrefix(text, []byte("id:17 sub:001 dlvrd:000 submit date:2601020304 done date:")) {
		t.Errorf("got %s", text)
	}
	id, s, body := parseReceiptText(text)
	if string(id) != "17" || s != stateUndeliverable || string(body) != "id:2 stat:DELIVRD" {
		t.Errorf("%s: got id %s, state %d, text %s", text, id, s, body)
	}
}

// A peer is a client that a test plays.
type peer struct {
	t    *testing.T
	conn interface {
		Write([]byte) (int, error)
		Close() error
	}
	wire wire
	in   stream
}

// dial connects and logs in.
func dial(t *testing.T, s *Sink, bind protocols.BindType) *peer {
	t.Helper()
	o := DefaultLoadOptions()
	o.To = s.Addr()
	r := newRun(o)
	c, err := r.bindOne(context.Background(), 0, bind)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.conn.SetDeadline(time.Now().Add(20 * time.Second))
	p := &peer{t: t, conn: c.conn, wire: c.wire, in: c.in}
	t.Cleanup(func() { p.conn.Close() })
	return p
}

func (p *peer) write(b []byte) {
	p.t.Helper()
	if _, err := p.conn.Write(b); err != nil {
		p.t.Fatal(err)
	}
}

// read returns the next PDU of a kind.
func (p *peer) read(k kind) []byte {
	p.t.Helper()
	for {
		pdu, err := p.in.next()
		if err == nil && pdu == nil {
			err = p.in.fill()
		}
		if err != nil {
			p.t.Fatal(err)
		}
		if pdu != nil && p.wire.header(pdu).kind == k {
			return pdu
		}
	}
}
