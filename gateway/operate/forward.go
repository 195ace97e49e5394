package operate

import (
	"context"
	"time"

	"pmg/connector"
	"pmg/gateway/intake"
	"pmg/protocols"
	"pmg/sms"
	"pmg/store"
)

// forwardWait is the time limit of an operation for getting a slot to the SMSC, while its client waits for the answer.
const forwardWait = 5 * time.Second

// forward forwards the operation to the SMSC that has accepted a message, and returns the outcome. It is not repeated after a
// failure, because the client may do that. A long message consists of several messages for the SMSC, so a request would affect
// only a part.
func (o *Operation) forward(ctx context.Context, v *store.Mapping) sms.Code {
	d := o.operations
	lane := d.table.LaneNamed(d.node.Config(), store.Lane{Connector: string(v.By)})
	if lane == nil || len(v.PeerID) == 0 || v.Parts > 1 || lane.Home().Protocol != o.spoken || o.Fits != nil {
		return sms.Rejected
	}
	m, code := o.asked(lane, v)
	if code != sms.OK {
		return code
	}
	notify := m.Notify
	answers := make(chan sms.Code, 1)
	a := &connector.Inquiry{
		Request: protocols.Request{Kind: o.Kind, PeerID: v.PeerID, Message: m},
		Done:    func(code sms.Code) { answers <- code },
	}
	if err := o.changer.wait(ctx, lane, func(now int64) {
		a.Deadline = now + int64(forwardWait)
		lane.Ask(a)
	}); err != nil {
		return sms.Rejected
	}
	if code = o.outcome(ctx, lane, answers); code != sms.OK {
		return relayed(code)
	}
	switch o.Kind {
	case protocols.Replace:
		d.recordReplaced(lane, *v, notify)
	case protocols.Query:
		o.Result.State, o.Result.Since, o.Result.Error = a.Result.State, a.Result.Since, a.Result.Error
	}
	return sms.OK
}

// recordReplaced stores the kinds of receipts that the client wants, after a message was replaced at the SMSC.
func (d *Operations) recordReplaced(lane *connector.Lane, v store.Mapping, notify sms.Notify) {
	id := v.PeerID
	v.Notify, v.By, v.PeerID = notify, nil, nil
	o := d.receipts.Of(lane.Config())
	d.keep.Batches.Write(func(b *store.Batch) {
		d.receipts.RecordMapping(b, o, &v, id, d.node.Clock.Wall(d.node.Clock.Now()), false)
	})
	d.keep.Batches.CommitSoon()
}

// outcome waits for the outcome of an operation at a lane's peer. It does not prevent an engine from being closed.
func (o *Operation) outcome(ctx context.Context, lane *connector.Lane, answers <-chan sms.Code) sms.Code {
	look := time.NewTicker(time.Second)
	defer look.Stop()
	for {
		select {
		case code := <-answers:
			return code
		case <-ctx.Done():
			return sms.Timeout
		case <-look.C:
			if !o.operations.keep.Do(lane, func(int64) {}) {
				return sms.Lost
			}
		}
	}
}

// asked returns the operation as a message for the SMSC: its addresses and, for Replace, the new text and times, by the wall
// clock.
func (o *Operation) asked(lane *connector.Lane, v *store.Mapping) (*sms.Message, sms.Code) {
	d := o.operations
	home := lane.Home().Protocol
	m := &sms.Message{
		ID: v.ID, Origin: d.node.Origins.Of(string(v.Account), string(v.Connector)),
		Notify: v.Notify, Flags: v.Flags & (sms.HasHeader | sms.Converted), Alphabet: v.Alphabet,
	}
	m.Set(v.Source, v.Dest, nil)
	m.SetNative(home, nil)
	if o.Kind != protocols.Replace {
		return m, sms.OK
	}
	if m.Flags&sms.Converted != 0 { // the text for the SMSC may have another alphabet than the client's
		return nil, sms.Rejected
	}
	change := func(now int64, m *sms.Message) sms.Code {
		code := o.Change(now, m)
		m.SetNative(home, m.Native(home))
		return code
	}
	if code := o.take(
		d.node.Clock.WallNow(),
		&intake.Submission{Way: intake.ReplacedAt, Message: m, Change: change, Counted: true, Lane: lane},
	); code != sms.OK {
		return nil, code
	}
	return m, sms.OK
}

// relayed returns the client's code for an operation that an SMSC has refused, or not answered. Codes about the gateway or the
// SMSC, rather than about the operation, are not passed on.
func relayed(code sms.Code) sms.Code {
	switch code {
	case sms.UnknownMessage, sms.BadLength, sms.BadSchedule, sms.BadValidity, sms.BadParameter, sms.Throttled:
		return code
	}
	return sms.Rejected
}
