package intake

import (
	"strings"
	"testing"
	"time"

	"pmg/sms"
)

// evening is 21:00 in Stockholm.
var evening = time.Date(2026, 11, 25, 20, 0, 0, 0, time.UTC).UnixNano()

// A message that comes in the quiet hours of its recipient is delivered when they end, unless it would have expired.
func TestQuiet(t *testing.T) {
	t.Parallel()
	const options = `quiet: {from: "21:00", to: "08:00", zones: [46=Europe/Stockholm], except_priority: 2}, ` +
		`rewrite: [{in: destination, prefixes: ["0=46"]}]`
	morning := evening + 11*hour
	for name, c := range map[string]struct {
		account string
		at      int64
		change  func(m *sms.Message)
		want    int64 // its delivery time
		expires int64
		code    sms.Code
		before  func(p *place, s *Submission)
	}{
		"in the hours":     {at: evening, want: morning},
		"before them":      {at: evening - 1},
		"behind them":      {at: morning},
		"at their end":     {at: morning - 1, want: morning},
		"not configured":   {account: "validity: 1h", at: evening, expires: evening + hour},
		"of a rewritten":   {at: evening, change: func(m *sms.Message) { m.Set(m.Source(), sms.Address{Addr: []byte("0701740605")}, nil) }, want: morning},
		"of elsewhere":     {at: evening, change: func(m *sms.Message) { m.Set(m.Source(), sms.Address{Addr: []byte("47701740605")}, nil) }},
		"urgent":           {at: evening, change: func(m *sms.Message) { m.Priority = 2 }},
		"not urgent":       {at: evening, change: func(m *sms.Message) { m.Priority = 1 }, want: morning},
		"later":            {at: evening - hour, change: func(m *sms.Message) { m.DeliverAt = evening }, want: morning},
		"before, later":    {at: evening - hour, change: func(m *sms.Message) { m.DeliverAt = evening - 1 }, want: evening - 1},
		"in it, behind it": {account: "max_schedule: 20h", at: evening, change: func(m *sms.Message) { m.DeliverAt = morning + 1 }, want: morning + 1},
		"would expire": {
			at: evening, change: func(m *sms.Message) { m.Expires = morning }, want: 0, expires: morning, code: sms.BadValidity,
		},
		"is valid": {
			at: evening, change: func(m *sms.Message) { m.Expires = morning + 1 }, want: morning, expires: morning + 1,
		},
		"its account's validity": {account: "validity: 2h", at: evening, want: morning, expires: morning + 2*hour},
		"none may be scheduled":  {account: "max_schedule: 0s", at: evening, want: morning},
		"in parts": {
			account: "max_schedule: 0s", at: evening, want: morning,
			change: func(m *sms.Message) { m.SetText([]byte(strings.Repeat("x", 200))) },
		},
		"too many parts": {
			at: evening, want: morning, code: sms.QueueFull,
			change: func(m *sms.Message) { m.SetText([]byte(strings.Repeat("x", 400))) },
		},
		"too many wait": {
			at: evening, want: morning, code: sms.QueueFull,
			before: func(_ *place, s *Submission) { s.From.Origin.Tally.Scheduled.Store(2) },
		},
		"another clock": {
			at: evening - hour, want: morning - hour, before: func(p *place, _ *Submission) { p.node.Clock.SetAhead(hour) },
		},
	} {
		account := "max_scheduled: 2"
		for _, more := range []string{c.account, options} {
			if more != "" && (more != options || name != "not configured") {
				account += ", " + more
			}
		}
		p := newPlaceOf(t, "", account, "long_messages: split8", toOperator)
		s := p.submission(Submitted, sms.Submit, c.change)
		login(p, s)
		if c.before != nil {
			c.before(p, s)
		}
		p.Take(c.at, s)
		if s.Code != c.code || s.Message.DeliverAt != c.want || s.Message.Expires != c.expires {
			t.Errorf("%s: %s by %q, %d s ahead of %d, expires %d s behind", name, s.Code, s.Refuser(p.Checker),
				(s.Message.DeliverAt-c.at)/second, (c.want-c.at)/second, (s.Message.Expires-c.at)/second)
		}
		if c.code == sms.BadValidity && (s.Refuser(p.Checker) != "quiet" || !strings.Contains(p.log.String(), "its validity ends before")) {
			t.Errorf("%s: by %q; the log says %q", name, s.Refuser(p.Checker), p.log)
		}
	}
}

// The text of a message that waits is replaced in the hours: its times are by the wall clock, whatever the engine's is.
func TestQuietReplaced(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "", `quiet: {from: "21:00", to: "08:00", zone: Europe/Stockholm}`, "", toOperator)
	p.node.Clock.SetAhead(5 * hour)
	s := p.submission(Replaced, sms.Submit, nil)
	s.Counted = true
	if v := p.Take(evening, s); v != Pass || s.Message.DeliverAt != evening+11*hour {
		t.Errorf("verdict %d, %s, in %d s", v, s.Code, (s.Message.DeliverAt-evening)/second)
	}
	s = p.submission(ReplacedAt, sms.Submit, nil)
	if v := p.Take(evening, s); v != Pass || s.Message.DeliverAt != 0 {
		t.Errorf("at the SMSC: verdict %d, %s, at %d", v, s.Code, s.Message.DeliverAt)
	}
}

// A step costs what its policy costs, and next to nothing without.
func BenchmarkQuiet(b *testing.B) {
	const options = `quiet: {from: "00:00", to: "00:01", zones: [46=Europe/Stockholm, 1=America/New_York]}`
	for name, options := range map[string]string{"with": options, "without": ""} {
		b.Run(name, func(b *testing.B) { benchmarkStep(b, "quiet", options) })
	}
}
