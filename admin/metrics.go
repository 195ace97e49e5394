package admin

import (
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/rs/zerolog"

	"pmg/admin/access"
	"pmg/cluster/report"
	"pmg/config"
	"pmg/gateway/mail"
	"pmg/gateway/receipts"
	"pmg/sms"
)

// A metric is one row of the table: one series, or several that differ by labels.
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

// metrics returns the table of the gateway's own metrics, from which docs/metrics.md is generated. Most rows
// are made from the tags of the status structs (see rows.go). The values of labels come only from closed
// sets: the names of the configuration, of commands, statuses and stages. Label values never come from a
// peer, because the number of series must be bounded.
func metrics(known Known) (all []metric) {
	all = []metric{
		{"pmg_build_info", gauge, []string{"version", "architecture", "go"},
			"1, with version, architecture and Go version as labels.",
			func(s *Status, e emitter) { e.value(1, s.Version, s.Architecture, runtime.Version()) }},
		{"pmg_ready", gauge, nil, "Whether the gateway is ready for traffic, as /readyz reports.",
			func(s *Status, e emitter) { e.value(boolValue(len(s.NotReady) == 0)) }},
		{"pmg_problems", gauge, nil,
			"Routes without a working target although the gateway is ready, and other problems of the gateway that " +
				"need an operator, such as a disabled webhook.",
			func(s *Status, e emitter) { e.value(float64(len(s.inner.down))) }},
		{"pmg_admin_certificate_expires_timestamp_seconds", gauge, nil,
			"Expiry of the first certificate of the admin address (admin.tls) to expire, in seconds since 1970.",
			func(s *Status, e emitter) {
				if s.AdminCertificateExpires != nil {
					e.value(float64(s.AdminCertificateExpires.Unix()))
				}
			}},
	}
	all = append(all, metricsOf(Status{}, "pmg_", nil, func(s *Status, f func(any, ...string)) { f(s) })...)
	all = append(all, metricsOf(Waits{}, "pmg_waiting_", []string{"for"}, func(s *Status, f func(any, ...string)) {
		for i := range s.Waiting {
			f(&s.Waiting[i], s.Waiting[i].For)
		}
	})...)
	all = append(all, metricsOf(Receipts{}, "pmg_receipts_", nil, func(s *Status, f func(any, ...string)) { f(&s.Receipts) })...)
	all = append(all, receiptIDs())
	all = append(all, metricsOf(Retention{}, "pmg_retention_", nil, func(s *Status, f func(any, ...string)) {
		f(&s.inner.retention)
	})...)
	all = append(all, metricsOf(Store{}, "pmg_store_", nil, func(s *Status, f func(any, ...string)) {
		if s.Store != nil {
			f(s.Store)
		}
	})...)
	all = append(all, metricsOf(mail.Figures{}, "pmg_mail_", nil, func(s *Status, f func(any, ...string)) {
		f(&s.inner.mail)
	})...)
	all = append(all, clusterMetrics(known)...)
	return append(append(all, connectorMetrics()...), namedMetrics()...)
}

// Known returns this node's knowledge about its cluster; nil before the node takes part. A nil Known means that there is no
// cluster.
type Known func() *report.Report

// clusterMetrics returns the metrics of a node of a cluster, including a node that stands by.
func clusterMetrics(known Known) []metric {
	now := func() *report.Report {
		if known == nil {
			return nil
		}
		return known()
	}
	each := func(_ *Status, f func(any, ...string)) {
		if r := now(); r != nil {
			f(&r.Figures)
		}
	}
	return append(metricsOf(report.Figures{}, "pmg_cluster_", nil, each),
		metric{"pmg_cluster_cannot_take_over", gauge, []string{"reason"},
			"1 for the reason why this node cannot take the work over: an operator has drained it, it is still reading the " +
				"journal, or its configuration differs from the others'.",
			func(_ *Status, e emitter) {
				r := now()
				if r == nil {
					return
				}
				for _, kind := range report.Obstacles() {
					e.value(boolValue(r.Unfit == kind), kind)
				}
			}})
}

