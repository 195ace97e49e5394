package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"pmg/connector"
	"pmg/connector/queue"
	"pmg/events"
	"pmg/gateway/keep"
	"pmg/gateway/settle"
	"pmg/sms"
	"pmg/store"
)

// errStopping is the error if the lanes are closed.
var errStopping = errors.New("the gateway is stopping; the remaining messages are unchanged in the store")

// wait runs f by Engine.Do and waits for its end. After an error, f has not run, and never will.
func (c *changer) wait(ctx context.Context, l *connector.Lane, f func(now int64)) error {
	var claimed atomic.Bool
	done := make(chan struct{})
	ok := c.keep.Do(l, func(now int64) {
		if claimed.CompareAndSwap(false, true) {
			f(now)
			close(done)
		}
	})
	if !ok {
		return errStopping
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	if claimed.CompareAndSwap(false, true) {
		return fmt.Errorf("the gateway does not answer: %w", ctx.Err())
	}
	<-done
	return nil
}

// withdraw withdraws messages from their lanes. It ends those that the change deletes, and returns those that move to other
// lanes. It sets the result of messages under way.
func (c *changer) withdraw(ctx context.Context, all []*found) (taken []*found, err error) {
	w := &withdrawal{
		changer: c, left: map[*found]bool{}, lanes: map[*connector.Lane][]*found{}, taken: map[*connector.Share][]*found{},
	}
	defer func() {
		if err == nil {
			return
		}
		for s, part := range w.taken {
			c.giveBack(s, part...)
		}
	}()
	for _, f := range all {
		w.left[f] = true
		if l := c.Operations.table.LaneNamed(c.Operations.node.Config(), f.lane()); l != nil {
			w.lanes[l] = append(w.lanes[l], f)
		}
	}
	for l, part := range w.lanes {
		if err := c.wait(ctx, l, func(now int64) { w.from(now, l, part, false) }); err != nil {
			return nil, err
		}
	}
	for _, l := range c.Operations.table.Lanes() { // a message may have moved to another lane, and the clock may have been set
		if len(w.left) == 0 {
			break
		}
		if err := c.wait(ctx, l, func(now int64) { w.from(now, l, all, true) }); err != nil {
			return nil, err
		}
	}
	err = c.Operations.sync()
	for f := range w.left {
		c.result[f] = ResultUnderWay
		var e store.Entry
		if ok, err := c.Operations.keep.Index.Get(f.id, &e); err == nil && !ok {
			c.result[f] = ResultGone
		}
	}
	for _, part := range w.taken {
		taken = append(taken, part...)
	}
	slices.SortFunc(taken, func(a, b *found) int { return cmp.Compare(a.id, b.id) })
	return taken, err
}

// A withdrawal withdraws messages from lanes, one lane after another.
type withdrawal struct {
	*changer
	lanes map[*connector.Lane][]*found // messages by the lane in the store
	left  map[*found]bool              // messages that were not found yet
	taken map[*connector.Share][]*found
}

// giveBack returns messages to a lane, as they are in the store. It does not wait for the lane, because the caller's context
// may have ended.
func (c *changer) giveBack(s *connector.Share, all ...*found) {
	c.keep.Do(s.Lane, func(now int64) {
		for _, f := range all {
			s.Lane.Queues.Restore(now, s, c.again(f, now))
		}
	})
}

// from withdraws messages from a lane. It looks for each at the place that the store gives, or with search at every place.
func (w *withdrawal) from(now int64, l *connector.Lane, all []*found, search bool) {
	ahead := w.changer.Operations.node.Clock.Ahead()
	ids := map[uint64]bool{}
	byID := map[uint64]*found{}
	for _, f := range all {
		if !w.left[f] {
			continue
		}
		if search {
			ids[f.id], byID[f.id] = true, f
			continue
		}
		l.Queues.Shares(func(s *connector.Share) {
			if o := f.message.Origin; w.left[f] && (s.Origin == o || o.IsClient() && s.Origin.Account == o.Account) {
				w.remove(now, l, s, f, waitingOf(f, ahead))
			}
		})
	}
	if len(ids) == 0 {
		return
	}
	type place struct {
		share   *connector.Share
		waiting queue.Waiting
	}
	var places []place
	l.Queues.Find(ids, func(s *connector.Share, p queue.Waiting) { places = append(places, place{s, p}) })
	for _, p := range places {
		w.remove(now, l, p.share, byID[p.waiting.ID], p.waiting)
	}
}

// remove removes a message from a share, if it waits there.
func (w *withdrawal) remove(now int64, l *connector.Lane, s *connector.Share, f *found, at queue.Waiting) {
	m, ok := l.Queues.Remove(now, s, at)
	if !ok {
		return
	}
	delete(w.left, f)
	if w.change.What == DeleteMessages {
		w.result[f] = ResultDeleted
		w.deleted(now, l, f, m)
		return
	}
	w.taken[s] = append(w.taken[s], f)
	if m != nil {
		m.Release()
	}
}

// deleted ends a message that was withdrawn from its lane, and releases it. m is nil if the body is only on disk.
func (d *Operations) deleted(now int64, l *connector.Lane, f *found, m *sms.Message) {
	if m == nil {
		m = f.message
		m.Arrived -= d.node.Clock.Ahead()
	}
	d.settler.EndUnsent(now, l, m, sms.Deleted)
	m.Release()
}

// deletedAside ends a message that is put aside. Its times are by the wall clock until then.
func (d *Operations) deletedAside(f *found) {
	m := f.message
	m.Arrived -= d.node.Clock.Ahead()
	d.settler.Forget(m, keep.Ending{State: events.Deleted, Aside: true, Lane: f.state.Lane,
		Answer: sms.Answer{Code: sms.Deleted, At: d.node.Clock.Now()}, Attempts: settle.AttemptsOf(m, sms.Deleted, 0)}, nil)
	d.leftAside(f)
	if f.state.Aside != store.Dead { // a dead letter was counted when it was put aside
		m.Origin.Tally.Cancelled.Add(1)
	}
}

// leftAside records that a message is no longer put aside.
func (d *Operations) leftAside(f *found) {
	if f.state.Aside == store.Orphan {
		d.receipts.Orphans.Left(f.id)
		return
	}
	if f.state.Aside == store.Dead {
		d.settler.Dead.Left(f.id)
	}
	d.keep.CountAside(d.node.Origins.Of(string(f.head.Account), string(f.head.Connector)), f.state.Aside, -1)
}
