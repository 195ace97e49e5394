package admin

import (
	"cmp"
	"time"

	"pmg/config"
)

// Store is the status of the store. The engine's figures are up to a few seconds old, so that a disk that hangs does not block
// the others.
type Store struct {
	Engine  string `json:"engine"`
	Problem string `json:"problem,omitempty"` // the store's problem
	Refuses string `json:"refuses,omitempty"` // reason why no message is accepted

	Failed    bool  `json:"failed" metric:"failed" help:"Whether the store has failed, and accepts nothing until the gateway is restarted."`
	Low       bool  `json:"low" metric:"low" help:"Whether messages are refused because the file system of the store has too little room."`
	Stalled   bool  `json:"stalled" metric:"stalled" help:"Whether the store accepts nothing at present because its background work is behind."`
	Recovered bool  `json:"recovered" metric:"recovered" help:"Whether all messages of earlier runs are in their queues."`
	OldKey    bool  `json:"old_key" metric:"old_key" help:"Whether some waiting messages need store.old_key_file; if none does, the option can be removed."`
	Messages  int64 `json:"messages" metric:"messages" help:"Messages in the store."`
	Unsettled int64 `json:"unsettled" metric:"unsettled" help:"Messages that have ended and are not deleted from the store yet."`
	Storing   int64 `json:"storing" metric:"storing" help:"Submits that wait for their commit."`
	Waiting   int64 `json:"waiting" metric:"changes_waiting" help:"Changes that wait for the next commit."`

	Commits        int64   `json:"commits" metric:"commits_total" help:"Commits, each of a batch of changes."`
	CommitsFailed  int64   `json:"commits_failed" metric:"commits_failed_total" help:"Commits that failed."`
	Changes        int64   `json:"changes" metric:"changes_total" help:"Changes in all commits; divided by their number it is the mean size of a batch."`
	CommitSeconds  float64 `json:"commit_seconds" metric:"commit_seconds_total" help:"Time that all commits took."`
	LongestSeconds float64 `json:"commit_longest_seconds" metric:"commit_longest_seconds" help:"Time that the longest commit took."`
	CurrentSeconds float64 `json:"commit_current_seconds" metric:"commit_current_seconds" help:"Time of the commit under way so far, 0 if there is none; above a second the disk is too slow."`
	Locks          int64   `json:"lock_acquisitions" metric:"lock_acquisitions_total" help:"Times the lock of the open batch was taken for changes; pmg_lock_acquisitions_total has them as well."`
	Syncs          int64   `json:"syncs" metric:"syncs_total" help:"Synced writes of the engine's log."`
	Stalls         int64   `json:"stalls" metric:"stalls_total" help:"Times the engine accepted nothing because its background work was behind."`
	Slow           int64   `json:"slow" metric:"slow_operations_total" help:"Operations on the disk that took longer than 2 seconds."`

	Octets     int64 `json:"octets" metric:"octets" help:"Octets of the store on disk."`
	Free       int64 `json:"free" metric:"free_octets" help:"Free octets on the file system of the store."`
	MinFree    int64 `json:"min_free" metric:"min_free_octets" help:"Free octets below which messages are refused."`
	FreeInodes int64 `json:"free_inodes" metric:"free_inodes" help:"Files that can still be made on the file system of the store."`
}

func (v *view) store() *Store {
	s := v.gateway.Keeper.StoreStatus()
	c := &s.Journal
	return &Store{
		Engine: s.Engine, Problem: cmp.Or(s.Failed, s.Problem), Refuses: s.Refuses,
		Failed: s.Failed != "", Low: s.Refuses != "", Stalled: s.Stalled, Recovered: s.Recovered, OldKey: s.OldKey,
		Messages: s.Messages, Unsettled: s.Unsettled, Storing: s.Storing, Waiting: c.Waiting,
		Commits: c.Commits, CommitsFailed: c.Failed, Changes: c.Changes,
		CommitSeconds: seconds(c.Took), LongestSeconds: seconds(c.Longest), CurrentSeconds: s.CommitFor.Seconds(),
		Locks: c.Locks, Syncs: s.Syncs, Stalls: s.Stalls, Slow: s.Slow,
		Octets: s.Octets, Free: s.Space.Free, MinFree: s.MinFree, FreeInodes: s.Space.Inodes,
	}
}

// Waits counts the messages that wait for a kind of peer. Kinds are counted separately, so that events for a
// webhook that is down do not hide late SMS.
type Waits struct {
	For      string  `json:"for"` // SMSCs, sessions or readers of events
	Messages int64   `json:"messages" metric:"messages" help:"Messages that wait: for SMSCs (smsc), for clients' sessions (sessions: receipts and messages from mobiles), or for clients' servers and those that fetch events (events)."`
	Oldest   float64 `json:"oldest_seconds" metric:"oldest_seconds" help:"Age of the oldest waiting message, 0 when none waits."`
}

// The kinds of peers that messages wait for: SMSCs, sessions of clients, or readers of events by HTTP.
const (
	ForSMSC     = "smsc"
	ForSessions = "sessions"
	ForEvents   = "events"
)

// WaitsFor returns the kind of peer that messages wait for on a connector with a direction and a protocol.
func WaitsFor(direction, protocol string) string {
	switch {
	case direction == config.Out:
		return ForSMSC
	case (&config.Connector{Protocol: protocol}).Transport() == config.BySession:
		return ForSessions
	}
	return ForEvents
}

// waiting returns the messages that wait now, by the engine's clock.
func (v *view) waiting(now int64) []Waits {
	all := []Waits{{For: ForSMSC}, {For: ForSessions}, {For: ForEvents}}
	of := map[string]*Waits{ForSMSC: &all[0], ForSessions: &all[1], ForEvents: &all[2]}
	for _, c := range v.connectors() {
		of[WaitsFor(c.Config().Direction, c.Config().Protocol)].Messages += c.Stats.Queued.Load()
	}
	for _, l := range v.gateway.Table.Lanes() {
		w := of[WaitsFor(l.Home().Config().Direction, l.Home().Config().Protocol)]
		if oldest := l.Queues.Oldest(); oldest != 0 {
			w.Oldest = max(w.Oldest, seconds(now-oldest))
		}
	}
	return all
}

// WaitingFor returns the messages that wait for a kind of peer.
func (s *Status) WaitingFor(peers string) (w Waits) {
	for i := range s.Waiting {
		if s.Waiting[i].For == peers {
			return s.Waiting[i]
		}
	}
	return w
}

// Route is the status of a route.
type Route struct {
	Name  string `json:"name"` // routes[vip] or routes[line 7], as in problems of the configuration
	Taken int64  `json:"messages" metric:"messages_total" help:"Messages that matched the route, including those refused afterwards. A route that a reload does not change keeps its count, even at another place; others begin at 0."`
	Today int64  `json:"today"` // of these, the ones since midnight UTC
}

// maxRoutes is the number of routes with metrics: the first of the configuration. /status has all.
const maxRoutes = 1000

const secondsOfDay = 24 * 60 * 60

// routes returns the status of the routes in their order.
func (v *view) routes() []Route {
	counts, cfg := v.gateway.Table.Taken(time.Now().Unix()/secondsOfDay), v.gateway.Node.Config()
	rows := make([]Route, len(counts))
	for i, n := range counts {
		rows[i] = Route{cfg.RouteAs(i), n.All, n.Today}
	}
	return rows
}
