package problems

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"pmg/internal/figuretext"
)

// Window is the time over which rates are measured.
const Window = 10 * time.Minute

// A counted identifies a counter.
type counted struct{ what, name string }

// A reading contains the counters at a time, without those at 0.
type reading struct {
	at     time.Time
	counts map[counted]int64
}

// A Watch keeps the readings of a window, a minute apart, and finds problems by them. It is safe for concurrent use.
type Watch struct {
	mu       sync.Mutex
	readings []reading
}

// Found is the result of a Watch.
type Found struct {
	Problems []Problem // the most urgent first

	growth *growth
}

// Look finds the problems in facts, and stores the counters of the facts.
func (w *Watch) Look(f *Facts) *Found {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.add(f)
	g := w.growth(f)
	all := rules()
	if f.Stopping {
		all = all[:1] // only the problem that the gateway is not ready
	}
	return &Found{find(all, f, g), g}
}

// Recent returns an account's figures for the window: messages accepted a second, and the numbers of refused and failed messages.
func (f *Found) Recent(account string) (acceptedPerSecond float64, refused, failed int64) {
	g := f.growth
	accepted := float64(g.by("account accepted", account)) / max(g.seconds, 1)
	return accepted, g.by("account refused", account), g.by("account failed", account)
}

// add adds a reading if the last is a minute old. The clock may have been set back.
func (w *Watch) add(f *Facts) {
	n := len(w.readings)
	if n > 0 && f.Time.Sub(w.readings[n-1].at).Abs() < time.Minute {
		return
	}
	if n > 0 && f.Time.Before(w.readings[n-1].at) {
		w.readings = nil
	}
	for len(w.readings) > 1 && f.Time.Sub(w.readings[1].at) >= Window {
		w.readings = slices.Delete(w.readings, 0, 1)
	}
	w.readings = append(w.readings, reading{f.Time, countsOf(f)})
}

// growth returns the growth of counters in the window.
func (w *Watch) growth(f *Facts) *growth {
	g := &growth{now: countsOf(f)}
	if len(w.readings) > 0 {
		g.then, g.seconds = w.readings[0].counts, f.Time.Sub(w.readings[0].at).Seconds()
		g.before = w.readings[0].at.Sub(f.Started).Seconds()
	}
	return g
}

// A growth compares counters with their values at the beginning of the window.
type growth struct {
	now, then map[counted]int64
	seconds   float64 // length of the window
	before    float64 // seconds from the start of the gateway to the window
}

// by returns the growth of a counter.
func (g *growth) by(what, name string) int64 {
	return max(0, g.now[counted{what, name}]-g.then[counted{what, name}])
}

// rate returns the growth of a counter a second; 0 while the window is too short.
func (g *growth) rate(what, name string) float64 {
	if g.seconds < 60 {
		return 0
	}
	return float64(g.by(what, name)) / g.seconds
}

// usual returns the growth of a counter before the window. It reports false if that is unknown.
func (g *growth) usual(what, name string) (rate float64, known bool) {
	if g.before < Window.Seconds() {
		return 0, false
	}
	return float64(g.then[counted{what, name}]) / g.before, true
}

// share returns the growth of the counter what, divided by the growth of both counters together. It returns 0 if the counter
// what grows by a tenth a second or less.
func (g *growth) share(name, what, other string) float64 {
	n := g.rate(what, name)
	if n <= 0.1 {
		return 0
	}
	return n / (n + g.rate(other, name))
}

// mostRefused returns the most frequent reason for refusals of an account's messages in the window, and the
// number of these refusals.
func (g *growth) mostRefused(a *Account) string {
	reason, most := "", int64(0)
	for _, r := range a.Refusals {
		if n := g.by("account refused for", a.Name+"\n"+r.Status); n > most {
			reason, most = strings.ReplaceAll(r.Status, "_", " "), n
		}
	}
	if most == 0 {
		return ""
	}
	return fmt.Sprintf(", %s of them for: %s", figuretext.Number(most), reason)
}

// countsOf returns the counters that rules use.
func countsOf(f *Facts) map[counted]int64 {
	m := map[counted]int64{}
	add := func(what, name string, n int64) {
		if n != 0 {
			m[counted{what, name}] += n
		}
	}
	add("unrouted", "", f.Unrouted)
	add("matched", "", f.Receipts.Matched)
	add("unmatched", "", f.Receipts.Unmatched)
	add("homeless", "", f.Receipts.Homeless)
	add("event errors", "", f.EventsErrors)
	add("spans dropped", "", f.SpansDropped)
	if st := f.Store; st != nil {
		add("commits failed", "", st.CommitsFailed)
		add("slow", "", st.Slow)
	}
	for i := range f.Stages {
		add("panics", f.Stages[i].Name, f.Stages[i].Panics)
	}
	for i := range f.Accounts {
		a := &f.Accounts[i]
		add("account refused", a.Name, a.Refused)
		for _, r := range a.Refusals {
			add("account refused for", a.Name+"\n"+r.Status, r.Count)
		}
		add("account accepted", a.Name, a.Accepted)
		add("account failed", a.Name, a.Failed)
		add("account price", a.Name, a.Price)
		add("account cost", a.Name, a.Cost)
	}
	for i := range f.Webhooks {
		add("dead letters", f.Webhooks[i].Account, f.Webhooks[i].DeadLetters)
	}
	for i := range f.Connectors {
		c := &f.Connectors[i]
		add("late", c.Name, c.Late)
		add("sent", c.Name, c.Sent)
		add("failed", c.Name, c.Failed)
		add("expired", c.Name, c.Expired)
		add("log lost", c.Name, c.PDULogLost)
		add("log short", c.Name, c.PDULogEarly)
		add("answers", c.Name, c.Answers)
		add("slow answers", c.Name, c.SlowAnswers)
		for _, r := range c.Refusals {
			add("status", c.Name+"\n"+r.Status, r.Count)
		}
	}
	return m
}
