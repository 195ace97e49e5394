package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"pmg/config"
)

// A table shows a hundred rows, those that fit the filter, and every number of a page leads to one that is there.
func TestTable(t *testing.T) {
	t.Parallel()
	all := make([]string, 250)
	for i := range all {
		all[i] = fmt.Sprintf("Row %d", i)
	}
	name := func(s *string) string { return *s }
	for query, want := range map[string]string{
		"": "1 of 3, 100 of 250, 0 2", "page=2": "2 of 3, 100 of 250, 1 3", "page=3": "3 of 3, 50 of 250, 2 0", "page=99": "3 of 3, 50 of 250, 2 0", "page=-1": "1 of 3, 100 of 250, 0 2",
		"page=x": "1 of 3, 100 of 250, 0 2", "filter=row+24": "1 of 1, 11 of 11, 0 0", "filter=none&page=7": "1 of 1, 0 of 0, 0 0",
	} {
		r, _ := http.NewRequest("GET", "/?"+query, nil)
		x := tableOf(r, append([]string(nil), all...), name)
		if got := fmt.Sprintf("%d of %d, %d of %d, %d %d", x.Number, x.Of, len(x.Rows), x.Total, x.Before(), x.After()); got != want {
			t.Errorf("%q: %s, not %s", query, got, want)
		}
	}
}

// Rows are sorted by the heads of columns, both ways, and links keep the filter.
func TestSort(t *testing.T) {
	t.Parallel()
	base, g := start(t)
	g.Table.Connector("clients").Stats.Queued.Store(1234567)
	c := visitor(t, base, config.LookScope)
	for query, first := range map[string]string{"": "clients", "?sort=connector": "clients", "?sort=-connector": "operator", "?sort=queued": "clients", "?sort=-queued": "operator", "?sort=nothing": "clients"} {
		_, body, _ := ask(t, c, "GET", base+"/ui/connectors"+query, nil)
		_, rows, _ := strings.Cut(body, "<tbody>")
		if i, k := strings.Index(rows, ">clients</a>"), strings.Index(rows, ">operator</a>"); (i < k) != (first == "clients") {
			t.Errorf("%s: %d and %d", query, i, k)
		}
		if !strings.Contains(body, ">1,234,567<") {
			t.Errorf("no separators: %s", body)
		}
	}
	_, body, _ := ask(t, c, "GET", base+"/ui/connectors?sort=queued&filter=o", nil)
	if !strings.Contains(body, `class="n" aria-sort="descending"><a href="?filter=o&amp;sort=-queued">queued</a>`) {
		t.Error(body)
	}
}
