package admin

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// A Problem is something that an operator should look at although the gateway may be ready.
type Problem struct {
	Alert    string `json:"alert"`    // that of docs/monitoring/pmg.rules.yaml which knows it, too
	Severity string `json:"severity"` // as the alert's
	Text     string `json:"text"`
	Page     string `json:"page"` // the operators' page about it, below PagesBase
}

// Severities of problems and alerts.
const (
	severityPage   = "page"
	severityTicket = "ticket"
)

// mostProblems is how many problems of a kind are listed.
const mostProblems = 20

// A problemRule finds the problems that an alert knows, in words and without the time that an alert waits to be certain.
type problemRule struct {
	alert, severity string
	find            func(s *Status, g *growth, add addFunc)
}

// An addFunc adds a problem to the list, with the page about it.
type addFunc func(page, format string, args ...any)

// problems returns what rules find in a status, the most urgent first.
func problems(rules []problemRule, s *Status, g *growth) (all []Problem) {
	for _, r := range rules {
		n := 0
		r.find(s, g, func(page, format string, args ...any) {
			if n++; n <= mostProblems {
				all = append(all, Problem{r.alert, r.severity, fmt.Sprintf(format, args...), page})
			}
		})
		if n > mostProblems {
			all = append(all, Problem{r.alert, r.severity, fmt.Sprintf("%d more of this kind (%s)", n-mostProblems, r.alert), ""})
		}
	}
	slices.SortStableFunc(all, func(a, b Problem) int {
		return int(boolValue(b.Severity == severityPage) - boolValue(a.Severity == severityPage))
	})
	return all
}

// textsOf returns the texts of problems without the reasons why the gateway is not ready. Those have lines of their own.
func textsOf(all []Problem) (texts []string) {
	for i := range all {
		if all[i].Alert != notReadyAlert {
			texts = append(texts, all[i].Text)
		}
	}
	return texts
}

// Window is the time over which problems that are rates are measured.
const Window = 10 * time.Minute

// A counted names a counter.
type counted struct{ what, name string }

// A reading is what was counted at a time. Counters at zero are not in it.
type reading struct {
	at     time.Time
	counts map[counted]int64
}

// A trail keeps the readings of a window, a minute apart. The view's lock guards it.
type trail struct{ readings []reading }

// note adds a reading if the last is a minute old. The clock may have been set back.
func (t *trail) note(s *Status) {
	n := len(t.readings)
	if n > 0 && s.Time.Sub(t.readings[n-1].at).Abs() < time.Minute {
		return
	}
	if n > 0 && s.Time.Before(t.readings[n-1].at) {
		t.readings = nil
	}
	for len(t.readings) > 1 && s.Time.Sub(t.readings[1].at) >= Window {
		t.readings = slices.Delete(t.readings, 0, 1)
	}
	t.readings = append(t.readings, reading{s.Time, countsOf(s)})
}

// growth returns how counters have grown in the window.
func (t *trail) growth(s *Status) *growth {
	g := &growth{now: countsOf(s)}
	if len(t.readings) > 0 {
		g.then, g.seconds = t.readings[0].counts, s.Time.Sub(t.readings[0].at).Seconds()
		g.before = t.readings[0].at.Sub(s.Started).Seconds()
	}
	return g
}

// A growth compares counters with what they were at the beginning of the window.
type growth struct {
	now, then map[counted]int64
	seconds   float64 // of the window
	before    float64 // seconds from the start of the gateway to the window
}

// by returns by how much a counter has grown.
func (g *growth) by(what, name string) int64 {
	return max(0, g.now[counted{what, name}]-g.then[counted{what, name}])
}

// rate returns how fast a counter grows, a second; 0 while the window is too short to tell.
func (g *growth) rate(what, name string) float64 {
	if g.seconds < 60 {
		return 0
	}
	return float64(g.by(what, name)) / g.seconds
}

