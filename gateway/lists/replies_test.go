package lists

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"pmg/sms"
)

// An answering is a place with a list of opt-outs and a clock, and what a mobile does there.
type answering struct {
	*place
	now int64
}

func newAnswering(t *testing.T, options string) *answering {
	t.Helper()
	a := &answering{place: newPlace(t, files()), now: int64(time.Hour)}
	a.node.Clock.EngineClock = func() int64 { return a.now }
	options = strings.Replace(usual, "DIR/optouts}", "DIR/optouts, opt_out_from: operator, "+options+"}", 1)
	if err := a.apply(options); err != nil {
		t.Fatal(err)
	}
	return a
}

const bothReplies = "stop_reply: You are out., start_reply: You are in."

// asks returns the change that a text of a mobile has made.
func (a *answering) asks(number, text string) *Change {
	a.t.Helper()
	m := a.node.Messages.Get()
	defer m.Release()
	m.Kind, m.Origin = sms.MO, a.node.Origins.Of("", "operator")
	m.Set(sms.Address{TON: 1, NPI: 1, Addr: []byte(number)}, sms.Address{TON: 3, Addr: []byte("12345")}, []byte(text))
	c := a.Asked(m, true)
	if c == nil {
		a.t.Fatalf("%s asks for nothing", text)
	}
	c.Make(0xa1)
	return c
}

// Only a text that has changed the list is answered, and at most once a minute for each number and kind of word.
func TestReplies(t *testing.T) {
	t.Parallel()
	a := newAnswering(t, bothReplies)
	for _, c := range []struct {
		after        time.Duration
		number, text string
		want         string
	}{
		{0, "46799", "stop", "You are out."},
		{0, "46799", "stop", ""},
		{0, "46798", "stop", "You are out."},
		{0, "46701", "stop", ""},   // the file has it
		{0, "46797", "unstop", ""}, // it was not on the list
		{0, "46799", "start", "You are in."},
		{0, "46799", "stop", ""}, // too soon
		{0, "46799", "start", ""},
		{59 * time.Second, "46799", "stop", ""},
		{time.Second, "46799", "start", "You are in."},
		{0, "46799", "stop", "You are out."},
		{time.Hour, "46799", "stop", ""},
		{0, "ACME", "stop", ""}, // no number to send it to
		{0, "46701", "start", "You are in."},
	} {
		a.now += int64(c.after)
		change := a.asks(c.number, c.text)
		if got := change.Reply(); got != c.want {
			t.Errorf("%s of %s is answered %q, want %q", c.text, c.number, got, c.want)
		}
		if change.Reply() == "" {
			continue
		}
		if change.Mobile.TON != 1 || string(change.Mobile.Addr) != c.number || change.Service.TON != 3 || string(change.Service.Addr) != "12345" {
			t.Errorf("it goes from %v to %v", change.Service, change.Mobile)
		}
		if change.Replied(); change.Reply() != "" {
			t.Error("the reply is due twice")
		}
	}
	if s := a.Status()[0]; s.Replies != 6 {
		t.Errorf("%d replies are counted", s.Replies)
	}
}

// A message that was refused is answered when it comes again, although it changes nothing then. Of two that come at the same
// time, one is answered.
func TestReplyComesAgain(t *testing.T) {
	t.Parallel()
	a := newAnswering(t, bothReplies)
	first, second := a.asks("46799", "stop"), a.asks("46799", "stop")
	if first.Reply() == "" || second.Reply() != "" {
		t.Errorf("%q %q", first.Reply(), second.Reply())
	}
	second.Refused()
	first.Refused()
	first.Refused()
	if first.Reply() != "" {
		t.Error("the reply is due still")
	}
	if c := a.asks("46799", "start"); c.Reply() != "You are in." {
		t.Error(c.Reply())
	}
	a.asks("46799", "stop").Refused()
	a.now += int64(time.Minute)
	third, fourth := a.asks("46799", "stop"), a.asks("46799", "stop")
	if third.Reply() != "You are out." || fourth.Reply() != "" {
		t.Errorf("%q %q", third.Reply(), fourth.Reply())
	}
	third.Refused()
	a.now += 2 * int64(time.Minute)
	if c := a.asks("46799", "stop"); c.Reply() != "" {
		t.Error("the reply is due for ever")
	}
	var none *Change
	if none.Refused(); none.Reply() != "" {
		t.Error("no change has a reply")
	}
}

// What is known of replies is bounded.
func TestMostReplies(t *testing.T) {
	t.Parallel()
	var r replies
	n := 0
	for i := range 2 * mostReplies {
		k := replyKey{fmt.Sprint(i), true}
		if r.claim(int64(i), k, true) {
			n++
		}
		r.giveBack(int64(i), k)
	}
	if n != mostReplies || len(r.latest) != mostReplies {
		t.Errorf("%d replies, %d are known", n, len(r.latest))
	}
	if !r.claim(replyPause, replyKey{"x", true}, true) || len(r.latest) != 1 || len(r.before) != mostReplies {
		t.Errorf("a minute later %d and %d are known", len(r.latest), len(r.before))
	}
	if !r.claim(3*replyPause, replyKey{"x", true}, true) || len(r.latest) != 1 || len(r.before) != 0 {
		t.Errorf("later %d and %d are known", len(r.latest), len(r.before))
	}
}

// A list without replies sends none, and neither does one that cannot be changed. The first list that has a reply sends it.
func TestReplyOfList(t *testing.T) {
	t.Parallel()
	a := newAnswering(t, "start_reply: In")
	if c := a.asks("46799", "stop"); c.Reply() != "" {
		t.Error(c.Reply())
	}
	if err := a.apply(strings.NewReplacer("DIR/optouts}", "DIR/optouts, opt_out_from: operator}",
		"DIR/spam}", "DIR/spam, opt_out_from: operator, stop_reply: Second}").Replace(usual)); err != nil {
		t.Fatal(err)
	}
	if c := a.asks("46798", "stop"); c.Reply() != "Second" {
		t.Error(c.Reply())
	} else if says := strings.Join(c.Preview(), "; "); says != "46798 is on list optouts already; 46798 is on list spam already" {
		t.Error(says)
	}
	if err := errors.Join(os.Remove(a.dir+"/spam.changes"), os.Mkdir(a.dir+"/spam.changes", 0o700)); err != nil {
		t.Fatal(err)
	}
	if c := a.asks("46797", "stop"); c.Reply() != "" {
		t.Error(c.Reply())
	}
}

// A number on a list that mobiles change has opted out; the same list without that option blocks.
func TestOptedOut(t *testing.T) {
	t.Parallel()
	a := newAnswering(t, bothReplies)
	code := func(account, to string) sms.Code {
		m := a.node.Messages.Get()
		defer m.Release()
		m.Origin = a.node.Origins.Of(account, "clients")
		m.Set(sms.Address{Addr: []byte("acme")}, sms.Address{Addr: []byte(to)}, nil)
		return a.Screen(m, true).Code
	}
	if got := code("acme", "46701"); got != sms.OptedOut {
		t.Error(got)
	}
	if got := code("acme", "47"); got != sms.Blocked { // not on a list of allow
		t.Error(got)
	}
	if err := a.apply(usual); err != nil {
		t.Fatal(err)
	}
	if got := code("acme", "46701"); got != sms.Blocked {
		t.Error(got)
	}
}
