package admin

import "pmg/config"

// Waits is what waits for a kind of peer. They are apart, so that the events for a server that is down do not hide that SMS
// are late.
type Waits struct {
	For      string  `json:"for"` // see below
	Messages int64   `json:"messages" metric:"messages" help:"Messages that wait: for SMSCs (smsc), for clients' sessions (sessions: receipts and messages from mobiles), or for clients' servers and those that fetch events (events)."`
	Oldest   float64 `json:"oldest_seconds" metric:"oldest_seconds" help:"Age of the oldest of them, 0 when none waits."`
}

// What waits is for SMSCs, for the sessions of clients, or for those that are told events over HTTP.
const (
	ForSMSC     = "smsc"
	ForSessions = "sessions"
	ForEvents   = "events"
)

// WaitsFor returns what messages wait for that a connector of a direction and a protocol is to send.
func WaitsFor(direction, protocol string) string {
	switch {
	case direction == config.Out:
		return ForSMSC
	case (&config.Connector{Protocol: protocol}).HasSessions():
		return ForSessions
	}
	return ForEvents
}

// waiting returns what waits now, by the engine's clock.
func (v *view) waiting(now int64) []Waits {
	all := []Waits{{For: ForSMSC}, {For: ForSessions}, {For: ForEvents}}
	of := map[string]*Waits{ForSMSC: &all[0], ForSessions: &all[1], ForEvents: &all[2]}
	for _, c := range v.connectors() {
		of[WaitsFor(c.Config().Direction, c.Config().Protocol)].Messages += c.Stats.Queued.Load()
	}
	for _, l := range v.gateway.Table.Lanes() {
		w := of[WaitsFor(l.Home().Config().Direction, l.Home().Config().Protocol)]
		if oldest := l.Oldest(); oldest != 0 {
			w.Oldest = max(w.Oldest, seconds(now-oldest))
		}
	}
	return all
}

// WaitingFor returns what waits for a kind of peer.
func (s *Status) WaitingFor(peers string) (w Waits) {
	for i := range s.Waiting {
		if s.Waiting[i].For == peers {
			return s.Waiting[i]
		}
	}
	return w
}
