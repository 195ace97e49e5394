package cluster

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"

	"pmg/internal/testkit/natstest"
	"pmg/internal/testkit/testutil"
	"pmg/store"
)

func keyOf(b byte) []byte { return bytes.Repeat([]byte{b}, 32) }

// The encrypted store of a gateway that was alone becomes that of a cluster, plain messages of before the key included. A node
// with another key ends when it has taken over, with nothing lost, and the next one need not wait until its lease ends. The key
// is changed node by node.
func TestStoreKeys(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	server := natstest.New(t, "n1", "always", "").Start()
	disks := map[string]vfs.FS{"a": vfs.NewMem(), "b": vfs.NewMem(), "c": vfs.NewMem()}
	with := func(node string, keys ...[]byte) Options {
		o := options(server, node, disks[node])
		o.Store.Keys = keys
		return o
	}
	for id, keys := range [][][]byte{nil, {keyOf(1)}} {
		s, err := store.Open("alone", store.Options{FS: disks["a"], Log: zerolog.Nop(), Keys: keys})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.Commit(batchOf(uint64(id)+1)), s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for _, keys := range [][][]byte{nil, {keyOf(2)}} {
		if err := Adopt(t.Context(), with("a", keys...), "alone", func(int64) {}); !errors.Is(err, store.ErrKey) {
			t.Fatalf("with %d other keys: %v", len(keys), err)
		}
	}
	if err := Adopt(t.Context(), with("a", keyOf(1)), "alone", func(int64) {}); err != nil {
		t.Fatal(err)
	}

	wrong := started(t, with("b", keyOf(2)))
	testutil.Eventually(t, "node b is the owner", func() bool { return wrong.State().Reason == "" })
	ctx, cancel := context.WithTimeout(t.Context(), testutil.Patience)
	defer cancel()
	if _, err := wrong.TakeOver(ctx); !errors.Is(err, store.ErrKey) {
		t.Fatalf("a node with another key: %v", err)
	}
	o, err := OpenOperator(ctx, with("a"))
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if v, err := o.Owner(ctx); err != nil || !v.Vacant || v.Node != "b" {
		t.Errorf("the lease is not given back: %+v, %v", v, err)
	}
	closed(t, wrong)

	owner := started(t, with("c", keyOf(1)))
	s := works(t, owner, 3)
	b := started(t, with("b", keyOf(2), keyOf(1)))
	has(t, b, 3)
	sameSums(t, owner, b)
	testutil.Eventually(t, "node b may take over", func() bool { return b.State().Reason == "" })
	if err := errors.Join(s.Close(), owner.Release(t.Context(), "b")); err != nil {
		t.Fatal(err)
	}
	closed(t, owner)
	s = works(t, b, 4)
	if !s.Stats().OldKey {
		t.Error("the key of before is needed")
	}
	for id := range uint64(4) {
		var e store.Entry
		if ok, err := s.Get(id+1, &e); !ok || err != nil {
			t.Errorf("message %d: %t, %v", id+1, ok, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	closed(t, b)
}
