// Package whatif tries a configuration that is not in force on messages that were sent: where they would have gone, what they
// would have cost, and which would have been refused.
//
//	events ──► batches ──► replayers, one for each processor: intake steps, price, cost ──► sums ──► Answer
//
// Start reading with Try, then replay.go (one message), sums.go (what is counted).
package whatif

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"pmg/config"
	"pmg/events"
	"pmg/events/stats"
	"pmg/protocols"
)

// Drivers makes the driver of a protocol.
type Drivers func(protocol string, c *config.Config) (protocols.Driver, error)

// A Question is what is tried.
type Question struct {
	Config   *config.Config // the configuration, which was checked
	Drivers  Drivers
	Dirs     []string  // directories of events
	From, To time.Time // messages that have ended in between; To is not included
	Account  string    // "": all accounts
	Workers  int       // how many processors it may take; 0: all
	Progress func(events int64)
}

// During sets the period of a question to days, and its directories to that of the configuration if it has none.
func (q *Question) During(days *stats.Days, now time.Time) error {
	if len(q.Dirs) == 0 {
		if q.Config.Events.Dir == "" {
			return errors.New("the configuration has no events.dir: name a directory of events")
		}
		q.Dirs = []string{q.Config.Events.Dir}
	}
	var err error
	q.From, q.To, err = days.Period(now)
	return err
}

// batchLines is about how many octets of lines a replayer gets together.
const batchLines = 256 << 10

// Try answers a question.
func Try(ctx context.Context, q Question) (*Answer, error) {
	workers := cmp.Or(q.Workers, runtime.GOMAXPROCS(0))
	batches := make(chan []byte, workers)
	var running sync.WaitGroup
	all := make([]*replayer, workers)
	for i := range all {
		r, err := newReplayer(&q)
		if err != nil {
			close(batches)
			return nil, errors.Join(err, closeAll(all))
		}
		all[i] = r
		running.Go(func() {
			for lines := range batches {
				r.replay(lines)
			}
		})
	}
	err := readInto(ctx, &q, batches)
	close(batches)
	running.Wait()
	if err = errors.Join(err, closeAll(all)); err != nil {
		return nil, fmt.Errorf("cannot try the configuration: %w", err)
	}
	sum := all[0].sums
	for _, r := range all[1:] {
		sum.add(r.sums)
	}
	return sum.answer(&q), nil
}

func closeAll(all []*replayer) (err error) {
	for _, r := range all {
		if r != nil {
			err = errors.Join(err, r.gateway.Close())
		}
	}
	return err
}

// readInto sends the lines of events that may be of the period.
func readInto(ctx context.Context, q *Question, batches chan<- []byte) error {
	var n int64
	batch := make([]byte, 0, batchLines+4096)
	send := func() error {
		select {
		case batches <- batch:
		case <-ctx.Done():
			return ctx.Err()
		}
		batch = make([]byte, 0, batchLines+4096)
		q.Progress(n)
		return nil
	}
	err := events.ReadAll(q.Dirs, q.From.Add(-time.Hour), func(line []byte) error {
		n++
		if batch = append(batch, line...); len(batch) < batchLines {
			return nil
		}
		return send()
	})
	if err != nil {
		return err
	}
	return send()
}
