package convert

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/protocols"
	"pmg/protocols/prototest/toy"
	"pmg/sms"
)

// A peer is asked for the receipts that a client waits for, or that the connector says. Each part of a long text asks for
// both outcomes, because its client hears of all parts together.
func TestAsks(t *testing.T) {
	t.Parallel()
	const success, failure, sent = sms.NotifySuccess, sms.NotifyFailure, sms.NotifySent
	for _, c := range []struct {
		receipts     string
		parts        uint8
		wanted, want sms.Notify
	}{
		{"ask", 0, 0, 0},
		{"ask", 0, success, success},
		{"ask", 0, failure, failure},
		{"ask", 0, sent, 0},
		{"ask", 0, sent | success, success},
		{"ask", 1, success, success},
		{"ask", 2, 0, 0},
		{"ask", 2, success, success | failure},
		{"ask", 2, failure, success | failure},
		{"ask", 2, sent, 0},
		{"ask", 2, sms.NotifyProgress, sms.NotifyProgress},
		{"force", 0, 0, success | failure},
		{"force", 2, sms.NotifyProgress, success | failure | sms.NotifyProgress},
		{"never", 0, success, 0},
		{"never", 2, success | failure, 0},
	} {
		if got := Asks(&sms.Message{Parts: c.parts, Notify: c.wanted}, &config.Connector{Receipts: c.receipts}); got != c.want {
			t.Errorf("%s, %d parts, wanted %b: asks for %b, want %b", c.receipts, c.parts, c.wanted, got, c.want)
		}
	}
}

// A fakeSession notes what it is asked to write, and drops a field.
type fakeSession struct {
	protocols.Session
	protocols.Requester
	loss   *protocols.Loss
	notify sms.Notify
	dest   string
	seq    uint32
	asked  protocols.Request
}

func (s *fakeSession) Encode(_ int64, _ protocols.PDU, m *sms.Message, sequence uint32) {
	s.notify, s.dest, s.seq = m.Notify, string(m.Dest().Addr), sequence
}

func (s *fakeSession) Ask(_ int64, _ protocols.PDU, r *protocols.Request, sequence uint32) {
	s.asked, s.seq = *r, sequence
	s.notify, s.dest = r.Message.Notify, string(r.Message.Dest().Addr)
}

func (s *fakeSession) Drops(*sms.Message) *protocols.Loss { return s.loss }

// link returns a session with the operator, or a client if c is that of clients.
func link(c *connector.Connector) (*connector.Link, *fakeSession) {
	s := &fakeSession{}
	l := &connector.Link{Session: s, Source: connector.Source{Connector: c, Instance: c.Acquire()}}
	l.Can.Requester = s
	return l, s
}

// The request for a message asks for what its connector says; the message keeps what its client asked for, which decides about
// its receipts. Those of a message that goes to a client are the sender's wish.
func TestEncodeAsksForReceipts(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", `receipts: force, rewrite: [{out: destination, add: "00"}]`)
	const both = sms.NotifySuccess | sms.NotifyFailure
	for _, c := range []struct {
		to     string
		kind   sms.Kind
		copied bool
		want   sms.Notify
		dest   string
	}{
		{"operator", sms.Submit, true, both, "0046700000001"},
		{"operator", sms.MO, true, sms.NotifySent, "0046700000001"},
		{"clients", sms.Submit, false, sms.NotifySent, "46700000001"},
		{"clients", sms.MO, false, sms.NotifySent, "46700000001"},
	} {
		l, s := link(r.Table.Connector(c.to))
		m := r.message(c.kind, sms.Default, "text")
		m.Notify = sms.NotifySent
		m.SetNative(protocols.SMPP, nil)
		copied := r.Encode(now, l, nil, m, 9)
		if (copied != nil) != c.copied || s.notify != c.want || s.dest != c.dest || s.seq != 9 {
			t.Errorf("%d to %s: asks for %b of %s as %d, a copy: %t", c.kind, c.to, s.notify, s.dest, s.seq, copied != nil)
		}
		if m.Notify != sms.NotifySent || string(m.Dest().Addr) != "46700000001" || copied != nil && copied.Notify != sms.NotifySent {
			t.Errorf("%d to %s: the message has become %+v", c.kind, c.to, m)
		}
	}
}

