package admin

import (
	"context"
	"net/http"
	"strings"
	"time"

	"pmg/admin/access"
	"pmg/events/stats"
)

var errNotCounted = refuse(http.StatusNotFound, "nothing is counted: the configuration has no stats.dir")

// Statistics are the sums of events that a request asks for.
type Statistics struct {
	Query stats.Query
	Rows  []stats.Row
}

// Statistics reads the sums that a request selects: ?by= lists groups, separated by commas; ?day=, ?month=,
// ?from= and ?to= select days; ?account=, ?connector= and ?network= select values.
func (s *Server) Statistics(r *http.Request) (*Statistics, error) {
	dir := s.view.gateway.Node.Config().Stats.Dir
	if dir == "" {
		return nil, errNotCounted
	}
	q := stats.Query{
		By:      []string{"day"},
		Account: r.FormValue("account"), Connector: r.FormValue("connector"), Network: r.FormValue("network"), Costs: true,
	}
	if by := r.FormValue("by"); by != "" {
		q.By = strings.Split(by, ",")
	}
	days := stats.Days{Day: r.FormValue("day"), Month: r.FormValue("month"), From: r.FormValue("from"), To: r.FormValue("to")}
	err := days.Of(&q, time.Now())
	if err == nil {
		err = q.Check()
	}
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "cannot show statistics: "+err.Error())
	}
	access.MarkAudited(r)
	access.Named(r, "stats")
	ctx, done, err := s.searcher.beginSums(r)
	if err != nil {
		return nil, err
	}
	defer done()
	rows, err := stats.Read(ctx, dir, q)
	switch {
	case ctx.Err() == context.DeadlineExceeded:
		return nil, refuse(http.StatusServiceUnavailable, "cannot show statistics: that takes too long: ask for fewer days")
	case err != nil:
		return nil, err
	}
	return &Statistics{q, rows}, nil
}

// showStatistics answers with statistics, as JSON or, for ?format=csv, as CSV.
func showStatistics(s *Server, w http.ResponseWriter, r *http.Request) {
	TakesLong(w)
	found, err := s.Statistics(r)
	if err != nil || r.FormValue("format") != "csv" {
		var v any
		if err == nil {
			v = stats.Objects(found.Query.By, found.Rows)
		}
		answerFound(w, v, err)
		return
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="pmg-statistics.csv"`)
	_ = stats.WriteCSV(w, &found.Query, found.Rows) // an error means that the client has disconnected
}
