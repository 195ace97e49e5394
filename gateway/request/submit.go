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

// Requests accepts the messages of requests. It is safe for concurrent use.
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

// A Result is the result of one message of a request.
type Result struct {
	ID     uint64    // id by which the client knows the message, if Code is OK
	Code   sms.Code  // OK, or the reason of the refusal
	Step   string    // the step of intake that has refused the message
	Why    string    // text of the plugin that has refused the message
	Parts  int       // number of short messages
	Quote  sms.Quote // what the account pays for the message
	Unit   sms.Money // in a preview: the price of each short message
	Parked bool      // the message has no route, and an operator will decide

	Repeated bool  // the message was submitted before with the same key, and this is the earlier result
	Err      error // reason why the key cannot be used, or that the client has disconnected; then the other fields are not set
}

// A Fill sets the fields of a message that a request submits. Times are by the wall clock.
type Fill func(m *sms.Message) sms.Code

// An Item is a message of a request.
type Item struct {
	Fill    Fill
	Strict  bool              // the message needs a sender, and a recipient with a known country
	Parts   int               // maximum number of short messages; 0: the account's limit
	Key     string            // the account's key for repetitions of the request; empty: none
	Payload [sha256.Size]byte // with Key: a hash of the contents of the request
}

// Work is the messages of a request. They are read one by one when they are submitted, so that
// messages that are not submitted cost nothing.
type Work struct {
	N      int                        // number of messages
	Item   func(i int) (Item, bool)   // reads message i; false: the message cannot be submitted
	Became func(i int, result Result) // is called with the result of each submitted message, in order
}

// Submit runs the steps of intake on the messages of a request, and returns the outcomes after the accepted ones are stored.
// from is the source of this request. Submit waits for the account's rate until ctx ends, which means that the client has
// disconnected: further messages are not submitted, and their results have an Err. Messages that were already accepted are
// still stored.
func (d *Requests) Submit(ctx context.Context, from *connector.Source, items []Item) []Result {
	results := make([]Result, len(items))
	d.SubmitAll(ctx, from, Work{
		N:      len(items),
		Item:   func(i int) (Item, bool) { return items[i], true },
		Became: func(i int, r Result) { results[i] = r },
	})
	return results
}

// SubmitAll submits messages as Submit does, but reads them one by one.
func (d *Requests) SubmitAll(ctx context.Context, from *connector.Source, w Work) {
	d.submit(ctx, from, w, nil)
}

// Limits by which a request with many messages leaves room for other requests.
const (
	atOnce = 64 // short messages that one commit contains and that are queued together
	inARow = 8  // short messages that are handled before other goroutines run
)

// submit implements Submit. claim may be nil. Otherwise it adds to the batch that stores the
// messages, and then all messages are in one commit.
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

// changes returns a function that makes a message of a fill, with the times of the engine's clock.
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

// push queues messages in a lane. If the engine is closed, they remain in the store, or are lost with the memory.
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

// pause waits until the account's rate allows an answer.
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
