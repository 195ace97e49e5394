package portal

import (
	"slices"
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/events/stats"
	"pmg/internal/timetext"
	"pmg/protocols/httpsms/own"
	"pmg/sms"
)

// An overview is the model of the first page.
type overview struct {
	Today *stats.Row // nil: statistics are off

	CountedIn string // zone of today
	Lost      int64  // messages of today that were not sent; their receipts are counted as undelivered
	Waiting   int64  // messages of the account that wait to be sent
	Coming    int64  // messages and events that wait for the account
	Counters  sms.Counters[int64]
	Money     *money // nil: the account is not charged
	Limits    *config.Account
	Schedule  string // the maximum time of a delivery time in the future
	Sessions  []session
}

// A session is a session of one of the account's clients.
type session struct {
	Protocol, Remote, Kind string
	Since                  time.Time
}

// mostShown is the maximum number of rows of a kind on a page.
const mostShown = 200

func overviewOf(v *visit) (any, *own.Problem) {
	t := v.x.Source().Origin.Tally
	m := overview{
		Counters: sms.Counters[int64]{
			Accepted: t.Accepted.Load(), Refused: t.Refused.Load(), Sent: t.Sent.Load(), Failed: t.Failed.Load(),
			Cancelled: t.Cancelled.Load(), Expired: t.Expired.Load(),
		},
		Money: moneyOf(v), Limits: v.x.Account.Config(), Sessions: sessionsOf(v),
	}
	m.Schedule = timetext.FormatDuration(m.Limits.MaxSchedule)
	for _, l := range v.rooms().Table.Lanes() {
		if l.Account == v.who.account {
			m.Coming += l.Queued.Load()
		}
		l.Queues.Shares(func(s *connector.Share) {
			if s.Origin.Account == v.who.account {
				m.Waiting += s.Queued()
			}
		})
	}
	if v.statisticsDir() != "" {
		var q stats.Query
		today := v.countedIn(&q).Truncate(24 * time.Hour)
		q.From, q.To, m.CountedIn = today, today, q.Zone.String()
		rows, p := v.sums(q)
		if p == nil {
			sum := stats.Total(rows)
			m.Today = &sum
			for _, name := range []string{"failed", "rejected", "unknown", "expired", "deleted"} {
				m.Lost += sum.Figure(name)
			}
		}
	}
	return m, nil
}

// sessionsOf returns the sessions of the account's clients, the oldest first.
func sessionsOf(v *visit) (all []session) {
	node := v.rooms().Node
	since := func(opened int64) time.Time { return time.Unix(0, node.Clock.Wall(opened)).UTC().Truncate(time.Second) }
	for _, c := range v.rooms().Table.Connectors() {
		cfg := c.Config()
		if cfg.Direction != config.In {
			continue
		}
		c.Links(func(l *connector.Link) {
			// the account is set before Bound reports the login
			if l.Session.Bound() != 0 && l.Account != nil && l.Account.SystemID == v.who.account {
				all = append(all, session{cfg.Protocol, l.Remote.String(), l.Session.Bound().String(), since(l.Opened)})
			}
		})
		for _, s := range c.Streams.All() {
			if s.Account == v.who.account {
				all = append(all, session{cfg.Protocol, s.Remote.String(), s.Kind, since(s.Opened)})
			}
		}
	}
	slices.SortFunc(all, func(a, b session) int { return a.Since.Compare(b.Since) })
	return all[:min(len(all), mostShown)]
}
