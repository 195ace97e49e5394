package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"pmg/loadtest"
	"pmg/loadtest/child"
)

// A Backlog is the cost of a message while others wait for the SMSC. Each slice has one
// value per round.
type Backlog struct {
	Waiting    int64     `json:"waiting"`       // messages, the same number during the whole measurement
	Dispatcher []float64 `json:"dispatcher_us"` // working time of the dispatcher per message sent
	Queued     []int64   `json:"queued"`        // messages that were queued at the end
}

// Backlogs measures the pipeline with a short queue and a long one.
func Backlogs(ctx context.Context, o Options) ([]Backlog, error) {
	return o.backlogs(ctx, 1_000, 1_000_000)
}

func (o *Options) backlogs(ctx context.Context, waiting ...int64) ([]Backlog, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	all := make([]Backlog, len(waiting))
	total := len(all) * o.Rounds
	for done := range total {
		b := &all[done%len(all)]
		b.Waiting = waiting[done%len(all)]
		o.progress(done, total, fmt.Sprintf("%d messages wait", b.Waiting))
		if err := o.measureBacklog(ctx, b); err != nil {
			return nil, fmt.Errorf("cannot measure backlog of %d: %w", b.Waiting, err)
		}
	}
	o.progress(total, total, "done")
	return all, nil
}

// measureBacklog fills the queue while there is no SMSC, starts the SMSC and measures. The
// queue takes no more than the backlog, so that clients are answered as fast as messages
// are sent and the backlog stays the same.
func (o *Options) measureBacklog(ctx context.Context, b *Backlog) error {
	address, err := freeAddress()
	if err != nil {
		return err
	}
	s := Setting{Pipeline, LogsNothing, 64, 10, "", ""}
	config := gatewayConfig{Setting: s, Sink: address, Sessions: 4, MaxQueue: int(b.Waiting)}
	c, err := child.StartGateway(ctx, o.Gateway, config.yaml)
	if err != nil {
		return err
	}
	defer c.Stop()
	load := loadtest.DefaultLoadOptions()
	load.To, load.Connections, load.Window, load.Messages = c.Address, s.Connections, s.Window, b.Waiting
	if _, err := loadtest.Load(ctx, load); err != nil {
		return err
	}
	sink, err := loadtest.StartSink(loadtest.SinkOptions{Listen: address})
	if err != nil {
		return err
	}
	defer sink.Close()
	if err := c.Ready(ctx); err != nil {
		return err
	}
	var before, after dispatched
	var first, second error
	load.First, load.Messages = b.Waiting, o.Messages
	load.Bound = func() { before, first = dispatchedOf(c) }
	load.Answered = func() { // the dispatcher may not have had its turn yet
		for end := time.Now().Add(arrivalTime); after.sent <= before.sent && second == nil && time.Now().Before(end); {
			after, second = dispatchedOf(c)
		}
	}
	if _, err := loadtest.Load(ctx, load); err != nil {
		return err
	}
	for _, err := range []error{first, second, ctx.Err()} {
		if err != nil {
			return err
		}
	}
	b.Dispatcher = append(b.Dispatcher, per(after.seconds-before.seconds, float64(after.sent-before.sent))*1e6)
	b.Queued = append(b.Queued, after.queued)
	return nil
}

// dispatched is the work of a dispatcher since the gateway's start.
type dispatched struct {
	seconds      float64
	sent, queued int64
}

func dispatchedOf(c *child.Child) (d dispatched, err error) {
	s, err := statusOf(c)
	if err != nil {
		return d, err
	}
	stage := slices.IndexFunc(s.Stages, func(s StageWork) bool { return s.Name == "dispatcher" })
	if stage < 0 {
		return d, errors.New("cannot find the dispatcher in the gateway's status")
	}
	operator := s.connector("operator")
	return dispatched{s.Stages[stage].BusySeconds, operator.Sent, operator.Queued}, nil
}
