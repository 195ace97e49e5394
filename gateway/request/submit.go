package request

import (
	"context"
	"crypto/sha256"
	"time"

	"pmg/connector"
	"pmg/gateway/intake"
	"pmg/gateway/keep"
	"pmg/gateway/receipts"
	"pmg/gateway/route"
	"pmg/sms"
	"pmg/store"
)

// A Desk takes in the messages of requests. It is safe for concurrent use.
type Desk struct {
	*route.Table
	intake   *intake.Desk
	receipts *receipts.Desk
	onLane   keep.Do // of the engine
	commits  commits
	keys     keys
	orders   *orders
}

// NewDesk makes a desk for the lanes of a table.
func NewDesk(t *route.Table, i *intake.Desk, r *receipts.Desk) *Desk {
	return &Desk{Table: t, intake: i, receipts: r, keys: keys{under: map[string]struct{}{}}, orders: newOrders()}
}

// SetDo tells the desk how lanes are reached. It is called once, before anything is submitted.
func (d *Desk) SetDo(onLane keep.Do) { d.onLane = onLane }

// A Result is what became of a message of a request.
type Result struct {
	ID     uint64   // by which the client knows it, if Code is OK
	Code   sms.Code // why it was refused
	Step   string   // of intake that has refused it
	Parts  int      // short messages that it has become
	Parked bool     // no route leads anywhere, and an operator will decide

	Repeated bool  // it was submitted before with its key, and this became of it
	Err      error // why its key cannot be used; nothing else counts then
}

// A Fill makes m a message that a request submits. Times are by the wall clock.
type Fill func(m *sms.Message) sms.Code

// An Item is a message of a request.
type Item struct {
	Fill    Fill
	Parts   int               // short messages that it may become at the most; 0: as many as its account allows
	Key     string            // by which it is known if it comes again, the account's own; empty: it has none
	Payload [sha256.Size]byte // hash of what is asked for, with a key
}

// A taken is a message of a request that has passed the steps.
type taken struct {
	first keep.Accepted
	more  []keep.Accepted
	at    int    // in the request
	key   string // by which it is known; empty: it has none
}

// Submit has the messages of a request take the steps of intake, and returns what became of each when those that
// were accepted are stored. from is the request's own. Until ctx is done it waits for the account's rate; messages
// that were accepted by then are stored all the same.
func (d *Desk) Submit(ctx context.Context, from *connector.Source, items []Item) []Result {
	return d.submit(ctx, from, items, nil)
}

// submit is Submit. claim, which may be nil, adds to the batch that stores the messages.
func (d *Desk) submit(ctx context.Context, from *connector.Source, items []Item, claim func(*store.Batch, []Result)) []Result {
	results := make([]Result, len(items))
	in := d.intake.NewIntake(1) // so that ids are in the order of arrival, whatever came by other ways
	all := make([]taken, 0, len(items))
	var after int64
	var held []string // keys
	defer func() { d.keys.end(held...) }()
	for i := range items {
		item, key := &items[i], ""
		if item.Key != "" {
			key = keyOf(from, item.Key)
			var known bool
			if results[i], known = d.known(key, item.Payload); known {
				continue
			}
			held = append(held, key)
		}
		s := intake.Submission{Way: intake.Submitted, From: from, Room: room{in}, Change: d.changes(item.Fill)}
		results[i] = d.take(&s, item)
		after = max(after, s.After)
		if results[i].Code != sms.OK {
			s.Drop()
			continue
		}
		t := taken{at: i, key: key}
		t.first, t.more, _ = in.Enter(d.Clock.Now(), s.Accepted(), nil)
		results[i] = Result{ID: t.first.Message.ID, Parts: partsOf(t.first.Message, int64(1+len(t.more))), Parked: t.first.Share == nil}
		all = append(all, t)
	}
	if len(all) > 0 {
		if err := d.store(all, items, results, claim); err != nil {
			d.undo(in, from, all, results)
		} else {
			d.queue(in, from, all)
		}
	}
	d.keys.end(held...)
	held = nil
	d.pause(ctx, after)
	return results
}

