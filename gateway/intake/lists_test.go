package intake

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/sms"
)

// An opt-out is stored before its message goes on. A message that is refused by it is the next one to the mobile.
func TestOptOutIsStored(t *testing.T) {
	t.Parallel()
	general := strings.Replace(listed(t, "9"), "}]", ", opt_out_from: [operator]}]", 1)
	p := newPlace(t, general, "block: [numbers]", "", toOperator)
	p.Use(p.steps[1:]) // behind the rate
	s := p.submission(Delivered, sms.MO, func(m *sms.Message) {
		m.Set(sms.Address{Addr: []byte("46700000001")}, sms.Address{Addr: []byte("1234")}, []byte("Stop"))
	})
	if v := p.Take(now, s); v != Later || s.Work == nil {
		t.Fatalf("verdict %d, %s", v, s.Code)
	}
	waits := *s
	*s = Submission{} // it takes up other messages while the work is done
	waits.Code, waits.Work = waits.Work(), nil
	*s = waits
	if v := p.Take(now, s); v != Pass || s.Lane == nil {
		t.Errorf("verdict %d, %s", v, s.Code)
	}
	s = p.submission(Submitted, sms.Submit, nil)
	if v := p.Take(now, s); v != Refuse || s.Code != sms.OptedOut {
		t.Errorf("the next: verdict %d, %s", v, s.Code)
	}
}

// stopped makes a Checker behind the rate that has a list with a reply, and returns how a text of a mobile is taken.
func stopped(t *testing.T, account, operator, routes string) (*place, func(text string, change func(*Submission)) *Submission) {
	t.Helper()
	general := strings.Replace(listed(t, "9"), "}]", ", opt_out_from: [operator], stop_reply: You are out €., start_reply: You are in}]", 1)
	p := newPlace(t, general, "block: [numbers], "+account, operator, routes)
	p.Use(p.steps[1:]) // behind the rate
	return p, func(text string, change func(*Submission)) *Submission {
		s := p.submission(Delivered, sms.MO, func(m *sms.Message) {
			m.Set(sms.Address{TON: 1, NPI: 1, Addr: []byte("46700000001")}, sms.Address{TON: 3, Addr: []byte("1234")}, []byte(text))
		})
		if change != nil {
			change(s)
		}
		_ = p.TakeWaiting(now, s)
		return s
	}
}

// A mobile that has changed a list is answered: by the connector that brought its message, whatever the routes are, without
// an account and past the lists, once.
func TestReplyToOptOut(t *testing.T) {
	t.Parallel()
	p, takes := stopped(t, "", "receipts: force", toOperator)
	s := takes("Stop", nil)
	a := s.Reply()
	if a.Message == nil || s.Lane == nil || s.Lane.Home().Name != "beside" {
		t.Fatalf("%s: no reply", s.Code)
	}
	m := a.Message
	if a.Share.Lane.Home().Name != "operator" || a.Share.Origin.Account != "" || !sms.IsReply(m) || m.Account() != "" || m.Notify != 0 {
		t.Errorf("by %s, asks for %d", a.Share.Lane.Home().Name, m.Notify)
	}
	from, to := m.Source(), m.Dest()
	if from.TON != 3 || string(from.Addr) != "1234" || to.TON != 1 || to.NPI != 1 || string(to.Addr) != "46700000001" {
		t.Errorf("from %v to %v", from, to)
	}
	if m.Alphabet != sms.Default || string(m.Text()) != "You are out \x1be." || m.Parts != 0 || m.Arrived != now ||
		m.Expires != now+24*hour {
		t.Errorf("%q in alphabet %d, until %d", m.Text(), m.Alphabet, m.Expires-now)
	}
	if lane := p.table.Route(m); lane != a.Share.Lane {
		t.Error("it is routed elsewhere when its lane is down")
	}
	for _, l := range p.table.Lanes() {
		if to := p.table.Reroute(l, m, true); l == a.Share.Lane && to != nil || l != a.Share.Lane && to == nil {
			t.Errorf("from %s it goes to %v", l.Home().Name, to)
		}
	}
	if s = takes("Stop", nil); s.Reply().Message != nil || s.Share == nil {
		t.Error("a second STOP is answered")
	}
	if s = takes("Start", nil); s.Reply().Message == nil || string(s.Reply().Message.Text()) != "You are in" {
		t.Error("START is not answered")
	}
	if log := p.log.String(); log != "" {
		t.Error(log)
	}
}

// A message that is refused has no reply. When it comes again it has, although it changes nothing then.
func TestNoReplyToRefused(t *testing.T) {
	t.Parallel()
	_, takes := stopped(t, "", "", toOperator)
	s := takes("stop", func(s *Submission) { s.Room = full{} })
	if s.Code != sms.QueueFull || s.Reply().Message != nil {
		t.Errorf("%s, %v", s.Code, s.Reply())
	}
	if other := takes("stop", nil); other.Reply().Message != nil {
		t.Error("two messages have the same reply")
	}
	s.Drop()
	if s = takes("stop", nil); s.Reply().Message == nil {
		t.Error("there is no reply when it comes again")
	}
}

// A reply for which its connector has no room, or an alphabet, is not sent, and the log says so. Its message passes.
func TestReplyWithoutPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(p *place, s *Submission)
		log    string
	}{
		"no room":  {func(p *place, s *Submission) { s.Room = others{p.table.LaneOf(s.From.Connector)} }, "is full"},
		"removed":  {func(p *place, s *Submission) { s.From.Connector.Removed.Store(true) }, "was removed"},
		"too long": {func(_ *place, s *Submission) { s.From.Connector.Form().Most = 3 }, "does not fit"},
	} {
		p, takes := stopped(t, "", "", toOperator)
		s := takes("stop", func(s *Submission) { c.before(p, s) })
		if s.Code != sms.OK || s.Share == nil || s.Reply().Message != nil || !strings.Contains(p.log.String(), c.log) {
			t.Errorf("%s: %s, %v, %s", name, s.Code, s.Reply(), p.log)
		}
	}
}

// others has room in all lanes but one.
type others struct{ full *connector.Lane }

func (o others) HasRoom(a keep.Accepted, _ *Several) bool { return a.Share.Lane != o.full }

// listed returns the option of a list with an entry.
func listed(t *testing.T, entry string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "numbers.txt")
	if err := os.WriteFile(file, []byte(entry+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return "lists: [{name: numbers, file: " + file + "}]"
}
