package request

import (
	"cmp"
	"context"
	"slices"

	"pmg/connector"
	"pmg/gateway/accept"
	"pmg/gateway/intake"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

// A group is a number of messages of a request that are stored together. It is also the executor of
// their acceptance: it handles each message on the goroutine of the request, and finish commits all
// of them.
type group struct {
	requests *Requests
	acceptor *accept.Acceptor[int]
	from     *connector.Source
	work     Work
	claim    func(*store.Batch, []Result)
	results  []Result // results of the whole request
	after    int64    // the request is not answered before this time
	unread   []int    // indexes of messages that could not be read
	held     []string // keys that the whole request has reserved
	endTurn  func()   // passes the turn to the next receipt of the message; nil: no turn is held

	next   int // index of the group's first message
	places int // number of short messages and refused messages in the group
	keyed  []keyed
	stores []accept.Pending[int] // messages that must be stored
	ready  []keep.Accepted       // messages that must be given to their lanes
}

// A keyed is a message of a group that has a key.
type keyed struct {
	at   int
	key  string
	item Item
}

// newGroup makes the first group of a request with n messages. Their ids keep their order, whatever other messages arrive.
func (d *Requests) newGroup(from *connector.Source, n int) *group {
	g := &group{requests: d, from: from, results: make([]Result, n)}
	g.acceptor = accept.New(d.keep, d.intake, d.receipts, 1, nil, g)
	return g
}

// take submits message i.
func (g *group) take(ctx context.Context, i int) {
	d, r := g.requests, &g.results[i]
	g.places++
	if i > 0 && g.claim == nil && ctx.Err() != nil {
		*r = Result{Code: sms.SystemError, Err: ctx.Err()}
		return
	}
	item, ok := g.work.Item(i)
	if !ok {
		g.unread = append(g.unread, i)
		r.Code = sms.Malformed
		return
	}
	if item.Key != "" {
		key := keyOf(g.from, item.Key)
		var known bool
		if *r, known = d.known(key, item.Payload); known {
			return
		}
		g.held = append(g.held, key)
		g.keyed = append(g.keyed, keyed{i, key, item})
	}
	s := d.submission(g.from, &item, g.acceptor.Room())
	s.Many, s.MustStore = g.work.N > 1, item.Key != "" || g.claim != nil
	g.acceptor.Submit(d.node.Clock.Now(), i, s)
	g.places += max(r.Parts, 1) - 1
}

func (d *Requests) submission(from *connector.Source, item *Item, r intake.Room) *intake.Submission {
	return &intake.Submission{
		Way: intake.Submitted, From: from, Room: r, Change: d.changes(item.Fill), Strict: item.Strict, Most: item.Parts,
	}
}

// finish ends the group, whose messages come before index end. The next group begins there.
func (g *group) finish(end int) {
	g.goOn()
	for i := g.next; i < end; i++ {
		if !slices.Contains(g.unread, i) {
			g.work.Became(i, g.results[i])
		}
	}
	g.next, g.places, g.unread = end, 0, g.unread[:0]
}

// goOn stores the pending messages, and queues the stored ones.
func (g *group) goOn() {
	if len(g.stores) > 0 {
		code := keep.CodeOf(g.commit())
		now := g.requests.node.Clock.Now()
		for _, p := range g.stores {
			g.acceptor.Ended(now, p, code)
		}
	}
	g.acceptor.Flush()
	g.requests.pushAll(g.ready)
	clear(g.stores)
	clear(g.keyed)
	g.stores, g.keyed, g.ready = g.stores[:0], g.keyed[:0], nil // the messages are queued
}

func (g *group) commit() error {
	d := g.requests
	var size int
	var c *commit
	d.keep.Batches.Write(func(b *store.Batch) {
		before := b.Octets()
		g.add(b)
		size, c = b.Octets()-before, d.commits.wait(b.Position())
	})
	d.keep.Spend(size)
	d.keep.Batches.Commit()
	<-c.ended
	return c.err
}

// add adds the group's messages, and the results of messages with keys, to a batch.
func (g *group) add(b *store.Batch) {
	for _, p := range g.stores {
		g.requests.keep.Add(b, p.Accepted)
		for _, a := range p.More {
			g.requests.keep.Add(b, a)
		}
	}
	for _, k := range g.keyed {
		if g.results[k.at].ID != 0 {
			g.requests.claimKey(b, k.key, k.item.Payload, g.results[k.at:k.at+1])
		}
	}
	if g.claim != nil {
		g.claim(b, g.results)
	}
}

// Go implements accept.Executor.
func (g *group) Go(_ int, work func(), then func(now int64, gone bool)) {
	work()
	then(g.requests.node.Clock.Now(), false)
}

// GoInOrder implements accept.Executor.
func (g *group) GoInOrder(i int, work func(), then func(now int64, gone bool)) { g.Go(i, work, then) }

// Wait implements accept.Executor: a request does not wait for room, because others would wait behind it on its connection,
// and its client can retry.
func (g *group) Wait(int64, int, *intake.Submission) bool { return false }

// Hold implements accept.Executor. The goroutine of a request waits.
func (g *group) Hold(int) {}

// Release implements accept.Executor.
func (g *group) Release(int64, int) {}

// TickAt implements accept.Executor. The receipts of requests have no Turns: InTurn keeps them in order.
func (g *group) TickAt(int64) {}

// Store implements accept.Executor.
func (g *group) Store(_ int64, p accept.Pending[int]) {
	g.stores = append(g.stores, p)
	g.results[p.By] = resultOf(p.Outcome())
}

// Queue implements accept.Executor.
func (g *group) Queue(_ int64, a keep.Accepted) { g.ready = append(g.ready, a) }

// Answer implements accept.Executor.
func (g *group) Answer(_ int64, i int, o accept.Outcome) {
	g.results[i] = resultOf(o)
	g.after = max(g.after, o.After)
}

func resultOf(o accept.Outcome) Result {
	return Result{ID: o.ID, Code: o.Code, Step: o.Step, Why: o.Why, Parts: o.Parts, Quote: o.Quote, Parked: o.Parked}
}

// pushAll queues messages in order of their ids: consecutive messages for a lane together.
func (d *Requests) pushAll(ready []keep.Accepted) {
	slices.SortFunc(ready, func(a, b keep.Accepted) int { return cmp.Compare(a.Message.ID, b.Message.ID) })
	for len(ready) > 0 {
		n := 1
		for n < len(ready) && ready[n].Share.Lane == ready[0].Share.Lane {
			n++
		}
		d.push(ready[0].Share.Lane, ready[:n:n])
		ready = ready[n:]
	}
}
