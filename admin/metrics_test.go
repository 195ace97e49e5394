package admin

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pmg/internal/testkit/testutil"
)

func TestMetricsPageIsFresh(t *testing.T) {
	testutil.Fresh(t, "../docs/metrics.md", markdown(), "make docs")
}

// purposes are the sections of docs/metrics.md: a metric stands in the first whose expression matches its name.
var purposes = []struct{ names, purpose, remark string }{
	{
		"^pmg_(ready|problems|build_info|connector_info|.*_expires_.*)$",
		"Is it ready, and what needs an operator",
		"`pmg_problems` counts the lines of `/readyz` that leave it ready. Certificates expire at a time in seconds\n" +
			"since 1970. For joins: `pmg_connector_sessions_ready * on (connector) group_left\n" +
			"pmg_connector_info{direction=\"out\",static=\"yes\"}`.",
	},
	{
		"^pmg_connector_(sessions|instances|failing|held|proxy)",
		"Sessions of connectors",
		"*bound* are logged in, *ready* can be given messages; *failing* are logins and connections that failed in a\n" +
			"row.",
	},
	{
		"^pmg_(waiting|connector_(queue|window)|messages_|account_(queue|scheduled|parked|waiting|memory))",
		"What waits, for how long",
		"An in connector has a queue for each account: compare `queue_fullest_messages` with `queue_limit`.\n" +
			"`pmg_waiting_…{for}` is for SMSCs (`smsc`), clients' sessions (`sessions`), or their servers and those that\n" +
			"fetch events (`events`).",
	},
	{
		"^pmg_(connector_(messages|fields|answer|pdus)|account_(messages|sessions|duplicates)|unrouted|route)",
		"What became of messages",
		"*accepted*, *refused*: of a peer; *sent*, *failed*: to one; *ended*: with a final receipt; *reached*: the\n" +
			"receipt says delivered. `fields_lost` has the fields of [conversion.md](conversion.md). A route that\n" +
			"a reload does not change keeps its count. Its label has the name of its file in `managed.dir`\n" +
			"(`routes[vip]`), or its line (`routes[line 7]`).",
	},
	{
		"receipt",
		"Receipts",
		"*unmatched*: their message was not known; *adopted*: it became known later; *homeless*: the account is gone\n" +
			"or may not receive. `pmg_operator_receipt_ids` is 1 for the form that is known for `receipt_ids`.",
	},
	{
		"^pmg_webhook",
		"Webhooks",
		"*resting* servers are not called for a while; *dead letters* were not taken in time.",
	},
	{
		"^pmg_account_(balance|price|cost)",
		"Money",
		"In the currency of the account's list; below 0 the account owes.",
	},
	{
		"^pmg_network_(sent|delivered|undelivered|delivery)",
		"Networks",
		"Short messages, and their receipts; seconds are until the receipt, of all that were delivered.",
	},
	{
		"^pmg_(list|network_table)",
		"Lists of numbers, table of networks",
		"*entries* are of the file, *added* and *removed* beside it. After a problem what was read before stays in\n" +
			"force.",
	},
	{
		"^pmg_plugin",
		"Plugins",
		"`on_failure` has decided about *failed* and *rested*; *crowded* were not asked about because too many\n" +
			"waited.",
	},
	{
		"^pmg_store",
		"The store",
		"`failed`: it takes nothing until a restart; `low`: too little room; `stalled`: nothing at present. A\n" +
			"`commit_current_seconds` beyond 1 is a disk that does not follow. `changes` divided by `commits` is the mean\n" +
			"batch.",
	},
	{
		"^pmg_cluster",
		"The cluster",
		"The owner ends its work when `heartbeat_age` is beyond `cluster.lease`.",
	},
	{
		"^pmg_(events|spans|retention|connector_pdu_log)",
		"Events, traces, pdu logs, retention",
		"Events that could not be written are written later; *lost* lines of pdu logs are not.",
	},
	{
		"",
		"The pipeline",
		"For measuring it; `panics` each ended a session or failed a message.",
	},
}

// markdown returns the page docs/metrics.md.
func markdown() string {
	var b strings.Builder
	b.WriteString(`# Metrics

The metrics at ` + "`/metrics`" + ` of the gateway's admin address, besides the usual ` + "`go_…` and `process_…`" + `.
There each has a sentence of help:

` + "```" + `console
$ curl -s --unix-socket data/admin.sock http://localhost/metrics | grep HELP
` + "```" + `

In braces are the labels. Names that end in _total are counters, and those with (histogram) histograms; the others are gauges.
`)
	names := make([][]string, len(purposes))
	for _, m := range metrics(nil) {
		i := slices.IndexFunc(purposes, func(p struct{ names, purpose, remark string }) bool {
			return regexp.MustCompile(p.names).MatchString(m.name)
		})
		name := m.name
		if len(m.labels) > 0 {
			name += "{" + strings.Join(m.labels, ",") + "}"
		}
		name = "`" + name + "`"
		if m.kind == histogram {
			name += " (histogram)"
		}
		names[i] = append(names[i], name)
	}
	for i, p := range purposes {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n%s\n", p.purpose, strings.Join(names[i], ",\n"), p.remark)
	}
	return b.String()
}

func TestMetricsTable(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range metrics(nil) {
		switch {
		case seen[m.name]:
			t.Errorf("%s occurs twice", m.name)
		case !strings.HasPrefix(m.name, "pmg_"):
			t.Errorf("%s does not begin with pmg_", m.name)
		case (m.kind == counter) != strings.HasSuffix(m.name, "_total"):
			t.Errorf("%s: a counter, and nothing else, ends in _total", m.name)
		case !strings.HasSuffix(m.help, "."):
			t.Errorf("%s: %q is not a sentence", m.name, m.help)
		}
		seen[m.name] = true
	}
}
