package request

import (
	"context"
	"crypto/sha256"
	"runtime"
	"slices"
	"time"

	"pmg/connector"
	"pmg/gateway/intake"
	"pmg/gateway/keep"
	"pmg/gateway/node"
	"pmg/gateway/receipts"
	"pmg/gateway/route"
	"pmg/sms"
	"pmg/store"
)

// A Desk takes in the messages of requests. It is safe for concurrent use.
type Desk struct {
	node     *node.Node
	keep     *keep.Keeper
	table    *route.Table
	intake   *intake.Desk
	receipts *receipts.Desk
	onLane   keep.Do // of the engine, set before it serves
	commits  commits
	keys     keys
	orders   *orders
}

// NewDesk makes a desk for the lanes of a table.
func NewDesk(n *node.Node, k *keep.Keeper, t *route.Table, i *intake.Desk, r *receipts.Desk) *Desk {
	return &Desk{node: n, keep: k, table: t, intake: i, receipts: r, keys: keys{under: map[string]struct{}{}}, orders: newOrders()}
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
	Err      error // why its key cannot be used, or that its client is gone; nothing else counts then
}

// A Fill makes m a message that a request submits. Times are by the wall clock.
type Fill func(m *sms.Message) sms.Code

// An Item is a message of a request.
type Item struct {
	Fill    Fill
	Strict  bool              // it needs a sender, and a recipient whose country is known
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

	payload [sha256.Size]byte // with a key
}

// Work is the messages of a request. They are read one by one, when it is their turn, so that a request costs nothing for those that
// are not.
type Work struct {
	N      int                        // how many there are
	Item   func(i int) (Item, bool)   // reads message i; false: it cannot be submitted
	Became func(i int, result Result) // is called, in their order, with what became of those that were
}

// Submit has the messages of a request take the steps of intake, and returns what became of each when those that
// were accepted are stored. from is the request's own. Until ctx is done it waits for the account's rate. From then on no
// further messages are submitted, as their client is gone: Err says so. Those that were accepted by then are stored all the same.
func (d *Desk) Submit(ctx context.Context, from *connector.Source, items []Item) []Result {
	results := make([]Result, len(items))
	d.SubmitAll(ctx, from, Work{
		N:      len(items),
		Item:   func(i int) (Item, bool) { return items[i], true },
		Became: func(i int, r Result) { results[i] = r },
	})
	return results
}

// SubmitAll is Submit for messages that are read one by one.
func (d *Desk) SubmitAll(ctx context.Context, from *connector.Source, w Work) {
	d.submit(ctx, from, w, nil)
}

// How a request with many messages leaves room for those of others.
const (
	atOnce = 64 // short messages that are in one commit, and given to lanes together
	inARow = 8  // short messages that are taken before other goroutines have their turn
)

// submit is Submit. claim, which may be nil, adds to the batch that stores the messages, of which there is one then.
func (d *Desk) submit(ctx context.Context, from *connector.Source, w Work, claim func(*store.Batch, []Result)) {
	g := group{desk: d, from: from, work: w, claim: claim, in: d.intake.NewIntake(1)} // so that ids are in the order of arrival, whatever came by other ways
	g.results = make([]Result, w.N)
	var after int64
	yielded := 0
	defer func() { d.keys.end(g.held...) }()
	for i := range w.N {
		after = max(after, g.take(ctx, i))
		if g.places-yielded >= inARow {
			runtime.Gosched()
			yielded = g.places
		}
		if claim == nil && g.places >= atOnce {
			g.finish(i + 1)
			yielded = 0
		}
	}
	g.finish(w.N)
	d.keys.end(g.held...)
	g.held = nil
	d.pause(ctx, after)
}

