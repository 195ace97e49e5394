package loadtest

import (
	"context"
	"fmt"
	"hash/maphash"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"pmg/protocols"
)

const (
	tickInterval = 100 * time.Millisecond // for reporting progress and detecting a standstill
	retrySlot    = 5 * time.Millisecond   // accuracy of the pause before a message is sent again
	unbindTime   = 5 * time.Second        // how long the peers may take to answer unbind
	maxBinding   = 32                     // connections that bind at the same time
)

// A run is a running load.
type run struct {
	o        LoadOptions
	template template
	supply   supply
	clients  []*client
	senders  []*client // clients that submit
	began    time.Time
	wake     chan struct{} // signals that the run may have finished
	gaveUp   bool          // nothing was received for too long

	sent, answered, resent atomic.Int64
	throttled, refused     atomic.Int64
	unexpected, unnumbered atomic.Int64
	malformed              atomic.Int64
	abandoned, lost, live  atomic.Int64
	early                  atomic.Int64    // connections that the peer has ended while something was to be received
	away                   atomic.Int64    // connections that are being opened again
	reconnects, sentAgain  atomic.Int64    // connections opened again; submits of lost ones that were requeued
	ending                 context.Context // ends when the sessions are ended
	end                    context.CancelFunc
	accepted               Numbers

	accounts        []Account
	receiptsOf      []*accountReceipts // by account
	seed            maphash.Seed
	receipts        Numbers // messages that have a receipt
	receiptsDoubled atomic.Int64
	receiptsWrong   atomic.Int64
	receiptsBefore  atomic.Int64
	receiptStates   [states]atomic.Int64
	mo              Numbers
	moMisrouted     atomic.Int64
}

// newRun returns a run that has not begun.
func newRun(o LoadOptions) *run {
	w, _ := newWire(o.Protocol) // check has seen the protocol
	r := &run{o: o, template: w.newTemplate(&o), began: time.Now(), wake: make(chan struct{}, 1), seed: maphash.MakeSeed()}
	r.ending, r.end = context.WithCancel(context.Background())
	r.supply.first, r.supply.limit = o.First, o.Messages
	if o.Messages == 0 && o.MO > 0 {
		r.supply.stop()
	}
	r.accounts = o.Accounts
	if len(r.accounts) == 0 {
		r.accounts = []Account{{o.SystemID, o.Password}}
	}
	for range r.accounts {
		r.receiptsOf = append(r.receiptsOf, newAccountReceipts())
	}
	return r
}

// isFor reports whether a message from the network to an address is for an account.
func (r *run) isFor(to []byte, account int) bool {
	return len(r.o.MOTo) == 0 || string(to) == r.o.MOTo[account]
}

// now returns the time since the run began, in nanoseconds.
func (r *run) now() int64 { return int64(time.Since(r.began)) }

// add counts a batch and empties it.
func (r *run) add(b *batch) {
	add := func(to *atomic.Int64, n int64) {
		if n != 0 {
			to.Add(n)
		}
	}
	add(&r.sent, b.sent)
	add(&r.resent, b.resent)
	add(&r.throttled, b.throttled)
	add(&r.refused, b.refused)
	add(&r.unexpected, b.unexpected)
	add(&r.unnumbered, b.unnumbered)
	add(&r.malformed, b.malformed)
	r.accepted.Mark(b.accepted)
	received := len(b.receipts.numbers)+len(b.mo) > 0
	if received {
		r.addReceived(b)
	}
	add(&r.moMisrouted, b.misrouted)
	add(&r.receiptsDoubled, b.receipts.doubled)
	add(&r.answered, b.answered) // added last, so that a reader of answered sees the other counts too
	if (b.answered > 0 || received) && r.supply.exhausted() && !r.waiting() {
		r.signal()
	}
	receipts := &b.receipts
	*b = batch{accepted: b.accepted[:0], mo: b.mo[:0], receipts: receiptBatch{
		accepted: receipts.accepted[:0], received: receipts.received[:0], numbers: receipts.numbers[:0],
	}}
}

// addReceived counts the receipts and the messages from the network of a batch.
func (r *run) addReceived(b *batch) {
	r.receipts.Mark(b.receipts.numbers)
	r.receiptsWrong.Add(b.receipts.wrong)
	r.receiptsBefore.Add(b.receipts.before)
	for i, n := range b.receipts.states {
		if n > 0 {
			r.receiptStates[i].Add(n)
		}
	}
	r.mo.Mark(b.mo)
}

// signal wakes wait.
func (r *run) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// endedByPeer counts a connection that the peer has ended. It is lost if it had work to do. If it
// could still receive something, the missing messages in the end decide, because other connections
// may still have unread octets.
func (r *run) endedByPeer(worked, received bool) {
	switch {
	case worked:
		r.lost.Add(1)
	case received:
		r.early.Add(1)
	}
}

// connectionsLost returns how many connections were lost. The run is over.
func (r *run) connectionsLost() int64 {
	if r.waiting() {
		return r.lost.Load() + r.early.Load()
	}
	return r.lost.Load()
}

// connectionEnded counts the end of a connection.
func (r *run) connectionEnded(outstanding int) {
	r.abandoned.Add(int64(outstanding))
	r.live.Add(-1)
	r.signal()
}

// waiting reports whether an answer or a receipt is still missing.
func (r *run) waiting() bool {
	return r.answered.Load()+r.abandoned.Load() < r.sent.Load() ||
		r.o.Receipts && r.receipts.unique.Load() < r.accepted.unique.Load() ||
		r.mo.unique.Load() < r.o.MO
}