// namedMetrics returns the metrics of accounts, webhooks, plugins, routes and stages, with their names as labels.
func namedMetrics() (all []metric) {
	all = append(all, metricsOf(Account{}, "pmg_account_", []string{"account"}, func(s *Status, f func(any, ...string)) {
		accounts := s.Accounts[:min(len(s.Accounts), maxAccounts)]
		for i := range accounts {
			f(&accounts[i], accounts[i].Name)
		}
	})...)
	all = append(all, metricsOf(Webhook{}, "pmg_webhook_", []string{"account"}, func(s *Status, f func(any, ...string)) {
		rows := s.Webhooks[:min(len(s.Webhooks), maxAccounts)]
		for i := range rows {
			f(&rows[i], rows[i].Account)
		}
	})...)
	all = append(all, metricsOf(Plugin{}, "pmg_plugin_", []string{"plugin"}, func(s *Status, f func(any, ...string)) {
		for i := range s.Plugins {
			f(&s.Plugins[i], s.Plugins[i].Name)
		}
	})...)
	all = append(all, metricsOf(Route{}, "pmg_route_", []string{"route"}, func(s *Status, f func(any, ...string)) {
		rows := s.Routes[:min(len(s.Routes), maxRoutes)]
		for i := range rows {
			f(&rows[i], rows[i].Name)
		}
	})...)
	all = append(append(append(all, moneyMetrics()...), listMetrics()...), networkMetrics()...)
	all = append(all, metricsOf(Pipeline{}, "pmg_pipeline_", []string{"pipeline"}, func(s *Status, f func(any, ...string)) {
		for i := range s.Pipelines {
			f(&s.Pipelines[i], strconv.Itoa(s.Pipelines[i].Number))
		}
	})...)
	return append(all, metricsOf(Stage{}, "pmg_stage_", []string{"stage"}, func(s *Status, f func(any, ...string)) {
		for i := range s.Stages {
			f(&s.Stages[i], s.Stages[i].Name)
		}
	})...)
}

func receiptIDs() metric {
	return metric{"pmg_operator_receipt_ids", gauge, []string{"operator", "form"},
		"1 for the form in which an SMSC is known to write ids in receipts: same, decimal or hexadecimal, as the option " +
			"receipt_ids has them. While all are 0 it is not known yet, and receipts whose ids can be read in two ways " +
			"may be kept as orphans.",
		func(s *Status, e emitter) {
			for _, o := range s.Operators {
				for _, form := range receipts.FormNames() {
					e.value(boolValue(o.ReceiptIDs == form), o.Name, form)
				}
			}
		}}
}

// moneyMetrics returns the metrics of accounts that are charged.
func moneyMetrics() []metric {
	charged := func(s *Status, f func(a *Account)) {
		for i := range s.Accounts[:min(len(s.Accounts), maxAccounts)] {
			if a := &s.Accounts[i]; a.Money != nil {
				f(a)
			}
		}
	}
	each := func(name, help string, value func(m *Money) float64) metric {
		return metric{"pmg_account_" + name, gauge, []string{"account"}, help, func(s *Status, e emitter) {
			charged(s, func(a *Account) { e.value(value(a.Money), a.Name) })
		}}
	}
	sum := func(name, help string, value func(m *Margin) sms.Money) metric {
		return metric{"pmg_account_" + name, counter, []string{"account"}, help, func(s *Status, e emitter) {
			charged(s, func(a *Account) {
				if a.Money.Margin != nil {
					e.value(value(a.Money.Margin).Float(), a.Name)
				}
			})
		}}
	}
	return []metric{
		each("balance", "Balance of an account with prices, in the currency of its list; below 0 the account owes.",
			func(m *Money) float64 { return m.Balance.Float() }),
		each("balance_reserved", "Part of the balance that is reserved for messages that have not ended.",
			func(m *Money) float64 { return m.Reserved.Float() }),
		each("balance_low", "Whether the balance is below balance.low.", func(m *Money) float64 { return boolValue(m.Low) }),
		{"pmg_account_price_missing_total", counter, []string{"account"},
			"Messages of the account's clients that were refused because their list of prices has no price for them.",
			func(s *Status, e emitter) {
				charged(s, func(a *Account) { e.value(float64(a.RefusedBy[sms.NoPrice.String()]), a.Name) })
			}},
		sum("price_total", "Sum of what an account with prices was charged for messages of which it is known what their SMSC "+
			"charges (costs, events.dir), if all charge in the currency of its list. What receipts give back later is in it.",
			func(m *Margin) sms.Money { return m.Price }),
		sum("cost_total", "Sum of what the SMSCs charge for these messages.", func(m *Margin) sms.Money { return m.Cost }),
	}
}

