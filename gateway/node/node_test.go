package node

import (
	"errors"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/connector"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
)

// configuration is one whose account a has parameters, or has none.
func configuration(t *testing.T, tlvs string) *config.Config {
	t.Helper()
	cfg, _, err := config.Parse([]byte(`
accounts: [{system_id: a, password: x`+tlvs+`}, {system_id: b, password: x}]
connectors: [{name: in, direction: in, address: "127.0.0.1:0"}, {name: out, direction: out, address: "127.0.0.1:1", system_id: x}]
routes: [{to: out}]
`), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// An account has one tally and one set of parameters, whichever connector its messages come by, and whoever asks first.
func TestOrigins(t *testing.T) {
	t.Parallel()
	var o Origins
	tally := o.TallyOf("a")
	first, second, other := o.Of("a", "one"), o.Of("a", "two"), o.Of("b", "one")
	if first == second || first != o.Of("a", "one") || first == other {
		t.Error("an account and a connector have not one origin")
	}
	if first.Tally != tally || second.Tally != tally || o.TallyOf("a") != tally || other.Tally == tally || o.TallyOf("b") != other.Tally {
		t.Error("an account has not one tally")
	}
	if first.Parameters != second.Parameters || first.Parameters == other.Parameters {
		t.Error("an account has not its parameters for all its connectors")
	}
	if first.Account != "a" || second.Connector != "two" {
		t.Errorf("%+v, %+v", first, second)
	}
	tally.Scheduled.Store(3)
	other.Tally.Scheduled.Store(4)
	if n := o.Scheduled(); n != 7 {
		t.Errorf("%d messages are scheduled, want 7", n)
	}
	all := map[string]*sms.Tally{}
	o.Tallies(func(account string, t *sms.Tally) { all[account] = t })
	if len(all) != 2 || all["a"] != tally || all["b"] != other.Tally {
		t.Errorf("the tallies are %v", all)
	}
	var none Origins
	if none.Of("a", "one").Tally == nil || none.TallyOf("a") != none.Of("a", "one").Tally {
		t.Error("an account that nobody asked about has no tally")
	}
}

// Parameters that a reload gives an account, or takes away, are those of its messages that wait as well.
func TestParameters(t *testing.T) {
	t.Parallel()
	const tlvs = `, tlvs: [{tlv: 0x1400, value: "11"}]`
	var o Origins
	before := o.Of("a", "in")
	o.Apply(configuration(t, tlvs))
	if len(before.Added()) == 0 || len(o.Of("b", "in").Added()) != 0 || string(o.Of("a", "new").Added()) != string(before.Added()) {
		t.Errorf("%q, %q", before.Added(), o.Of("b", "in").Added())
	}
	o.Apply(configuration(t, ""))
	if len(before.Added()) != 0 {
		t.Errorf("%q are left", before.Added())
	}
	var first Origins
	first.Apply(configuration(t, tlvs))
	if len(first.Of("a", "in").Added()) == 0 {
		t.Error("an account that comes after a reload has no parameters")
	}
}

// What lasts is logged once a minute, and does not keep anything else from being logged.
func TestRepeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r Repeats
		for i, c := range []struct {
			pause time.Duration
			what  string
			first bool
		}{
			{0, "a", true}, {0, "a", false}, {0, "b", true}, {time.Minute - 1, "a", false}, {1, "a", true}, {0, "a", false},
			{time.Minute, "b", true}, {0, "a", true},
		} {
			if time.Sleep(c.pause); r.First(c.what) != c.first {
				t.Errorf("entry %d: %v", i, !c.first)
			}
		}
	})
}

// A step of the wall clock counts in both directions, from 50 ms on.
func TestSteps(t *testing.T) {
	t.Parallel()
	const step = int64(50 * time.Millisecond)
	for _, c := range []struct{ was, is, want int64 }{
		{0, step, 0}, {0, step + 1, step + 1}, {0, -step, 0}, {0, -step - 1, -step - 1}, {7 * step, 6 * step, 7 * step},
		{7 * step, 6*step - 1, 6*step - 1}, {-7 * step, step, step},
	} {
		k := Clock{WallClock: func() time.Time { return time.Unix(0, now+c.is) }}
		k.SetAhead(c.was)
		if k.See(now); k.Ahead() != c.want || k.Wall(now) != now+c.want {
			t.Errorf("from %d to %d: %d", c.was, c.is, k.Ahead())
		}
	}
}

