package leave

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pmg/connector"
	"pmg/plugin"
	"pmg/sms"
)

// Each verdict of a plugin is done, whether it waits or not.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	const plain = "1234 46700000001 "
	for _, c := range []struct {
		text, failure string
		leaves        string // what leaves
		ended, aside  string
		again         int64  // when it is tried again, in seconds
		asked         string // of which plugins, by their names
		says          string // in the log
	}{
		{text: "a", leaves: plain + "a", asked: "one two"},
		{text: "one refuses", ended: "rejected 46700000001 refused:one", asked: "one", says: "plugin one refuses it: of one"},
		{text: "two refuses", ended: "rejected 46700000001 refused:two", asked: "one two"},
		{text: "one refuses for a while", ended: "rejected 46700000001 refused:one", asked: "one"},
		{text: "one refuses its recipient", ended: "bad_destination 46700000001 refused:one", asked: "one"},
		{text: "one holds", aside: "held by plugin one held:one", asked: "one", says: "plugin one holds it: of one"},
		{text: "one delays", again: 5, asked: "one", says: "plugin one delays it by 5s"},
		{text: "one delays to the past", leaves: plain + "one delays to the past", asked: "one two"},
		{text: "one changes", leaves: "New 46700000009 changed changed:one", asked: "one two"},
		{text: "two adds", leaves: plain + "two adds+operator changed:two", asked: "one two"},
		{text: "one fails", failure: "refuse", ended: "rejected 46700000001 refused:one", asked: "one", says: "out of order"},
		{text: "one fails", failure: "pass", leaves: plain + "one fails", asked: "one two", says: "out of order"},
		{text: "one fails", failure: "hold", aside: "held by plugin one held:one", asked: "one", says: "out of order"},
		{text: "one writes a long one", failure: "pass", leaves: plain + "one writes a long one", asked: "one two", says: "too long for one message"},
		{text: "one writes a long one", failure: "hold", aside: "held by plugin one held:one", asked: "one"},
		{text: "one breaks its recipient", failure: "refuse", ended: "rejected 46700000001 refused:one", asked: "one", says: "which is no number"},
	} {
		for _, waits := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				if c.failure == "" {
					c.failure = "refuse"
				}
				r := newRig(t, waits, "FAILURE", c.failure)
				slot := r.submit("acme", c.text)
				if waits {
					if slot != nil {
						t.Errorf("%s: it leaves before it was asked about", c.text)
					}
					synctest.Wait()
				}
				var again int64
				if slot == nil {
					slot, again = r.next(now)
				}
				got := []string{leaves(slot), strings.Join(r.ended, ","), strings.Join(r.aside(), ",")}
				if want := []string{c.leaves, c.ended, c.aside}; !slices.Equal(got, want) {
					t.Errorf("%s, waits %v: got %q, want %q", c.text, waits, got, want)
				}
				if c.again != 0 && again != now+c.again*second || c.again == 0 && again != 0 {
					t.Errorf("%s, waits %v: again at %d", c.text, waits, again-now)
				}
				var asked []string
				for _, f := range []*fake{r.one, r.two} {
					for _, q := range f.asked {
						asked = append(asked, f.name)
						if q.Hook != plugin.Send || q.Connector != "operator" || q.Account != "acme" || q.ID == "" {
							t.Errorf("%s: %+v", c.text, q)
						}
					}
				}
				if strings.Join(asked, " ") != c.asked {
					t.Errorf("%s, waits %v: %q are asked, want %s", c.text, waits, asked, c.asked)
				}
				if text := r.log.String(); !strings.Contains(text, c.says) || c.says == "" && strings.Contains(c.leaves, plain) && text != "" {
					t.Errorf("%s, waits %v: the log says %s", c.text, waits, text)
				}
				if slot != nil {
					if slot.Message.Sends != 1 || string(slot.Message.Dest().Addr) != "46700000001" || len(slot.Message.Tags()) > 0 {
						t.Errorf("%s: the message was changed: %+v", c.text, slot.Message)
					}
					r.accepted(slot)
				}
			})
		}
	}
}

// A later plugin sees what an earlier one has changed, for this attempt. What ends the message leaves it as its client has
// submitted it.
func TestChangesOfEarlierPlugins(t *testing.T) {
	t.Parallel()
	for _, waits := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, waits)
			r.two.name = "changed" // refuses what the first has made
			r.submit("acme", "one changes")
			synctest.Wait()
			if q := r.two.asked; len(q) != 1 || q[0].Text != "changed" || q[0].To != "46700000009" || q[0].From != "New" {
				t.Errorf("waits %v: %+v", waits, q)
			}
		})
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, waits)
			r.two.name = "one adds+operator"
			r.submit("acme", "one adds")
			synctest.Wait()
			r.two.name = "two"
			if q := r.two.asked; len(q) != 1 || q[0].Text != "one adds+operator" {
				t.Errorf("waits %v: %+v", waits, q)
			}
		})
	}
}

