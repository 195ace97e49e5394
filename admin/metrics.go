package admin

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
)

// A metric is one row of the table: a series, or several that differ by labels.
type metric struct {
	name   string
	kind   string // counter, gauge, histogram
	labels []string
	help   string
	from   func(s *Status, e emitter)
}

const (
	counter   = "counter"
	gauge     = "gauge"
	histogram = "histogram"
)

// metrics is the table of the gateway's own metrics; docs/metrics.md is made of it.
// Labels have values from closed sets only: names of the configuration, of
// commands, of statuses, of stages; never what a peer sent.
var metrics = []metric{
	{"pmg_build_info", gauge, []string{"version", "architecture", "go"}, "1, with what is running in the labels.",
		func(s *Status, e emitter) { e.value(1, s.Version, s.Architecture, runtime.Version()) }},
	{"pmg_ready", gauge, nil, "Whether the gateway is ready for traffic, as /readyz reports.",
		ofGateway(func(s *Status) float64 { return truth(len(s.NotReady) == 0) })},
	{"pmg_unrouted_total", counter, nil, "Messages that no route led anywhere.",
		ofGateway(func(s *Status) float64 { return float64(s.Unrouted) })},
	{"pmg_jobs_live", gauge, nil, "Jobs in the pipeline, those that stages keep ready for use among them.",
		ofGateway(func(s *Status) float64 { return float64(s.Jobs) })},
	{"pmg_lock_acquisitions_total", counter, nil, "Locks taken on the way of messages.",
		ofGateway(func(s *Status) float64 { return float64(s.Locks) })},
	{"pmg_handle_changes_total", counter, nil, "Changes of the counts that keep sockets open while they are used.",
		ofGateway(func(s *Status) float64 { return float64(s.HandleChanges) })},

	{"pmg_connector_sessions", gauge, perConnector, "Connections that are open.",
		ofConnector(func(c *Connector) float64 { return float64(c.Sessions) })},
	{"pmg_connector_sessions_bound", gauge, perConnector, "Sessions that are logged in.",
		ofConnector(func(c *Connector) float64 { return float64(c.SessionsBound) })},
	{"pmg_connector_sessions_ready", gauge, perConnector, "Sessions that can be given messages.",
		ofConnector(func(c *Connector) float64 { return float64(c.SessionsReady) })},
	{"pmg_connector_instances", gauge, perConnector, "Sessions the connector may have at the same time.",
		ofConnector(func(c *Connector) float64 { return float64(c.Instances) })},
	{"pmg_connector_sessions_opened_total", counter, perConnector, "Sessions begun.",
		ofConnector(func(c *Connector) float64 { return float64(c.Opened) })},
	{"pmg_connector_failing", gauge, perConnector, "Connections and logins that failed in a row.",
		ofConnector(func(c *Connector) float64 { return float64(c.Failing) })},
	{"pmg_connector_window_used", gauge, perConnector, "Messages sent and not yet answered, over all sessions.",
		ofConnector(func(c *Connector) float64 { return float64(c.InFlight) })},
	{"pmg_connector_window_size", gauge, perConnector, "Messages that may be unanswered, over the sessions that can be given some.",
		ofConnector(func(c *Connector) float64 { return float64(c.Window * c.SessionsReady) })},
	{"pmg_connector_queue_messages", gauge, perConnector, "Messages that wait to be sent.",
		ofConnector(func(c *Connector) float64 { return float64(c.Queued) })},
	{"pmg_connector_queue_limit", gauge, perConnector, "Messages the queue takes before clients are slowed down.",
		ofConnector(func(c *Connector) float64 { return float64(c.MaxQueue) })},
	{"pmg_connector_queue_oldest_seconds", gauge, perConnector, "Age of the message that leaves next, 0 when none waits.",
		ofConnector(func(c *Connector) float64 { return c.OldestSeconds })},

	{"pmg_connector_messages_accepted_total", counter, perConnector, "Messages taken from peers.",
		ofConnector(func(c *Connector) float64 { return float64(c.Accepted) })},
	{"pmg_connector_messages_refused_total", counter, perConnector, "Messages not taken from peers.",
		ofConnector(func(c *Connector) float64 { return float64(c.Refused) })},
	{"pmg_connector_messages_sent_total", counter, perConnector, "Messages that a peer accepted.",
		ofConnector(func(c *Connector) float64 { return float64(c.Sent) })},
	{"pmg_connector_messages_failed_total", counter, perConnector, "Messages given up.",
		ofConnector(func(c *Connector) float64 { return float64(c.Failed) })},
	{"pmg_connector_messages_expired_total", counter, perConnector, "Messages whose validity ran out while they waited.",
		ofConnector(func(c *Connector) float64 { return float64(c.Expired) })},
	{"pmg_connector_messages_retried_total", counter, perConnector, "Times a message was put back into the queue.",
		ofConnector(func(c *Connector) float64 { return float64(c.Retried) })},
	{"pmg_connector_pdus_total", counter, []string{"connector", "direction", "command", "status"}, "PDUs received and sent, by the names the protocol gives command and status; a status without a name is other.",
		func(s *Status, e emitter) {
			for _, c := range s.Connectors {
				for _, p := range c.PDUs {
					e.value(float64(p.Count), c.Name, p.Direction, p.Command, p.Status)
				}
			}
		}},
	{"pmg_connector_answers_unmatched_total", counter, perConnector, "Answers that no request waited for.",
		ofConnector(func(c *Connector) float64 { return float64(c.Unmatched) })},
	{"pmg_connector_answer_seconds", histogram, perConnector, "Time from a message's leaving to its answer.",
		func(s *Status, e emitter) {
			for _, c := range s.Connectors {
				e.histogram(&c.Answers, c.Name)
			}
		}},
	{"pmg_connector_pdu_log_lines_total", counter, perConnector, "Lines written to the pdu log.",
		ofConnector(func(c *Connector) float64 { return float64(c.PDULogLines) })},
	{"pmg_connector_pdu_log_lost_total", counter, perConnector, "Lines of the pdu log that were lost, because the disk was too slow or failed or the file was removed.",
		ofConnector(func(c *Connector) float64 { return float64(c.PDULogLost) })},
	{"pmg_connector_pdu_log_errors_total", counter, perConnector, "Times the pdu log could not be written; its lines are tried again.",
		ofConnector(func(c *Connector) float64 { return float64(c.PDULogErrors) })},

	{"pmg_connector_session_duration_seconds", gauge, []string{"connector", "stat"}, "How long the sessions lasted that are over: min, mean, max, std_dev.",
		ofSessions(func(c *Connector) Spread { return c.Duration })},
	{"pmg_connector_session_work_seconds", gauge, []string{"connector", "stat"}, "How much work the sessions made that are over: min, mean, max, std_dev.",
		ofSessions(func(c *Connector) Spread { return c.Work })},
	{"pmg_connector_mean_sessions", gauge, perConnector, "Mean number of sessions since the start: the workers needed if each had its own.",
		ofConnector(func(c *Connector) float64 { return c.MeanSessions })},
	{"pmg_connector_busy_workers", gauge, perConnector, "Mean number of busy workers since the start: the work of all sessions by time.",
		ofConnector(func(c *Connector) float64 { return c.BusyWorkers })},

	{"pmg_stage_jobs_in_total", counter, perStage, "Jobs the stage took.",
		ofStage(func(s *Stage) float64 { return float64(s.In) })},
	{"pmg_stage_jobs_out_total", counter, perStage, "Jobs the stage handed on.",
		ofStage(func(s *Stage) float64 { return float64(s.Out) })},
	{"pmg_stage_batches_total", counter, perStage, "Batches the stage worked on.",
		ofStage(func(s *Stage) float64 { return float64(s.Batches) })},
	{"pmg_stage_batch_jobs_mean", gauge, perStage, "Mean number of jobs in a batch since the start.",
		ofStage(func(s *Stage) float64 { return s.MeanBatch })},
	{"pmg_stage_batch_jobs_max", gauge, perStage, "Most jobs there were in a batch.",
		ofStage(func(s *Stage) float64 { return float64(s.MaxBatch) })},
	{"pmg_stage_waiting_jobs", gauge, perStage, "Jobs in the inbox of the stage.",
		ofStage(func(s *Stage) float64 { return float64(s.Waiting) })},
	{"pmg_stage_busy_seconds_total", counter, perStage, "Time the stage was at work.",
		ofStage(func(s *Stage) float64 { return s.BusySeconds })},
	{"pmg_stage_busy_workers", gauge, perStage, "Mean number of workers on the stage since the start, at most 1.",
		ofStage(func(s *Stage) float64 { return s.BusyWorkers })},
	{"pmg_stage_batch_work_seconds", gauge, []string{"stage", "stat"}, "Time at work on a batch: min, mean, max, std_dev.",
		func(s *Status, e emitter) {
			for i := range s.Stages {
				e.spread(s.Stages[i].Work, s.Stages[i].Name)
			}
		}},
	{"pmg_stage_panics_total", counter, perStage, "Faults in the stage; each ended a session.",
		ofStage(func(s *Stage) float64 { return float64(s.Panics) })},
	{"pmg_stage_lock_acquisitions_total", counter, perStage, "Times the lock of the stage's inbox was taken.",
		ofStage(func(s *Stage) float64 { return float64(s.Locks) })},
}

