package bench

import "fmt"

// enoughRounds is the least number of rounds whose median does not depend on one
// disturbed run.
const enoughRounds = 3

// findings returns sentences about the results.
func (r *Results) findings() (all []string) {
	add := func(format string, a ...any) { all = append(all, fmt.Sprintf(format, a...)) }
	if r.Rounds < enoughRounds {
		add("With fewer than %d rounds a figure may be due to chance, and so may every comparison below.", enoughRounds)
	}
	passed, checks := 0, r.Checks()
	for _, c := range checks {
		if c.Pass() {
			passed++
		}
	}
	if len(checks) > 0 {
		add("%d of %d targets are reached.", passed, len(checks))
	}
	r.describeThroughput(add)
	logged := find(r.Points, Setting{Pipeline, LogsPDUs, 64, 10, "", ""})
	if plain := find(r.Points, Setting{Pipeline, LogsNothing, 64, 10, "", ""}); plain != nil && logged != nil {
		add("With a pdu log a message costs the pipeline %.2f times the CPU time (%.2f µs instead of %.2f µs) at 64 "+
			"connections, window 10; the report's programs took 4 times as long with everything logged.",
			ratio(logged, plain, CPU), logged.Median()[CPU], plain.Median()[CPU])
	}
	r.describeGrowth(add)
	if relay, gateway := find(
		r.Relay, Setting{HAProxy, LogsNothing, 64, 10, "", ""},
	), find(r.Relay, Setting{Pipeline, LogsNothing, 64, 10, "", ""}); relay != nil && gateway != nil {
		add("HAProxy, which relays bytes without parsing them, spends %.2f µs of CPU time on a message at 64 "+
			"connections, window 10; the pipeline spends %.2f µs.",
			relay.Median()[CPU], gateway.Median()[CPU])
	}
	if r.Echo != nil {
		add(
			"On one connection with one submit at a time, an answer takes %.0f µs; the answer of a TCP echo server "+
				"takes %.0f µs.",
			p50(r.Echo.Gateway), p50(r.Echo.Echo),
		)
	}
	r.describeStores(add)
	return all
}

// describeThroughput compares the architectures with a pdu log, window 10.
func (r *Results) describeThroughput(add func(string, ...any)) {
	for _, connections := range []int{2, 64} {
		pipeline := find(r.Points, Setting{Pipeline, LogsPDUs, connections, 10, "", ""})
		classic := find(r.Points, Setting{Classic, LogsPDUs, connections, 10, "", ""})
		if pipeline == nil || classic == nil {
			continue
		}
		add("With a pdu log, %d connections and window 10, the pipeline forwards %.0f messages a second, which is %.2f "+
			"times as many as classic, with %.2f times the CPU time for each.",
			connections, pipeline.Median()[Throughput], ratio(pipeline, classic, Throughput), ratio(pipeline, classic, CPU))
	}
}

// describeGrowth compares the fewest and the most connections, with a pdu log and window
// 10.
func (r *Results) describeGrowth(add func(string, ...any)) {
	for _, architecture := range []string{Pipeline, Classic} {
		var few, many *Point
		for i := range r.Points {
			p := &r.Points[i]
			if len(p.Samples) == 0 || p.Architecture != architecture || p.Logs != LogsPDUs || p.Window != 10 {
				continue
			}
			if few == nil || p.Connections < few.Connections {
				few = p
			}
			if many == nil || p.Connections > many.Connections {
				many = p
			}
		}
		if few != many {
			a, b := few.Median(), many.Median()
			add("From %d to %d connections, %s grows from %.0f to %.0f goroutines, from %.0f to %.0f threads and from "+
				"%.0f to %.0f MiB.",
				few.Connections, many.Connections, architecture, a[Goroutines], b[Goroutines], a[Threads], b[Threads],
				a[Memory], b[Memory])
		}
	}
}
