package gateway

import (
	"errors"

	"pmg/store"
)

// Keep makes the gateway keep accepted messages in a store, which Close closes. It is
// called before an engine starts.
func (g *Gateway) Keep(s store.Store) error {
	g.Keeper.Open(s, g.committed)
	g.Keeper.IDs.Store(max(g.Keeper.IDs.Load(), g.Keeper.LastStored))
	if err := g.Settler.OpenEvents(); err != nil {
		return err
	}
	if err := g.Receipts.SMSCs.Load(); err != nil {
		return err
	}
	if err := g.Lists.Keep(); err != nil {
		return err
	}
	if err := g.Inbox.Load(); err != nil {
		return err
	}
	return g.Intake.Credit.Load()
}

func (g *Gateway) committed(upTo store.Position, err error) {
	if w := g.Settler.Events.Writer; err == nil && w != nil {
		w.Wake()
	}
	g.Requests.Committed(upTo, err)
}

// GoesOn reports whether messages may leave again, and returns true once. Messages do not leave
// while too many ended messages are still in the store, or while their intents are not stored. It
// is called after each commit.
func (g *Gateway) GoesOn() bool {
	logged := g.Settler.Events.GoesOn()
	return g.Keeper.GoOn() || logged
}

// closeStore commits the remaining changes, and closes the store.
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
