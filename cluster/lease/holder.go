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

// Options are the parameters of a node. All nodes must have the same times.
type Options struct {
	Node     string        // name of this node, see CheckNode; no two running processes may have the same name
	Lease    time.Duration // how long an owner may work after it sent its last acknowledged heartbeat
	Dead     time.Duration // how long a standby must see no heartbeat of the owner before it takes over
	Beat     time.Duration // time between two heartbeats of the owner, or two reads of a standby
	Eligible bool          // whether the node may become the owner; SetEligible changes this
}

// Check returns an error if the options contradict each other.
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

// A Holder is one node's part in a lease. A Holder becomes the owner at most once: after it was
// released or deposed, a new Holder is made. So work that began under one epoch never goes on under
// another. Its methods are safe for concurrent use.
type Holder struct {
	cell   Cell
	origin time.Time     // the zero of the time that now returns
	until  atomic.Int64  // end of the lease, in the time of now
	woken  chan struct{} // receives when something has become due earlier

	mu      sync.Mutex
	machine *machine
	number  uint64        // number of the latest published status
	changed chan struct{} // closed when a newer status is published
}

// New makes a Holder that stands by. It does nothing before Run is called.
func New(cell Cell, o Options) (*Holder, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	var run [8]byte
	_, _ = rand.Read(run[:]) // rand.Read never fails
	h := &Holder{cell: cell, origin: time.Now(), woken: make(chan struct{}, 1), changed: make(chan struct{})}
	h.machine = newMachine(o, max(binary.BigEndian.Uint64(run[:]), 1), h.now())
	return h, nil
}

// now returns the time by the monotonic clock, in nanoseconds since the Holder was made.
func (h *Holder) now() int64 { return int64(time.Since(h.origin)) }

// Holds reports whether this node may work now. It costs one read of the clock. A writer asks directly before each system call.
func (h *Holder) Holds() bool {
	until := h.until.Load() // read before the clock: if the process is stopped in between, the lease counts as run out
	return h.now() < until
}

// Status returns the latest status.
func (h *Holder) Status() Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.machine.status
}

// Wait waits for a status with a number above after, and returns the newest status. With 0 it
// returns the present status. Changes that follow each other quickly may be skipped. The error is
// the context's.
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

// Quiet returns how long ago the owner's last heartbeat was acknowledged, or a standby last saw a
// heartbeat of another node.
func (h *Holder) Quiet() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Duration(h.now() - h.machine.heard)
}

// SetEligible sets whether the node may become the owner. It does not end the ownership of a node
// that is the owner already.
func (h *Holder) SetEligible(eligible bool) {
	h.mu.Lock()
	h.machine.eligible = eligible
	h.mu.Unlock()
}

// SetBegun sets the highest epoch that is known to have begun, and whether it is known that none has. If none has, an empty cell
// has no owner, and the node takes the cell without waiting. The cell alone does not show that: it may have been deleted and made
// again while its owner lives. Then the node waits, and its epoch will be above epoch.
func (h *Holder) SetBegun(epoch uint64, none bool) {
	h.mu.Lock()
	h.machine.begun, h.machine.unowned = epoch, none
	h.mu.Unlock()
}

// Release hands the ownership over to the node next, or to any node if next is "". Holds returns
// false from the beginning of the call. Release returns nil when the cell does not name this node
// any more. If the context ends before, Run goes on trying. Run must be running.
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

// publish publishes the machine's status. The caller holds the lock.
func (h *Holder) publish() {
	h.until.Store(h.machine.until)
	if n := h.machine.status.Number; n != h.number {
		h.number = n
		close(h.changed)
		h.changed = make(chan struct{})
	}
}

// Run stands by, takes over and renews the lease, until the Holder has ended or the context is
// done. If the context ends first, the cell still names an owner that was not released, and the
// other nodes wait for Dead. Run may be called once only.
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

// step makes the call that is due. wait is how long nothing is to be done then. ended is true if
// the Holder has ended.
func (h *Holder) step(ctx context.Context) (wait time.Duration, ended bool) {
	h.mu.Lock()
	left := h.now() // the time before the call begins
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

// perform makes a call of the cell, and returns the answer.
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
