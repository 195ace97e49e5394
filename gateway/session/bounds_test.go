package session_test

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway/roomtest"
	"pmg/protocols"
	"pmg/sms"
)

// account changes the options of the account "client".
func (p *port) account(change func(*config.Account)) {
	cfg := *p.g.Node.Config()
	cfg.Accounts = append([]config.Account(nil), cfg.Accounts...)
	change(&cfg.Accounts[0])
	p.reload(&cfg)
}

// multi submits a text to some recipients.
func (p *port) multi(l *connector.Link, recipients int, a sms.Alphabet, text []byte) *request {
	return p.receive(l, protocols.Message, func(r *request) {
		r.Action.Messages, r.Content, r.Alphabet = recipients, text, a
	})
}

func (p *port) long(l *connector.Link, text []byte) *request {
	return p.receive(l, protocols.Message, func(r *request) { r.Content = text })
}

// A1: what one PDU becomes is counted before it is made, and bounded: 34,000 octets of UCS-2 to
// 255 recipients would be 64,770 parts. Those of a recipient leave together or not at all.
func TestPartsOfOnePDU(t *testing.T) { // alone, because it measures what is allocated
	const parts, most = 254, 16 << 20
	for _, c := range []struct {
		why      string
		options  string
		max      int
		accepted int // recipients
	}{
		{"the default of max_parts", "max_queue: 1000000", 10, 0},
		{"as many as one PDU may become", "max_queue: 1000000", 255, 4096 / parts},
		{"as many as the account's share of the queue", "max_queue: 2000", 255, 1000 / parts},
	} {
		p := newPort(t, "long_messages: split8, "+c.options)
		p.account(func(a *config.Account) { a.MaxParts = c.max })
		l := p.client()
		text := bytes.Repeat([]byte{0x04, 0x1F}, 17_000)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		r := p.multi(l, 255, sms.UCS2, text)
		t.Logf("%s: %s", c.why, time.Since(began))
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > most {
			t.Errorf("%s: %d octets were allocated", c.why, n)
		}
		if len(r.Refused) != 255-c.accepted || len(p.queued) != c.accepted*parts {
			t.Errorf("%s: %d recipients were refused, %d messages are queued", c.why, len(r.Refused), len(p.queued))
		}
		used := int64(0)
		for i, m := range p.queued {
			used += m.Size()
			if int(m.Part) != i%parts || m.Parts != parts || len(m.Text()) > 140 || m.KnownID() != p.queued[0].ID {
				t.Fatalf("%s: message %d is part %d of %d with %d octets", c.why, i, m.Part, m.Parts, len(m.Text()))
			}
		}
		if got := p.g.Node.Memory.Used(); got != used {
			t.Errorf("%s: %d octets are counted, of %d", c.why, got, used)
		}
	}
}

// The parts of a text count towards the rate of the account, its share of the queue, and the
// memory, and it waits until there is room for all of them.
func TestPartsCount(t *testing.T) {
	t.Parallel()
	p := newPort(t, "long_messages: split8, max_queue: 12, queue_wait: 2s")
	l := p.client()
	text := []byte(strings.Repeat("x", 153*4))
	p.want("four parts", p.long(l, text), "sent", sms.OK)
	if n := p.g.Table.LaneOf(p.operator).Queued.Load(); n != 4 {
		t.Errorf("%d places are taken", n)
	}
	waits := p.long(l, text)
	p.want("half of the queue is the account's", waits, "", 0)
	roomtest.Occupy(p.g.Table.Share(p.g.Table.LaneOf(p.operator), l.Origin), -1)
	p.c.Room(p.now, p.g.Table.LaneOf(p.operator))
	p.want("there is room for three", waits, "", 0)
	roomtest.Occupy(p.g.Table.Share(p.g.Table.LaneOf(p.operator), l.Origin), -1)
	p.c.Room(p.now, p.g.Table.LaneOf(p.operator))
	p.want("there is room for four", waits, "sent", sms.OK)

	p = newPort(t, "long_messages: split8")
	p.rate(10)
	l = p.client()
	p.want("ten parts", p.long(l, []byte(strings.Repeat("x", 1530))), "sent", sms.OK)
	p.want("a second later", p.submit(l), "", 0)
	p.now += second - 1
	p.c.Tick(p.now)
	if len(p.order) != 2 { // the login, and the ten parts
		t.Errorf("%d PDUs are sent", len(p.order))
	}
	p.now++
	p.c.Tick(p.now)
	if len(p.order) != 3 {
		t.Errorf("%d PDUs are sent", len(p.order))
	}

	p = newPort(t, "long_messages: split8, max_queue: 3")
	l = p.client()
	p.want("a text that is longer than the queue finds room where there is nothing else", p.long(l, text), "sent", sms.OK)
	p = newPort(t, "long_messages: split8")
	l = p.client()
	p.g.Node.Memory.SetLimit(2000)
	p.want("more than memory", p.long(l, text), "sent", sms.QueueFull)
	p.want("that is not full", p.submit(l), "sent", sms.OK)
}

