package gateway

import "sync"

// sampled limits the log entries of one sort for each connector: it lets the first few of
// a minute pass and counts the others, for one entry at the end of the minute. It is safe
// for concurrent use.
type sampled struct {
	sum   string // the text of that entry
	first int64  // how many entries pass
	usual bool   // the events are usual, so that the entry is no warning

	mu sync.Mutex
	by map[string]*minute // by connector
}

type minute struct {
	began         int64
	shown, hidden int64
}

const sampleTime = int64(60e9)

// next reports whether the next entry of a connector may be logged.
func (s *sampled) next(connector string, now int64) (show bool) {
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

// over ends the minutes that began before a time, and calls f for each with hidden entries.
func (s *sampled) over(before int64, f func(connector string, hidden int64)) {
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

// storms holds the sorts of entries that may come in great numbers.
type storms struct {
	failures   sampled // messages given up
	unanswered sampled // messages without an answer in time
	crowded    sampled // connections refused
	logins     sampled // clients that logged in
	refusals   sampled // logins refused
	ends       sampled // sessions ended
	links      sampled // our connections and logins
	notTaken   sampled // messages that the peer refused for now
	failovers  sampled // messages that went to another target of their route
	unrouted   sampled // messages without a route
	invalid    sampled // submits with contents that cannot be accepted
	fast       sampled // submits beyond their account's rate
	waits      sampled // submits that began to wait for room
	noRoom     sampled // submits for which there was no room
	alerts     sampled // alerts that no client was sent
	troubles   sampled // failed connections and logins, and lost sessions
}

func newStorms() *storms {
	const few, many = 1, 20
	return &storms{
		failures:   sampled{sum: "further messages were given up", first: many},
		unanswered: sampled{sum: "further messages were not answered in time", first: few},
		crowded:    sampled{sum: "further clients were refused: too many connections are open that have not logged in", first: few},
		logins:     sampled{sum: "further clients logged in", first: many, usual: true},
		refusals:   sampled{sum: "further logins were refused", first: many},
		ends:       sampled{sum: "further sessions ended", first: many, usual: true},
		links:      sampled{sum: "further sessions were connected or bound", first: many, usual: true},
		notTaken:   sampled{sum: "further messages were not taken by the peer, and are sent again", first: few},
		failovers:  sampled{sum: "further messages were not taken by the peer, and went to another target of their route", first: few},
		unrouted:   sampled{sum: "further messages matched no route", first: few},
		invalid:    sampled{sum: "further messages were refused because of their contents", first: few},
		fast:       sampled{sum: "further messages were refused because an account was faster than its rate", first: few},
		waits:      sampled{sum: "further messages were answered late, because a queue was full again", first: few},
		noRoom:     sampled{sum: "further messages were refused because there was no room for them", first: few},
		alerts:     sampled{sum: "further alerts of an SMSC were sent to no client", first: few},
		troubles:   sampled{sum: "further connections, logins or sessions failed", first: many},
	}
}

// sumUp logs how many entries were hidden in the minutes that began before a time.
func (g *Gateway) sumUp(before int64) {
	s := g.storms
	for _, sort := range []*sampled{&s.failures, &s.unanswered, &s.crowded, &s.logins, &s.refusals, &s.ends, &s.links, &s.notTaken, &s.failovers, &s.unrouted, &s.invalid, &s.fast, &s.waits, &s.noRoom, &s.alerts, &s.troubles} {
		sort.over(before, func(connector string, hidden int64) {
			e := g.Log.Warn()
			if sort.usual {
				e = g.Log.Info()
			}
			e.Str("connector", connector).Int64("times", hidden).Msg("in the last minute " + sort.sum)
		})
	}
}
