package connector

import (
	"testing"

	"pmg/connector/queue"
	"pmg/sms"
)

// large returns a function that gives a message a text of so many octets and writes it to the
// disk.
func large(k *disk, octets int) func(*sms.Message) {
	text := make([]byte, octets)
	return func(m *sms.Message) {
		m.SetText(text)
		k.write(m)
	}
}

// A2: an account may take a part of the memory that others leave, in all lanes together, and so
// may SMSCs; with share: 100 it may take all.
func TestShareOfMemory(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "")
	d.used.SetLimit(1000)
	a, b, smsc := d.share("a"), d.share("b"), d.share("")
	want := func(s *Share, octets int64) {
		t.Helper()
		if !s.HasMemory(octets) || s.HasMemory(octets+1) {
			t.Errorf("%q may not take %d octets more, or may take more; it takes %d of %d", s.Origin.Account, octets, s.Origin.Tally.Memory.Load(), d.used.Used())
		}
	}
	a.SetPercent(50)
	b.SetPercent(50)
	want(a, 500)
	a.Use(300)
	want(a, 200)
	want(b, 350)
	b.Use(350)
	want(a, 25)
	a.SetPercent(10) // of the queue; of memory it is half
	want(a, 25)
	a.SetPercent(90)
	want(a, 285)
	a.SetPercent(100)
	want(a, 350)
	want(smsc, 175)
	d.used.Add(400) // the writers' octets are nobody's
	want(smsc, -25)
}

// A2: large messages are paged out by what they take, not by their number.
func TestPageOutByOctets(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 1, window: 10, static: true")
	k := d.addDisk(1)
	for range 10 {
		d.submit("a", 100, large(k, 60_000))
		d.submit("a", 100, large(k, 100))
	}
	if used := d.used.Used(); used > 5<<20 {
		t.Errorf("%d octets are used", used)
	}
	d.connect()
	most := int64(0)
	for n := 0; n < 2000; {
		d.send()
		n += len(d.under)
		for len(d.under) > 0 {
			d.answer(sms.OK)
		}
		d.read(100)
		most = max(most, d.used.Used())
	}
	if most > 10<<20 {
		t.Errorf("%d octets were used while they left", most)
	}
	d.wantEmpty()
}

// A2: what an account has waits on disk before others need the memory.
func TestPageOutBeforeOthers(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "")
	k := d.addDisk(16 << 20)
	d.used.SetLimit(32 << 20)
	for _, account := range []string{"a", "b"} {
		d.share(account).SetPercent(50)
	}
	for range 3000 {
		if !d.share("a").HasMemory(60_000) {
			t.Fatal("there is no room, but on the disk there is")
		}
		d.submit("a", 1, large(k, 60_000))
	}
	if used := d.used.Used(); used > 10<<20 || !d.share("b").HasMemory(8<<20) {
		t.Errorf("%d octets are used", used)
	}
}

// D13: messages that an SMSC has refused for now are on disk alone when their changes are stored,
// and come back as they are.
func TestPageTried(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "instances: 1, window: 10, static: true")
	k := d.addDisk(1 << 30)
	const n = 200
	d.submit("a", n, large(k, 60_000))
	d.used.SetKeep(1)
	d.aside, d.writes = 60*second, true // the clerk's answer to a refusal
	d.connect()
	for range n / 10 {
		d.send()
		for len(d.under) > 0 {
			d.answer(sms.TemporaryFailure)
		}
	}
	before := d.used.Used()
	d.Tick(d.now)
	if d.used.Used() != before {
		t.Error("messages were taken out of memory before the store had them")
	}
	d.noted = 1
	d.Tick(d.now)
	if used := d.used.Used(); used > n*queue.EntrySize {
		t.Errorf("%d octets are used", used)
	}
	if len(d.Queues.paging.tried) != 0 {
		t.Errorf("%d are noted", len(d.Queues.paging.tried))
	}
	d.now += 60 * second
	d.aside = 0
	ids := d.readAll()
	if len(ids) != n {
		t.Errorf("%d have left", len(ids))
	}
	d.wantEmpty()
}

// D16: messages that expire in masses do not end while the deletes of those before are not
// committed. The dispatcher is called again soon.
func TestMassExpiry(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "")
	d.submit("a", 3*queue.MostExpired, func(m *sms.Message) { m.Expires = d.now + second })
	d.now += 2 * second
	d.halted = true
	if d.Tick(d.now) || len(d.ended) != 0 {
		t.Errorf("%d have ended", len(d.ended))
	}
	d.halted = false
	parts := 1
	for d.Tick(d.now) {
		parts++
	}
	d.Publish()
	if len(d.ended) != 3*queue.MostExpired || parts < 3 {
		t.Errorf("%d have ended in %d parts", len(d.ended), parts)
	}
	d.wantEmpty()
}
