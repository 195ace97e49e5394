package admin

import (
	"cmp"
	"slices"
	"time"

	"pmg/admin/problems"
	"pmg/config"
	"pmg/connector"
	"pmg/gateway"
	"pmg/gateway/mail"
	"pmg/gateway/receipts"
	"pmg/protocols"
	"pmg/stages/flow"
	"pmg/store"
)

// Ended is the state of sending and storing facts about messages that have ended.
type Ended struct {
	EventsWaiting uint64 `json:"events_waiting" metric:"events_waiting" help:"Events that are not safe in a file of events.dir yet."`
	EventsWritten int64  `json:"events_written" metric:"events_written_total" help:"Events written to files of events.dir."`
	EventsErrors  int64  `json:"events_errors" metric:"events_errors_total" help:"Times events could not be written; they wait and are written later."`
	SpansSent     int64  `json:"spans_sent" metric:"spans_sent_total" help:"Spans of traces that the collector has taken (telemetry)."`
	SpansDropped  int64  `json:"spans_dropped" metric:"spans_dropped_total" help:"Spans of traces that were dropped, because the collector did not accept them, or was too slow."`
}

// Work counts the pipeline's work for all messages.
type Work struct {
	Jobs          int64 `json:"jobs" metric:"jobs_live" help:"Jobs in the pipeline, including those that stages keep for reuse."`
	Locks         int64 `json:"lock_acquisitions" metric:"lock_acquisitions_total" help:"Locks taken for messages: of inboxes, of the pool of jobs, and of the committer."`
	HandleChanges int64 `json:"handle_changes" metric:"handle_changes_total" help:"Changes of the counts that keep sockets open while they are used."`
}

// Status is the status of a gateway. Counts are since its start. The JSON names are
// stable. rows.go explains the tags.
type Status struct {
	Version      string             `json:"version"`
	Architecture string             `json:"architecture"`
	Started      time.Time          `json:"started"`
	Time         time.Time          `json:"time"`
	NotReady     []string           `json:"not_ready,omitempty"` // reasons why the gateway is not ready
	Problems     []string           `json:"problems,omitempty"`  // further problems: the texts of ProblemList
	ProblemList  []problems.Problem `json:"problem_list,omitempty"`
	Recovering   bool               `json:"recovering,omitempty"` // some messages of earlier runs are not in their queues yet
	Unrouted     int64              `json:"unrouted" metric:"unrouted_total" help:"Messages without a matching route."`
	Parked       int64              `json:"parked" metric:"messages_parked" help:"Messages in the store that wait because no route leads anywhere (no_route: park)."`
	Quarantined  int64              `json:"quarantined" metric:"messages_quarantined" help:"Messages in the store that wait because a part of the gateway fails at them."`
	Orphans      int64              `json:"orphans" metric:"receipts_orphans" help:"Receipts in the store whose message is not known."`
	Receipts     Receipts           `json:"receipts"`
	Operators    []Operator         `json:"operators"`
	Work
	Ended
	Store      *Store       `json:"store,omitempty"`
	Connectors []Connector  `json:"connectors"`
	Accounts   []Account    `json:"accounts"`
	Webhooks   []Webhook    `json:"webhooks,omitempty"`
	Plugins    []Plugin     `json:"plugins,omitempty"`
	Routes     []Route      `json:"routes,omitempty"`
	Lists      []NumberList `json:"lists,omitempty"`
	Networks   Networks     `json:"networks,omitzero"`
	Pipelines  []Pipeline   `json:"pipelines,omitempty"`
	Stages     []Stage      `json:"stages,omitempty"`
	Waiting    []Waits      `json:"waiting"`

	AdminCertificateExpires *time.Time `json:"admin_certificate_expires,omitempty"` // expiry of the first certificate

	inner inner
}

// inner is the part of a status that only metrics show.
type inner struct {
	down      []string // the gateway's own problems, such as a route without a working target
	retention Retention
	mail      mail.Figures
}