// take has a message take its steps, and returns why it is refused, or that it is not.
func (d *Desk) take(s *intake.Submission, item *Item) (r Result) {
	r.Code = d.intake.TakeWaiting(d.Clock.Now(), s)
	r.Step = s.Refuser(d.intake)
	if r.Code == sms.OK && item.Parts > 0 && partsOf(s.Message, s.Accepted().Places()) > item.Parts {
		r.Code, r.Step = sms.BadLength, "fit"
		s.From.CountRefused(r.Code)
	}
	return r
}

// partsOf returns how many short messages the recipient of a message is sent that takes so many places.
func partsOf(m *sms.Message, places int64) int {
	return max(int(places), int(sms.PartsOf(m.Context())))
}

// changes returns what makes a message of a fill, with the times of the engine's clock.
func (d *Desk) changes(fill Fill) func(int64, *sms.Message) sms.Code {
	return func(_ int64, m *sms.Message) sms.Code {
		code := fill(m)
		ahead := d.Clock.Ahead()
		if m.DeliverAt != 0 {
			m.DeliverAt -= ahead
		}
		if m.Expires != 0 {
			m.Expires -= ahead
		}
		return code
	}
}

// A room is the room of lanes for a request: it does not wait for it, because others would wait behind it on its
// connection, and its client can come again.
type room struct{ in *intake.Intake }

// HasRoom implements intake.Room.
func (r room) HasRoom(a keep.Accepted, _ *intake.Several) bool { return r.in.HasRoom(a) }

// Wait implements intake.Room.
func (room) Wait(int64, *intake.Submission) bool { return false }

// store has messages stored, and returns when their commit has ended.
func (d *Desk) store(all []taken, items []Item, results []Result, claim func(*store.Batch, []Result)) error {
	needed := d.Durable() || claim != nil
	for _, t := range all {
		needed = needed || t.first.Share == nil || t.key != ""
	}
	if !needed {
		return nil
	}
	d.Storing.Add(int64(len(all)))
	defer d.Storing.Add(-int64(len(all)))
	b := d.Committer.Begin()
	before := b.Octets()
	for _, t := range all {
		d.Add(b, t.first)
		for _, a := range t.more {
			d.Add(b, a)
		}
	}
	for _, t := range all {
		if t.key != "" {
			d.claim(b, t.key, items[t.at].Payload, results[t.at:t.at+1])
		}
	}
	if claim != nil {
		claim(b, results)
	}
	size := b.Octets() - before
	wait := d.commits.wait(d.Committer.Number())
	d.Committer.End()
	d.Spend(size)
	d.Committer.Commit()
	return <-wait
}

// undo takes back the acceptance of messages that could not be stored.
func (d *Desk) undo(in *intake.Intake, from *connector.Source, all []taken, results []Result) {
	for _, t := range all {
		in.Undo(from.Connector, t.first)
		for _, a := range t.more {
			in.Undo(from.Connector, a)
		}
		results[t.at] = Result{Code: sms.SystemError}
	}
}

// queue gives messages that were stored to their lanes: all that follow each other for a lane together.
func (d *Desk) queue(in *intake.Intake, from *connector.Source, all []taken) {
	now := d.Clock.Now()
	var ready []keep.Accepted
	add := func(a keep.Accepted) {
		in.Count(from.Connector, a.Message)
		if in.Leaves(now, a) {
			ready = append(ready, a)
		}
	}
	for _, t := range all {
		add(t.first)
		for _, a := range t.more {
			add(a)
		}
	}
	in.Flush()
	for len(ready) > 0 {
		n := 1
		for n < len(ready) && ready[n].Share.Lane == ready[0].Share.Lane {
			n++
		}
		d.push(ready[0].Share.Lane, ready[:n:n])
		ready = ready[n:]
	}
}

// push gives messages to a lane. If the engine is closed, they are in the store, or lost with the rest of memory.
func (d *Desk) push(l *connector.Lane, some []keep.Accepted) {
	ok := d.onLane(l, func(now int64) {
		for _, a := range some {
			l.Push(now, a.Share, a.Message)
		}
	})
	if ok {
		return
	}
	for _, a := range some {
		a.Share.Leave(a.Message)
		a.Message.Release()
	}
}

// pause waits for the time before which the account's rate has nothing answered.
func (d *Desk) pause(ctx context.Context, until int64) {
	wait := until - d.Clock.Now()
	if until == 0 || wait <= 0 {
		return
	}
	t := time.NewTimer(time.Duration(wait))
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
