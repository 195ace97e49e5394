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

// settleAfter is how long, in addition to pdulog.flush, it takes until all log lines of a message
// are written.
const settleAfter = 500 * time.Millisecond

// Places returns the places where the gateway keeps data of people.
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
	for _, l := range g.Lists.Listings(of.All()) {
		left := privacy.Left{Where: "list " + l.Name, Why: privacy.HistoryStays}
		if l.On {
			left.Why = privacy.ListStays
		}
		if !l.Changed.IsZero() {
			left.Why += "; the last change is of " + l.Changed.Format("2006-01-02 15:04:05 UTC")
		}
		p.Left = append(p.Left, left)
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

// retainEvery is the interval at which old files of logs are searched for.
const retainEvery = int64(time.Hour)

// logs are the pdu logs, and the code that removes texts and numbers from old pdu logs and events.
type logs struct {
	pdus      *pdulog.Dir // nil: PDUs are not logged
	retainer  *privacy.Retainer
	retaining *node.Single
	next      *atomic.Int64   // time of the next search, by the engine's clock
	quit      context.Context // ends a removal that is running
	stop      context.CancelFunc
}

func newLogs() logs {
	quit, stop := context.WithCancel(context.Background())
	return logs{retainer: new(privacy.Retainer), retaining: new(node.Single), next: new(atomic.Int64), quit: quit, stop: stop}
}

// Retained returns the figures of removals from logs because of age.
func (g *Gateway) Retained() *privacy.Retainer { return g.logs.retainer }

// retain removes old data from logs. It does so about once an hour.
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
