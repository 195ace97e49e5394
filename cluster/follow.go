package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"pmg/cluster/lease"
	"pmg/store"
	"pmg/store/journal"
)

// follow applies the journal to the copy, until ctx ends.
func (n *Node) follow(ctx context.Context) {
	defer close(n.stopped)
	from, known := n.store.Moved(), false
	after := from
	if from > 0 {
		after-- // the record at from determines which records may follow
	} else {
		known = true
	}
	err := n.journal.FollowOn(ctx, after, func(at journal.Seq, id journal.ID, record []byte) error {
		if !known {
			known = true
			if at == from && id == (journal.ID{}) {
				return fmt.Errorf("the record at %d, the last one that the store has, cannot be read with cluster.secret, nor "+
					"with old_secret: give the secret that the other nodes have", from)
			}
			n.shared.Seed(at, id)
			if at != from {
				return fmt.Errorf("the copy has the journal up to the record at %d, which the journal does not have", from)
			}
			return nil
		}
		counts, err := n.shared.Judge(at, id)
		if err == nil && counts {
			err = n.store.Apply(at, record)
		}
		return err
	})
	if errors.Is(err, journal.ErrTrimmed) {
		err = fmt.Errorf("%w. This node was away for too long (cluster.keep): put a copy of another node's store in the place "+
			"of %s, as docs/cluster.md says", err, n.o.Dir)
	}
	if ctx.Err() == nil {
		n.end(fmt.Errorf("cannot follow the journal: %w", err))
	}
}

// tidy runs the store's upkeep while this node stands by.
func (n *Node) tidy() {
	every := time.NewTicker(time.Second)
	defer every.Stop()
	for {
		select {
		case <-n.stopped:
			return
		case <-every.C:
			n.store.Tidy()
		}
	}
}

// TakeOver waits until this node owns the work and has applied all records that earlier owners have
// stored. Then the gateway may begin to work with Store. From then on the node watches the lease:
// see Done.
func (n *Node) TakeOver(ctx context.Context) (epoch uint64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(n.ctx, cancel)()
	for seen := uint64(0); ; {
		s, err := n.holder.Wait(ctx, seen)
		if err != nil {
			return 0, errors.Join(n.Err(), err)
		}
		seen = s.Number
		n.o.Log.Info().Stringer("state", s.State).Uint64("epoch", s.Epoch).Str("owner", s.Owner).Msg("cluster: " + s.Why)
		switch {
		case s.State == lease.Owner:
			if err := n.begin(ctx, s.Epoch); err != nil {
				return 0, err
			}
			n.running.Go(n.watch)
			return s.Epoch, nil
		case s.State.Ended():
			return 0, fmt.Errorf("the lease has ended: %s", s.Why)
		}
	}
}

// begin appends this node's epoch to the journal, follows the journal past that record, and then
// stops following.
func (n *Node) begin(ctx context.Context, epoch uint64) error {
	if epoch > math.MaxUint32 {
		return fmt.Errorf("epoch %d is too high", epoch)
	}
	at, err := n.shared.Begin(uint32(epoch), store.EmptyRecord())
	if err != nil {
		return fmt.Errorf("cannot begin epoch %d: %w", epoch, err)
	}
	for n.shared.Last() < at {
		select {
		case <-ctx.Done():
			return errors.Join(n.Err(), ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
	n.follows()
	<-n.stopped
	if err := n.shared.Own(uint32(epoch)); err != nil {
		return err
	}
	if err := n.store.CheckKeys(); err != nil {
		return errors.Join(err, n.giveUp())
	}
	n.working.Store(true)
	return nil
}

// giveUp releases the lease, so that another node may take over immediately.
func (n *Node) giveUp() error {
	ctx, cancel := context.WithTimeout(n.ctx, tickWait)
	defer cancel()
	return n.Release(ctx, "")
}

// watch ends the node when the node does not hold the lease any more.
func (n *Node) watch() {
	for seen := uint64(0); ; {
		s, err := n.holder.Wait(n.ctx, seen)
		if err != nil {
			return
		}
		seen = s.Number
		switch {
		case s.State == lease.Owner && s.Holding, s.State == lease.Releasing, s.State == lease.Released:
		default:
			n.end(fmt.Errorf("this node does not own the work any more: %s", s.Why))
			_ = n.journal.Close() // calls that wait for the servers end
			return
		}
	}
}
