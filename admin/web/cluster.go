package web

import (
	"net/http"
	"time"

	"pmg/cluster/report"
)

// A clusterPage is the model of the page with the nodes of the cluster.
type clusterPage struct {
	*table[report.Row]
	Known  *report.Report
	Others string // text: whether another node could take over
	Full   string // text: how full the stream is, and of which limit
	Notes  []string
}

// cluster shows the nodes, as pmg cluster status does.
func (t *Tools) cluster(r *http.Request) any {
	known := t.Cluster()
	rows, ready := report.Rows(known.Nodes, known.Owner, time.Now())
	p := &clusterPage{Known: known, Others: "yes", Full: "no limit is known", Notes: report.Notes(known.Nodes)}
	if f := report.Latest(known.Nodes); f.Of != "" {
		p.Full = f.String()
	}
	if ready == 0 {
		p.Others = "no"
	}
	p.table = tableOf(r, rows, func(r *report.Row) string { return r.Node + " " + r.State.State }, []column[report.Row]{
		{head: "node", text: func(r *report.Row) string { return r.Node }},
		{head: "state", text: func(r *report.Row) string { return r.State.State }},
		{head: "record", number: func(r *report.Row) float64 { return float64(r.Applied) }},
		{head: "behind", number: func(r *report.Row) float64 { return float64(r.Behind) }},
		{head: "seen", number: func(r *report.Row) float64 { return r.Seen.Seconds() }},
	}...)
	return p
}
