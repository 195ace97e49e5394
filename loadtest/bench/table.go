package bench

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"pmg/loadtest"
)

// A grid is a table, to be formatted as text, Markdown or HTML.
type grid struct {
	Head []string
	Rows [][]string
}

// pointsGrid returns a table of points: the medians, and the spread of throughput and CPU.
func pointsGrid(points []Point) grid {
	g := grid{Head: []string{"architecture", "logs", "conns", "window"}}
	for _, m := range Metrics() {
		g.Head = append(g.Head, m.info().head)
		if m.spreads() {
			g.Head = append(g.Head, "±%")
		}
	}
	for i := range points {
		p := &points[i]
		if len(p.Samples) == 0 {
			continue
		}
		row := []string{p.Architecture, p.Logs, strconv.Itoa(p.Connections), strconv.Itoa(p.Window)}
		middle := p.Median()
		for _, m := range Metrics() {
			row = append(row, fmt.Sprintf(m.info().format, middle[m]))
			if m.spreads() {
				row = append(row, fmt.Sprintf("%.0f", 100*p.Spread(m)))
			}
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// storesGrid returns a table of points with the engine of their stores, and what their clients send.
func storesGrid(points []Point) grid {
	g := pointsGrid(points)
	g.Head = slices.Insert(g.Head, 4, "store", "traffic")
	row := 0
	for i := range points {
		if len(points[i].Samples) > 0 {
			s := points[i].Setting
			g.Rows[row] = slices.Insert(g.Rows[row], 4, gatewayConfig{Setting: s}.Engine(), s.traffic())
			row++
		}
	}
	return g
}

// shortGrid returns a table of points for a page: what most readers look for, without settings that all rows share.
// results.csv and index.html have all.
func shortGrid(points []Point) grid {
	g := grid{Head: []string{"architecture", "logs", "store", "traffic", "conns", "window"}}
	for _, m := range shortColumns() {
		g.Head = append(g.Head, m.info().head)
	}
	for i := range points {
		p := &points[i]
		if len(p.Samples) == 0 {
			continue
		}
		engine := gatewayConfig{Setting: p.Setting}.Engine()
		row := []string{p.Architecture, p.Logs, engine, p.traffic(), strconv.Itoa(p.Connections), strconv.Itoa(p.Window)}
		middle := p.Median()
		for _, m := range shortColumns() {
			row = append(row, fmt.Sprintf(m.info().format, middle[m]))
		}
		g.Rows = append(g.Rows, row)
	}
	g.dropShared(6)
	return g
}

// dropShared removes those of the first columns that have one value in all rows, if there are several rows.
func (g *grid) dropShared(columns int) {
	for i := columns - 1; i >= 0 && len(g.Rows) > 1; i-- {
		if slices.ContainsFunc(g.Rows, func(row []string) bool { return row[i] != g.Rows[0][i] }) {
			continue
		}
		g.Head = slices.Delete(g.Head, i, i+1)
		for j := range g.Rows {
			g.Rows[j] = slices.Delete(g.Rows[j], i, i+1)
		}
	}
}

// shortColumns returns the metrics of a page's tables.
func shortColumns() []Metric {
	return []Metric{Throughput, P50, P99, CPU, Memory, Goroutines}
}

// traffic returns what the clients send, for a table.
func (s Setting) traffic() string { return cmp.Or(s.Traffic, "submits") }

// logged returns the points with a pdu log.
func logged(points []Point) (all []Point) {
	for _, p := range points {
		if p.Logs == LogsPDUs {
			all = append(all, p)
		}
	}
	return all
}

// spreads reports whether tables show the metric's spread.
func (m Metric) spreads() bool { return m == Throughput || m == CPU }

// latenciesGrid returns a table of latencies, medians over the rounds in µs.
func (r *Results) latenciesGrid() grid {
	g := grid{Head: []string{"answers", "p50", "p99", "p99.9", "max"}}
	for _, l := range r.latencies() {
		row := []string{l.Name}
		for _, of := range []func(loadtest.Latency) float64{
			func(l loadtest.Latency) float64 { return l.P50 },
			func(l loadtest.Latency) float64 { return l.P99 },
			func(l loadtest.Latency) float64 { return l.P999 },
			func(l loadtest.Latency) float64 { return l.Max },
		} {
			row = append(row, fmt.Sprintf("%.0f", medianOf(l.Rounds, of)))
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// operatedColumns are the metrics of a long run that a table shows.
func operatedColumns() []Metric {
	return []Metric{Throughput, P50, P99, CPU, Memory, Written, Allocations, Locks, StoreLocks, Switches}
}

// operatedGrid returns a table of the parts of the long run.
func (r *Results) operatedGrid() grid {
	g := grid{Head: []string{"messages"}}
	for _, m := range operatedColumns() {
		g.Head = append(g.Head, m.info().head)
	}
	if r.Operated == nil {
		return g
	}
	for i, s := range r.Operated.Parts {
		row := []string{fmt.Sprintf("to %d", int64(i+1)*r.Operated.Messages)}
		for _, m := range operatedColumns() {
			row = append(row, fmt.Sprintf(m.info().format, s[m]))
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// backlogsGrid returns a table of the dispatcher's work by backlog, medians over the rounds.
func (r *Results) backlogsGrid() grid {
	g := grid{Head: []string{"messages waiting", "dispatcher's work per message, µs"}}
	for _, b := range r.Backlogs {
		g.Rows = append(g.Rows, []string{strconv.FormatInt(b.Waiting, 10), fmt.Sprintf("%.3f", median(b.Dispatcher))})
	}
	return g
}

// stagesGrid returns a table of the work of a point's stages.
func stagesGrid(p *Point) grid {
	g := grid{Head: []string{"stage", "mean batch", "work min µs", "mean µs", "max µs", "std-dev µs", "busy workers"}}
	for _, s := range p.Stages {
		us := func(seconds float64) string { return fmt.Sprintf("%.1f", seconds*1e6) }
		g.Rows = append(g.Rows, []string{
			s.Name, fmt.Sprintf("%.1f", s.MeanBatch),
			us(s.Work.Min), us(s.Work.Mean), us(s.Work.Max), us(s.Work.StdDev), fmt.Sprintf("%.3f", s.BusyWorkers),
		})
	}
	return g
}

// checksGrid returns a table of the targets and whether they are reached.
func (r *Results) checksGrid() grid {
	g := grid{Head: []string{"target", "measured", "limit", ""}}
	for _, c := range r.Checks() {
		g.Rows = append(g.Rows, []string{c.Target, fmt.Sprintf("%.3g", c.Value), c.Bound(), c.Verdict()})
	}
	return g
}

// missedGrid returns the rows of checksGrid that miss their limit.
func (r *Results) missedGrid() grid {
	g := r.checksGrid()
	g.Rows = slices.DeleteFunc(g.Rows, func(row []string) bool { return row[len(row)-1] == "pass" })
	return g
}

// busiest returns the point whose stages are shown: the pipeline with a pdu log and the
// most requests under way. It returns nil if that was not measured.
func (r *Results) busiest() (found *Point) {
	for i := range r.Points {
		p := &r.Points[i]
		if p.Architecture == Pipeline && p.Logs == LogsPDUs && len(p.Stages) > 0 &&
			(found == nil || p.Connections*p.Window > found.Connections*found.Window) {
			found = p
		}
	}
	return found
}

// A titled is a table with its title.
type titled struct {
	Title string
	Grid  grid
}

// tables returns the tables of the measurements. Tables without rows are not shown.
func (r *Results) tables() []titled {
	all := []titled{
		{"Every setting", pointsGrid(r.Points)},
		{"Beside HAProxy relaying the same traffic", pointsGrid(r.Relay)},
		{"Messages in memory, and on disk before they are answered", storesGrid(r.Stores)},
		{"Quarters of a long run as operators run it", r.operatedGrid()},
		{"Latencies of answers, µs", r.latenciesGrid()},
		{"Work by backlog", r.backlogsGrid()},
	}
	if p := r.busiest(); p != nil {
		all = append(all, titled{"Work and waiting of the stages, " + p.Setting.String(), stagesGrid(p)})
	}
	return all
}

func (r *Results) targets() titled { return titled{"Targets", r.checksGrid()} }

// WriteText prints the results as tables.
func (r *Results) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, one := range append(r.tables(), r.targets()) {
		if len(one.Grid.Rows) == 0 {
			continue
		}
		fmt.Fprintf(t, "%s\n\n", one.Title)
		for _, row := range append([][]string{one.Grid.Head}, one.Grid.Rows...) {
			fmt.Fprintln(t, strings.Join(row, "\t"))
		}
		fmt.Fprintln(t)
	}
	for _, fault := range r.Faults() {
		fmt.Fprintln(t, "not measured:", fault)
	}
	return t.Flush()
}