// An operator sees which fields its SMSC's version does not take; messages of another protocol have none of these.
func TestDroppedAreCounted(t *testing.T) {
	t.Parallel()
	loss := &protocols.Loss{Field: "tlv"}
	for _, c := range []struct {
		protocol sms.Protocol
		native   string
		loss     *protocols.Loss
		want     int64
	}{
		{protocols.SMPP, "native", loss, 2},
		{protocols.SMPP, "native", nil, 0},
		{protocols.SMPP, "", loss, 0},
		{sms.WithContext, "native", loss, 0},
	} {
		r := newRig(t, "", "")
		l, s := link(r.operator)
		s.loss = c.loss
		m := r.message(sms.Submit, sms.Default, "text")
		m.SetNative(c.protocol, []byte(c.native))
		for range 2 {
			if copied := r.Encode(now, l, nil, m, 1); copied != nil {
				copied.Release()
			}
		}
		got := int64(0)
		for field, n := range l.Connector.Stats.FieldsLost.Counts() {
			if field == loss.Field {
				got += n
			}
		}
		if got != c.want {
			t.Errorf("protocol %d, native part %q: %d are counted, want %d", c.protocol, c.native, got, c.want)
		}
	}
}

// An operation is about the addresses that its message left with, and a replacement asks for receipts as a message does.
func TestEncodeSlot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rules  string
		kind   protocols.OperationKind
		copied bool
		want   sms.Notify
		dest   string
	}{
		{"", protocols.Replace, false, sms.NotifySuccess | sms.NotifyFailure, "46700000001"},
		{"", protocols.Query, false, 0, "46700000001"},
		{`rewrite: [{out: destination, add: "00"}]`, protocols.Replace, true, sms.NotifySuccess | sms.NotifyFailure, "0046700000001"},
		{`rewrite: [{out: destination, add: "00"}]`, protocols.Cancel, true, 0, "0046700000001"},
	} {
		r := newRig(t, "", "receipts: force, "+c.rules)
		l, s := link(r.operator)
		m := r.message(sms.Submit, sms.Default, "text")
		m.SetNative(protocols.SMPP, nil)
		request := protocols.Request{Kind: c.kind, PeerID: []byte("id"), Message: m}
		slot := &connector.Slot{Link: l, Message: m, Sequence: 5, Inquiry: &connector.Inquiry{Request: request}}
		copied := r.EncodeSlot(now, slot, nil)
		if (copied != nil) != c.copied || s.asked.Kind != c.kind || string(s.asked.PeerID) != "id" || s.seq != 5 ||
			s.notify != c.want || s.dest != c.dest {
			t.Errorf("%s: %+v asks for %b of %s as %d, a copy: %t", c.kind, s.asked, s.notify, s.dest, s.seq, copied != nil)
		}
		if string(m.Dest().Addr) != "46700000001" {
			t.Errorf("%s: the message goes to %s", c.kind, m.Dest().Addr)
		}
	}
	r := newRig(t, "", "")
	l, s := link(r.operator)
	m := r.message(sms.Submit, sms.Default, "text")
	r.EncodeSlot(now, &connector.Slot{Link: l, Message: m, Sequence: 6}, nil)
	if s.seq != 6 || s.asked.Kind != 0 || s.asked.PeerID != nil {
		t.Errorf("a message leaves as %d, asked %+v", s.seq, s.asked)
	}
}

// What a peer means by its default alphabet and by ASCII is an option; a receipt has no text of it. Its delivery time is by the
// wall clock.
func TestMessageIsRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		options        string
		kind           sms.Kind
		alphabet, want sms.Alphabet
	}{
		{"", sms.MO, sms.Default, sms.Default},
		{"charset: latin1", sms.MO, sms.Default, sms.DefaultLatin1},
		{"charset: latin1", sms.Submit, sms.Default, sms.DefaultLatin1},
		{"charset: latin1", sms.MO, sms.UCS2, sms.UCS2},
		{"charset: latin1", sms.Receipt, sms.Default, sms.Default},
		{"charset: latin1", sms.MO, sms.ASCII, sms.ASCII},
		{"ascii: gsm7", sms.MO, sms.ASCII, sms.Default},
	} {
		r := newRig(t, "", c.options)
		const hour = 3600 * second
		r.Node.Clock.WallClock = func() time.Time { return time.Unix(0, now+hour) }
		r.Node.Clock.See(now)
		l := &connector.Link{Session: &toy.Session{}, Source: connector.Source{Connector: r.operator}}
		m := new(sms.Message)
		code := r.Message(now, l, &toy.PDU{Kind: c.kind, Alphabet: c.alphabet, DeliverAt: now + hour + second}, m)
		if code != sms.OK || m.Alphabet != c.want || m.DeliverAt != now+second {
			t.Errorf("%q, %d in %d: %s, alphabet %d, leaves in %d s",
				c.options, c.kind, c.alphabet, code, m.Alphabet, (m.DeliverAt-now)/second)
		}
		m = new(sms.Message)
		if r.Message(now, l, &toy.PDU{}, m); m.DeliverAt != 0 {
			t.Errorf("one without a delivery time has %d", m.DeliverAt)
		}
	}
}