// connectorMetrics returns the metrics that have the label connector.
func connectorMetrics() (all []metric) {
	all = append(all, metricsOf(Connector{}, "pmg_connector_", []string{"connector"}, func(s *Status, f func(any, ...string)) {
		for i := range s.Connectors {
			f(&s.Connectors[i], s.Connectors[i].Name)
		}
	})...)
	all = append(all, metric{"pmg_connector_info", gauge, []string{"connector", "direction", "protocol", "static"},
		"1, with direction (in: from clients; out: to an SMSC), protocol and whether it is to have its sessions always, " +
			"for joins: pmg_connector_sessions_ready * on (connector) group_left " +
			"pmg_connector_info{direction=\"out\",static=\"yes\"}.",
		eachConnector(func(c *Connector, e emitter) { e.value(1, c.Name, c.Direction, c.Protocol, yesNo(c.Static)) })})
	all = append(all, metric{"pmg_connector_held", gauge, []string{"connector"},
		"Whether an operator holds the connector, so that nothing is sent to it.",
		eachConnector(func(c *Connector, e emitter) { e.value(boolValue(c.Held != nil), c.Name) })})
	all = append(all, metric{"pmg_connector_certificate_expires_timestamp_seconds", gauge, []string{"connector"},
		"Expiry of the first certificate of the connector (tls.certificate) to expire, in seconds " +
			"since 1970.",
		eachConnector(func(c *Connector, e emitter) {
			if c.CertificateExpires != nil {
				e.value(float64(c.CertificateExpires.Unix()), c.Name)
			}
		})})
	all = append(all, metric{"pmg_connector_pdus_total", counter, []string{"connector", "direction", "command", "status"},
		"PDUs received and sent, by the names the protocol gives command and status; a status without a name is other.",
		eachConnector(func(c *Connector, e emitter) {
			for _, p := range c.PDUs {
				e.value(float64(p.Count), c.Name, p.Direction, p.Command, p.Status)
			}
		})})
	return all
}

// eachConnector returns a function for a metric with values for each connector.
func eachConnector(f func(c *Connector, e emitter)) func(*Status, emitter) {
	return func(s *Status, e emitter) {
		for i := range s.Connectors {
			f(&s.Connectors[i], e)
		}
	}
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func boolValue(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// A collector reads the table's metrics when Prometheus asks.
type collector struct {
	status  func() *Status
	metrics []metric
	descs   []*prometheus.Desc // descriptions, one for each entry of metrics
}

func newCollector(all []metric, status func() *Status) *collector {
	c := &collector{status: status, metrics: all}
	for _, m := range c.metrics {
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
	s := c.status()
	for i, m := range c.metrics {
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

// StandbyMetrics returns a handler for the metrics of a standby node, for callers with the scope look: the metrics of the
// process, and of the node in the cluster.
func StandbyMetrics(cfg config.Admin, known Known, log zerolog.Logger) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		newGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		newCollector(clusterMetrics(known), func() *Status { return nil }),
	)
	sessions := access.NewSessions(
		func() []config.User { return cfg.Users }, func() *config.OIDC { return &cfg.OIDC }, time.Now,
	)
	guard := access.NewGuard(func() []config.Token { return cfg.Tokens }, sessions, log)
	limiters := newLimiters()
	return checkHost(hostNames(cfg), cfg.OIDC.Host, guard.May(access.Look, limiters.limited(
		promhttp.HandlerFor(registry, promhttp.HandlerOpts{}),
	)))
}