// A group is messages of a request that are stored together.
type group struct {
	desk    *Desk
	in      *intake.Intake
	from    *connector.Source
	work    Work
	claim   func(*store.Batch, []Result)
	results []Result // of the whole request
	unread  []int    // messages that were not submitted
	held    []string // keys of the whole request

	next   int // the first message of the group
	all    []taken
	places int // short messages, and messages that were refused
}

// take has message i take its steps, and returns the time before which the account's rate has it not answered.
func (g *group) take(ctx context.Context, i int) (after int64) {
	d, r := g.desk, &g.results[i]
	g.places++
	if i > 0 && g.claim == nil && ctx.Err() != nil {
		*r = Result{Code: sms.SystemError, Err: ctx.Err()}
		return 0
	}
	item, ok := g.work.Item(i)
	if !ok {
		g.unread = append(g.unread, i)
		r.Code = sms.Malformed
		return 0
	}
	t := taken{at: i, payload: item.Payload}
	if item.Key != "" {
		t.key = keyOf(g.from, item.Key)
		var known bool
		if *r, known = d.known(t.key, item.Payload); known {
			return 0
		}
		g.held = append(g.held, t.key)
	}
	s := intake.Submission{Way: intake.Submitted, From: g.from, Room: room{g.in}, Change: d.changes(item.Fill), Many: g.work.N > 1, Strict: item.Strict}
	if *r = d.take(&s, &item); r.Code != sms.OK {
		s.Drop()
		return s.After
	}
	t.first, t.more, _ = g.in.Enter(d.node.Clock.Now(), s.Accepted(), nil)
	*r = Result{ID: t.first.Message.ID, Parts: partsOf(t.first.Message, int64(1+len(t.more))), Parked: t.first.Share == nil}
	g.all = append(g.all, t)
	g.places += len(t.more)
	return s.After
}

// finish stores the messages of the group, which end before message end, and gives them to their lanes. Then another group begins.
func (g *group) finish(end int) {
	if len(g.all) > 0 {
		if err := g.desk.store(g.all, g.results, g.claim); err != nil {
			g.desk.undo(g.in, g.from, g.all, g.results)
		} else {
			g.desk.queue(g.in, g.from, g.all)
		}
	}
	for i := g.next; i < end; i++ {
		if !slices.Contains(g.unread, i) {
			g.work.Became(i, g.results[i])
		}
	}
	clear(g.all)
	g.next, g.all, g.places, g.unread = end, g.all[:0], 0, g.unread[:0]
}

// take has a message take its steps, and returns why it is refused, or that it is not.
func (d *Desk) take(s *intake.Submission, item *Item) (r Result) {
	r.Code = d.intake.TakeWaiting(d.node.Clock.Now(), s)
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
		ahead := d.node.Clock.Ahead()
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
func (d *Desk) store(all []taken, results []Result, claim func(*store.Batch, []Result)) error {
	needed := d.keep.Durable() || claim != nil
	for _, t := range all {
		needed = needed || t.first.Share == nil || t.key != ""
	}
	if !needed {
		return nil
	}
	d.keep.Storing.Add(int64(len(all)))
	defer d.keep.Storing.Add(-int64(len(all)))
	var size int
	var ended <-chan error
	d.keep.Committer.Write(func(b *store.Batch) {
		before := b.Octets()
		d.add(b, all, results)
		if claim != nil {
			claim(b, results)
		}
		size, ended = b.Octets()-before, d.commits.wait(b.Position())
	})
	d.keep.Spend(size)
	d.keep.Committer.Commit()
	return <-ended
}

// add adds messages, and what became of those with keys.
func (d *Desk) add(b *store.Batch, all []taken, results []Result) {
	for _, t := range all {
		d.keep.Add(b, t.first)
		for _, a := range t.more {
			d.keep.Add(b, a)
		}
	}
	for _, t := range all {
		if t.key != "" {
			d.claim(b, t.key, t.payload, results[t.at:t.at+1])
		}
	}
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
	now := d.node.Clock.Now()
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
	wait := until - d.node.Clock.Now()
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
