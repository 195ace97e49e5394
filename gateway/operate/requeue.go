package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/connector/queue"
	"pmg/gateway/keep"
	"pmg/gateway/receipts"
	"pmg/protocols"
	"pmg/sms"
	"pmg/store"
)

// The changes that an operator can make to messages in the store.
const (
	DeleteMessages = "delete"
	MoveMessages   = "move"  // move the messages to the queue of another out connector
	RetryMessages  = "retry" // route the messages again, and reset their attempts
)

// A QueueChange is a change that an operator makes to messages.
type QueueChange struct {
	What     string // one of the constants above
	To       string // the out connector to which the messages are moved
	DryRun   bool   // only report what would be done
	Operator string // address of the operator, for the log
}

// The results of a change, one for each message.
const (
	ResultDeleted  = "deleted"
	ResultMoved    = "moved"
	ResultRetried  = "retried"
	ResultUnderWay = "under way"  // the message is being sent or stored, and was not changed
	ResultNoRoute  = "no route"   // the message has no route, and was not changed
	ResultGone     = "gone"       // the message has ended meanwhile
	ResultUnknown  = "unmatched"  // the message is a receipt for an unknown message, and was not changed
	ResultBad      = "unreadable" // the message cannot be read, and can only be deleted
)

// past returns the result for a successful change.
func (c *QueueChange) past() string {
	return map[string]string{DeleteMessages: ResultDeleted, MoveMessages: ResultMoved, RetryMessages: ResultRetried}[c.What]
}

// ListStored returns the selected messages of the gateway's store, like the function ListStored.
func (d *Operations) ListStored(s Selection, from uint64, limit int) (QueuePage, error) {
	p, err := ListStored(d.keep.Index, s, from, limit)
	p.Memory = !d.keep.Durable()
	for i := range p.Messages {
		if m := &p.Messages[i]; m.Price != "" {
			if a := d.table.Account(m.Account); a != nil {
				m.Price = strings.TrimSpace(m.Price + " " + d.node.Config().Currency(a.Policies.Prices))
			}
		}
	}
	return p, err
}

// A changer changes waiting messages in a running gateway.
type changer struct {
	*Operations
	change QueueChange
	to     map[*found]*connector.Share // new shares of messages that are not deleted
	result map[*found]string
}

// ChangeStored changes up to limit selected messages whose id is at least from, in the store and in the lanes of a running
// gateway, and returns them with their results. Messages under way are not changed. Changes run one after another.
func (d *Operations) ChangeStored(
	ctx context.Context, c QueueChange, s Selection, from uint64, limit int,
) (QueuePage, error) {
	d.keep.Changing.Lock()
	defer d.keep.Changing.Unlock()
	ch := &changer{Operations: d, change: c, to: map[*found]*connector.Share{}, result: map[*found]string{}}
	if err := ch.mayBegin(); err != nil {
		return QueuePage{}, fmt.Errorf("cannot %s messages: %w", c.What, err)
	}
	var all []*found
	var looked int
	var next uint64
	err := d.keep.Find(func() (err error) {
		all, looked, next, err = s.find(d.keep.Index, from, limit, time.Now())
		return err
	})
	if err == nil && !c.DryRun {
		err = ch.do(ctx, all)
		ch.log()
	}
	if err != nil {
		return QueuePage{}, fmt.Errorf("cannot %s messages: %w", c.What, err)
	}
	p := newPage(all, looked, next, s)
	p.Memory = !d.keep.Durable()
	for i, f := range all {
		p.Messages[i].Result = ch.result[f]
	}
	return p, nil
}

// mayBegin returns an error if nothing can be changed now.
func (c *changer) mayBegin() error {
	if !c.Operations.keep.Recovered() {
		return errors.New(
			"messages of earlier runs are still being read; try again when the log says that they are in their queues",
		)
	}
	if c.change.What != MoveMessages {
		return nil
	}
	return checkTarget(c.Operations.node.Config(), c.change.To)
}

