package admin

import (
	"cmp"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"pmg/config"
	"pmg/connector"
	"pmg/flow"
	"pmg/gateway"
)

// Status is what a gateway shows of itself. Counts are since its start. The JSON
// names are stable.
type Status struct {
	Version       string      `json:"version"`
	Architecture  string      `json:"architecture"`
	Started       time.Time   `json:"started"`
	Time          time.Time   `json:"time"`
	NotReady      []string    `json:"not_ready,omitempty"` // what is missing
	Unrouted      int64       `json:"unrouted"`            // messages without a route
	Jobs          int64       `json:"jobs"`                // alive
	Locks         int64       `json:"lock_acquisitions"`
	HandleChanges int64       `json:"handle_changes"` // of the counts of sockets' users
	Connectors    []Connector `json:"connectors"`
	Stages        []Stage     `json:"stages,omitempty"`
}

// Connector is what is known of a connector.
type Connector struct {
	Name          string  `json:"name"`
	Direction     string  `json:"direction"`
	Protocol      string  `json:"protocol"`
	State         string  `json:"state"` // listening, closed; up, connecting, failing, idle; removed
	Failing       int64   `json:"failing"`
	Instances     int     `json:"instances"`
	Sessions      int     `json:"sessions"`       // sockets open
	SessionsBound int     `json:"sessions_bound"` // logged in
	SessionsReady int     `json:"sessions_ready"` // can be given messages
	Opened        int64   `json:"sessions_opened"`
	Window        int     `json:"window"`    // of a session
	InFlight      int64   `json:"in_flight"` // requests of ours without an answer
	Queued        int64   `json:"queued"`    // messages that wait
	MaxQueue      int     `json:"max_queue"`
	OldestSeconds float64 `json:"oldest_seconds"` // age of the first message in the queue

	Accepted  int64 `json:"accepted"` // messages taken from peers
	Refused   int64 `json:"refused"`
	Sent      int64 `json:"sent"` // messages a peer accepted
	Failed    int64 `json:"failed"`
	Expired   int64 `json:"expired"`
	Retried   int64 `json:"retried"`
	Unmatched int64 `json:"unmatched"` // answers without a request

	PDUs         []PDUCount `json:"pdus,omitempty"`
	Answers      Answers    `json:"answers"` // to requests of ours
	PDULogLines  uint64     `json:"pdu_log_lines"`
	PDULogLost   uint64     `json:"pdu_log_lost"`
	PDULogErrors uint64     `json:"pdu_log_errors"`

	Duration     Spread  `json:"session_duration"`
	Work         Spread  `json:"session_work"`
	MeanSessions float64 `json:"mean_sessions"` // workers, if each session had its own
	BusyWorkers  float64 `json:"busy_workers"`  // workers, if they only worked

	SessionList []Session `json:"session_list,omitempty"`
}

// PDUCount is how many PDUs of a command went one way with a status.
type PDUCount struct {
	Command   string `json:"command"`
	Direction string `json:"direction"` // received, sent
	Status    string `json:"status"`    // by the name the protocol gives it
	Count     int64  `json:"count"`
}

// Answers is how long answers took.
type Answers struct {
	Count       int64   `json:"count"`
	MeanSeconds float64 `json:"mean_seconds"`

	buckets map[float64]uint64 // cumulative, by upper bound in seconds
	sum     float64
}

// Session is what is known of an open session.
type Session struct {
	Number      int       `json:"number"` // of its instance
	Remote      string    `json:"remote"`
	Account     string    `json:"account"` // empty before login
	Bind        string    `json:"bind"`
	Since       time.Time `json:"since"`
	IdleSeconds float64   `json:"idle_seconds"` // since the peer last sent something
}

// Stage is what is known of a stage.
type Stage struct {
	Name        string  `json:"name"`
	In          int64   `json:"jobs_in"`
	Out         int64   `json:"jobs_out"`
	Batches     int64   `json:"batches"`
	MeanBatch   float64 `json:"mean_batch"`
	MaxBatch    int64   `json:"max_batch"`
	Waiting     int     `json:"waiting"` // jobs in its inbox
	Panics      int64   `json:"panics"`
	Locks       int64   `json:"lock_acquisitions"`
	Work        Spread  `json:"work"` // per batch
	BusySeconds float64 `json:"busy_seconds"`
	BusyWorkers float64 `json:"busy_workers"` // busy seconds a second
}

