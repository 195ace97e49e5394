package web

import (
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"
	"time"

	"pmg/admin/history"
	"pmg/config"
	"pmg/internal/figuretext"
	"pmg/sms"
)

// Pages have the last hour without scripts: a table, the last sample as JSON, and where all samples are. Those about a connector
// have its own.
func TestHour(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	base := "http://" + s.Addr()
	c := visitor(t, base, config.LookScope)
	at := busy(s, time.Now(), 40)
	from := at.UTC().Truncate(step).Format("15:04")
	for path, want := range map[string][]string{
		"/ui/": {`data-url="/admin/v1/history"`, `"memory_octets":[`, `<span data-k="hour.0">` + from + `</span>`},
		"/ui/connectors/clients": {`data-url="/admin/v1/history?connector=clients"`, `"connector":"clients"`, `"in":[139],`, `<dd><span data-k="in">139</span>/s`,
			`<span data-k="hour.0.6">–</span>`},
	} {
		code, body, _ := ask(t, c, "GET", base+path, nil)
		for _, part := range append(want, `href="/ui/static/uplot/uPlot.min.css"`) {
			if code != 200 || !strings.Contains(html.UnescapeString(body), part) {
				t.Errorf("%s: %d, without %s", path, code, part)
			}
		}
	}
	if code, body, _ := ask(t, c, "GET", base+"/admin/v1/history?"+url.Values{"connector": {"operator"}}.Encode(), nil); code != 200 || !strings.Contains(body, `"connector":"operator"`) {
		t.Errorf("somebody who has logged in asks for the samples: %d %s", code, body)
	}
}

// A row has the mean of rates and the highest of what waits, of those samples that know them.
func TestHourRow(t *testing.T) {
	t.Parallel()
	known := history.Sample{history.In: 3, history.Waiting: 700, history.Oldest: 90, history.Median: 0.0125, history.P95: 2.5}
	unknown := (&history.Series{}).Latest()
	other := history.Sample{history.In: 4.5, history.Out: 12345.6, history.Waiting: 20}
	for _, c := range []struct {
		samples []history.Sample
		want    string
	}{
		{[]history.Sample{known, other}, "[3.8 6173 0 0 700 1m 30s 12.5 ms 2.5 s]"},
		{[]history.Sample{unknown, known}, "[3 0 0 0 700 1m 30s 12.5 ms 2.5 s]"},
		{[]history.Sample{unknown}, "[– – – – – – – –]"},
	} {
		if got := rowOf(1e9, c.samples, tableColumns(history.OfConnectors)); fmt.Sprint(got.Cells) != c.want || got.From != "01:46" {
			t.Errorf("%v, not %s", got, c.want)
		}
	}
}

// Ages are short, and whole.
func TestAge(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[float64]string{0: "–", 59: "59 s", 60: "1m", 90: "1m 30s", 3600: "1h"} {
		if got := figuretext.Age(seconds); got != want {
			t.Errorf("%v: %s, not %s", seconds, got, want)
		}
	}
}

// The page about an account has charts of its own, what share of its messages was delivered, and when the last one came.
func TestAccountHour(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	base, g := "http://"+s.Addr(), s.Gateway()
	c := visitor(t, base, config.LookScope)
	name := `<b>"x`
	tally, at := g.Node.Origins.Of(name, "clients").Tally, time.Now().Add(time.Hour)
	tally.Accepted.Add(1)
	s.AccountHistory().Sample(at)
	s.AccountHistory().Sample(at.Add(history.Period))
	tally.Accepted.Add(600)
	tally.Last.Store(g.Node.Clock.Now() - int64(90*time.Second))
	s.AccountHistory().Sample(at.Add(2 * history.Period))
	lane := g.Table.ClientLane(name, nil)
	for _, state := range []sms.State{sms.StateDelivered, sms.StateEnroute, sms.StateDelivered, sms.StateExpired, sms.StateDelivered} {
		lane.Ends.Count(state)
	}
	for path, want := range map[string][]string{
		"/ui/accounts/" + url.PathEscape(name): {`data-url="/admin/v1/history?account=`, `<span data-k="in">60</span>/s`, `<span data-k="share">75.0 %</span>`,
			`<span data-k="last">1m 30s ago</span>`, "/ui/messages?account="},
		"/ui/accounts?sort=delivered":                        {`">75.0 %</span>`, `">1m 30s ago</span>`},
		"/admin/v1/history?account=" + url.QueryEscape(name): {`"account":"`, `,60]`},
	} {
		code, body, _ := ask(t, c, "GET", base+path, nil)
		for _, part := range want {
			if code != 200 || !strings.Contains(html.UnescapeString(body), part) {
				t.Errorf("%s: %d, without %s\n%s", path, code, part, body)
			}
		}
	}
}
