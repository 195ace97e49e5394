package gateway

import "pmg/gateway/node"

// SeeClock records the engine's time, runs the store's upkeep, and logs the numbers of suppressed
// log entries. It is called about once a second.
func (g *Gateway) SeeClock(now int64) {
	g.Node.Clock.See(now)
	g.Keeper.Upkeep(now, func(now int64) { // upkeep of data in the store other than messages
		g.Settler.CheckEvents()
		g.Receipts.LookAfter(now)
		g.Settler.Dead.LookAfter()
		g.Inbox.LookAfter(now)
	})
	g.Intake.Joiner.End(now)
	g.lookAtFiles(now)
	g.retain(now)
	g.refresh(now)
	g.Node.LogLimits.SumUp(&g.Node.Log, now-node.SampleTime)
}

// refresh reads changed files of lists and of the table of networks again, on another goroutine,
// unless that goroutine is still busy.
func (g *Gateway) refresh(now int64) {
	if !g.upkeep.busy.CompareAndSwap(false, true) {
		return
	}
	g.upkeep.running.Go(func() {
		defer g.upkeep.busy.Store(false)
		g.Lists.Refresh(now)
		g.Intake.Networks.Refresh(now)
	})
}