// A Spread sums up durations, in seconds.
type Spread struct {
	Count  int64   `json:"count"`
	Min    float64 `json:"min"`
	Mean   float64 `json:"mean"`
	Max    float64 `json:"max"`
	StdDev float64 `json:"std_dev"`
}

func newSpread(s flow.Spread) Spread {
	return Spread{s.Count, seconds(s.Min), s.Mean() / 1e9, seconds(s.Max), s.StdDev() / 1e9}
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// A view looks at a gateway.
type view struct {
	gateway *gateway.Gateway
	engine  gateway.Engine
	version string
	started time.Time
}

func newView(g *gateway.Gateway, e gateway.Engine, version string) *view {
	return &view{gateway: g, engine: e, version: version, started: time.Now()}
}

// connectors lists those to be shown: the configured ones, and removed ones that
// still have sessions or messages. A name that came back stands for the new one only.
func (v *view) connectors() (shown []*connector.Connector) {
	all := v.gateway.Connectors()
	for i, c := range all {
		again := slices.ContainsFunc(all[i+1:], func(later *connector.Connector) bool { return later.Name == c.Name })
		if again || c.Removed.Load() && over(c) {
			continue
		}
		shown = append(shown, c)
	}
	return shown
}

// over reports whether a removed connector has neither sessions nor messages left.
func over(c *connector.Connector) bool {
	open, _ := sessions(c)
	return open == 0 && c.Queued() == 0
}

// sessions counts a connector's sockets and those of them that are logged in.
func sessions(c *connector.Connector) (open, bound int) {
	c.Links(func(l *connector.Link) {
		open++
		if l.Session.Bound() != 0 {
			bound++
		}
	})
	return open, bound
}

// status is everything that is known, with the sessions one by one if wanted.
func (v *view) status(withSessions bool) *Status {
	now, counted := time.Now(), v.engine.Counters()
	stages := counted.Stages
	s := &Status{
		Version: v.version, Architecture: v.gateway.Config().Architecture,
		Started: v.started, Time: now, NotReady: v.missing(),
		Unrouted: v.gateway.Unrouted(), Jobs: counted.Jobs,
		Locks: counted.Locks, HandleChanges: counted.Refs,
	}
	perPDU := v.workPerPDU(stages)
	for _, c := range v.connectors() {
		row := v.connector(c, counted.Now, now.Sub(v.started), perPDU)
		if withSessions {
			row.SessionList = sessionList(c, counted.Now, now)
		}
		s.Connectors = append(s.Connectors, row)
	}
	for i := range stages {
		s.Stages = append(s.Stages, newStage(&stages[i], now.Sub(v.started)))
	}
	return s
}

// workPerPDU is the mean work, in nanoseconds, that a received PDU made; see the
// package comment.
func (v *view) workPerPDU(stages []flow.Stats) float64 {
	var work float64
	for _, s := range stages {
		work += s.Work.Sum
	}
	if stages == nil {
		work = processorTime()
	}
	var pdus int64
	for _, c := range v.gateway.Connectors() {
		pdus += received(c)
	}
	return work / float64(max(pdus, 1))
}

// processorTime is what the process has used, in nanoseconds.
func processorTime() float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano() + u.Stime.Nano())
}

func received(c *connector.Connector) (n int64) {
	for i := range c.Stats.PDUsIn {
		n += c.Stats.PDUsIn[i].Load()
	}
	return n
}

// connector is the row of c. now is the engine's clock.
func (v *view) connector(c *connector.Connector, now int64, uptime time.Duration, perPDU float64) Connector {
	cfg, s := c.Config(), c.Stats
	open, bound := sessions(c)
	row := Connector{
		Name: c.Name, Direction: cfg.Direction, Protocol: cfg.Protocol,
		State: v.state(c, bound), Failing: s.Failing.Load(),
		Instances: cfg.Instances, Sessions: open, SessionsBound: bound, SessionsReady: c.Online(), Opened: s.Opened.Load(),
		Window: cfg.Window, InFlight: s.InFlight.Load(), Queued: s.QueueLength.Load(), MaxQueue: cfg.MaxQueue,
		Accepted: s.Accepted.Load(), Refused: s.Refused.Load(), Sent: s.Sent.Load(), Failed: s.Failed.Load(),
		Expired: s.Expired.Load(), Retried: s.Retried.Load(), Unmatched: s.Unmatched.Load(),
		PDUs: pduCounts(c), Answers: newAnswers(&s.Answer),
	}
	if oldest := c.Oldest(); oldest != 0 {
		row.OldestSeconds = max(0, seconds(now-oldest))
	}
	if f := c.PDULog; f != nil {
		row.PDULogLines, row.PDULogLost, row.PDULogErrors = f.Lines(), f.Lost(), f.Errors()
	}
	duration, pdus := s.Sessions()
	row.Duration, row.Work = newSpread(duration), newSpread(pdus.Scale(perPDU))
	stayed := duration.Sum
	c.Links(func(l *connector.Link) { stayed += float64(max(0, now-l.Opened)) })
	up := float64(max(1, uptime))
	row.MeanSessions = stayed / up
	row.BusyWorkers = float64(received(c)) * perPDU / up
	return row
}

