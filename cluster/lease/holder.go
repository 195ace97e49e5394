package lease

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Options are what a node must know. All nodes must have the same times.
type Options struct {
	Node     string        // the own name, see CheckNode; no two processes that run have the same
	Lease    time.Duration // how long an owner may work after a heartbeat left
	Dead     time.Duration // how long no heartbeat of the owner is seen before another node takes over
	Beat     time.Duration // the time between two heartbeats, or two reads of a node that stands by
	Eligible bool          // whether the node may become the owner, until SetEligible
}

// Check returns an error if options do not fit each other.
func (o Options) Check() error {
	switch {
	case CheckNode(o.Node) != nil:
		return CheckNode(o.Node)
	case o.Beat < time.Millisecond || o.Dead > time.Hour:
		return fmt.Errorf("beat is %s and dead is %s: they must be at least 1ms and at most 1h", o.Beat, o.Dead)
	case o.Lease < 4*o.Beat:
		return fmt.Errorf("lease is %s and beat is %s: it must be at least four beats, so that one may be lost", o.Lease, o.Beat)
	case o.Dead-o.Lease < o.Lease/10:
		return fmt.Errorf("dead is %s and lease is %s: it must be a tenth longer, because clocks differ", o.Dead, o.Lease)
	}
	return nil
}

// A Holder is one node's part in a lease. It owns once at most: after it was released or deposed, another one is made. So what
// was begun under one epoch never goes on under another. Its methods are safe for concurrent use.
type Holder struct {
	cell   Cell
	origin time.Time     // now is counted from it
	until  atomic.Int64  // the end of the lease, as now counts
	woken  chan struct{} // something is due earlier

	mu      sync.Mutex
	machine *machine
	number  uint64        // of the status that waiters know
	changed chan struct{} // closed when there is a newer one
}

// New makes a Holder that stands by. Nothing happens before Run.
func New(cell Cell, o Options) (*Holder, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	var run [8]byte
	_, _ = rand.Read(run[:]) // it never fails
	h := &Holder{cell: cell, origin: time.Now(), woken: make(chan struct{}, 1), changed: make(chan struct{})}
	h.machine = newMachine(o, max(binary.BigEndian.Uint64(run[:]), 1), h.now())
	return h, nil
}

// now returns the time by the monotonic clock, in nanoseconds since the Holder was made.
func (h *Holder) now() int64 { return int64(time.Since(h.origin)) }

// Holds reports whether this node may work now. It costs one read of the clock. A writer asks directly before each system call.
func (h *Holder) Holds() bool {
	until := h.until.Load() // before the clock is read: if the process is stopped in between, the lease has run out
	return h.now() < until
}

// Status returns what is known now.
func (h *Holder) Status() Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.machine.status
}

// Wait returns the newest status, as soon as there is one with a number above after: 0 for the present one. If several changes
// came together, those between are not seen. Its error is that of the context.
func (h *Holder) Wait(ctx context.Context, after uint64) (Status, error) {
	for {
		h.mu.Lock()
		status, changed := h.machine.status, h.changed
		h.mu.Unlock()
		if status.Number > after {
			return status, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return status, ctx.Err()
		}
	}
}

// Quiet returns for how long no heartbeat was acknowledged, or none of another node was seen.
func (h *Holder) Quiet() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Duration(h.now() - h.machine.heard)
}

// SetEligible sets whether the node may become the owner. One that is the owner goes on until it is released.
func (h *Holder) SetEligible(eligible bool) {
	h.mu.Lock()
	h.machine.eligible = eligible
	h.mu.Unlock()
}

// Release hands over to the node next, or to any if next is "". Holds reports false when it begins. It returns nil when the cell
// does not name this node any more. If the context is done before, Run goes on trying. Release needs Run.
func (h *Holder) Release(ctx context.Context, next string) error {
	h.mu.Lock()
	if next != "" && (next == h.machine.node || CheckNode(next) != nil) {
		h.mu.Unlock()
		return fmt.Errorf("cannot hand over to node %q: it is not the name of another node", next)
	}
	h.machine.release(next, h.now())
	h.publish()
	h.mu.Unlock()
	select {
	case h.woken <- struct{}{}:
	default:
	}
	for number := uint64(0); ; {
		status, err := h.Wait(ctx, number)
		switch number = status.Number; {
		case err != nil:
			return fmt.Errorf("cannot hand over: %w", err)
		case status.State == Released:
			return nil
		case status.State == Deposed:
			return errors.New("cannot hand over: " + status.Why)
		}
	}
}

// publish makes known what the machine has decided. The caller has the lock.
func (h *Holder) publish() {
	h.until.Store(h.machine.until)
	if n := h.machine.status.Number; n != h.number {
		h.number = n
		close(h.changed)
		h.changed = make(chan struct{})
	}
}

// Run stands by, takes over and renews the lease, until the Holder has ended or the context is done. In the second case the
// cell still names an owner that was not released, and other nodes wait for Dead. It is called once.
func (h *Holder) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.machine.stop()
		h.publish()
	}()
	for ctx.Err() == nil {
		wait, ended := h.step(ctx)
		if ended {
			return
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-h.woken:
		case <-ctx.Done():
		}
	}
}

// step makes the call that is due. It returns how long nothing is to be done, and whether the Holder has ended.
func (h *Holder) step(ctx context.Context) (wait time.Duration, ended bool) {
	h.mu.Lock()
	left := h.now() // before the call
	h.machine.tick(left)
	h.publish()
	if left >= h.machine.due && !h.machine.status.State.Ended() {
		c := h.machine.begin(left)
		h.mu.Unlock()
		a := h.perform(ctx, c)
		a.left = left
		h.mu.Lock()
		h.machine.end(c, a, h.now())
		h.publish()
	}
	defer h.mu.Unlock()
	return time.Duration(h.machine.wake() - h.now()), h.machine.status.State.Ended()
}

// perform makes a call, and returns its answer.
func (h *Holder) perform(ctx context.Context, c call) (a answer) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(c.timeout))
	defer cancel()
	if c.update {
		a.version, a.err = h.cell.Update(ctx, c.value.Append(nil), c.last)
	} else {
		a.octets, a.version, a.err = h.cell.Read(ctx)
	}
	return a
}
