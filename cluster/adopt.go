package cluster

import (
	"context"
	"errors"
	"fmt"

	"pmg/store"
)

// ErrUsed is the error of Adopt if the stream has records already.
var ErrUsed = errors.New("the stream of the journal has records already")

// Adopt makes the store of a gateway without a cluster, in the directory from, the first contents of a
// new cluster: a node with an empty copy takes the work over, commits everything that the store has,
// and hands the work over. The store stays as it is. adopted is called with the number of operations
// that are committed so far. No other node may run.
func Adopt(ctx context.Context, o Options, from string, adopted func(operations int64)) error {
	alone := store.Options{Log: o.Log, FS: o.Store.FS, Keys: o.Store.Keys}
	s, err := store.Open(from, alone) // what is wrong with it is known before the stream has anything
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		return err
	}
	n, err := Open(ctx, o)
	if err != nil {
		return err
	}
	err = n.adopt(ctx, from, alone, adopted)
	return errors.Join(err, n.Close())
}

func (n *Node) adopt(ctx context.Context, from string, alone store.Options, adopted func(int64)) error {
	if n.first != 0 {
		return ErrUsed
	}
	if _, err := n.TakeOver(ctx); err != nil {
		return fmt.Errorf("cannot take the work of the new cluster over: %w", err)
	}
	s, all := n.Store(), int64(0)
	want, err := store.Export(from, alone, func(b *store.Batch) error {
		if err := s.Commit(b); err != nil {
			return err
		}
		all += int64(b.Len())
		adopted(all)
		return ctx.Err()
	})
	if err == nil {
		_, got, sumErr := n.store.Sum()
		if err = sumErr; err == nil && got != want {
			err = fmt.Errorf("the copy has the hash %s, and the store %s", got, want)
		}
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	return n.Release(ctx, "")
}
