package intake

import (
	"strings"
	"testing"

	"pmg/sms"
)

// A message beyond a limit is refused for now, and the log says which limit. What another step refuses, or cannot be stored,
// counts in none, and neither does a preview.
func TestFlood(t *testing.T) {
	t.Parallel()
	const options = `flood: [{per: recipient, most: 2, within: 12s}, {prefix: "99", most: 1, within: 12s}], ` +
		`duplicates: {within: 1s}, rewrite: [{in: destination, prefixes: ["0=46"]}]`
	p := newPlace(t, "", options, "", toOperator)
	texts := 0
	message := func(dest string) func(*sms.Message) {
		texts++
		text := strings.Repeat("x", texts)
		return func(m *sms.Message) { m.Set(m.Source(), sms.Address{Addr: []byte(dest)}, []byte(text)) }
	}
	submit := func(at int64, change func(*sms.Message), step string) *Submission {
		t.Helper()
		s := p.submit(now+at, change)
		code := map[string]sms.Code{"flood": sms.Throttled, "duplicates": sms.Rejected}[step]
		if s.Refuser(p.Checker) != step || s.Code != code {
			t.Errorf("at %d ms: %s by %q, not by %q", at/1e6, s.Code, s.Refuser(p.Checker), step)
		}
		return s
	}
	preview := func(step string) {
		t.Helper()
		s := p.submission(Submitted, sms.Submit, message("4670"))
		login(p, s)
		s.Preview = true
		if p.Take(now, s); s.Refuser(p.Checker) != step {
			t.Errorf("a preview: %s by %q, not by %q", s.Code, s.Refuser(p.Checker), step)
		}
		s.Drop()
	}
	in := p.NewIntake(10)
	for range 3 {
		submit(0, message("4670"), "").Drop() // no room
		s := submit(0, message("4670"), "")
		in.Enter(now, s.Accepted(), nil)
		in.Undo(s.From, s.Accepted(), sms.SystemError)
		preview("")
	}
	first := message("4670")
	submit(0, first, "")
	submit(0, first, "duplicates").Drop() // which does not count
	submit(0, message("070"), "")
	preview("flood")
	refused := message("4670")
	submit(1, refused, "flood").Drop()
	submit(1, refused, "flood").Drop() // and not a duplicate
	if !strings.Contains(p.log.String(), "no more than 2 within 12s to one recipient (flood)") {
		t.Errorf("the log says %q", p.log)
	}
	submit(1, message("4671"), "")
	submit(12*second-1, message("4670"), "flood").Drop()
	submit(13*second, message("4670"), "")
	submit(13*second, message("9970"), "")
	submit(13*second, message("9971"), "flood").Drop()
}

// A step costs what its policy costs, and next to nothing without.
func BenchmarkFlood(b *testing.B) {
	const options = `flood: [{per: recipient, most: 1000, within: 1h}, {prefix: "4670", most: 1000, within: 1m}]`
	for name, options := range map[string]string{"with": options, "without": ""} {
		b.Run(name, func(b *testing.B) { benchmarkStep(b, "flood", options) })
	}
}
