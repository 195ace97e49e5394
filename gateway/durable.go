package gateway

import (
	"errors"
	"fmt"

	"pmg/connector"
	"pmg/sms"
	"pmg/store"
)

// Keep makes the gateway keep accepted messages in a store, which Close closes. It is
// called before an engine starts. outcomes may be nil: then messages that have ended
// shortly before the gateway is killed are sent again.
func (g *Gateway) Keep(s store.Store, outcomes *store.Outcomes) error {
	g.store = s
	st := s.Stats()
	g.upkeep.last.Store(&st)
	g.lastStored = s.LastID()
	g.ids.Store(max(g.ids.Load(), g.lastStored))
	if s.Durable() {
		g.Memory.SetKeep(g.Config().StoreMemory())
	}
	g.Committer = store.NewCommitter(s, &g.Clock, g.committed)
	g.Committer.Pace(g.Pass)
	if err := g.openEvents(); err != nil {
		return err
	}
	if err := g.loadForms(); err != nil {
		return err
	}
	if outcomes == nil {
		return nil
	}
	if err := g.forgetKilled(outcomes); err != nil {
		return errors.Join(err, outcomes.Close())
	}
	g.lastStored = s.LastID() // receipts of messages that had failed have come, which Recover finds in the store
	g.receipts.outgoing.areStored()
	outcomes.Clear()
	g.unsettled.outcomes = outcomes
	return nil
}

// OnCommit has f called after each commit, on the committer's goroutine. upTo is the
// number of the batch; with an error its messages were not stored. An engine calls this
// once, before it accepts messages.
func (g *Gateway) OnCommit(f func(upTo uint64, err error)) { g.onCommit.Store(&f) }

func (g *Gateway) committed(upTo uint64, err error) {
	if err != nil && g.News.Is("commit") {
		g.Log.Error().Err(err).Msg("cannot store messages; they are refused until the store works again")
	}
	if err == nil {
		g.unsettled.committed(upTo)
		if w := g.events.writer; w != nil {
			w.Wake()
		}
		g.notes.safe.Store(upTo)
	}
	g.receipts.outgoing.committed(g, upTo, err != nil)
	if f := g.onCommit.Load(); f != nil {
		(*f)(upTo, err)
	}
}

// Durable implements connector.Policy: it reports whether an accepted message is stored
// before it is answered.
func (g *Gateway) Durable() bool { return g.store != nil && g.store.Durable() }

// laneName returns the name by which a lane stands in the store.
func laneName(l *connector.Lane) store.Lane {
	if l.Account != "" {
		return store.Lane{Account: l.Account}
	}
	return store.Lane{Connector: l.Home().Name}
}

// Put adds messages that were accepted of one PDU to what is committed next, and returns
// the number of that batch. Those without a share are parked.
func (g *Gateway) Put(first Accepted, more []Accepted) (batch uint64) {
	b := g.Committer.Begin()
	before := b.Octets()
	g.put(b, first)
	for _, a := range more {
		g.put(b, a)
	}
	size := b.Octets() - before
	batch = g.Committer.End()
	g.spend(size)
	return batch
}

func (g *Gateway) put(b *store.Batch, a Accepted) {
	switch {
	case isNoted(a):
		g.notePart(b, a.Message)
	case a.Share == nil:
		b.Put(a.Message, store.Lane{})
		why := asideOf(a.Message)
		g.keepAside(b, a.Message, store.Lane{}, why, g.reasonOf(a.Message, why))
	case g.Durable():
		b.Put(a.Message, laneName(a.Share.Lane))
	}
}

// keepState stores what has changed of a message that waits again, and returns the number of the
// batch, 0 if nothing is stored.
func (g *Gateway) keepState(l *connector.Lane, m *sms.Message) (batch uint64) {
	if !g.Durable() {
		return 0
	}
	b := g.Committer.Begin()
	b.Keep(m, store.State{Lane: laneName(l)})
	return g.Committer.End()
}

// Commit asks for what was collected to be committed. It does not wait for that.
func (g *Gateway) Commit() {
	if g.Committer != nil {
		g.Committer.Commit()
	}
}

// CommitEnded asks for a commit of what has ended. Only messages that wait for a note of
// theirs need it immediately.
func (g *Gateway) CommitEnded() {
	switch {
	case g.Committer == nil:
	case g.notes.waited():
		g.Committer.Commit()
	default:
		g.Committer.CommitSoon()
	}
}

// closeStore commits what is left, and closes the store.
func (g *Gateway) closeStore() error {
	if g.store == nil {
		return nil
	}
	g.loads.end()
	g.receipts.orphans.end()
	g.countOrphans()
	g.keywords.end()
	g.receipts.waits.running.Wait()
	g.receipts.outgoing.end()
	failed := g.closeEvents()
	g.upkeep.tidy.running.Wait()
	g.Committer.Close()
	if o := g.unsettled.outcomes; o != nil && g.unsettled.n.Load() == 0 {
		failed = errors.Join(failed, o.Remove())
	} else if o != nil {
		failed = errors.Join(failed, o.Close())
	}
	if err := g.store.Close(); err != nil {
		return fmt.Errorf("cannot close store: %w", err)
	}
	return failed
}