// state is a connector's in one word.
func (v *view) state(c *connector.Connector, bound int) string {
	cfg := c.Config()
	switch {
	case c.Removed.Load():
		return "removed"
	case cfg.Direction == config.In && len(v.engine.Addresses(c)) > 0:
		return "listening"
	case cfg.Direction == config.In:
		return "closed"
	case bound > 0:
		return "up"
	case c.Stats.Failing.Load() > 0:
		return "failing"
	case !cfg.IsStatic():
		return "idle" // it connects when it has a message
	}
	return "connecting"
}

// pduCounts lists what was counted by command, way and status. Statuses that
// have no name count together: peers choose the number, and must not choose how
// much there is to show.
func pduCounts(c *connector.Connector) (counts []PDUCount) {
	statuses := c.Stats.Statuses() // before the totals, which are then no less
	way := func(direction string, wasReceived bool, command int, name string, total int64) {
		named := map[string]int64{}
		for k, n := range statuses {
			if k.Command == command && k.Received == wasReceived {
				named[cmp.Or(c.Driver.StatusName(k.Status), "other")] += n
				total -= n
			}
		}
		if total > 0 {
			named[cmp.Or(c.Driver.StatusName(0), "ok")] += total
		}
		for status, n := range named {
			counts = append(counts, PDUCount{name, direction, status, n})
		}
	}
	for i, name := range c.Driver.Commands() {
		way("received", true, i, name, c.Stats.PDUsIn[i].Load())
		way("sent", false, i, name, c.Stats.PDUsOut[i].Load())
	}
	slices.SortFunc(counts, func(a, b PDUCount) int {
		return cmp.Or(cmp.Compare(a.Command, b.Command), cmp.Compare(a.Direction, b.Direction), cmp.Compare(a.Status, b.Status))
	})
	return counts
}

func newAnswers(h *connector.Histogram) Answers {
	a := Answers{buckets: map[float64]uint64{}, sum: seconds(h.Sum.Load())}
	for i := range h.Buckets {
		a.Count += h.Buckets[i].Load()
		if i < len(h.Buckets)-1 { // the last has no bound
			a.buckets[seconds(h.Bound(i))] = uint64(a.Count)
		}
	}
	a.MeanSeconds = a.sum / float64(max(a.Count, 1))
	return a
}

// sessionList lists the open sessions of c. now is the engine's clock, and wall the
// clock to show times by.
func sessionList(c *connector.Connector, now int64, wall time.Time) (list []Session) {
	c.Links(func(l *connector.Link) {
		s := Session{
			Number: l.Instance.Number, Remote: l.Remote.String(), Since: wall.Add(time.Duration(l.Opened - now)),
			Bind: l.Session.Bound().String(), IdleSeconds: max(0, seconds(now-l.Heard.Load())),
		}
		switch {
		case l.Session.Bound() == 0:
		case !c.Config().Listens():
			s.Account = c.Config().SystemID
		case l.Account != nil: // set before Bound reports the login
			s.Account = l.Account.SystemID
		}
		list = append(list, s)
	})
	return list
}

func newStage(s *flow.Stats, uptime time.Duration) Stage {
	return Stage{
		Name: s.Name, In: s.In, Out: s.Out, Batches: s.Batches, MeanBatch: float64(s.In) / float64(max(s.Batches, 1)),
		MaxBatch: s.MaxBatch, Waiting: s.Depth, Panics: s.Panics, Locks: s.Locks,
		Work: newSpread(s.Work), BusySeconds: s.Work.Sum / 1e9,
		BusyWorkers: s.Work.Sum / float64(max(1, uptime)),
	}
}
