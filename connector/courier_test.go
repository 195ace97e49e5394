package connector

import (
	"testing"

	"pmg/sms"
)

// A caller delivers messages, as a client of HTTP will: it has no socket, no session and no sequence numbers, and
// knows itself to whom an answer belongs.
type caller struct {
	lane   *Lane
	calls  map[string]*Slot // that are not answered, by the texts of their messages
	quiets int
}

func (c *caller) Give(now int64, s *Slot) {
	if text := string(s.Message.Text()); text != "not now" {
		c.calls[text] = s
		return
	}
	c.lane.Unsent(now, s) // it cannot be called for the moment
}

func (c *caller) Quiet(int64) { c.quiets++ }

func (c *caller) answer(now int64, text string, code sms.Code) {
	s := c.calls[text]
	delete(c.calls, text)
	c.lane.Answered(now, s, sms.Answer{Code: code, At: now, PeerID: []byte("id of " + text)})
}

// Messages leave by a courier without socket, session and sequence numbers by the same rules: its window, another
// attempt after a refusal for now, and none after its end.
func TestCourierWithoutSession(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "static: true, instances: 1")
	c := &caller{lane: d.Lane, calls: map[string]*Slot{}}
	way := NewOutlet(d.Connector, c, 2)
	submit := func(text string) {
		d.submit("a", 1, func(m *sms.Message) { m.Set(sms.Address{}, sms.Address{Addr: []byte("46700000001")}, []byte(text)) })
	}
	give := func() (again int64) {
		for {
			slot, at := d.Next(d.now)
			if slot == nil {
				return at
			}
			if slot.Link != nil || slot.Sequence != 0 {
				t.Fatalf("a slot of %v with the sequence number %d", slot.Link, slot.Sequence)
			}
			slot.Outlet.Courier.Give(d.now, slot)
		}
	}
	want := func(why string, texts ...string) {
		t.Helper()
		give()
		if len(c.calls) != len(texts) {
			t.Errorf("%s: %d are under way, want %q", why, len(c.calls), texts)
		}
		for _, text := range texts {
			if c.calls[text] == nil {
				t.Errorf("%s: %q is not under way", why, text)
			}
		}
	}
	submit("one")
	want("nobody carries them")
	if d.Up() {
		t.Error("the lane is up, and nobody carries its messages")
	}
	d.Window.Open(way)
	if !d.Up() || d.Connector.Online() != 1 {
		t.Errorf("up %t, %d online", d.Up(), d.Connector.Online())
	}
	submit("two")
	submit("three")
	want("a window of two", "one", "two")
	c.answer(d.now, "two", sms.OK)
	want("an answer frees its slot", "one", "three")
	c.answer(d.now, "one", sms.Throttled)
	want("a pause", "three")
	d.now += 10 * second
	want("again", "one", "three")
	c.answer(d.now, "one", sms.OK)

	submit("four")
	give()
	d.Window.LoggingOut(way)
	if d.Window.Quiet(d.now); c.quiets != 0 || d.Window.Online() != 0 {
		t.Errorf("quiet %d times with two under way, %d online", c.quiets, d.Window.Online())
	}
	submit("five")
	c.answer(d.now, "three", sms.OK)
	c.answer(d.now, "four", sms.Lost)
	want("it is given no more")
	if d.Window.Quiet(d.now); c.quiets != 1 {
		t.Errorf("quiet %d times", c.quiets)
	}
	d.Window.Over(way)
	if n := d.Queues.Len(); n != 2 {
		t.Errorf("%d messages wait, want the one that was lost and the one that was not given", n)
	}
	if d.Publish(); d.Delivered.Load() != 3 || d.Stats.InFlight.Load() != 0 {
		t.Errorf("%d are delivered, %d under way", d.Delivered.Load(), d.Stats.InFlight.Load())
	}
}
