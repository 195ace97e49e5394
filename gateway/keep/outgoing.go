package keep

import (
	"slices"
	"sync"

	"pmg/connector"
	"pmg/gateway/node"
	"pmg/sms"
	"pmg/store"
)

// Outgoing queues messages that the gateway made itself: receipts, joined messages and parts. After
// the commit of a message, a separate goroutine pushes the message to the lane, because the caller
// may hold the lock of another lane. Outgoing is safe for concurrent use.
type Outgoing struct {
	node *node.Node
	done sync.WaitGroup

	mu      sync.Mutex
	do      Do // nil: Begin was not called, or End was
	waiting []Own
	safe    store.Position // everything up to this position is committed
	running bool
}

// Do runs a function on the goroutine that dispatches for a lane, as gateway.Engine.Do does.
type Do func(l *connector.Lane, f func(now int64)) bool

// An Own is a message that the gateway has made, with its place.
type Own struct {
	After   store.Position // the message waits until this position is committed
	Placed  bool           // the message already has its place in the lane
	Share   *connector.Share
	Message *sms.Message
	Work    func() // called instead of giving a message, after the same commit
}

// Give gives a message of the gateway to its lane after its commit.
func (o *Outgoing) Give(one Own) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting = append(o.waiting, one)
	o.run()
}

// Waiting returns the messages that wait to be given to their lanes, and whether others are being given.
func (o *Outgoing) Waiting() (all []Own, giving bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.waiting), o.running
}

// Begin allows lanes to be given messages.
func (o *Outgoing) Begin(do Do) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.do = do
	o.run()
}

// End waits until no messages are being given to lanes. Remaining messages are in the store.
func (o *Outgoing) End() {
	o.mu.Lock()
	o.do, o.waiting = nil, nil
	o.mu.Unlock()
	o.done.Wait()
}

// committed records that everything up to a position is committed. The changes of a failed commit
// wait for the next commit.
func (o *Outgoing) committed(upTo store.Position) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.safe = upTo
	o.run()
}

// run starts the goroutine if there may be work for it. The caller holds the lock.
func (o *Outgoing) run() {
	if o.do != nil && !o.running && len(o.waiting) > 0 && !o.waiting[0].After.After(o.safe) {
		o.running = true
		o.done.Go(func() { o.loop() })
	}
}

func (o *Outgoing) loop() {
	o.node.Pass("outgoing")
	for {
		o.mu.Lock()
		n, do := 0, o.do
		for n < len(o.waiting) && !o.waiting[n].After.After(o.safe) {
			n++
		}
		if n == 0 || do == nil {
			o.running = false
			o.mu.Unlock()
			return
		}
		part := o.waiting[:n:n]
		o.waiting = append([]Own(nil), o.waiting[n:]...)
		o.mu.Unlock()
		for len(part) > 0 {
			if work := part[0].Work; work != nil {
				work()
				part = part[1:]
				continue
			}
			n := 1
			for n < len(part) && part[n].Share == part[0].Share && part[n].Work == nil {
				n++
			}
			o.enter(do, part[0].Share, part[:n])
			part = part[n:]
		}
	}
}

// enter gives messages to a lane.
func (o *Outgoing) enter(do Do, s *connector.Share, all []Own) {
	for _, one := range all {
		if !one.Placed {
			s.Enter(one.Message, o.node.Clock.Now())
		}
	}
	ok := do(s.Lane, func(now int64) {
		for _, one := range all {
			s.Lane.Queues.Push(now, s, one.Message)
		}
	})
	if ok {
		return
	}
	for _, one := range all { // the messages are in the store
		s.Leave(one.Message)
		one.Message.Release()
	}
}