// usual returns how fast a counter grew before the window, and whether that is known.
func (g *growth) usual(what, name string) (rate float64, known bool) {
	if g.before < Window.Seconds() {
		return 0, false
	}
	return float64(g.then[counted{what, name}]) / g.before, true
}

// share returns the part that one counter has of what two have grown by, if the first grows by a tenth a second.
func (g *growth) share(name, what, other string) float64 {
	n := g.rate(what, name)
	if n <= 0.1 {
		return 0
	}
	return n / (n + g.rate(other, name))
}

// countsOf returns the counters that problems are found by.
func countsOf(s *Status) map[counted]int64 {
	m := map[counted]int64{}
	add := func(what, name string, n int64) {
		if n != 0 {
			m[counted{what, name}] = n
		}
	}
	add("unrouted", "", s.Unrouted)
	add("matched", "", s.Receipts.Matched)
	add("unmatched", "", s.Receipts.Unmatched)
	add("homeless", "", s.Receipts.Homeless)
	add("event errors", "", s.EventsErrors)
	add("spans dropped", "", s.SpansDropped)
	if st := s.Store; st != nil {
		add("commits failed", "", st.CommitsFailed)
		add("slow", "", st.Slow)
	}
	for i := range s.Stages {
		add("panics", s.Stages[i].Name, s.Stages[i].Panics)
	}
	for i := range s.Accounts {
		a := &s.Accounts[i]
		add("account refused", a.Name, a.Refused)
		add("account accepted", a.Name, a.Accepted)
		add("account failed", a.Name, a.Failed)
	}
	for i := range s.Webhooks {
		add("dead letters", s.Webhooks[i].Account, s.Webhooks[i].DeadLetters)
	}
	for i := range s.Connectors {
		c := &s.Connectors[i]
		add("late", c.Name, c.Late)
		add("sent", c.Name, c.Sent)
		add("failed", c.Name, c.Failed)
		add("expired", c.Name, c.Expired)
		add("log lost", c.Name, int64(c.PDULogLost+c.PDULogErrors))
		add("log short", c.Name, c.PDULogEarly)
		add("answers", c.Name, c.Answers.Count)
		add("slow answers", c.Name, c.Answers.Count-c.Answers.within(slowAnswer))
		for _, p := range c.PDUs {
			if p.Direction == "received" && p.Meaning != "" {
				add("status", c.Name+"\n"+p.Status, m[counted{"status", c.Name + "\n" + p.Status}]+p.Count)
			}
		}
	}
	return m
}

// slowAnswer is the time, in seconds, in which 95 of 100 answers should come.
const slowAnswer = 5

// within returns how many answers came in a time, in seconds, or in the next one that is counted.
func (a *Answers) within(seconds float64) int64 {
	bound, n := 0.0, a.Count
	for b, count := range a.buckets {
		if b >= seconds && (bound == 0 || b < bound) {
			bound, n = b, int64(count)
		}
	}
	return n
}

// Number writes a number with separators between thousands.
func Number(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Age writes a number of seconds for people, with two units at most.
func Age(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d <= 0:
		return "–"
	case d < time.Second:
		return strconv.FormatFloat(float64(d.Round(time.Millisecond))/1e6, 'f', -1, 64) + " ms"
	case d < 59500*time.Millisecond:
		return fmt.Sprintf("%.0f s", seconds)
	}
	units := []struct {
		name string
		of   time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}}
	for i, u := range units[:3] {
		next := units[i+1]
		if d = d.Round(next.of); d < u.of {
			d = time.Duration(seconds * float64(time.Second))
			continue
		}
		if rest := d % u.of / next.of; rest > 0 {
			return fmt.Sprintf("%d%s %d%s", d/u.of, u.name, rest, next.name)
		}
		return fmt.Sprintf("%d%s", d/u.of, u.name)
	}
	return d.String()
}

// Octets writes a number of octets for people.
func Octets(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%.0f GiB", float64(n)/(1<<30))
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.0f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}
