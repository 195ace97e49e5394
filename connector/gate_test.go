package connector

import (
	"slices"
	"testing"

	"pmg/sms"
)

// gated makes a desk with a session whose plugins decide as pass says.
func gated(t *testing.T, more string, pass func(*Slot) Passage) (*desk, *Link) {
	d := newDesk(t, "static: true, instances: 1, window: 2, "+more)
	d.passage = pass
	return d, d.connect()
}

// What was decided is done with the message of a slot, immediately or later, and the slot is free again.
func TestGate(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		way    Way
		ended  []sms.Code
		parked int
		sends  uint8
		leaves bool
	}{
		"leaves":  {way: Leaves, leaves: true, sends: 1},
		"refused": {way: Refused, ended: []sms.Code{sms.Rejected}},
		"held":    {way: Held, parked: 1},
		"returns": {way: Returns},
	} {
		for _, waits := range []bool{false, true} {
			for _, more := range []string{"", "on_unknown: fail"} {
				var d *desk
				var asked []*Slot
				var copied *sms.Message
				p := func(s *Slot) Passage {
					copied = d.pool.Copy(s.Message)
					return Passage{Way: tt.way, Message: copied, Code: sms.Rejected, Until: d.now + second, Why: "why"}
				}
				d, _ = gated(t, more, func(s *Slot) Passage {
					if asked = append(asked, s); waits {
						return Passage{Way: Waits}
					}
					return p(s)
				})
				d.noted, d.endedAs = 100, []string{}
				d.submit("a", 1, nil)
				m := (*sms.Message)(nil)
				if waits {
					d.want(name+": it waits", 0, 0, 0)
					if m = asked[0].Message; d.Window.inFlight != 1 {
						t.Errorf("%s: %d under way", name, d.Window.inFlight)
					}
					asked[0].Pass(d.now, p(asked[0]))
				}
				messages, _, again := d.send()
				if more != "" { // it was noted
					n, _, at := d.send()
					messages, again = messages+n, max(again, at)
				}
				switch {
				case (messages == 1) != tt.leaves || (again == d.now+second) != (tt.way == Returns):
					t.Errorf("%s, %v: %d leave, again at %d", name, waits, messages, again-d.now)
				case tt.leaves:
					if s := d.under[0]; s.Leaving() != copied || s.Message == copied || s.Message.Sends != 1 {
						t.Errorf("%s, %v: not the copy leaves, or it was sent %d times", name, waits, s.Message.Sends)
					}
					d.answer(sms.OK)
				case tt.way == Returns:
					if d.Window.inFlight != 0 || m != nil && m.Sends != 0 {
						t.Errorf("%s, %v: %d under way", name, waits, d.Window.inFlight)
					}
					tt.way, d.passage = Leaves, nil
					d.now += second
					d.send()
					d.send()
					d.answer(sms.OK)
				}
				if !slices.Equal(d.ended, tt.ended) || len(d.parked) != tt.parked || d.Window.inFlight != 0 || len(asked) != 1 {
					t.Errorf("%s, %v, %s: ended %v, %d parked, %d under way, asked %d times", name, waits, more, d.ended, len(d.parked), d.Window.inFlight, len(asked))
				}
				if name == "refused" && !slices.Equal(d.endedAs, []string{" 0 false 0"}) || name == "held" && !slices.Equal(d.parked, []string{"why, sent 0"}) {
					t.Errorf("%s: it has ended as %q, or is parked as %q", name, d.endedAs, d.parked)
				}
				if name == "returns" {
					tt.way = Returns
				}
				d.wantEmpty()
			}
		}
	}
}