var (
	perConnector = []string{"connector"}
	perStage     = []string{"stage"}
)

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func ofGateway(value func(*Status) float64) func(*Status, emitter) {
	return func(s *Status, e emitter) { e.value(value(s)) }
}

func ofConnector(value func(*Connector) float64) func(*Status, emitter) {
	return func(s *Status, e emitter) {
		for i := range s.Connectors {
			e.value(value(&s.Connectors[i]), s.Connectors[i].Name)
		}
	}
}

func ofSessions(spread func(*Connector) Spread) func(*Status, emitter) {
	return func(s *Status, e emitter) {
		for i := range s.Connectors {
			e.spread(spread(&s.Connectors[i]), s.Connectors[i].Name)
		}
	}
}

func ofStage(value func(*Stage) float64) func(*Status, emitter) {
	return func(s *Status, e emitter) {
		for i := range s.Stages {
			e.value(value(&s.Stages[i]), s.Stages[i].Name)
		}
	}
}

// A collector reads the table's metrics when Prometheus asks.
type collector struct {
	view  *view
	descs []*prometheus.Desc // of each row of metrics
}

func newCollector(v *view) *collector {
	c := &collector{view: v}
	for _, m := range metrics {
		c.descs = append(c.descs, prometheus.NewDesc(m.name, m.help, m.labels, nil))
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	s := c.view.status(false)
	for i, m := range metrics {
		m.from(s, emitter{out, c.descs[i], m.kind})
	}
}

// An emitter passes one row's values to Prometheus.
type emitter struct {
	out  chan<- prometheus.Metric
	desc *prometheus.Desc
	kind string
}

func (e emitter) value(v float64, labels ...string) {
	kind := prometheus.GaugeValue
	if e.kind == counter {
		kind = prometheus.CounterValue
	}
	e.out <- prometheus.MustNewConstMetric(e.desc, kind, v, labels...)
}

func (e emitter) spread(s Spread, label string) {
	e.value(s.Min, label, "min")
	e.value(s.Mean, label, "mean")
	e.value(s.Max, label, "max")
	e.value(s.StdDev, label, "std_dev")
}

func (e emitter) histogram(a *Answers, labels ...string) {
	e.out <- prometheus.MustNewConstHistogram(e.desc, uint64(a.Count), a.sum, a.buckets, labels...)
}