// A sort of entries shows the first of a minute for each connector, one of trouble and twenty of what operators look for, and then
// says how many there were more; a minute is over when it is.
func TestSampled(t *testing.T) {
	t.Parallel()
	limits := newStorms()
	l := &limits
	many := map[*Sampled]bool{&l.Failures: true, &l.Logins: true, &l.Refusals: true, &l.Ends: true, &l.Links: true, &l.Troubles: true}
	usual := map[*Sampled]bool{&l.Logins: true, &l.Ends: true, &l.Links: true, &l.Alerts: true}
	texts := map[string]bool{}
	l.each(func(s *Sampled) {
		first := 1
		if many[s] {
			first = 20
		}
		for n := range first + 3 {
			if s.Next("one", now) != (n < first) {
				t.Errorf("%s: entry %d", s.sum, n)
			}
		}
		for range first {
			if !s.Next("other", now+1) {
				t.Errorf("%s: another connector is hidden", s.sum)
			}
		}
		if s.usual != usual[s] || texts[s.sum] {
			t.Errorf("%s: usual %v", s.sum, s.usual)
		}
		texts[s.sum] = true
	})
	if len(texts) != 19 {
		t.Errorf("%d sorts are summed up", len(texts))
	}
	for i, c := range []struct {
		before int64
		want   int
	}{{now, 0}, {now + 1, 19}, {now + 1, 0}} { // the minute lasts, is over, has been summed up
		var log testutil.Log
		logger := zerolog.New(&log)
		l.SumUp(&logger, c.before)
		lines := log.String()
		if strings.Count(lines, "\n") != c.want || strings.Count(lines, `"connector":"one","times":3,"message":"in the last minute further`) != c.want {
			t.Errorf("%d: %s", i, lines)
		}
	}
	if !l.Waits.Next("one", now+5) || l.Waits.Next("other", now+1) {
		t.Error("the next minute does not begin where it was summed up, or begins elsewhere")
	}
	l.SumUp(&zerolog.Logger{}, now+2)
	if !l.Waits.Next("other", now+6) {
		t.Error("a minute in which nothing was hidden does not end")
	}
}

// What all parts share is as it was set last. A plugin's failures are logged once a minute, each sort by itself.
func TestNode(t *testing.T) {
	t.Parallel()
	var log testutil.Log
	one, two := configuration(t, ""), configuration(t, "")
	n := New(one, zerolog.New(&log))
	if n.Pass("anybody"); n.Config() != one || n.Draining() {
		t.Error("it does not begin as it was made")
	}
	n.SetConfig(two)
	n.Drain()
	if n.Config() != two || !n.Draining() {
		t.Error("it is not as it was set")
	}
	for range 3 {
		for _, plugin := range []string{"p", "q"} {
			n.NotInformed(plugin, errors.New("late"))
			n.NoVerdict(plugin, errors.New("late"))
		}
	}
	for _, text := range []string{`"plugin":"p","message":"a plugin is not informed`, `"plugin":"q","message":"a plugin has no verdict`, `"error":"late"`} {
		if got := strings.Count(log.String(), text); got != 1 && text != `"error":"late"` || got == 0 {
			t.Errorf("%q is logged %d times", text, got)
		}
	}
	half := max(runtime.GOMAXPROCS(0)/2, 1)
	for i := range half + 1 {
		gone := make(chan struct{})
		close(gone)
		if n.Handshakes.Take(netip.Prefix{}, gone) != (i < half) {
			t.Errorf("handshake %d of %d", i, half)
		}
	}
}

// Work is done once at any time, and is waited for; what is begun meanwhile is left out, and waits for nothing.
func TestSingle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s Single
		s.Wait()
		ends, ran := make(chan bool), 0
		work := func() { ran++; <-ends }
		s.Begin(work)
		synctest.Wait()
		s.Begin(work)
		synctest.Wait()
		waited := false
		go func() { s.Wait(); waited = true }()
		if synctest.Wait(); ran != 1 || waited {
			t.Errorf("ran %d times, waited %v", ran, waited)
		}
		ends <- true
		if synctest.Wait(); !waited {
			t.Error("it has not ended")
		}
		s.Begin(func() { ran++ })
		if s.Wait(); ran != 2 {
			t.Errorf("ran %d times", ran)
		}
	})
}

// A log entry says of which session it is: its instance, if it has one, and from where.
func TestOfSource(t *testing.T) {
	t.Parallel()
	c := &connector.Connector{Name: "in"}
	s := connector.Source{Connector: c}
	for instance, want := range map[int]string{0: `{"connector":"in","remote":`, 7: `{"connector":"in","instance":7,"remote":`} {
		var log testutil.Log
		if s.Instance = nil; instance != 0 {
			s.Instance = &connector.Instance{Number: instance}
		}
		l := zerolog.New(&log)
		OfSession(l.Log(), &connector.Link{Source: s}).Send()
		if !strings.HasPrefix(log.String(), want) {
			t.Errorf("%s, want %s", log.String(), want)
		}
	}
}
