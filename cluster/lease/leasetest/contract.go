// Package leasetest tests what every cell of a lease must do. It contains a cell in memory that
// simulates the faults of an engine on other machines.
//
// # Start reading
//
// Test, New.
package leasetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"pmg/cluster/lease"
	"pmg/internal/testkit/testutil"
)

// Test tests an implementation of Cell. open returns a new cell without a value, and the same cell
// as another node sees it.
func Test(t *testing.T, open func(t *testing.T) (one, other lease.Cell)) {
	for name, test := range map[string]func(t *testing.T, one, other lease.Cell){
		"compares": compares, "copies": copies, "one winner": oneWinner, "gives up": givesUp,
	} {
		t.Run(name, func(t *testing.T) {
			one, other := open(t)
			test(t, one, other)
		})
	}
}

// update updates a cell, and fails the test if the update fails.
func update(t *testing.T, c lease.Cell, value string, last uint64) uint64 {
	t.Helper()
	version, err := c.Update(t.Context(), []byte(value), last)
	if err != nil || version <= last {
		t.Fatalf("update of version %d: %d, %v", last, version, err)
	}
	return version
}

// sees waits until a cell has a value, because reads may be stale.
func sees(t *testing.T, c lease.Cell, want string, version uint64) {
	t.Helper()
	testutil.Eventually(t, fmt.Sprintf("the cell has %q as version %d", want, version), func() bool {
		value, got, err := c.Read(t.Context())
		if err == nil && got > version || err == nil && got == version && string(value) != want {
			t.Fatalf("the cell has %q as version %d, want %q as %d", value, got, want, version)
		}
		return err == nil && got == version
	})
}

func compares(t *testing.T, one, other lease.Cell) {
	if value, version, err := one.Read(t.Context()); value != nil || version != 0 || err != nil {
		t.Fatalf("a new cell has %q as version %d, %v", value, version, err)
	}
	refuse := func(last uint64) {
		t.Helper()
		for _, c := range []lease.Cell{one, other} {
			if _, err := c.Update(t.Context(), []byte("no"), last); !errors.Is(err, lease.ErrChanged) {
				t.Errorf("update of version %d: %v", last, err)
			}
		}
	}
	refuse(1)
	first := update(t, one, "first", 0)
	refuse(0)
	refuse(first + 1)
	second := update(t, other, "second", first)
	refuse(0)
	refuse(first)
	third := update(t, one, "second", second) // a heartbeat writes the same value
	refuse(second)
	sees(t, one, "second", third)
	sees(t, other, "second", third)
}

// copies checks that a cell stores copies of the values it is given.
func copies(t *testing.T, one, other lease.Cell) {
	value := []byte("value")
	version, err := one.Update(t.Context(), value, 0)
	if err != nil {
		t.Fatal(err)
	}
	value[0] = 'X'
	sees(t, one, "value", version)
	if value, _, err = other.Read(t.Context()); err == nil && len(value) > 0 {
		value[0] = 'X'
	}
	sees(t, other, "value", version)
}

// oneWinner checks that only one of many updates of a version succeeds.
func oneWinner(t *testing.T, one, other lease.Cell) {
	last := uint64(0)
	for round := range 20 {
		var mu sync.Mutex
		var won []uint64
		var all sync.WaitGroup
		for i := range 8 {
			c := []lease.Cell{one, other}[i%2]
			all.Go(func() {
				version, err := c.Update(t.Context(), fmt.Appendf(nil, "%d of round %d", i, round), last)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					won = append(won, version)
				} else if !errors.Is(err, lease.ErrChanged) {
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		all.Wait()
		if len(won) != 1 || won[0] <= last {
			t.Fatalf("round %d: the versions %d have followed %d", round, won, last)
		}
		last = won[0]
	}
}

// givesUp checks that a call whose context is done returns, without claiming that nothing will
// happen.
func givesUp(t *testing.T, one, _ lease.Cell) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := one.Read(ctx); err == nil {
		t.Error("a read succeeds whose context is done")
	}
	if _, err := one.Update(ctx, []byte("value"), 0); err == nil || errors.Is(err, lease.ErrChanged) {
		t.Errorf("an update whose context is done: %v", err)
	}
}