// checkTarget returns an error if messages cannot be moved to a connector.
func checkTarget(cfg *config.Config, to string) error {
	var names []string
	for i := range cfg.Connectors {
		if cc := &cfg.Connectors[i]; cc.Role() == protocols.Client {
			if cc.Name == to {
				return nil
			}
			names = append(names, cc.Name)
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("there is no out connector %q; the configuration has no out connectors", to)
	}
	return fmt.Errorf("there is no out connector %q; the out connectors are: %s", to, strings.Join(names, ", "))
}

func (c *changer) do(ctx context.Context, all []*found) error {
	var queued, aside []*found
	for _, f := range all {
		if f.err == nil {
			f.message.Origin = c.Operations.node.Origins.Of(string(f.head.Account), string(f.head.Connector))
		}
		switch {
		case f.err != nil && c.change.What != DeleteMessages:
			c.result[f] = ResultBad
		case f.stateName() == StateOrphan && c.change.What == RetryMessages:
			c.matched(f)
		case c.change.What != DeleteMessages && !c.aim(f):
			c.result[f] = ResultNoRoute
		case f.stateName() == StateQueued, f.stateName() == StateAsked: // the receipt has got its verdict, or is not changed
			queued = append(queued, f)
		default:
			aside = append(aside, f)
		}
	}
	taken, err := c.withdraw(ctx, queued)
	if err != nil {
		return err
	}
	if c.change.What == DeleteMessages {
		return c.deleteAside(aside)
	}
	return c.put(append(taken, aside...))
}

// aim finds the new lane of a message. It returns false if the message has no route.
func (c *changer) aim(f *found) bool {
	var lane *connector.Lane
	if c.change.What == MoveMessages {
		if to := c.Operations.table.Connector(c.change.To); to != nil {
			lane = c.Operations.table.LaneOf(to)
		}
	} else if r, ok := f.message.Report(); f.state.Aside == store.Dead {
		lane = c.Operations.table.ClientLane(f.state.Lane.Account, r.Context)
	} else if ok && r.Known != 0 {
		lane = c.Operations.table.ClientLane(string(f.head.LaneAccount), r.Context)
	} else {
		lane = c.Operations.table.Route(f.message)
	}
	if lane == nil {
		return false
	}
	c.to[f] = c.Operations.table.Share(lane, f.message.Origin)
	return true
}

// deleteAside deletes messages that are put aside.
func (c *changer) deleteAside(all []*found) error {
	for _, f := range all {
		c.result[f] = ResultDeleted
		if f.err != nil { // only the id of the message is known
			c.Operations.keep.Batches.Write(func(b *store.Batch) { b.Delete(f.id, len(f.record)) })
			continue
		}
		c.deletedAside(f)
	}
	return c.Operations.sync()
}

// put moves messages to their new lanes, and resets their attempts. It changes the store first, because the lanes read the
// messages from the store.
func (c *changer) put(all []*found) error {
	shares := map[*connector.Share][]*found{}
	for _, f := range all {
		s, m := c.to[f], f.message
		s.Lane.Queues.Unfit(m.ID)
		m.ForgetAttempts()
		c.Operations.keep.Batches.Write(func(b *store.Batch) {
			if f.state.Aside == store.Dead {
				c.renew(b, f)
			}
			if c.Operations.keep.Durable() {
				b.Keep(m, store.State{Lane: keep.LaneName(s.Lane)})
				c.receive(b, f, s.Lane)
			} else {
				b.Delete(f.id, len(f.record)) // a store in memory has no messages that wait in a lane
			}
		})
		shares[s] = append(shares[s], f)
	}
	// the next commit tries again what failed here, so the lanes get the messages anyway
	failed := c.Operations.sync()
	for _, f := range all {
		if f.state.Aside != store.InLane {
			c.leftAside(f)
		}
		c.result[f] = c.change.past()
	}
	for s, part := range shares {
		if !c.keep.Do(s.Lane, func(now int64) { c.enter(now, s, part) }) {
			return errors.Join(failed, errStopping)
		}
	}
	return failed
}

// receive adds a message that moves to an account's lane to the account's inbox.
func (c *changer) receive(b *store.Batch, f *found, lane *connector.Lane) {
	if f.message.Kind != sms.MO || !lane.ToClient() {
		return
	}
	m := sms.Message{ID: f.id, Origin: f.message.Origin} // with times of the engine's clock
	if err := store.Decode(f.record, &m, c.Operations.node.Clock.Ahead()); err == nil {
		c.Operations.keep.Receive(b, &m, lane)
	}
}

// renew restarts the validity of a dead letter, also in its record.
func (c *changer) renew(b *store.Batch, f *found) {
	lane := keep.LaneName(c.to[f].Lane)
	f.message.Expires = c.Operations.node.Clock.WallNow() + int64(c.Operations.node.Config().Receipts.CallbackValidity)
	f.record = store.AppendRecord(nil, f.message, lane, 0)
	if !c.Operations.keep.Durable() {
		return
	}
	m := sms.Message{ID: f.id, Origin: f.message.Origin}
	if err := store.Decode(f.record, &m, c.Operations.node.Clock.Ahead()); err == nil { // old was just encoded
		b.ReplaceOwn(&m, lane)
	}
}

// enter adds messages to a share of a lane. Engine.Do runs it.
func (c *changer) enter(now int64, s *connector.Share, all []*found) {
	ahead := c.Operations.node.Clock.Ahead()
	for _, f := range all {
		if c.Operations.keep.Durable() {
			s.Lane.Queues.Restore(now, s, c.again(f, now))
			continue
		}
		m := c.Operations.node.Messages.Get()
		m.ID, m.Origin = f.id, f.message.Origin
		if err := store.Decode(f.record, m, ahead); err != nil {
			m.Release() // the message was read before
			continue
		}
		m.Arrived = min(m.Arrived, now)
		s.Enter(m, now)
		s.Lane.Queues.Push(now, s, m)
	}
}

// waitingOf returns the queue entry of a message. ahead is the difference between the wall clock and the engine's clock.
func waitingOf(f *found, ahead int64) queue.Waiting {
	m := f.message
	w := queue.Waiting{
		ID: f.id, Priority: m.Priority,
		Arrived: m.Arrived, DeliverAt: m.DeliverAt, NotBefore: m.NotBefore, Expires: m.Expires,
	}
	for _, t := range []*int64{&w.Arrived, &w.DeliverAt, &w.NotBefore, &w.Expires} {
		if *t != 0 {
			*t -= ahead
		}
	}
	return w
}

// again returns the queue entry of a message that returns to a lane. The message does not wait longer if the wall clock was
// set back.
func (c *changer) again(f *found, now int64) queue.Waiting {
	w := waitingOf(f, c.Operations.node.Clock.Ahead())
	w.Arrived = min(w.Arrived, now)
	w.NotBefore = c.Operations.keep.NotBefore(f.message.NotBefore, c.Operations.node.Clock.Ahead())
	return w
}

// log writes the log entry about the change.
func (c *changer) log() {
	counts := map[string]int{}
	var ids []string
	for f, result := range c.result {
		counts[result]++
		if result == c.change.past() && len(ids) < loggedIDs {
			ids = append(ids, sms.FormatID(f.id))
		}
	}
	if len(counts) == 0 {
		return
	}
	e := c.Operations.node.Log.Info().Str("operator", c.change.Operator)
	if c.change.To != "" {
		e.Str("to", c.change.To)
	}
	for result, n := range counts {
		e.Int(strings.ReplaceAll(result, " ", "_"), n)
	}
	e.Strs("ids", ids).Msg("an operator changes messages that wait: " + c.change.What)
}

// loggedIDs is the maximum number of message ids in a log entry.
const loggedIDs = 100

// adoptNow adopts a receipt that an operator retries.
func (c *changer) adoptNow(f *found) (result string, err error) {
	result = ResultUnknown
	c.receipts.Orphans.Read(f.id, func(m *sms.Message, size int) error {
		switch err = c.receipts.Orphans.Adopt(m, size); {
		case err == nil:
			result = ResultRetried
		case errors.Is(err, receipts.ErrUnknown):
			err = nil
		}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("message %s: %w", sms.FormatID(f.id), err)
	}
	return result, err
}

// matched retries a receipt whose message was not known.
func (c *changer) matched(f *found) {
	result, err := c.adoptNow(f)
	if err != nil {
		c.Operations.keep.LogLookup(err)
	}
	c.result[f] = result
}
