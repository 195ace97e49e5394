package lease

import (
	"context"
	"errors"
)

// A Cell is a small value that all nodes share. The engine behind the cell stores the value on
// several machines. A call returns soon after its context is done. Calls are safe for concurrent
// use.
type Cell interface {
	// Read returns the value and its version. Both may be stale, because any machine of the engine may
	// answer. If the cell has no value, the results are nil and 0.
	Read(ctx context.Context) (value []byte, version uint64, err error)
	// Update replaces the value if its version is still last, and returns the new, higher version. If
	// the cell has another version, the error is ErrChanged, and the value was not and will not be
	// replaced. After any other error the update may have happened, or may happen later. The cell keeps
	// no reference to value.
	Update(ctx context.Context, value []byte, last uint64) (version uint64, err error)
}

// ErrChanged is the error of an update whose cell has another version than the one expected.
var ErrChanged = errors.New("another node has changed the cell")
