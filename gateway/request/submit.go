package request

import (
	"context"
	"crypto/sha256"
	"runtime"
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

// Requests take in the messages of requests. It is safe for concurrent use.
type Requests struct {
	node     *node.Node
	keep     *keep.Keeper
	table    *route.Table
	intake   *intake.Checker
	receipts *receipts.Matcher
	commits  commits
	keys     keys
	turns    *turns
}

// New makes the requests of a gateway.
func New(n *node.Node, k *keep.Keeper, t *route.Table, i *intake.Checker, r *receipts.Matcher) *Requests {
	return &Requests{
		node: n, keep: k, table: t, intake: i, receipts: r, keys: keys{under: map[string]struct{}{}}, turns: newTurns(),
	}
}

// A Result is what became of a message of a request.
type Result struct {
	ID     uint64    // by which the client knows it, if Code is OK
	Code   sms.Code  // why it was refused
	Step   string    // of intake that has refused it
	Why    string    // what the plugin says that has refused it
	Parts  int       // short messages that it has become
	Price  sms.Money // of a preview: what each of them would cost
	Cost   sms.Money // of a preview: what the message would cost
	Parked bool      // no route leads anywhere, and an operator will decide

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

// Work is the messages of a request. They are read one by one, when it is their turn, so that a request costs nothing for
// those that are not.
type Work struct {
	N      int                        // how many there are
	Item   func(i int) (Item, bool)   // reads message i; false: it cannot be submitted
	Became func(i int, result Result) // is called, in their order, with what became of those that were
}

// Submit runs the steps of intake on the messages of a request, and returns the outcome of each when the accepted ones
// are stored. from is the request's own. Until ctx is done it waits for the account's rate. From then on no further
// messages are submitted, as their client is gone: Err says so. Those that were accepted by then are stored all the
// same.
func (d *Requests) Submit(ctx context.Context, from *connector.Source, items []Item) []Result {
	results := make([]Result, len(items))
	d.SubmitAll(ctx, from, Work{
		N:      len(items),
		Item:   func(i int) (Item, bool) { return items[i], true },
		Became: func(i int, r Result) { results[i] = r },
	})
	return results
}

// SubmitAll is Submit for messages that are read one by one.
func (d *Requests) SubmitAll(ctx context.Context, from *connector.Source, w Work) {
	d.submit(ctx, from, w, nil)
}

// How a request with many messages leaves room for those of others.
const (
	atOnce = 64 // short messages that are in one commit, and given to lanes together
	inARow = 8  // short messages that are taken before other goroutines have their turn
)

// submit is Submit. claim, which may be nil, adds to the batch that stores the messages, of which there is one then.
func (d *Requests) submit(ctx context.Context, from *connector.Source, w Work, claim func(*store.Batch, []Result)) {
	g := d.newGroup(from, w.N)
	g.work, g.claim = w, claim
	yielded := 0
	defer func() { d.keys.end(g.held...) }()
	for i := range w.N {
		g.take(ctx, i)
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
	d.pause(ctx, g.after)
}

// changes returns what makes a message of a fill, with the times of the engine's clock.
func (d *Requests) changes(fill Fill) func(int64, *sms.Message) sms.Code {
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

// push gives messages to a lane. If the engine is closed, they are in the store, or lost with the rest of memory.
func (d *Requests) push(l *connector.Lane, some []keep.Accepted) {
	ok := d.keep.Do(l, func(now int64) {
		for _, a := range some {
			l.Queues.Push(now, a.Share, a.Message)
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
func (d *Requests) pause(ctx context.Context, until int64) {
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
