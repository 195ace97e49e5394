// Package keep keeps accepted messages in the store until they have ended, and looks after the store:
// what is committed next, which messages may leave, what is read back, and how much room there is.
//
// # Start reading
//
// keep.go, accepted.go, aside.go, outgoing.go (what the gateway made itself), intents.go and unsettled.go (which
// messages may leave), load.go, upkeep.go, space.go.
package keep

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"pmg/connector"
	"pmg/gateway/node"
	"pmg/sms"
	"pmg/store"
)

// A Keeper keeps messages. It is safe for concurrent use.
type Keeper struct {
	node    *node.Node
	Batches store.Log   // set before the engine starts
	Inbox   Inbox       // set before the engine starts; nil: no texts are kept
	Index   store.Index // set before the engine starts
	store   store.Store // set before the engine starts

	IDs        atomic.Uint64 // the highest id that a message was given
	LastStored uint64        // set before the engine starts: the highest id of all earlier runs
	recovered  atomic.Bool   // messages of earlier runs are in their queues

	Storing   atomic.Int64 // submits that wait for their commit
	Unsettled Unsettled
	aside     [store.Asides]atomic.Int64 // number of messages that are put aside, by reason
	Outgoing  Outgoing
	Changing  ChangeLock // held by an operator's change of stored messages
	intents   intents
	Loads     Loads
	space     space
	upkeep    upkeep
	writings  sync.Pool // of *writing
	engine    atomic.Pointer[Engine]
}

// New makes a keeper. The caller then calls Open.
func New(n *node.Node) *Keeper {
	k := &Keeper{node: n, Outgoing: Outgoing{node: n}, Changing: make(ChangeLock, 1)}
	k.Loads.keeper = k
	k.writings.New = func() any { return newWriting(k) }
	return k
}

// StoreFiles returns how many tables a store may have open. limit is the process's number of file
// descriptors.
func StoreFiles(limit int) int { return min(1000, max(limit/8, 4)) }

// Open begins to keep messages in a store. It replaces an earlier store without messages. done is
// called after each commit, before the engine's Committed.
func (k *Keeper) Open(s store.Store, done func(upTo store.Position, err error)) {
	if k.Batches != nil {
		k.Batches.Close()
	}
	k.Index, k.store = s, s
	st := s.Stats()
	k.upkeep.last.Store(&st)
	k.LastStored = s.LastID()
	if s.Durable() {
		k.node.Memory.SetKeep(k.node.Config().StoreMemory())
	}
	c := store.NewCommitter(s, &k.node.Clock, k.committed, func(upTo store.Position, err error) {
		done(upTo, err)
		if e := k.engine.Load(); e != nil {
			(*e).Committed(upTo, err)
		}
	})
	c.Pace(k.node.Pass)
	k.Batches = c
}

func (k *Keeper) committed(upTo store.Position, err error) {
	k.Unsettled.committed(upTo, err)
	if err == nil {
		k.Outgoing.committed(upTo)
		k.intents.safe.Store(upTo)
	} else if k.node.Repeats.First("commit") {
		then := "they are refused until the store works again"
		if CodeOf(err) == sms.Undecided {
			then = "whether these are stored, the next start finds out: sessions end without an answer, HTTP says unknown-outcome"
		}
		k.node.Log.Error().Err(err).Msg("cannot store messages; " + then)
	}
}

// An Engine dispatches for the lanes, and answers messages after their commits.
type Engine interface {
	// Do runs f on the goroutine that dispatches for a lane, or under the lane's lock, and then
	// dispatches the lane. If the engine is closed, it returns false without running f.
	Do(l *connector.Lane, f func(now int64)) bool
	// Committed is called after each commit, on the committer's goroutine. upTo is the position of the
	// committed changes. If err is not nil, the messages of the commit were not stored.
	Committed(upTo store.Position, err error)
}

// Begin sets the engine, once, before the engine accepts messages.
func (k *Keeper) Begin(e Engine) { k.engine.Store(&e) }

// Do calls the engine's Do. Without an engine it returns false and does not run f.
func (k *Keeper) Do(l *connector.Lane, f func(now int64)) bool {
	e := k.engine.Load()
	return e != nil && (*e).Do(l, f)
}

// GoOn reports whether messages may leave again, and returns true once. Messages do not leave while
// too many ended messages are still in the store, or while their intents are not safe.
func (k *Keeper) GoOn() bool {
	safe := k.intents.goOn()
	return k.Unsettled.GoOn() || safe
}

// Recovered reports whether the messages of earlier runs are in their queues.
func (k *Keeper) Recovered() bool { return !k.Durable() || k.recovered.Load() }

// SetRecovered records that the messages of earlier runs are in their queues.
func (k *Keeper) SetRecovered() { k.recovered.Store(true) }