// Only messages of its accounts that leave for an SMSC are asked about: no receipts, none for clients, and none that will be cut.
// A plugin that has held one is not asked about it again.
func TestAsked(t *testing.T) {
	t.Parallel()
	r := newRig(t, false)
	if r.IsOpen(r.lane) || !r.IsOpen(r.table.ClientLane("acme", nil)) {
		t.Error("messages for SMSCs are not asked about, or those for clients are")
	}
	if slot := r.submit("other", "one refuses"); slot == nil || len(r.one.asked) != 0 || len(r.two.asked) != 1 {
		t.Errorf("another account: %d and %d are asked", len(r.one.asked), len(r.two.asked))
	} else {
		r.accepted(slot)
	}
	s, m := r.message("acme", "one refuses")
	sms.SetMark(m, sms.Held, "one")
	r.push(s, m)
	if slot, _ := r.next(now); slot == nil || len(r.one.asked) != 0 || len(r.two.asked) != 2 {
		t.Errorf("one that it has held: %d and %d are asked", len(r.one.asked), len(r.two.asked))
	} else {
		r.accepted(slot)
	}
	receipt := &sms.Message{Kind: sms.Receipt, Origin: m.Origin}
	if p := r.Check(now, &connector.Slot{Message: receipt, Share: s}); p != (connector.Passage{}) || len(r.two.asked) != 2 {
		t.Errorf("a receipt: %+v", p)
	}
	r.hooks.Apply(parse(t, "HOOKS", ""))
	if !r.IsOpen(r.lane) {
		t.Error("without hooks messages are asked about")
	}
}

// A message for which there is no room among those that are parked stays in its queue for a minute.
func TestHoldsTooMany(t *testing.T) {
	t.Parallel()
	r := newRig(t, false, "PARKED", "1")
	r.submit("acme", "one holds")
	if slot := r.submit("acme", "one holds"); slot != nil || len(r.aside()) != 1 {
		t.Errorf("%q are parked", r.aside())
	}
	if slot, again := r.next(now); slot != nil || again != now+int64(fullPause) || r.lane.Queues.Len() != 1 {
		t.Errorf("%d wait until %d", r.lane.Queues.Len(), again-now)
	}
	if r.next(now + int64(fullPause)); len(r.one.asked) != 3 || !strings.Contains(r.log.String(), "plugin one holds it") {
		t.Errorf("it was asked %d times: %s", len(r.one.asked), r.log.String())
	}
}

// A reload that removes the hooks, or the plugins, while one hangs changes nothing for the message that it is asked about: it
// goes on with the hooks that were in force, and has its verdict when the deadline is over.
func TestReloadWhileAsked(t *testing.T) {
	t.Parallel()
	for _, answers := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, true)
			r.one.hang = make(chan struct{})
			r.submit("acme", "two refuses")
			synctest.Wait()
			cfg := parse(t, "HOOKS", "")
			cfg.Plugins = nil
			r.hooks.Apply(cfg)
			want := "rejected 46700000001 refused:one" // that is on_failure
			if answers {
				close(r.one.hang)
				want = "rejected 46700000001 refused:two"
			} else {
				time.Sleep(2 * time.Second)
			}
			synctest.Wait()
			if !slices.Equal(r.ended, []string{want}) {
				t.Errorf("answers %v: it has ended as %q, want %s", answers, r.ended, want)
			}
		})
	}
}

// While one is asked about, it keeps its place in the window, and a plugin that hangs holds no more than that.
func TestWindow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, true)
		r.one.hang = make(chan struct{})
		for range 5 {
			if slot := r.submit("acme", "a"); slot != nil {
				t.Error("one leaves that has no verdict")
			}
		}
		synctest.Wait()
		if len(r.one.asked) != 2 || r.lane.Queues.Len() != 3 {
			t.Errorf("%d are asked about, %d wait", len(r.one.asked), r.lane.Queues.Len())
		}
		close(r.one.hang)
		for n := 0; n < 5; n++ {
			synctest.Wait()
			slot, _ := r.next(now)
			for slot == nil {
				synctest.Wait()
				slot, _ = r.next(now)
			}
			r.accepted(slot)
		}
		if len(r.ended) != 5 || len(r.one.asked) != 5 {
			t.Errorf("%d have ended, %d were asked about", len(r.ended), len(r.one.asked))
		}
	})
}

// A preview says what each plugin says, asks none that waits, and neither logs nor keeps anything.
func TestPreview(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text   string
		waits  bool
		leaves bool
		says   string
	}{
		{"a", false, true, ""},
		{"one refuses", false, false, "one refuses it: of one"},
		{"one holds", false, false, "one holds it: of one"},
		{"two delays", false, false, "two delays it by 5s"},
		{"one changes", false, true, "one changes it for this attempt"},
		{"one fails", false, false, "one has no verdict: plugin one: out of order; one refuses it: plugin one has not answered"},
		{"one refuses", true, true, "one is not asked here, so its answer is not known; two is not asked here, so its answer is not known"},
	} {
		r := newRig(t, c.waits)
		s, m := r.message("acme", c.text)
		var says []string
		changed, leaves := r.Preview(now, &connector.Slot{Message: m, Share: s}, func(plugin, one string) { says = append(says, plugin+" "+one) })
		if leaves != c.leaves || (changed != nil) != (c.text == "one changes" || !c.leaves && !strings.Contains(c.text, "delays")) {
			t.Errorf("%s: leaves %v, changed %+v", c.text, leaves, changed)
		}
		if got := strings.Join(says, "; "); got != c.says || r.log.String() != "" || len(r.aside()) != 0 {
			t.Errorf("%s: %s, want %s; %s", c.text, got, c.says, r.log.String())
		}
	}
}
