package gateway

import (
	"fmt"
	"slices"
	"time"

	"pmg/gateway/keep"
	"pmg/pdulog"
	"pmg/privacy"
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
	if g.pdulogs != nil {
		p.PDULogs = g.pdulogs
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