// While plugins are asked the window bounds how many messages wait. One whose session ends meanwhile, whose connector is
// held, that expires or that has ended returns to its queue, once, whatever was decided.
func TestGateWhileAsked(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		meanwhile func(*desk, *Link, *sms.Message)
		then      func(*desk, *Link) // what must follow until nothing is left
	}{
		"the session ends": {func(d *desk, l *Link, _ *sms.Message) { d.lose(l) }, func(d *desk, l *Link) {
			d.connect()
			d.send()
			d.answer(sms.OK)
			d.answer(sms.OK)
		}},
		"it logs out": {func(d *desk, l *Link, _ *sms.Message) { d.Window.LoggingOut(&l.Outlet) }, func(d *desk, l *Link) {
			d.send()
			if d.Window.Quiet(d.now); d.hand.quiets != 1 {
				d.t.Errorf("the courier is informed %d times", d.hand.quiets)
			}
			d.lose(l)
			d.connect()
			d.send()
			d.answer(sms.OK)
			d.answer(sms.OK)
		}},
		"the connector is held": {func(d *desk, _ *Link, _ *sms.Message) { d.Connector.SetHold(&Hold{}) }, func(d *desk, l *Link) {
			if n, _, _ := d.send(); n != 0 {
				d.t.Errorf("%d leave by a connector that is held", n)
			}
			d.Connector.SetHold(nil)
			d.send()
			d.answer(sms.OK)
			d.answer(sms.OK)
		}},
		"they expire":        {func(d *desk, _ *Link, _ *sms.Message) { d.now += 11 * second }, func(*desk, *Link) {}},
		"a late answer came": {func(d *desk, _ *Link, m *sms.Message) { m.Flags |= sms.Settled }, func(*desk, *Link) {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked []*Slot
			d, l := gated(t, "", func(s *Slot) Passage { asked = append(asked, s); return Passage{Way: Waits} })
			d.submit("a", 3, func(m *sms.Message) { m.Expires = d.now + 10*second })
			d.want("both wait", 0, 0, 0)
			if len(asked) != 2 || d.Window.inFlight != 2 {
				t.Fatalf("%d are asked about, %d under way", len(asked), d.Window.inFlight)
			}
			first := asked[0].Message
			tt.meanwhile(d, l, first)
			d.passage = nil
			for _, s := range asked {
				s.Pass(d.now, Passage{Message: d.pool.Copy(s.Message)})
			}
			tt.then(d, l)
			for d.send(); len(d.under) > 0; d.send() {
				d.answer(sms.OK)
			}
			if d.Window.inFlight != 0 {
				t.Errorf("%d under way", d.Window.inFlight)
			}
			if name == "they expire" {
				d.Tick(d.now)
			}
			d.now += 20 * second
			d.wantEmpty()
		})
	}
}

// What plugins decide about a message that has ended meanwhile, by a late answer or by its validity, comes too late: it does
// not end a second time, and is not put aside.
func TestGateTooLate(t *testing.T) {
	t.Parallel()
	for _, way := range []Way{Leaves, Returns, Held, Refused} {
		for _, expires := range []bool{false, true} {
			var slot *Slot
			d, l := gated(t, "", func(s *Slot) Passage { return Passage{} })
			d.submit("a", 1, func(m *sms.Message) { m.Expires = d.now + 10*second })
			d.send()
			id := d.under[0].Message.ID
			d.answer(sms.Timeout)
			d.passage = func(s *Slot) Passage { slot = s; return Passage{Way: Waits} }
			d.want("it is asked about", 0, 0, 0)
			if expires {
				d.now += 11 * second
			} else {
				d.AnsweredLate(l, Unanswered{ID: id}, sms.Answer{Code: sms.Rejected, At: d.now})
			}
			slot.Pass(d.now, Passage{Way: way, Message: d.pool.Copy(slot.Message), Code: sms.Rejected, Until: d.now + second, Why: "why"})
			d.send()
			d.now += 20 * second
			d.Tick(d.now)
			d.send()
			if want := map[bool]sms.Code{false: sms.Rejected, true: sms.Expired}[expires]; !slices.Equal(d.ended, []sms.Code{want}) || len(d.parked) != 0 {
				t.Errorf("%d, expires: %v: it has ended with %v, and %d are parked", way, expires, d.ended, len(d.parked))
			}
			d.wantEmpty()
		}
	}
}

// Many messages that plugins keep from leaving let others have their turn between them.
func TestGateKeepsMany(t *testing.T) {
	t.Parallel()
	var d *desk
	d, _ = gated(t, "max_queue: 10000", func(s *Slot) Passage {
		return Passage{Way: Refused, Message: d.pool.Copy(s.Message), Code: sms.Rejected}
	})
	d.submit("a", 2*mostKept, nil)
	for turns := 0; ; turns++ {
		messages, _, again := d.send()
		if again == 0 {
			if len(d.ended) != 2*mostKept || turns != 1 || messages != 0 {
				t.Errorf("%d have ended in %d turns, and %d left", len(d.ended), turns, messages)
			}
			break
		}
		if again <= d.now || len(d.ended) > (turns+1)*(mostKept+1) {
			t.Fatalf("turn %d: %d have ended, again at %d", turns, len(d.ended), again-d.now)
		}
	}
	d.wantEmpty()
}