// Receipts counts delivery receipts of SMSCs, and those that the gateway makes.
type Receipts = receipts.Counters[int64]

// Operator is the state of an SMSC, over all connectors that lead to it.
type Operator struct {
	Name       string `json:"name"`
	ReceiptIDs string `json:"receipt_ids"` // form of the ids in receipts: a value of the option receipt_ids, or NotKnown
}

const (
	SameIDs  = "same"          // ids in receipts have the same form as in answers
	NotKnown = "not known yet" // the form of the ids is not certain
)

func operators(forms []receipts.IDForm) (all []Operator) {
	for _, f := range forms {
		all = append(all, Operator{f.Operator, cmp.Or(f.Form, NotKnown)})
	}
	return all
}

// A Condition is the state of a connector.
type Condition struct {
	State   string   `json:"state"`             // listening, closed; held, up, connecting, failing, idle; removed
	Trouble *Trouble `json:"trouble,omitempty"` // the reason why the connector has no session, or fewer sessions than configured
	Held    *Held    `json:"held,omitempty"`    // an operator keeps messages from leaving

	TLS                bool       `json:"tls"`                           // the connector's sessions are encrypted
	CertificateExpires *time.Time `json:"certificate_expires,omitempty"` // expiry of the certificate that expires first
}

// Connector is the status of a connector.
type Connector struct {
	Name      string `json:"name"`
	Direction string `json:"direction"`
	Protocol  string `json:"protocol"`
	Static    bool   `json:"static"` // the connector leads to an SMSC and keeps its sessions open permanently

	Condition

	Sessions      int     `json:"sessions" metric:"sessions" help:"Connections that are open."`
	SessionsBound int     `json:"sessions_bound" metric:"sessions_bound" help:"Sessions that are logged in."`
	SessionsReady int     `json:"sessions_ready" metric:"sessions_ready" help:"Sessions that can be given messages."`
	Instances     int     `json:"instances" metric:"instances" help:"Sessions the connector may have at the same time."`
	Window        int     `json:"window"` // window of each session, in requests
	Windows       int     `json:"windows" metric:"window_size" help:"Messages that may be unanswered, over the sessions that can be given messages."`
	MaxQueue      int     `json:"max_queue" metric:"queue_limit" help:"Messages that a queue takes before clients are slowed down. A connector that clients log in to has one queue for each account, so compare queue_fullest_messages with it."`
	Fullest       int64   `json:"fullest" metric:"queue_fullest_messages" help:"Messages that wait or are under way in the fullest queue of the connector."`
	OldestSeconds float64 `json:"oldest_seconds" metric:"queue_oldest_seconds" help:"Age of the next message to be sent, 0 when none waits. For accounts without a session it is only in pmg_account_waiting_oldest_seconds."`

	connector.Counters[int64, connector.Labels]

	PDUs         []PDUCount `json:"pdus,omitempty"`
	Delays       Answers    `json:"receipt_delays" metric:"receipt_seconds" help:"Time from the acceptance of a message, or from its delivery time, to the receipt of its end."`
	Answers      Answers    `json:"answers" metric:"answer_seconds" help:"Time from sending a message to its answer."`
	PDULogLines  uint64     `json:"pdu_log_lines" metric:"pdu_log_lines_total" help:"Lines written to the pdu log."`
	PDULogLost   uint64     `json:"pdu_log_lost" metric:"pdu_log_lost_total" column:"log lost" help:"Lines of the pdu log that were lost, because the disk was too slow or failed or the file was removed."`
	PDULogErrors uint64     `json:"pdu_log_errors" metric:"pdu_log_errors_total" help:"Times the pdu log could not be written; the lines are written later."`
	PDULogEarly  int64      `json:"pdu_log_removed_early" metric:"pdu_log_removed_early_total" help:"Rotated files of the pdu log that were removed before their time because the disk was nearly full (pdulog.min_free)."`

	SessionList []Session `json:"session_list,omitempty"`
}