// A text that only looks like a receipt becomes the message that a person has written, in the alphabet of its SMSC.
func TestUnreport(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", "charset: latin1")
	m := r.message(sms.Receipt, sms.Default, "")
	m.SetReport(m.Source(), m.Dest(), &sms.Report{ID: []byte("7"), Original: []byte("id:7 \xe9")})
	r.Unreport(r.operator, m)
	if m.Kind != sms.MO || string(m.Text()) != "id:7 \xe9" || m.Alphabet != sms.DefaultLatin1 {
		t.Errorf("it is of kind %d, in %d: %q", m.Kind, m.Alphabet, m.Text())
	}
}

// A message must not leave by another protocol without what it is nothing without: UCP has no destination of 17 digits. Its
// client hears of that immediately, or when another connector's turn comes. Other fields are lost, and counted.
func TestCrossing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		operator   string
		kind       sms.Kind
		dest       string
		in, leaves sms.Code
	}{
		"can be sent":           {"protocol: ucp", sms.Submit, "46700000001", sms.OK, sms.OK},
		"cannot be sent":        {"protocol: ucp", sms.Submit, "46700000001234567", sms.BadDestination, sms.Rejected},
		"cannot be sent, MO":    {"protocol: ucp", sms.MO, "46700000001234567", sms.BadDestination, sms.Rejected},
		"a receipt never waits": {"protocol: ucp", sms.Receipt, "46700000001234567", sms.OK, sms.OK},
		"the same protocol":     {"", sms.Submit, "46700000001234567", sms.OK, sms.OK},
	} {
		r := newRig(t, "", c.operator)
		m := r.message(c.kind, sms.Default, "text")
		m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{Addr: []byte(c.dest)}, []byte("text"))
		m.SetNative(protocols.SMPP, nil)
		slot := &connector.Slot{Link: &connector.Link{Source: connector.Source{Connector: r.operator}}, Message: m}
		if got := r.Refuses(slot); got != c.leaves {
			t.Errorf("%s: refused with %s when it leaves", name, got)
		}
		if got := r.Cross(r.lane, m); got != c.in {
			t.Errorf("%s: refused with %s when it comes in", name, got)
		}
	}
	r := newRig(t, "", "protocol: ucp")
	m := r.message(sms.Submit, sms.Default, "text")
	m.Set(sms.Address{TON: 5, Addr: []byte("much too long a name")}, sms.Address{Addr: []byte("46700000001")}, []byte("text"))
	m.SetNative(protocols.SMPP, nil)
	for range 2 {
		if out := r.Leaving(&connector.Source{Connector: r.operator}, m); out != m {
			t.Error("a message without a native part is copied")
		}
	}
	var lost []string
	for loss, n := range r.operator.Stats.FieldsLost.Counts() {
		lost = append(lost, fmt.Sprint(loss, n))
	}
	if strings.Join(lost, " ") != "source2" {
		t.Errorf("counted as lost: %s", lost)
	}
}

// A message that leaves by the protocol that it came by keeps its native part, and is no copy.
func TestSameProtocolLosesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", "")
	m := r.message(sms.Submit, sms.Default, "text")
	m.SetNative(protocols.SMPP, append([]byte{0, 0, 0, 0, 0, 3}, "WAP"...))
	before := string(m.Native(protocols.SMPP))
	if code := r.Cross(r.lane, m); code != sms.OK {
		t.Error(code)
	}
	out := r.Leaving(&connector.Source{Connector: r.operator}, m)
	if out != m || string(m.Native(protocols.SMPP)) != before || len(r.operator.Stats.FieldsLost.Counts()) != 0 {
		t.Errorf("it leaves as %q, was %q", out.Native(protocols.SMPP), before)
	}
}