// A text that needs more parts than max_parts of its account is refused before it is converted;
// those of an SMSC have no account.
func TestMaxParts(t *testing.T) {
	t.Parallel()
	p := newPort(t, "long_messages: split8")
	l := p.client()
	p.want("ten parts", p.long(l, []byte(strings.Repeat("x", 1530))), "sent", sms.OK)
	p.want("eleven", p.long(l, []byte(strings.Repeat("x", 1531))), "sent", sms.BadLength)
	p.want("certainly more", p.long(l, []byte(strings.Repeat("x", 60_000))), "sent", sms.BadLength)
	p.account(func(a *config.Account) { a.MaxParts = 255 })
	p.want("255", p.long(l, []byte(strings.Repeat("x", 255*153))), "sent", sms.OK)
	p.want("256", p.long(l, []byte(strings.Repeat("x", 255*153+1))), "sent", sms.BadLength)
	if n := len(p.queued); n != 265 {
		t.Errorf("%d messages are queued", n)
	}
}

// P14: nothing is done for a submit beyond the rate, and one that is refused for its contents
// counts towards it.
func TestRateFirst(t *testing.T) {
	t.Parallel()
	p := newPort(t, "long_messages: split8")
	p.rate(1)
	l := p.client()
	for range 11 { // one, and ten that wait
		p.long(l, make([]byte, 60_000))
	}
	p.want("no message was accepted, and the rate is used up", p.submit(l), "sent", sms.Throttled)
	r := p.multi(l, 3, sms.Default, nil)
	p.want("nor to several", r, "sent", sms.Throttled)
	if len(r.Refused) != 3 || len(p.queued) != 0 {
		t.Errorf("%d are refused, %d queued", len(r.Refused), len(p.queued))
	}
	p.c.Over(p.now, l)
}

// Neither the parts of a text nor several recipients are more than max_scheduled, which is 2 here.
func TestPartsScheduled(t *testing.T) {
	t.Parallel()
	p := newPort(t, "long_messages: split8")
	l := p.client()
	later := func(n int, text string) *request {
		return p.receive(l, protocols.Message, func(r *request) {
			r.Action.Messages, r.Content, r.DeliverAt = n, []byte(text), p.now+second
		})
	}
	p.want("three parts", later(0, strings.Repeat("x", 400)), "sent", sms.QueueFull)
	if r := later(3, "x"); len(r.Refused) != 1 || r.Refused[0] != 2 {
		t.Errorf("of three recipients %v are refused", r.Refused)
	}
	if n := p.g.Scheduled(); n != 2 {
		t.Errorf("%d are scheduled", n)
	}
}

// A submit to several recipients converts its text once for each lane.
func TestFitOnce(t *testing.T) {
	t.Parallel()
	p := newPort(t, "charset: latin1, encode_as: shortest, long_messages: split8")
	l := p.client()
	r := p.multi(l, 3, sms.UCS2, bytes.Repeat([]byte{0, 'x'}, 200))
	p.want("three texts", r, "sent", sms.OK)
	if len(p.queued) != 6 {
		t.Fatalf("%d messages are queued", len(p.queued))
	}
	for i, m := range p.queued {
		if m.Parts != 2 || int(m.Part) != i%2 || m.Flags&sms.HasHeader == 0 {
			t.Errorf("message %d is part %d of %d", i, m.Part, m.Parts)
		}
	}
	for i := range 2 {
		if !bytes.Equal(p.queued[i].Text()[6:], p.queued[i+4].Text()[6:]) {
			t.Errorf("part %d is %q, and of another recipient %q", i, p.queued[i].Text(), p.queued[i+4].Text())
		}
	}
}