// Trouble is the reason why a connector to an SMSC has no session, or fewer sessions than configured.
type Trouble struct {
	Reason string    `json:"reason"`
	Since  time.Time `json:"since"`
	Next   time.Time `json:"next"`                      // time of the next attempt
	Down   time.Time `json:"no_session_since,omitzero"` // start of the time without a session; zero: there is a session
}

// PDUCount is the number of PDUs of a command and a status in one direction.
type PDUCount struct {
	Command   string `json:"command"`
	Direction string `json:"direction"` // received, sent
	Status    string `json:"status"`    // the protocol's name of the status
	Count     int64  `json:"count"`

	Meaning string `json:"-"` // meaning of a status other than success, for people
}

// Answers is the distribution of the times to answers, or to receipts.
type Answers struct {
	Count       int64   `json:"count"`
	MeanSeconds float64 `json:"mean_seconds"`

	buckets map[float64]uint64 // cumulative, by upper bound in seconds
	sum     float64
}

// Session is the status of an open session.
type Session struct {
	Connector   string    `json:"connector"`
	Number      int       `json:"number"` // number of the session's instance
	Remote      string    `json:"remote"`
	Account     string    `json:"account"` // empty before login
	Bind        string    `json:"bind"`
	Since       time.Time `json:"since"`
	IdleSeconds float64   `json:"idle_seconds"` // since the peer last sent something
	InFlight    int       `json:"in_flight"`    // requests of the gateway without an answer
	Window      int       `json:"window"`
	Queued      int64     `json:"queued"` // messages for the peer that are queued or being sent, over all sessions
}

// Stage is the status of a stage.
type Stage struct {
	Name        string  `json:"name"`
	In          int64   `json:"jobs_in" metric:"jobs_in_total" help:"Jobs the stage took."`
	Out         int64   `json:"jobs_out" metric:"jobs_out_total" help:"Jobs the stage handed on."`
	Batches     int64   `json:"batches" metric:"batches_total" help:"Batches the stage worked on."`
	MeanBatch   float64 `json:"mean_batch" metric:"batch_jobs_mean" help:"Mean number of jobs in a batch since the start."`
	MaxBatch    int64   `json:"max_batch" metric:"batch_jobs_max" help:"Largest number of jobs in a batch."`
	Waiting     int     `json:"waiting" metric:"waiting_jobs" help:"Jobs in the inbox of the stage."`
	BusySeconds float64 `json:"busy_seconds" metric:"busy_seconds_total" help:"Working time of the stage."`
	BusyWorkers float64 `json:"busy_workers" metric:"busy_workers" help:"Mean number of workers busy with the stage since the start, at most 1."`
	Work        Spread  `json:"work" metric:"batch_work_seconds" help:"Working time of a batch: min, mean, max, std_dev."`
	Panics      int64   `json:"panics" metric:"panics_total" help:"Panics in the stage; each ended a session or failed a message."`
	Locks       int64   `json:"lock_acquisitions" metric:"lock_acquisitions_total" help:"Times the lock of the stage's inbox was taken."`
}

// Pipeline is the load of one of the pipelines that share the sessions.
type Pipeline struct {
	Number      int     `json:"number"`
	Clients     int64   `json:"client_sessions" metric:"client_sessions" help:"Sessions of clients that the pipeline has."`
	SMSCs       int64   `json:"smsc_sessions" metric:"smsc_sessions" help:"Sessions to SMSCs that the pipeline has."`
	BusySeconds float64 `json:"busy_seconds" metric:"busy_seconds_total" help:"Working time of the pipeline's stages."`
	BusyWorkers float64 `json:"busy_workers" metric:"busy_workers" help:"Mean number of workers busy in the pipeline since the start."`
}

// A Spread summarises durations, in seconds.
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

