package portal

import (
	"bytes"
	"context"
	"errors"
	"html/template"
	"net/url"
	"slices"
	"time"

	"pmg/events/stats"
	"pmg/httpapi/server"
	"pmg/protocols/httpsms/own"
)

// Limits of reading statistics.
const (
	mostReading = 2                // requests in progress, one for each account
	mostWaiting = 32               // further requests that wait; accounts are served in turn
	readingTime = 10 * time.Second // time limit of a request
	mostRows    = 1000             // rows that the page shows, without the row of sums
)

// A statistics is the model of the page of that name.
type statistics struct {
	Off bool // statistics are off
	stats.Table
	By       string
	From, To string
	ByUTC    bool // the days of the account's zone cannot be counted
	Choices  []string
	CSV      template.URL
}

// groups returns what rows can be for: a period, or a network if the account sees networks.
func (v *visit) groups() []string {
	all := []string{"day", "month", "hour"}
	if v.x.Account.Config().Policies.ShowNetwork {
		all = append(all, "network")
	}
	return all
}

func (v *visit) statisticsDir() string { return v.rooms().Node.Config().Stats.Dir }

// errBusy is the error of a reading that cannot begin now.
var errBusy = errors.New("others are reading")

// busyReading is the answer to a reading that cannot begin now.
func busyReading() *own.Problem {
	return own.NewProblem("unavailable", "statistics, or a list, are being read: try again in a moment")
}

// read reads files for the account of a request, in turn with other accounts, and one at a time for each account.
func (p *Portal) read(x *server.Exchange, do func(context.Context) error) error {
	if !x.Account.Search() {
		return errBusy
	}
	defer x.Account.EndSearch()
	ctx, end := context.WithTimeout(x.Request.Context(), readingTime)
	defer end()
	done := p.readings.Begin(x.Account.SystemID, ctx.Done())
	if done == nil {
		return errBusy
	}
	defer done()
	return do(ctx)
}

// sums reads the statistics of the account.
func (v *visit) sums(q stats.Query) (rows []stats.Row, p *own.Problem) {
	q.Account = v.who.account
	err := v.site.portal.read(v.x, func(ctx context.Context) (err error) {
		rows, err = stats.Read(ctx, v.statisticsDir(), q)
		return err
	})
	switch {
	case errors.Is(err, errBusy):
		return nil, busyReading()
	case err != nil:
		if v.rooms().Node.Repeats.First("statistics of the portal") {
			v.rooms().Node.Log.Warn().Err(err).Str("account", v.who.account).Msg("cannot read the statistics of an account")
		}
		return nil, own.NewProblem("unavailable", "they cannot be read now: ask for fewer days")
	}
	return rows, nil
}

// countedIn sets the zone of a query: that of the account, or UTC if the zone's hours begin at other minutes. It returns the
// local time in that zone as if it were UTC, which is how a stats.Query has its days.
func (v *visit) countedIn(q *stats.Query) (now time.Time) {
	now = time.Now()
	if q.Zone = v.zone(); !stats.HasHours(q.Zone, now) {
		q.Zone = time.UTC
	}
	at := now.In(q.Zone)
	return time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, time.UTC)
}

// asked reads the parameters of the request.
func (v *visit) asked() (url.Values, stats.Query, *own.Problem) {
	values := v.x.Request.URL.Query()
	q := stats.Query{By: []string{"day"}}
	if by := values.Get("by"); slices.Contains(v.groups(), by) {
		q.By = []string{by}
	}
	days := stats.Days{From: values.Get("from"), To: values.Get("to")}
	now := v.countedIn(&q)
	err := days.Of(&q, now)
	if err == nil {
		err = q.Check()
	}
	if err != nil {
		return nil, q, own.NewProblem("malformed-query", err.Error())
	}
	return values, q, nil
}

func statisticsOf(v *visit) (any, *own.Problem) {
	if v.statisticsDir() == "" {
		return statistics{Off: true}, nil
	}
	values, q, p := v.asked()
	if p != nil {
		return nil, p
	}
	rows, p := v.sums(q)
	if p != nil {
		return nil, p
	}
	from, to := values.Get("from"), values.Get("to")
	m := statistics{
		By: q.By[0], From: from, To: to, ByUTC: q.Zone.String() != v.zone().String(), Choices: v.groups(),
		Table: stats.TableOf(&q, rows, mostRows, true),
		CSV:   template.URL(Base + "statistics.csv?" + url.Values{"by": q.By, "from": {from}, "to": {to}}.Encode()),
	}
	return m, nil
}

// statisticsFile answers with the statistics as CSV.
func (v *visit) statisticsFile() {
	if v.statisticsDir() == "" {
		v.missing()
		return
	}
	_, q, p := v.asked()
	if p != nil {
		v.refuse(p)
		return
	}
	rows, p := v.sums(q)
	if p != nil {
		v.refuse(p)
		return
	}
	var b bytes.Buffer
	_ = stats.WriteCSV(&b, &q, rows) // writing to a buffer does not fail
	v.answer(200, "text/csv; charset=utf-8", b.Bytes(), [2]string{"Content-Disposition", `attachment; filename="statistics.csv"`})
}
