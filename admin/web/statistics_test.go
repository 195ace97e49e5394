package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/events/stats"
)

// The page has a table with a sum, links to the same as JSON and CSV, and nothing of a name that is markup. Without statistics it
// says how there are some.
func TestStatisticsPage(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	base := "http://" + s.Addr()
	b := visitor(t, base, config.LookScope)
	code, body, _ := ask(t, b, "GET", base+"/ui/statistics", nil)
	if code != http.StatusOK || !strings.Contains(body, "Nothing is counted: the configuration has no stats.dir") {
		t.Errorf("%d %s", code, body)
	}
	dir := t.TempDir()
	c, err := stats.Open(dir, 0, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	for n := range mostSumRows + 1 {
		line := fmt.Sprintf(`{"number":%d,"kind":"submit","state":"sent","account":"<b>%d","ended_at":"%s"}`+"\n",
			n+1, n, time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"))
		if err := c.Count([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Save(true); err != nil {
		t.Fatal(err)
	}
	s.Gateway().Node.Config().Stats.Dir = dir
	for _, q := range []struct {
		query string
		code  int
		has   []string
	}{
		{"?by=account&from=yesterday", 200, []string{
			"&lt;b&gt;7</th>", ">total</th>", ">1001</td>", "first 1,000 rows", "/admin/v1/stats?by=account&amp;format=csv&amp;from=yesterday",
		}},
		{"?by=day", 200, []string{`<option selected>day</option>`, `<meter min="0" max="1001" value="1001">`}},
		{"?by=hour,account", 200, []string{`<option selected>hour,account</option>`}},
		{"?account=nobody", 200, []string{"Nothing was counted in these days."}},
		{"?by=color", 400, []string{"cannot group by &#34;color&#34;"}},
	} {
		code, body, _ := ask(t, b, "GET", base+"/ui/statistics"+q.query, nil)
		for _, has := range q.has {
			if code != q.code || !strings.Contains(body, has) || strings.Contains(body, "<b>") {
				t.Errorf("%s: %d, without %q: %.3000s", q.query, code, has, body)
			}
		}
	}
}
