package keep

import (
	"slices"
	"sync"

	"pmg/connector"
	"pmg/gateway/node"
	"pmg/sms"
	"pmg/store"
)

// Outgoing queues messages that the gateway made itself: receipts, joined messages and parts. A
// goroutine pushes each to its lane after its commit. It is a goroutine of its own
// because the caller may hold the lock of another lane. Outgoing is safe for concurrent use.
type Outgoing struct {
	node *node.Node
	done sync.WaitGroup

	mu      sync.Mutex
	do      Do // nil: not begun, or ended
	waiting []Own
	safe    store.Position // up to which all is committed
	running bool
}

// Do runs a function on the goroutine that dispatches for a lane, as that of gateway.Engine does.
type Do func(l *connector.Lane, f func(now int64)) bool

// An Own is a message that the gateway has made, and its place.
type Own struct {
	After   store.Position // what is committed first
	Placed  bool           // it holds its place in the lane
	Share   *connector.Share
	Message *sms.Message
	Work    func() // is called in the place of giving a message, after the same commit
}

// Give gives a message that the gateway has made to its lane when it is committed.
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

// End waits until no lane is given anything any more. What is left is in the store.
func (o *Outgoing) End() {
	o.mu.Lock()
	o.do, o.waiting = nil, nil
	o.mu.Unlock()
	o.done.Wait()
}

// committed records that all up to a position is committed. What a commit that failed has left is
// committed with the next one, and waits for that.
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
	for _, one := range all { // they are in the store
		s.Leave(one.Message)
		one.Message.Release()
	}
}
