package admin

import (
	"maps"
	"slices"

	"pmg/admin/problems"
	"pmg/config"
)

// facts returns the facts that the rules of problems use.
func (s *Status) facts() *problems.Facts {
	f := &problems.Facts{
		Started: s.Started, Time: s.Time, NotReady: s.NotReady, Down: s.inner.down,
		AdminCertificateExpires: s.AdminCertificateExpires,
		Unrouted:                s.Unrouted, Parked: s.Parked, Quarantined: s.Quarantined,
		Receipts: problems.Receipts{
			Matched: s.Receipts.Matched, Unmatched: s.Receipts.Unmatched, Homeless: s.Receipts.Homeless,
		},
		EventsWaiting: s.EventsWaiting, EventsErrors: s.EventsErrors, SpansDropped: s.SpansDropped,
	}
	if st := s.Store; st != nil {
		f.Store = &problems.Store{
			Failed: st.Failed, Low: st.Low, Stalled: st.Stalled, Recovered: st.Recovered, Problem: st.Problem,
			Refuses: st.Refuses,
			MinFree: st.MinFree, Free: st.Free, FreeInodes: st.FreeInodes,
			CurrentSeconds: st.CurrentSeconds, CommitsFailed: st.CommitsFailed, Slow: st.Slow,
		}
	}
	for i := range s.Connectors {
		f.Connectors = append(f.Connectors, s.Connectors[i].facts())
	}
	for i := range s.Accounts {
		a := &s.Accounts[i]
		f.Accounts = append(f.Accounts, problems.Account{
			Name: a.Name, Sessions: a.Sessions, Late: a.late, Accepted: a.Accepted, Refused: a.Refused, Failed: a.Failed,
		})
		of := &f.Accounts[i]
		if a.Money != nil && a.Money.Margin != nil {
			of.Price, of.Cost = int64(a.Money.Margin.Price), int64(a.Money.Margin.Cost)
		}
		for _, why := range slices.Sorted(maps.Keys(a.RefusedBy)) {
			of.Refusals = append(of.Refusals, problems.Refusal{Status: why, Count: a.RefusedBy[why]})
		}
	}
	for i := range s.Webhooks {
		w := &s.Webhooks[i]
		f.Webhooks = append(f.Webhooks, problems.Webhook{
			Account: w.Account, Waiting: w.Waiting, Oldest: w.Oldest, LastError: w.LastError,
			Resting: w.Resting, Failures: w.Failures, DeadLetters: w.DeadLetters,
		})
	}
	for i := range s.Stages {
		f.Stages = append(f.Stages, problems.Stage{Name: s.Stages[i].Name, Panics: s.Stages[i].Panics})
	}
	return f
}

func (c *Connector) facts() problems.Connector {
	f := problems.Connector{
		Name: c.Name, Out: c.Direction == config.Out, CertificateExpires: c.CertificateExpires,
		Instances: c.Instances, SessionsBound: c.SessionsBound, SessionsReady: c.SessionsReady,
		Queued: c.Queued, OldestSeconds: c.OldestSeconds, Fullest: c.Fullest, MaxQueue: c.MaxQueue,
		Sent: c.Sent, Failed: c.Failed, Expired: c.Expired, Late: c.Late,
		Answers: c.Answers.Count, SlowAnswers: c.Answers.Count - c.Answers.within(problems.SlowAnswer),
		PDULogLost: int64(c.PDULogLost + c.PDULogErrors), PDULogEarly: c.PDULogEarly,
	}
	if t := c.Trouble; t != nil {
		f.Trouble = &problems.Trouble{Reason: t.Reason, Since: t.Since, Next: t.Next, Down: t.Down}
	}
	if h := c.Held; h != nil {
		f.Held = &problems.Held{Since: h.Since, Until: h.Until, By: h.By}
	}
	for _, p := range c.PDUs {
		if p.Direction == "received" && p.Meaning != "" {
			f.Refusals = append(f.Refusals, problems.Refusal{Status: p.Status, Count: p.Count})
		}
	}
	return f
}

// within returns the number of answers that came within a time, in seconds, or within the next longer time
// that the histogram has.
func (a *Answers) within(seconds float64) int64 {
	bound, n := 0.0, a.Count
	for b, count := range a.buckets {
		if b >= seconds && (bound == 0 || b < bound) {
			bound, n = b, int64(count)
		}
	}
	return n
}