// A view makes the status of a gateway.
type view struct {
	gateway *gateway.Gateway
	engine  gateway.Engine
	version string
	started time.Time
	mail    *mail.Sender // nil: no mail is sent

	certificates *certificates // certificates of the admin address; nil: the address is not encrypted

	watch problems.Watch
}

func newView(g *gateway.Gateway, e gateway.Engine, version string) *view {
	return &view{gateway: g, engine: e, version: version, started: time.Now()}
}

// connectors returns the connectors to show: the configured ones, and removed ones with sessions or
// messages left. Of a connector that was removed and added again, only the new one is shown.
func (v *view) connectors() (shown []*connector.Connector) {
	all := v.gateway.Table.Connectors()
	for i, c := range all {
		replaced := slices.ContainsFunc(all[i+1:], func(later *connector.Connector) bool { return later.Name == c.Name })
		if replaced || c.Removed.Load() && isDrained(c) {
			continue
		}
		shown = append(shown, c)
	}
	return shown
}

// isDrained reports whether a removed connector has neither sessions nor messages left.
func isDrained(c *connector.Connector) bool {
	open, _ := sessions(c)
	return open == 0 && c.Queued() == 0
}

// sessions returns the numbers of a connector's sockets, and of its logged-in sessions.
func sessions(c *connector.Connector) (open, bound int) {
	c.Links(func(l *connector.Link) {
		open++
		if l.Session.Bound() != 0 {
			bound++
		}
	})
	if cfg := c.Config(); cfg.Transport() != config.BySession && cfg.Direction == config.Out {
		return c.Online(), c.Online()
	}
	return open, bound
}

// status returns the status of the gateway, with a list of the sessions if withSessions.
func (v *view) status(withSessions bool) *Status {
	now, counted := time.Now(), v.engine.Counters()
	stages := counted.Stages
	s := &Status{
		Version: v.version, Architecture: "pipeline",
		Started: v.started, Time: now, NotReady: v.gateway.NotReady(v.engine),
		inner:      inner{v.gateway.Problems(), retentionOf(v.gateway.Retained()), v.mail.Figures()},
		Recovering: !v.gateway.Keeper.Recovered(),
		Unrouted:   v.gateway.Intake.Unrouted(),
		Parked:     v.gateway.Keeper.Aside(store.Parked), Quarantined: v.gateway.Keeper.Aside(store.Quarantined),
		Orphans: v.gateway.Keeper.Aside(store.Orphan),
		Work:    Work{counted.Jobs, counted.Locks + v.gateway.Keeper.Batches.Stats().Locks, counted.Refs},
	}
	if w := v.gateway.Settler.Writer(); w != nil {
		s.EventsWaiting, s.EventsWritten, s.EventsErrors = w.Waiting(), w.Written(), w.Errors()
	}
	if e := v.gateway.Settler.Traces.Exporter; e != nil {
		s.SpansSent, s.SpansDropped = e.Sent.Load(), e.Dropped.Load()
	}
	if c := v.certificates; c != nil {
		expires := c.expires()
		s.AdminCertificateExpires = &expires
	}
	fill(&s.Receipts, &v.gateway.Receipts.Counts)
	s.Operators = operators(v.gateway.Receipts.SMSCs.Forms())
	s.Store = v.store()
	s.Accounts = v.accounts(counted.Now, now)
	s.Webhooks = v.webhooksOf(now)
	s.Plugins = plugins(v.gateway.Hooks)
	s.Routes = v.routes()
	s.Lists = v.lists()
	s.Networks = Networks{v.networkTable(), networks(v.connectors(), v.gateway.Intake.Networks.Name)}
	queues := map[string]int64{}
	for _, l := range v.gateway.Table.Lanes() {
		queues[peerOf(l.Home(), l.Account)] += l.Queued.Load()
	}
	for _, c := range v.connectors() {
		row := v.connector(c, counted.Now, now)
		if withSessions {
			row.SessionList = sessionList(c, counted.Now, now, queues)
		}
		s.Connectors = append(s.Connectors, row)
	}
	s.Pipelines = pipelines(counted.Pipelines, now.Sub(v.started))
	for i := range stages {
		s.Stages = append(s.Stages, newStage(&stages[i], now.Sub(v.started)))
	}
	s.Waiting = v.waiting(counted.Now)
	facts := s.facts()
	facts.Stopping = v.gateway.Node.Draining()
	found := v.watch.Look(facts)
	s.ProblemList, s.Problems = found.Problems, problems.Texts(found.Problems)
	for i := range s.Accounts {
		r := &s.Accounts[i].Recent
		r.AcceptedPerSecond, r.Refused, r.Failed = found.Recent(s.Accounts[i].Name)
	}
	return s
}

