package bench

import (
	"context"
	"strings"

	"pmg/loadtest"
	"pmg/loadtest/child"
)

// An EchoComparison holds the latency of submits on one connection, one at a time, and
// that of a TCP echo server with requests and answers of the same sizes. Each slice has
// one value per round.
type EchoComparison struct {
	Echo    []loadtest.Latency `json:"echo"`
	Gateway []loadtest.Latency `json:"gateway"`
}

// Latency compares the pipeline's answers with those of an echo server, in turn. Each is a
// process of its own, on processors of its own.
func Latency(ctx context.Context, o Options) (*EchoComparison, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	o.separate = true
	one := Setting{Pipeline, LogsNothing, 1, 1, "", ""}
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

// runEcho starts an echo server and makes round trips to it, after some to warm up.
func runEcho(ctx context.Context, command []string, roundTrips int) (loadtest.Latency, error) {
	c, err := child.Start(ctx, command, func(string) ([]string, error) { return nil, nil })
	if err != nil {
		return loadtest.Latency{}, err
	}
	defer c.Stop()
	err = c.Await(ctx, func() bool {
		address := c.Log()
		c.Address = strings.TrimSpace(address)
		return strings.HasSuffix(address, "\n")
	})
	if err != nil {
		return loadtest.Latency{}, err
	}
	together, err := separate(c.Cmd.Process.Pid)
	if err != nil {
		return loadtest.Latency{}, err
	}
	defer together()
	if _, err := loadtest.Echo(ctx, c.Address, roundTrips/warmUp); err != nil {
		return loadtest.Latency{}, err
	}
	return loadtest.Echo(ctx, c.Address, roundTrips)
}

// p50 and p99 return medians over the rounds.
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
