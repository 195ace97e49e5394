package operate

import (
	"context"
	"time"

	"pmg/connector"
	"pmg/gateway/intake"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

// replace changes a waiting message. First it withdraws the message from the lane, so that the message can neither leave
// nor end during the change. It returns the message to the lane after the change is stored.
func (o *Operation) replace(ctx context.Context, all []*operand) error {
	t := all[0]
	// several messages that are one to the client, or a text in another alphabet than the client's
	if len(all) > 1 || t.message.Parts > 1 || t.message.Flags&sms.Converted != 0 {
		return errNoMessage
	}
	var trial sms.Message // a refused change must not affect the message
	if err := store.Decode(t.record, &trial, 0); err != nil {
		return err
	}
	trial.Origin = t.message.Origin
	if o.Code = o.changed(t, &trial); o.Code != sms.OK {
		return nil
	}
	var share *connector.Share
	var m *sms.Message
	_, err := o.withdraw(ctx, all, func(_ int64, s *connector.Share, _ *operand, taken *sms.Message) { share, m = s, taken })
	if err != nil {
		return err
	}
	if share == nil {
		return errNoMessage
	}
	if m == nil {
		if m, err = o.load(t.id); err != nil {
			o.changer.giveBack(share, t.found)
			return err
		}
	}
	err = o.store(share, m)
	o.put(share, m)
	return err
}

// changed applies the change to a copy of a message, whose times are by the wall clock. The code is not OK if a step of intake
// refuses the new text, or if it may need more room than there is.
func (o *Operation) changed(t *operand, m *sms.Message) sms.Code {
	d := o.operations
	now := d.node.Clock.WallNow()
	return o.take(now, &intake.Submission{
		Way: intake.Replaced, Message: m, Change: o.Change, Counted: t.message.DeliverAt > now,
		Lane: d.table.LaneNamed(d.node.Config(), t.lane()), // nil: the connector was removed; the message will be routed again
	})
}

// take runs the steps of a change, and records the step that refuses it.
func (o *Operation) take(now int64, s *intake.Submission) sms.Code {
	code := o.operations.intake.TakeWaiting(now, s)
	o.Step = s.Refuser(o.operations.intake)
	return code
}

// load reads a message whose body is only on disk.
func (o *Operation) load(id uint64) (*sms.Message, error) {
	d := o.operations
	var e store.Entry
	switch ok, err := d.keep.Index.Get(id, &e); {
	case err != nil:
		return nil, err
	case !ok:
		return nil, errNoMessage
	}
	m, _, err := d.keep.Decode(&e)
	return m, err
}

// store changes a message, in the store first. After an error the message is unchanged.
func (o *Operation) store(s *connector.Share, m *sms.Message) error {
	d := o.operations
	ahead := d.node.Clock.Ahead()
	old := store.AppendRecord(nil, m, keep.LaneName(s.Lane), 0)
	shift(m, ahead)
	o.Code = o.take(
		d.node.Clock.WallNow(), &intake.Submission{Way: intake.Replaced, Message: m, Change: o.Change, Counted: true},
	)
	shift(m, -ahead)
	if o.Code != sms.OK || !d.keep.Durable() {
		return nil
	}
	d.keep.Batches.Write(func(b *store.Batch) { b.Replace(m, keep.LaneName(s.Lane)) })
	err := d.sync()
	if err != nil {
		_ = store.Decode(old, m, 0) // old was encoded from m, so this cannot fail
	}
	return err
}

// shift adds by to the times that a client has set.
func shift(m *sms.Message, by int64) {
	if m.DeliverAt != 0 {
		m.DeliverAt += by
	}
	if m.Expires != 0 {
		m.Expires += by
	}
}

// put returns a message to its lane, or to the lane of its route if its lane was removed meanwhile. If the engine does not
// answer, the message remains in the store.
func (o *Operation) put(s *connector.Share, m *sms.Message) {
	d := o.operations
	ctx, done := context.WithTimeout(context.Background(), putTimeout)
	defer done()
	for s != nil {
		to := s
		s = nil
		err := o.changer.wait(ctx, to.Lane, func(now int64) {
			if !to.Lane.Gone() {
				to.Lane.Queues.Return(now, to, m)
			} else if s = d.table.Reroute(to.Lane, m, true); s == nil {
				d.settler.EndUnsent(now, to.Lane, m, sms.Rejected)
				m.Release()
			}
		})
		if err != nil {
			m.Release()
		}
	}
}

// putTimeout is longer than a running engine ever takes.
const putTimeout = time.Minute
