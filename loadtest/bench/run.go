package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"pmg/loadtest"
	"pmg/loadtest/child"
	"pmg/loadtest/httpload"
)

// switchesRecorded is how many switches of a goroutine the runtime records one of in /sched/latencies:seconds
// (gTrackingPeriod). The first run of a goroutine counts about twice, because those that ended leave their mark to the next.
const switchesRecorded = 8

const (
	warmUp      = 4                // 1/warmUp of the messages is sent first to warm up
	arrivalTime = 20 * time.Second // how long an answered message may take to the sink

	receiptsWindow = 200 // unanswered receipts of the sink on each session; a small window delays receipts more and more
)

// A run is one child under load.
type run struct {
	child   *child.Child
	sink    *loadtest.Sink
	sample  Sample
	stages  []StageWork
	latency loadtest.Latency
	before  snapshot
	err     error
}

// A snapshot holds the counters of a child at one time.
type snapshot struct {
	time     time.Time
	usage    usage
	counters child.Counters
	overhead child.Counters // increase of the counters by one reading of them
}

// runGateway measures a gateway once.
func (o *Options) runGateway(ctx context.Context, s Setting) (*run, error) {
	return o.run(ctx, s, func(sink string) (*child.Child, error) {
		return startGateway(
			ctx, o.gateway(s.Architecture),
			gatewayConfig{Setting: s, Protocol: o.Protocol, Sink: sink, Sessions: o.smscSessions(s)},
		)
	})
}

// run measures the child that start starts, which forwards the load to the sink.
func (o *Options) run(ctx context.Context, s Setting, start func(sink string) (*child.Child, error)) (*run, error) {
	r, stop, err := o.start(s, start)
	if err != nil {
		return nil, err
	}
	defer stop()
	messages := o.messages(s)
	ahead := messages / warmUp
	if err := r.warm(ctx, o.Protocol, s, ahead); err != nil {
		return nil, err
	}
	if err := r.measure(ctx, o.Protocol, s, ahead, messages); err != nil {
		return nil, err
	}
	return r, nil
}

// start starts a sink, and the child that forwards to it.
func (o *Options) start(s Setting, start func(sink string) (*child.Child, error)) (r *run, stop func(), err error) {
	r = &run{}
	var ends []func()
	stop = func() {
		for _, end := range slices.Backward(ends) {
			end()
		}
	}
	r.sink, err = loadtest.StartSink(loadtest.SinkOptions{
		Listen: "127.0.0.1:0", Protocol: o.Protocol, Receipts: s.hasReceipts(), Receipt: s.receipt(), Window: receiptsWindow,
	})
	if err != nil {
		return nil, nil, err
	}
	ends = append(ends, func() { _ = r.sink.Close() })
	if r.child, err = start(r.sink.Addr()); err != nil {
		stop()
		return nil, nil, err
	}
	ends = append(ends, r.child.Stop)
	if o.separate {
		restore, err := separate(r.child.Cmd.Process.Pid)
		if err != nil {
			stop()
			return nil, nil, err
		}
		ends = append(ends, restore)
	}
	return r, stop, nil
}

// options returns the options of a load of n messages, from the number first on.
func (r *run) options(protocol string, s Setting, first, n int64) loadtest.LoadOptions {
	load := loadtest.DefaultLoadOptions()
	load.Protocol, load.Receipts = protocol, s.hasReceipts()
	load.To, load.Connections, load.Window, load.First, load.Messages = r.child.Address, s.Connections, s.Window, first, n
	return load
}

// warm sends the first n messages.
func (r *run) warm(ctx context.Context, protocol string, s Setting, n int64) error {
	if _, err := s.load(ctx, r.options(protocol, s, 0, n)); err != nil {
		return err
	}
	return r.arrived(ctx, n)
}