// connector returns the row of c. now is the time by the engine's clock, and wall by the wall clock, for the times shown.
func (v *view) connector(c *connector.Connector, now int64, wall time.Time) Connector {
	cfg, s := c.Config(), c.Stats
	open, bound := sessions(c)
	row := Connector{
		Name: c.Name, Direction: cfg.Direction, Protocol: cfg.Protocol, Condition: Condition{State: v.state(c, bound)},
		Instances: cfg.Instances, Sessions: open, SessionsBound: bound, SessionsReady: c.Online(),
		Window: cfg.MostRequests(), Windows: c.Allowed(), MaxQueue: cfg.MaxQueue,
		PDUs: pduCounts(c), Answers: newAnswers(&s.Answer, 1), Delays: newAnswers(&s.Receipt.Histogram, connector.DelayScale),
	}
	fill(&row.Counters, &s.Counters)
	if t := c.Trouble(); t != nil {
		at := func(t int64) time.Time { return wall.Add(time.Duration(t - now)) }
		row.Trouble = &Trouble{Reason: t.Reason, Since: at(t.Since), Next: at(t.At).Add(t.Rest)}
		if t.Down != 0 {
			row.Trouble.Down = at(t.Down)
		}
	}
	row.Held, row.Static = v.held(c, now, wall), cfg.Direction == config.Out && cfg.IsStatic()
	if files := c.TLS(); files != nil {
		row.TLS = true
		if expires := files.Expires(); !expires.IsZero() {
			row.CertificateExpires = &expires
		}
	}
	row.Fullest = c.Fullest()
	if oldest := c.Oldest(); oldest != 0 {
		row.OldestSeconds = max(0, seconds(now-oldest))
	}
	if f := c.PDULog; f != nil {
		row.PDULogLines, row.PDULogLost, row.PDULogErrors, row.PDULogEarly = f.Lines(), f.Lost(), f.Errors(), f.RemovedEarly()
	}
	return row
}

// state returns the state of a connector in one word.
func (v *view) state(c *connector.Connector, bound int) string {
	cfg := c.Config()
	switch {
	case c.Removed.Load():
		return "removed"
	case cfg.Direction == config.In && len(v.engine.Addresses(c)) > 0:
		return "listening"
	case cfg.Direction == config.In:
		return "closed"
	case c.Hold() != nil:
		return "held"
	case bound > 0:
		return "up"
	case c.Stats.Failing.Load() > 0:
		return "failing"
	case !cfg.IsStatic():
		return "idle" // the connector connects when there is a message
	}
	return "connecting"
}

