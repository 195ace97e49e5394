package bench

import (
	"fmt"
	"slices"
)

// A Check compares a result with its target.
type Check struct {
	Target string
	Value  float64
	Limit  float64
	Least  bool // the limit is a minimum and not a maximum
}

// Pass reports whether the target is reached.
func (c Check) Pass() bool {
	if c.Least {
		return c.Value >= c.Limit
	}
	return c.Value <= c.Limit
}

// Verdict returns "pass" or "FAIL".
func (c Check) Verdict() string {
	if c.Pass() {
		return "pass"
	}
	return "FAIL"
}

// Bound returns the limit as text.
func (c Check) Bound() string {
	if c.Least {
		return fmt.Sprintf("≥ %.4g", c.Limit)
	}
	return fmt.Sprintf("≤ %.4g", c.Limit)
}

// Checks compares the results that were measured with their targets.
func (r *Results) Checks() (all []Check) {
	all = append(all, r.architectureChecks()...)
	all = append(all, r.costChecks()...)
	all = append(all, r.flatChecks()...)
	all = append(all, r.relayChecks()...)
	all = append(all, r.storeChecks()...)
	all = append(all, r.operatedChecks()...)
	if r.Echo != nil {
		all = append(
			all,
			Check{Target: "latency 1x1, submit / TCP echo, p50", Value: p50(r.Echo.Gateway) / p50(r.Echo.Echo), Limit: 2},
		)
	}
	for _, i := range r.Isolated {
		if i.Architecture == Pipeline {
			all = append(all,
				Check{Target: "p99 of others, client that does not read / alone", Value: p99(i.Unread) / p99(i.Alone), Limit: 2},
				Check{Target: "p99 of others, SMSC that does not answer / alone", Value: p99(i.Silent) / p99(i.Alone), Limit: 2})
		}
	}
	if n := len(r.Backlogs); n > 1 {
		few, many := &r.Backlogs[0], &r.Backlogs[n-1]
		all = append(all, Check{
			Target: fmt.Sprintf("dispatcher's work per message, backlog %d / %d", many.Waiting, few.Waiting),
			Value:  per(median(many.Dispatcher), median(few.Dispatcher)), Limit: 1.2,
		})
	}
	return all
}

// ratio returns the metric of one point divided by that of another.
func ratio(of, to *Point, m Metric) float64 { return of.Median()[m] / to.Median()[m] }

// architectureChecks compares the pipeline with classic, with a pdu log.
func (r *Results) architectureChecks() (all []Check) {
	for _, window := range []int{10, 1} {
		for _, one := range []struct {
			connections int
			least       float64
		}{{64, 1.3}, {2, 1}, {1, 1}} {
			pipeline := find(r.Points, Setting{Pipeline, LogsPDUs, one.connections, window, "", ""})
			classic := find(r.Points, Setting{Classic, LogsPDUs, one.connections, window, "", ""})
			if pipeline == nil || classic == nil {
				continue
			}
			at := fmt.Sprintf("%dx%d pdulog, pipeline / classic", one.connections, window)
			all = append(all, Check{"throughput " + at, ratio(pipeline, classic, Throughput), one.least, true})
			if one.connections == 64 && window == 10 {
				all = append(all, Check{"CPU per message " + at, ratio(pipeline, classic, CPU), 0.7, false})
			}
		}
	}
	return all
}

// costChecks checks the cost of a message in the pipeline at 64x10.
func (r *Results) costChecks() (all []Check) {
	plain := find(r.Points, Setting{Pipeline, LogsNothing, 64, 10, "", ""})
	logged := find(r.Points, Setting{Pipeline, LogsPDUs, 64, 10, "", ""})
	if plain != nil && logged != nil {
		all = append(all, Check{"CPU per message 64x10, pdulog / none", ratio(logged, plain, CPU), 1.6, false})
	}
	for _, p := range []*Point{plain, logged} {
		if p == nil {
			continue
		}
		m := p.Median()
		all = append(all,
			Check{"allocations per message 64x10 " + p.Logs, m[Allocations], 0.2, false},
			Check{"handle count changes per message 64x10 " + p.Logs, m[Changes], 6, false},
			Check{"mutex acquisitions per message 64x10 " + p.Logs, m[Locks], 4, false})
	}
	return all
}

// flatSlack is by how much the numbers of goroutines and threads may differ and still
// count as constant. Some serve the bench's own requests, and the runtime starts some.
const flatSlack = 4

// flatChecks checks that the pipeline's goroutines and threads do not grow with the
// number of connections, whatever is logged.
func (r *Results) flatChecks() (all []Check) {
	for _, m := range []Metric{Goroutines, Threads} {
		values, most := map[string][]float64{}, 0 // by what is logged: a pdu log has goroutines of its own
		for i := range r.Points {
			if p := &r.Points[i]; p.Architecture == Pipeline && len(p.Samples) > 0 {
				values[p.Logs], most = append(values[p.Logs], p.Median()[m]), max(most, p.Connections)
			}
		}
		grown := 0.0
		for _, v := range values {
			grown = max(grown, slices.Max(v)-slices.Min(v))
		}
		if most > 1 {
			all = append(
				all,
				Check{fmt.Sprintf("%s of the pipeline, most - least over 1 to %d connections", m, most), grown, flatSlack, false},
			)
		}
	}
	return all
}

// relayChecks compares the pipeline with HAProxy.
func (r *Results) relayChecks() (all []Check) {
	for _, connections := range []int{64, 2} {
		relay := find(r.Relay, Setting{HAProxy, LogsNothing, connections, 10, "", ""})
		for _, one := range []struct {
			logs string
			most float64
		}{{LogsNothing, 2}, {LogsPDUs, 3.5}} {
			gateway := find(r.Relay, Setting{Pipeline, one.logs, connections, 10, "", ""})
			if relay != nil && gateway != nil {
				all = append(
					all,
					Check{
						fmt.Sprintf("CPU per message %dx10 %s, pipeline / HAProxy", connections, one.logs),
						ratio(gateway, relay, CPU), one.most, false,
					},
				)
			}
		}
	}
	return all
}
