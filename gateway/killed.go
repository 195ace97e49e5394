package gateway

import (
	"fmt"
	"math"

	"pmg/events"
	"pmg/gateway/keep"
	"pmg/gateway/receipts"
	"pmg/sms"
	"pmg/store"
	"pmg/store/ended"
)

// isNotedUnderWay reports whether a stored state was written when the message was about to
// leave, so that it counts that attempt.
func isNotedUnderWay(state []byte) bool {
	s, err := store.DecodeState(state)
	return err == nil && s.UnderWay
}

// forgetKilled deletes from the store the messages that had ended when an earlier run was killed,
// before their deletes were committed.
func (g *Gateway) forgetKilled(outcomes *ended.Notes) error {
	var e store.Entry
	var failed error
	n := 0
	outcomes.Read(func(o ended.Outcome) {
		if failed != nil || o.ID > g.Keeper.LastStored {
			return
		}
		found, err := g.Keeper.Index.Get(o.ID, &e)
		if err != nil {
			failed = fmt.Errorf("cannot read store: %w", err)
			return
		}
		if !found {
			return
		}
		m, lane, err := g.Keeper.Decode(&e)
		if err != nil {
			g.Keeper.LogUnreadable(o.ID, err)
			return
		}
		if o.Sent != 0 && !isNotedUnderWay(e.State) {
			m.Sends = uint8(min(int(m.Sends)+1, math.MaxUint8)) // its state was stored before it was sent last
		}
		if o.Lane != 0 && o.Lane != ended.HashOf(lane) { // it had moved, and the store did not know that yet
			for _, c := range g.Table.Connectors() { // not all have a lane yet
				if name := (store.Lane{Connector: c.Name}); ended.HashOf(name) == o.Lane {
					lane = name
				}
			}
		}
		ahead, maps := g.Node.Clock.Ahead(), (*receipts.SMSC)(nil)
		e := keep.Ending{
			State: events.StateOf(o.Code), Lane: lane,
			Answer: sms.Answer{Code: o.Code, Status: o.Status, PeerID: o.PeerID, At: o.At - ahead}, Attempts: o.Attempts,
		}
		if o.Sent != 0 {
			e.Sent = o.Sent - ahead
		}
		if l := g.Table.LaneNamed(g.Node.Config(), lane); l != nil {
			e.Peer = l.Home().Driver
			maps = g.Receipts.MapsFor(l, m, &e.Answer)
			e.Operations = l.Config().Operations
		}
		if sms.PriceOf(m) != 0 {
			m.Origin.Tally.Credit.Found(sms.PriceOf(m))
		}
		g.Settler.Forget(m, e, maps)
		m.Release()
		n++
	})
	if failed == nil {
		failed = g.Keeper.Journal.Sync()
	}
	g.Keeper.Outgoing.LeaveStored()
	if n > 0 {
		g.Node.Log.Info().Int("messages", n).Msg("messages that had ended when the gateway was killed are not sent again")
	}
	return failed
}