// measure sends n messages, from the number first on, and measures the child.
func (r *run) measure(ctx context.Context, protocol string, s Setting, first, n int64) error {
	load := r.options(protocol, s, first, n)
	load.Bound = func() { r.err = r.begin() }
	load.Answered = func() {
		if r.err == nil {
			r.err = r.end(ctx, first+n, n)
		}
	}
	result, err := s.load(ctx, load)
	if err == nil {
		err = r.err
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("cannot measure %s: %w", s, err)
	}
	l := result.Latency
	r.latency, r.sample[P50], r.sample[P99], r.sample[P999] = l, l.P50, l.P99, l.P999
	if problems := append(result.Problems(), loadtest.Compare(result, r.sink.Result()).Problems()...); problems != nil {
		return fmt.Errorf("cannot measure %s: %v", s, problems)
	}
	return nil
}

// load sends load as the setting says.
func (s Setting) load(ctx context.Context, load loadtest.LoadOptions) (*loadtest.LoadResult, error) {
	switch s.Traffic {
	case HTTP:
		return httpload.Load(ctx, httpload.Options{LoadOptions: load})
	case HTTPKeyed:
		return httpload.Load(ctx, httpload.Options{LoadOptions: load, Way: httpload.Keyed})
	}
	return loadtest.Load(ctx, load)
}

// arrived waits until this many messages have arrived at the sink.
func (r *run) arrived(ctx context.Context, messages int64) error {
	ctx, cancel := context.WithTimeout(ctx, arrivalTime)
	defer cancel()
	return r.sink.Await(ctx, messages)
}

// begin takes the snapshot when all connections are bound. It reads the counters twice to
// measure the overhead, because reading them allocates.
func (r *run) begin() (err error) {
	s := &r.before
	if r.child.Admin != "" {
		first, err := r.child.Counters()
		if err != nil {
			return err
		}
		if s.counters, err = r.child.Counters(); err != nil {
			return err
		}
		s.overhead = child.Counters{}
		for name, value := range s.counters {
			s.overhead[name] = value - first[name]
		}
	}
	s.usage, err = usageOf(r.child.Cmd.Process.Pid)
	s.time = time.Now()
	return err
}

// end waits for the last message and computes the sample.
func (r *run) end(ctx context.Context, expected, messages int64) error {
	if err := r.arrived(ctx, expected); err != nil {
		return err
	}
	now := time.Now()
	u, err := usageOf(r.child.Cmd.Process.Pid)
	if err != nil {
		return err
	}
	n, elapsed := float64(messages), now.Sub(r.before.time).Seconds()
	cpu := (u.cpu - r.before.usage.cpu).Seconds()
	s := &r.sample
	s[Throughput] = n / elapsed
	s[CPU] = cpu / n * 1e6
	s[Usage] = cpu / elapsed
	s[Load] = (u.runnable - r.before.usage.runnable).Seconds() / elapsed
	s[PerUsage] = per(s[Throughput], s[Usage])
	s[PerLoad] = per(s[Throughput], s[Load])
	s[Memory] = float64(u.peak) / (1 << 20)
	s[Threads] = float64(u.threads)
	s[Switches] = float64(u.switches-r.before.usage.switches) / n
	s[Written] = float64(u.written-r.before.usage.written) / n
	if r.child.Admin == "" {
		return nil
	}
	after, err := r.child.Counters()
	if err != nil {
		return err
	}
	perMessage := func(name string) float64 {
		return max(0, after[name]-r.before.counters[name]-r.before.overhead[name]) / n
	}
	s[Goroutines] = after["go_goroutines"]
	s[Allocations] = perMessage("go_memstats_mallocs_total")
	s[Locks] = perMessage("pmg_lock_acquisitions_total")
	s[StoreLocks] = perMessage("pmg_store_lock_acquisitions_total")
	s[Runs] = switchesRecorded * perMessage("go_sched_latencies_seconds_count")
	s[Changes] = perMessage("pmg_handle_changes_total")
	status, err := statusOf(r.child)
	r.stages = status.Stages
	return err
}

// per returns a/b, or 0 if b is 0, because some kernels do not count b.
func per(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
