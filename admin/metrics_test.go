package admin

import (
	"fmt"
	"strings"
	"testing"

	"pmg/internal/testutil"
)

func TestMetricsPageIsFresh(t *testing.T) {
	testutil.Fresh(t, "../docs/metrics.md", markdown(), "make docs")
}

// markdown returns the page docs/metrics.md.
func markdown() string {
	var b strings.Builder
	b.WriteString(`# Metrics

The metrics at ` + "`/metrics`" + ` of the gateway's admin address, besides the usual
` + "`go_…` and `process_…`" + ` of the Prometheus client. Names that end in _total are counters; the others are gauges unless they say
otherwise. This page is generated from tags, which admin/rows.go explains, and the table in admin/metrics.go.

| metric | labels | meaning |
|---|---|---|
`)
	for _, m := range metrics(nil) {
		help := m.help
		if m.kind != counter && m.kind != gauge {
			help = fmt.Sprintf("(%s) %s", m.kind, help)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", m.name, strings.Join(m.labels, ", "), help)
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