// pduCounts returns the numbers of PDUs by command, direction and status. Statuses
// without a name are counted together, because peers choose the numbers and must not
// choose how many rows there are.
func pduCounts(c *connector.Connector) (counts []PDUCount) {
	statuses := c.Stats.Statuses() // statuses are read before the totals, so that the totals are not smaller
	glossary, _ := c.Driver.(protocols.Glossary)
	meanings := map[string]string{}
	count := func(direction string, wasReceived bool, command int, name string, total int64) {
		named := map[string]int64{}
		for k, n := range statuses {
			if k.Command == command && k.Received == wasReceived {
				status := cmp.Or(c.Driver.StatusName(k.Status), "other")
				named[status] += n
				if total -= n; glossary != nil {
					meanings[status] = glossary.Meaning(k.Status)
				}
			}
		}
		if total > 0 {
			named[cmp.Or(c.Driver.StatusName(0), "ok")] += total
		}
		for status, n := range named {
			counts = append(counts, PDUCount{name, direction, status, n, meanings[status]})
		}
	}
	for i, name := range c.Driver.Commands() {
		count("received", true, i, name, c.Stats.PDUsIn[i].Load())
		count("sent", false, i, name, c.Stats.PDUsOut[i].Load())
	}
	slices.SortFunc(counts, func(a, b PDUCount) int {
		return cmp.Or(cmp.Compare(a.Command, b.Command), cmp.Compare(a.Direction, b.Direction), cmp.Compare(a.Status, b.Status))
	})
	return counts
}

// newAnswers returns the counts of a histogram, whose durations are multiplied by scale.
func newAnswers(h *connector.Histogram, scale int64) Answers {
	a := Answers{buckets: map[float64]uint64{}, sum: seconds(h.Sum.Load() * scale)}
	for i := range h.Buckets {
		a.Count += h.Buckets[i].Load()
		if i < len(h.Buckets)-1 { // the last has no upper bound
			a.buckets[seconds(h.Bound(i)*scale)] = uint64(a.Count)
		}
	}
	a.MeanSeconds = a.sum / float64(max(a.Count, 1))
	return a
}

// peerOf returns the name of a lane's peer: a client account, or the connector to an SMSC.
func peerOf(c *connector.Connector, account string) string {
	if account != "" {
		return "account " + account
	}
	return "connector " + c.Name
}

// sessionList returns the open sessions of c. now and wall are as for connector.
func sessionList(c *connector.Connector, now int64, wall time.Time, queues map[string]int64) (list []Session) {
	c.Links(func(l *connector.Link) {
		cfg := c.Config()
		s := Session{
			Connector: c.Name, Number: l.Instance.Number, Remote: l.Remote.String(),
			Since: wall.Add(time.Duration(l.Opened - now)),
			Bind:  l.Session.Bound().String(), IdleSeconds: max(0, seconds(now-l.Heard.Load())),
			InFlight: l.Inflight.Used(), Window: l.Allowed(),
		}
		if l.Session.Bound() != 0 {
			s.Account = accountOf(l)
			s.Queued = queues[peerOf(c, s.Account)]
			if cfg.Direction == config.Out {
				s.Account = cfg.SystemID
			}
		}
		list = append(list, s)
	})
	for _, s := range c.Streams.All() {
		list = append(list, Session{
			Connector: c.Name, Number: int(s.Number), Remote: s.Remote.String(), Account: s.Account,
			Since: wall.Add(time.Duration(s.Opened - now)),
			Bind:  s.Kind, IdleSeconds: max(0, seconds(now-s.Heard.Load())), Queued: queues[peerOf(c, s.Account)],
		})
	}
	return list
}

func pipelines(counted []gateway.Pipeline, uptime time.Duration) (all []Pipeline) {
	for i, p := range counted {
		all = append(all, Pipeline{
			Number: i + 1, Clients: p.Clients, SMSCs: p.SMSCs,
			BusySeconds: p.Busy / 1e9, BusyWorkers: p.Busy / float64(max(1, uptime)),
		})
	}
	return all
}

func newStage(s *flow.Stats, uptime time.Duration) Stage {
	return Stage{
		Name: s.Name, In: s.In, Out: s.Out, Batches: s.Batches, MeanBatch: float64(s.In) / float64(max(s.Batches, 1)),
		MaxBatch: s.MaxBatch, Waiting: s.Depth, Panics: s.Panics, Locks: s.Locks,
		Work: newSpread(s.Work), BusySeconds: s.Work.Sum / 1e9,
		BusyWorkers: s.Work.Sum / float64(max(1, uptime)),
	}
}