// Close closes the store. The store must not be in use any more.
func (k *Keeper) Close() error {
	k.upkeep.tidy.Wait()
	k.Batches.Close()
	if err := k.store.Close(); err != nil {
		return fmt.Errorf("cannot close store: %w", err)
	}
	return nil
}

// Decode returns the message of an entry, and the lane in which it waits.
func (k *Keeper) Decode(e *store.Entry) (*sms.Message, store.Lane, error) {
	h, err := store.DecodeHead(e.Record)
	if err != nil {
		return nil, store.Lane{}, err
	}
	lane := store.Lane{Connector: string(h.LaneConnector), Account: string(h.LaneAccount)}
	m := k.node.Messages.Get()
	m.ID = e.ID
	m.Origin = k.node.Origins.Of(string(h.Account), string(h.Connector))
	ahead := k.node.Clock.Ahead()
	if err := store.Decode(e.Record, m, ahead); err != nil {
		m.Release()
		return nil, lane, err
	}
	m.Arrived = min(m.Arrived, k.node.Clock.Now()) // limited, because the wall clock may have gone back
	if e.State != nil {
		s, err := store.DecodeState(e.State)
		if err != nil {
			m.Release()
			return nil, lane, err
		}
		lane = s.Lane
		s.Restore(m, ahead)
		m.NotBefore = k.NotBefore(s.NotBefore, ahead)
	}
	return m, lane, nil
}

// NotBefore converts the time of a message's next attempt from the wall clock to the engine's
// clock. The result is 0 if the message was not sent yet. The wall clock may have gone back since
// the time was stored, so the wait is limited to the longest pause.
func (k *Keeper) NotBefore(wall, ahead int64) int64 {
	if wall == 0 {
		return 0
	}
	var longest time.Duration
	for i := range k.node.Config().Connectors {
		longest = max(longest, k.node.Config().Connectors[i].Retry.Longest())
	}
	return min(wall-ahead, k.node.Clock.Now()+int64(longest))
}

// Find calls the function find, which reads the store. It returns an error if find may have found messages that were
// refused: a failed commit may have written messages, which are in the store until the next commit.
func (k *Keeper) Find(find func() error) error {
	if err := k.Batches.Sync(); err != nil {
		return err
	}
	before := k.Batches.Stats().Failed
	if err := find(); err != nil {
		return err
	}
	if err := k.Batches.Sync(); err != nil {
		return err
	}
	if k.Batches.Stats().Failed != before {
		return errors.New("messages could not be stored meanwhile; try again")
	}
	return nil
}

// LogUnreadable logs a message that cannot be read. The message stays in the store.
func (k *Keeper) LogUnreadable(id uint64, err error) {
	k.node.Log.Error().Err(err).Str("id", sms.FormatID(id)).Msg(
		"cannot read a stored message; it stays in the store: pmg store check says more",
	)
}

// Durable implements connector.Bodies: it reports whether an accepted message is stored
// before it is answered.
func (k *Keeper) Durable() bool { return k.store.Durable() }

// LaneName returns the name of a lane in the store.
func LaneName(l *connector.Lane) store.Lane {
	if l.ToClient() {
		return store.Lane{Account: l.Account, Connector: l.Endpoint}
	}
	return store.Lane{Connector: l.Home().Name}
}

// CodeOf returns the code of messages whose commit has ended with an error, or nil. SystemError
// says that nothing of them was stored. Undecided says that only the next start will show whether
// they were stored.
func CodeOf(err error) sms.Code {
	switch {
	case err == nil:
		return sms.OK
	case store.IsUndone(err):
		return sms.SystemError
	}
	return sms.Undecided
}

// Commit requests a commit of the collected changes. It does not wait for the commit.
func (k *Keeper) Commit() { k.Batches.Commit() }

// CommitEnded writes the ends of messages, and requests a commit. The commit is only urgent if
// messages wait for their intents.
func (k *Keeper) CommitEnded() {
	k.Batches.WriteEnds()
	if k.intents.waited() {
		k.Batches.Commit()
	} else {
		k.Batches.CommitSoon()
	}
}

// MayStore reports whether another message may wait for its commit: there is room on the disk, and
// not too many wait. Waiting messages are live jobs: if the disk hangs, most jobs must remain
// available for work without the disk.
func (k *Keeper) MayStore() bool {
	return k.space.low.Load() == nil && k.Storing.Load() < int64(k.node.Config().Limits.MaxJobs)/2
}

// LogLookup logs, at a limited rate, that the messages of receipts cannot be looked up.
func (k *Keeper) LogLookup(err error) {
	if k.node.Repeats.First("lookup") {
		k.node.Log.Error().Err(err).Msg("cannot find out where a receipt belongs")
	}
}
