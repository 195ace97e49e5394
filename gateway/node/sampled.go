package node

import (
	"sync"

	"github.com/rs/zerolog"
)

// A Sampled limits the log entries of one sort for each connector: it passes the first few of a
// minute and counts the others, for one entry at the end of the minute. It is safe for concurrent
// use.
type Sampled struct {
	sum   string // text of the entry at the end of the minute
	first int64  // entries of a minute that pass
	usual bool   // the events are usual, so that the entry at the end of the minute is not a warning

	mu sync.Mutex
	by map[string]*minute // present minute of each connector
}

type minute struct {
	began         int64
	shown, hidden int64
}

// SampleTime is the time over which entries are counted, in nanoseconds.
const SampleTime = int64(60e9)

// Next reports whether the next entry of a connector may be logged.
func (s *Sampled) Next(connector string, now int64) (show bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.by[connector]
	if m == nil {
		if s.by == nil {
			s.by = map[string]*minute{}
		}
		m = &minute{began: now}
		s.by[connector] = m
	}
	if m.shown < s.first {
		m.shown++
		return true
	}
	m.hidden++
	return false
}

// over ends the minutes that began before a time. It calls f for each connector with hidden
// entries.
func (s *Sampled) over(before int64, f func(connector string, hidden int64)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for connector, m := range s.by {
		if m.began >= before {
			continue
		}
		delete(s.by, connector)
		if m.hidden > 0 {
			f(connector, m.hidden)
		}
	}
}

// LogLimits has a limit for each sort of log entry that may be frequent.
type LogLimits struct {
	Failures   Sampled // messages given up
	Unanswered Sampled // messages without an answer in time
	Crowded    Sampled // connections refused
	Headers    Sampled // PROXY headers that are invalid, or not from a proxy
	Logins     Sampled // clients that logged in
	Refusals   Sampled // logins refused
	Ends       Sampled // sessions ended
	Replaced   Sampled // sessions replaced by another session of the account
	Links      Sampled // our connections and logins
	NotTaken   Sampled // messages that the peer refused with a temporary error
	Failovers  Sampled // messages that went to another target of their route
	Unrouted   Sampled // messages without a route
	Invalid    Sampled // submits with contents that cannot be accepted
	Held       Sampled // messages that plugins hold
	Fast       Sampled // submits above their account's rate, or a limit of flood
	Waits      Sampled // submits that began to wait for room
	NoRoom     Sampled // submits for which there was no room
	Alerts     Sampled // alerts of mobiles, which are dropped
	Troubles   Sampled // failed connections and logins, and lost sessions
}

func newStorms() LogLimits {
	const few, many = 1, 20
	return LogLimits{
		Failures:   Sampled{sum: "further messages were given up", first: many},
		Unanswered: Sampled{sum: "further messages were not answered in time", first: few},
		Crowded: Sampled{
			sum: "further clients were refused: too many connections are open that have not logged in", first: few,
		},
		Headers:  Sampled{sum: "further PROXY headers could not be read, or came from addresses outside proxies", first: few},
		Logins:   Sampled{sum: "further clients logged in", first: many, usual: true},
		Refusals: Sampled{sum: "further logins were refused", first: many},
		Ends:     Sampled{sum: "further sessions ended", first: many, usual: true},
		Replaced: Sampled{sum: "further sessions were replaced by others of their accounts", first: few},
		Links:    Sampled{sum: "further sessions were connected or bound", first: many, usual: true},
		NotTaken: Sampled{sum: "further messages were refused by the peer for now, and are sent again", first: few},
		Failovers: Sampled{
			sum: "further messages were refused by the peer for now, and went to another target of their route", first: few,
		},
		Unrouted: Sampled{sum: "further messages matched no route", first: few},
		Invalid:  Sampled{sum: "further messages were refused because of their contents", first: few},
		Held:     Sampled{sum: "further messages were put aside by plugins", first: few},
		Fast:     Sampled{sum: "further messages were refused because an account was faster than its rate", first: few},
		Waits:    Sampled{sum: "further messages were answered late, because a queue was full again", first: few},
		NoRoom:   Sampled{sum: "further messages were refused because there was no room for them", first: few},
		Alerts:   Sampled{sum: "further alerts of mobiles were dropped", first: few, usual: true},
		Troubles: Sampled{sum: "further connections, logins or sessions failed", first: many},
	}
}

// each calls f with every sort.
func (s *LogLimits) each(f func(*Sampled)) {
	for _, sort := range []*Sampled{
		&s.Failures, &s.Unanswered, &s.Crowded, &s.Headers, &s.Logins, &s.Refusals, &s.Ends, &s.Replaced, &s.Links,
		&s.NotTaken, &s.Failovers, &s.Unrouted, &s.Invalid, &s.Held, &s.Fast, &s.Waits, &s.NoRoom, &s.Alerts, &s.Troubles,
	} {
		f(sort)
	}
}

// SumUp logs how many entries were hidden in the minutes that began before a time.
func (s *LogLimits) SumUp(log *zerolog.Logger, before int64) {
	s.each(func(sort *Sampled) {
		sort.over(before, func(connector string, hidden int64) {
			e := log.Warn()
			if sort.usual {
				e = log.Info()
			}
			e.Str("connector", connector).Int64("times", hidden).Msg("in the last minute " + sort.sum)
		})
	})
}
