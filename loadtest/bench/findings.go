package bench

import "fmt"

// enoughRounds make a median that one disturbed run does not move.
const enoughRounds = 3

// findings says in plain sentences what the results show.
func (r *Results) findings() (all []string) {
	say := func(format string, a ...any) { all = append(all, fmt.Sprintf(format, a...)) }
	if r.Rounds < enoughRounds {
		say("This was a trial: with fewer than %d rounds a figure may be chance, and so may every comparison below.", enoughRounds)
	}
	passed, checks := 0, r.Checks()
	for _, c := range checks {
		if c.Pass() {
			passed++
		}
	}
	if len(checks) > 0 {
		say("%d of %d targets are reached.", passed, len(checks))
	}
	r.sayThroughput(say)
	logged := find(r.Points, Setting{Pipeline, LogsPDUs, 64, 10})
	if plain := find(r.Points, Setting{Pipeline, LogsNothing, 64, 10}); plain != nil && logged != nil {
		say("The pdu log makes a message of the pipeline cost %.2f times the CPU time (%.2f µs instead of %.2f µs) at 64 connections, window 10; the report's programs needed 4 times as long with everything logged.",
			ratio(logged, plain, CPU), logged.Median()[CPU], plain.Median()[CPU])
	}
	r.sayGrowth(say)
	if relay, gateway := find(r.Relay, Setting{HAProxy, LogsNothing, 64, 10}), find(r.Relay, Setting{Pipeline, LogsNothing, 64, 10}); relay != nil && gateway != nil {
		say("HAProxy, which moves bytes and parses nothing, spends %.2f µs on a message at 64 connections, window 10, the pipeline %.2f µs.",
			relay.Median()[CPU], gateway.Median()[CPU])
	}
	if r.Echo != nil {
		say("On one connection, one at a time, the answer to a submit takes %.0f µs, a bare TCP echo %.0f µs.", p50(r.Echo.Gateway), p50(r.Echo.Echo))
	}
	for _, i := range r.Isolated {
		say("With %s, others' p99 is %.2f times as high beside a client that does not read and %.2f times beside an SMSC that does not answer.",
			i.Architecture, p99(i.Unread)/p99(i.Alone), p99(i.Silent)/p99(i.Alone))
	}
	for _, b := range r.Backlogs {
		say("With %d messages waiting, the dispatcher works %.3f µs on each message.", b.Waiting, median(b.Dispatcher))
	}
	return all
}

// sayThroughput compares the architectures with a pdu log, window 10.
func (r *Results) sayThroughput(say func(string, ...any)) {
	for _, connections := range []int{2, 64} {
		pipeline := find(r.Points, Setting{Pipeline, LogsPDUs, connections, 10})
		classic := find(r.Points, Setting{Classic, LogsPDUs, connections, 10})
		if pipeline == nil || classic == nil {
			continue
		}
		say("With pdu log, %d connections and window 10 the pipeline moves %.0f messages a second, %.2f times as many as classic, for %.2f times the CPU time each.",
			connections, pipeline.Median()[Throughput], ratio(pipeline, classic, Throughput), ratio(pipeline, classic, CPU))
	}
}

// sayGrowth tells what more connections cost, with a pdu log and window 10.
func (r *Results) sayGrowth(say func(string, ...any)) {
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
			say("From %d to %d connections %s goes from %.0f to %.0f goroutines, from %.0f to %.0f threads and from %.0f to %.0f MiB.",
				few.Connections, many.Connections, architecture, a[Goroutines], b[Goroutines], a[Threads], b[Threads], a[Memory], b[Memory])
		}
	}
}
