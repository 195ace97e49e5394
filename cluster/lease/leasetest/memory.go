package leasetest

import (
	"context"
	"slices"
	"sync"
	"time"

	"pmg/cluster/lease"
)

// A Fault is what goes wrong with one call. The zero value is none.
type Fault struct {
	Request time.Duration // how long it takes to reach the cell; if the caller gives up before, an update happens nevertheless
	Answer  time.Duration // how long its answer takes
	Lost    bool          // it never reaches the cell
	Silent  bool          // it reaches the cell, and its answer is lost
	Stale   uint64        // how many versions a read is behind
}

// A Cell has the value. It keeps all values that it had. Make it with New.
type Cell struct {
	fault func(node string, update bool) Fault

	mu     sync.Mutex
	values [][]byte // of the versions from 1 on
	cut    map[string]bool
}

// New makes a cell without a value. fault may be nil: nothing goes wrong. It is called for each call of a node, by several
// goroutines.
func New(fault func(node string, update bool) Fault) *Cell {
	if fault == nil {
		fault = func(string, bool) Fault { return Fault{} }
	}
	return &Cell{fault: fault, cut: map[string]bool{}}
}

// Cut sets whether a node cannot reach the cell: neither requests nor answers get through.
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

// A view is the cell of one node.
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

// call calls at when the request arrives, and returns its answer, or the error of the context.
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
