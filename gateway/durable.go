package gateway

import (
	"errors"

	"pmg/store"
	"pmg/store/ended"
)

// Keep makes the gateway keep accepted messages in a store, which Close closes. It is
// called before an engine starts. outcomes may be nil: then messages that have ended
// shortly before the gateway is killed are sent again.
func (g *Gateway) Keep(s store.Store, outcomes *ended.Notes) error {
	g.Keeper.Open(s, g.committed)
	g.Keeper.IDs.Store(max(g.Keeper.IDs.Load(), g.Keeper.LastStored))
	if err := g.Settler.OpenEvents(); err != nil {
		return err
	}
	if err := g.Receipts.SMSCs.Load(); err != nil {
		return err
	}
	if err := g.Intake.Credit.Load(); err != nil {
		return err
	}
	if outcomes == nil {
		return nil
	}
	if err := g.forgetKilled(outcomes); err != nil {
		return errors.Join(err, outcomes.Close())
	}
	g.Keeper.LastStored = s.LastID() // receipts of messages that had failed have come, which Recover finds in the store
	g.Keeper.Outgoing.LeaveStored()
	outcomes.Clear()
	g.Keeper.Unsettled.Outcomes = outcomes
	return nil
}

func (g *Gateway) committed(upTo store.Position, err error) {
	if w := g.Settler.Events.Writer; err == nil && w != nil {
		w.Wake()
	}
	g.Requests.Committed(upTo, err)
}

// GoesOn reports, once, that messages may leave that were kept from it because the store had
// not forgotten enough others, or because the notes that they leave were not safe. It is
// called after each commit.
func (g *Gateway) GoesOn() bool {
	logged := g.Settler.Events.GoesOn()
	return g.Keeper.GoOn() || logged
}

// closeStore commits what is left, and closes the store.
func (g *Gateway) closeStore() error {
	g.Keeper.Loads.End()
	g.Receipts.EndOrphans()
	g.Settler.Dead.End()
	g.Receipts.EndWaits()
	g.Receipts.Asking.End()
	g.Keeper.Outgoing.End()
	failed := g.Settler.CloseEvents()
	return errors.Join(failed, g.Keeper.Close())
}
