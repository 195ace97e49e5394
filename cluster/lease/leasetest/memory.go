package leasetest

import (
	"context"
	"slices"
	"sync"
	"time"

	"pmg/cluster/lease"
)

// A Fault is what goes wrong with one call. The zero value means no fault.
type Fault struct {
	Request time.Duration // how long the request takes to reach the cell; an update happens even if the caller gives up before
	Answer  time.Duration // how long the answer takes to reach the caller
	Lost    bool          // the request never reaches the cell
	Silent  bool          // the request reaches the cell, but the answer is lost
	Stale   uint64        // a read returns a value that is this number of versions old
}

// A Cell is a cell in memory. It keeps all values that it had. Make it with New.
type Cell struct {
	fault func(node string, update bool) Fault

	mu     sync.Mutex
	values [][]byte // values of the versions from 1 on
	cut    map[string]bool
}

// New makes a cell without a value. Each call of a node calls fault, on several goroutines. If
// fault is nil, no call has a fault.
func New(fault func(node string, update bool) Fault) *Cell {
	if fault == nil {
		fault = func(string, bool) Fault { return Fault{} }
	}
	return &Cell{fault: fault, cut: map[string]bool{}}
}

// Cut sets whether a node is cut off from the cell, so that neither requests nor answers get
// through.
func (c *Cell) Cut(node string, cut bool) {
	c.mu.Lock()
	c.cut[node] = cut
	c.mu.Unlock()
}

// Of returns the cell as a node sees it.
func (c *Cell) Of(node string) lease.Cell { return view{c, node} }

// Values returns all values that the cell had, the oldest first.
func (c *Cell) Values() [][]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.values)
}

func (c *Cell) isCut(node string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cut[node]
}

// A view is the cell as one node sees it.
type view struct {
	cell *Cell
	node string
}

type answer struct {
	value   []byte
	version uint64
	err     error
}

// Read implements lease.Cell.
func (v view) Read(ctx context.Context) ([]byte, uint64, error) {
	f := v.cell.fault(v.node, false)
	a := v.call(ctx, f, func() (a answer) {
		v.cell.mu.Lock()
		defer v.cell.mu.Unlock()
		if n := uint64(len(v.cell.values)); n > f.Stale {
			a.version = n - f.Stale
			a.value = slices.Clone(v.cell.values[a.version-1])
		}
		return a
	})
	return a.value, a.version, a.err
}

// Update implements lease.Cell.
func (v view) Update(ctx context.Context, value []byte, last uint64) (uint64, error) {
	value = slices.Clone(value)
	a := v.call(ctx, v.cell.fault(v.node, true), func() answer {
		v.cell.mu.Lock()
		defer v.cell.mu.Unlock()
		if uint64(len(v.cell.values)) != last {
			return answer{err: lease.ErrChanged}
		}
		v.cell.values = append(v.cell.values, value)
		return answer{version: last + 1}
	})
	return a.version, a.err
}

// call runs at when the request arrives, and returns its answer, or the error of the context.
func (v view) call(ctx context.Context, f Fault, at func() answer) answer {
	if err := ctx.Err(); err != nil {
		return answer{err: err}
	}
	answered := make(chan answer, 1)
	time.AfterFunc(f.Request, func() {
		if f.Lost || v.cell.isCut(v.node) {
			return
		}
		a := at()
		time.AfterFunc(f.Answer, func() {
			if !f.Silent && !v.cell.isCut(v.node) {
				answered <- a
			}
		})
	})
	select {
	case a := <-answered:
		return a
	case <-ctx.Done():
		return answer{err: ctx.Err()}
	}
}
