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
` + "`go_…` and `process_…`" + ` of the Prometheus client. This page is generated from tags, which
admin/rows.go explains, and the table in admin/metrics.go.

| metric | type | labels | meaning |
|---|---|---|---|
`)
	for _, m := range metrics() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.name, m.kind, strings.Join(m.labels, ", "), m.help)
	}
	return b.String()
}

func TestMetricsTable(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range metrics() {
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