// finished reports whether the run is over: no connection is left, or everything is sent
// and answered. The counters are checked twice. The second time every client is locked,
// because a client may have taken a message from the supply and not counted it yet.
func (r *run) finished() bool {
	if r.live.Load() == 0 {
		return true
	}
	if r.waiting() || !r.supply.exhausted() {
		return false
	}
	for _, c := range r.clients {
		c.mu.Lock()
		defer c.mu.Unlock()
	}
	return !r.waiting() && r.supply.exhausted()
}

// bind opens and binds all connections, or fails.
func (r *run) bind(ctx context.Context) error {
	binds := []protocols.BindType{r.o.Bind}
	if r.o.Separate {
		binds = []protocols.BindType{protocols.Receiver, protocols.Transmitter}
	}
	var (
		wg    sync.WaitGroup
		slots = make(chan struct{}, maxBinding)
		conns = make([]*client, r.o.Connections*len(binds))
		errs  = make(chan error, len(conns))
	)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for i := range conns {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			c, err := r.bindOne(ctx, i/len(binds)%len(r.accounts), binds[i%len(binds)])
			if err != nil {
				errs <- err
				cancel() // the others need not try
				return
			}
			conns[i] = c
		})
	}
	wg.Wait()
	for _, c := range conns {
		if c == nil {
			continue
		}
		r.clients = append(r.clients, c)
		if c.login.bind.CanSubmit() {
			r.senders = append(r.senders, c)
		}
	}
	select {
	case err := <-errs:
		r.close()
		return err
	default:
		return nil
	}
}

// bindOne opens one connection and logs in.
func (r *run) bindOne(ctx context.Context, account int, bind protocols.BindType) (*client, error) {
	dialer := net.Dialer{Timeout: r.o.Timeout}
	conn, err := dialer.DialContext(ctx, "tcp", r.o.To)
	if err != nil {
		return nil, fmt.Errorf("cannot connect: %w", err)
	}
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	c := newClient(r, conn, account, bind)
	if err := c.bind(); err != nil {
		conn.Close()
		return nil, fmt.Errorf("cannot bind to %s as %q: %w", r.o.To, c.login.SystemID, err)
	}
	return c, nil
}

// bind logs in. The peer may take as long as Timeout.
func (c *client) bind() error {
	if err := c.conn.SetDeadline(time.Now().Add(c.run.o.Timeout)); err != nil {
		return err
	}
	c.sequence = 1
	if _, err := c.conn.Write(c.wire.appendLogin(nil, c.sequence, &c.login)); err != nil {
		return err
	}
	for {
		pdu, err := c.in.next()
		if err != nil {
			return err
		}
		if pdu == nil {
			if err := c.in.fill(); err != nil {
				return err
			}
			continue
		}
		switch h := c.wire.header(pdu); {
		case h.sequence != c.sequence || h.kind != loginAnswer && h.kind != submitAnswer: // generic_nack is the latter
		case h.status != 0:
			return fmt.Errorf("answered with %s", c.wire.statusName(h.status))
		case h.kind == loginAnswer:
			return c.conn.SetDeadline(time.Time{})
		}
	}
}

// wait returns when the run is finished, or when nothing was received for too long. The
// end of ctx or of Duration ends only the supply.
func (r *run) wait(ctx context.Context) {
	tick := time.NewTicker(tickInterval)
	defer tick.Stop()
	var end <-chan time.Time
	if r.o.Duration > 0 {
		timer := time.NewTimer(r.o.Duration)
		defer timer.Stop()
		end = timer.C
	}
	stop := ctx.Done()
	received, since := int64(-1), r.now()
	for !r.finished() {
		select {
		case <-stop:
			stop = nil
			r.supply.stop()
		case <-end:
			r.supply.stop()
		case <-r.wake:
		case <-tick.C:
			r.progress()
		}
		now, count := r.now(), r.answered.Load()+r.receipts.unique.Load()+r.mo.unique.Load()
		if count != received || !r.waiting() && r.away.Load() < int64(len(r.clients)) {
			received, since = count, now
		} else if now-since > int64(r.o.Timeout) {
			r.gaveUp = true
			return
		}
	}
}

// pace submits the messages of each slot, until the pacer is closed.
func (r *run) pace(p *pacer) {
	for slot := 0; p.wait(); slot++ {
		r.submitDue(slot)
	}
}

// submitDue spreads the messages that are due evenly over the clients, and begins with
// another client in each slot. A client that is locked is working and takes due messages
// by itself.
func (r *run) submitDue(slot int) {
	now := r.now()
	if len(r.senders) == 0 {
		return
	}
	ready := r.supply.ready(now, r.o.Window*len(r.senders))
	share := (ready + len(r.senders) - 1) / len(r.senders)
	for i := 0; i < len(r.senders) && r.supply.ready(now, 1) > 0; i++ {
		c := r.senders[(slot+i)%len(r.senders)]
		if c.mu.TryLock() {
			c.refill(now, share)
			_ = c.flush() // on an error the connection is closed and its own goroutine counts it
			c.mu.Unlock()
		}
	}
}

// unbind ends all sessions. Connections of peers that do not answer in time are closed.
func (r *run) unbind(serving *sync.WaitGroup) {
	timer := time.AfterFunc(min(unbindTime, r.o.Timeout), r.close)
	defer timer.Stop()
	r.end()
	for _, c := range r.clients {
		c.unbind()
	}
	serving.Wait()
}

// close closes all connections.
func (r *run) close() {
	r.end()
	for _, c := range r.clients {
		c.close()
	}
}
