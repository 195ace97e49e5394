package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"pmg/gateway/keep"
	"pmg/gateway/node"
	"pmg/gateway/privacy"
	"pmg/pdulog"
	"pmg/protocols"
)

// settleAfter is added to pdulog.flush until all lines of a message are with the writers of logs.
const settleAfter = 500 * time.Millisecond

// Places returns where something of people is kept.
func (g *Gateway) Places(of *privacy.Numbers) *privacy.Places {
	cfg := g.Node.Config()
	p := &privacy.Places{
		Decoder: pdulog.NewDecoder(g.driverOf), Messages: g.Operate, Notes: keep.NewErasing(g.Keeper),
		Settle: cfg.PDULog.Flush + settleAfter, Left: privacy.LeftBy(cfg),
	}
	if g.logs.pdus != nil {
		p.PDULogs = g.logs.pdus
	}
	if w := g.Settler.Events.Writer; w != nil {
		p.Events = w
	}
	if !g.Keeper.Durable() {
		p.Left = append(p.Left, privacy.Left{Where: "queues", Why: privacy.MemoryStays})
	}
	for _, name := range g.Lists.With(of.All()) {
		p.Left = append(p.Left, privacy.Left{Where: "list " + name, Why: privacy.ListStays})
	}
	return p
}

// driverOf returns the driver that has a command.
func (g *Gateway) driverOf(command string) (protocols.Driver, error) {
	for _, c := range g.Table.Connectors() {
		if slices.Contains(c.Driver.Commands(), command) {
			return c.Driver, nil
		}
	}
	return nil, fmt.Errorf("no connector speaks the protocol of %s", command)
}

// retainEvery is how often it is looked for what is old enough to be removed from logs.
const retainEvery = int64(time.Hour)

// logs are the logs of PDUs, and what removes texts and numbers from old ones and from events.
type logs struct {
	pdus      *pdulog.Dir // nil: PDUs are not logged
	retainer  *privacy.Retainer
	retaining *node.Single
	next      *atomic.Int64   // when it is looked for old ones next, by the engine's clock
	quit      context.Context // ends what removes
	stop      context.CancelFunc
}

func newLogs() logs {
	quit, stop := context.WithCancel(context.Background())
	return logs{retainer: new(privacy.Retainer), retaining: new(node.Single), next: new(atomic.Int64), quit: quit, stop: stop}
}

// Retained are the figures of what was removed from logs because of its age.
func (g *Gateway) Retained() *privacy.Retainer { return g.logs.retainer }

// retain removes what is old enough, about once an hour.
func (g *Gateway) retain(now int64) {
	r := &g.logs
	next := r.next.Load()
	if now < next || !r.next.CompareAndSwap(next, now+retainEvery) {
		return
	}
	policy := privacy.PolicyOf(g.Node.Config())
	if policy.IsEmpty() {
		return
	}
	r.retaining.Begin(func() {
		g.Node.Pass("retention")
		cfg := g.Node.Config()
		var err error
		if g.logs.pdus != nil {
			err = r.retainer.Run(r.quit, g.logs.pdus, cfg.PDULog.Dir, pdulog.NewDecoder(g.driverOf), policy, time.Now())
		}
		if w := g.Settler.Events.Writer; w != nil {
			err = errors.Join(err, r.retainer.Run(r.quit, w, cfg.Events.Dir, nil, policy, time.Now()))
		}
		if err != nil && r.quit.Err() == nil {
			g.Node.Log.Error().Err(err).
				Msg("cannot remove from some logs what is older than retention says; it is tried again in an hour")
		}
	})
}
