package bench

import (
	"context"
	"os"
	"strings"

	"pmg/loadtest"
)

// An EchoComparison is how long a submit on one connection waits for its answer,
// one at a time, and how long a bare TCP echo of the same sizes takes. One value
// a round.
type EchoComparison struct {
	Echo    []loadtest.Latency `json:"echo"`
	Gateway []loadtest.Latency `json:"gateway"`
}

// Latency compares the pipeline's answers with an echo, both processes of their
// own and on processors of their own, in turn.
func Latency(ctx context.Context, o Options) (*EchoComparison, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	o.apart = true
	one := Setting{Pipeline, LogsNothing, 1, 1}
	c := &EchoComparison{}
	for i := range o.Rounds {
		o.progress(2*i, 2*o.Rounds, "echo")
		echo, err := runEcho(ctx, o.Echo, int(o.messages(one)))
		if err != nil {
			return nil, err
		}
		o.progress(2*i+1, 2*o.Rounds, one.String())
		r, err := o.runGateway(ctx, one)
		if err != nil {
			return nil, err
		}
		c.Echo = append(c.Echo, echo)
		c.Gateway = append(c.Gateway, r.latency)
	}
	o.progress(2*o.Rounds, 2*o.Rounds, "done")
	return c, nil
}

// runEcho makes round trips to an echo server of its own, after some to warm up.
func runEcho(ctx context.Context, command []string, roundTrips int) (loadtest.Latency, error) {
	c, err := startChild(ctx, command, func(string) ([]string, error) { return nil, nil })
	if err != nil {
		return loadtest.Latency{}, err
	}
	defer c.stop()
	err = c.await(ctx, func() bool {
		address, err := os.ReadFile(c.logFile())
		c.address = strings.TrimSpace(string(address))
		return err == nil && strings.HasSuffix(string(address), "\n")
	})
	if err != nil {
		return loadtest.Latency{}, err
	}
	together, err := apart(c.cmd.Process.Pid)
	if err != nil {
		return loadtest.Latency{}, err
	}
	defer together()
	if _, err := loadtest.Echo(ctx, c.address, roundTrips/warmUp); err != nil {
		return loadtest.Latency{}, err
	}
	return loadtest.Echo(ctx, c.address, roundTrips)
}

// p50 and p99 are medians over the rounds.
func p50(l []loadtest.Latency) float64 {
	return medianOf(l, func(l loadtest.Latency) float64 { return l.P50 })
}

func p99(l []loadtest.Latency) float64 {
	return medianOf(l, func(l loadtest.Latency) float64 { return l.P99 })
}

func medianOf(l []loadtest.Latency, of func(loadtest.Latency) float64) float64 {
	v := make([]float64, len(l))
	for i := range l {
		v[i] = of(l[i])
	}
	return median(v)
}
