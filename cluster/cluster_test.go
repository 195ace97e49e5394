package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"pmg/cluster/lease"
	"pmg/internal/testkit/natstest"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
	"pmg/store"
	"pmg/store/journal"
	natsjournal "pmg/store/journal/nats"
)

func TestMain(m *testing.M) { testutil.NoLeaks(m) }

// options are those of a node on one server.
func options(server *natstest.Server, node string, fs vfs.FS) Options {
	return Options{
		Secrets: []string{"common"},
		Node:    node, Servers: natstest.URLs(server), Connect: natstest.User(), Stream: "PMG", Replicas: 1, Unsafe: true,
		Lease: lease.Options{Lease: 10 * time.Second, Dead: 11 * time.Second, Beat: 50 * time.Millisecond}, Keep: time.Hour,
		Dir: "store", Store: store.Options{FS: fs, Log: zerolog.Nop()}, Config: "same", Version: "test",
		Log: zerolog.New(io.Discard),
	}
}

func started(t *testing.T, o Options) *Node {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testutil.Patience)
	defer cancel()
	n, err := Open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func closed(t *testing.T, n *Node) {
	t.Helper()
	if err := n.Close(); err != nil {
		t.Error(err)
	}
}

// works waits until a node owns the work, and stores a message as its gateway.
func works(t *testing.T, n *Node, id uint64) store.Store {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testutil.Patience)
	defer cancel()
	if _, err := n.TakeOver(ctx); err != nil {
		t.Fatal(err)
	}
	s := n.Store()
	var b store.Batch
	m := &sms.Message{ID: id}
	b.Put(m, store.Lane{Connector: "smsc"})
	if err := s.Commit(&b); err != nil {
		t.Fatal(err)
	}
	return s
}

// has waits until a node has a message.
func has(t *testing.T, n *Node, id uint64) {
	t.Helper()
	testutil.Eventually(t, fmt.Sprintf("node %s has message %d", n.o.Node, id), func() bool {
		var e store.Entry
		ok, err := n.store.Get(id, &e)
		return ok && err == nil
	})
}

// sameSums fails the test if nodes that have the same records do not have the same in their stores.
func sameSums(t *testing.T, all ...*Node) {
	t.Helper()
	for _, n := range all {
		testutil.Eventually(t, "node "+n.o.Node+" has all", func() bool { return n.shared.Last() == all[0].shared.Last() })
		at, sum, err := n.store.Sum()
		first, want, wrong := all[0].store.Sum()
		if err != nil || wrong != nil || at != first || sum != want {
			t.Errorf("node %s has %s at %d, and node %s %s at %d: %v %v", n.o.Node, sum, at, all[0].o.Node, want, first, err, wrong)
		}
	}
}

// The work goes from node to node: handed over, after a node has stood still, and after a start. Nothing is missing.
func TestTakeOver(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	server := natstest.New(t, "n1", "always", "").Start()
	disks := []vfs.FS{vfs.NewMem(), vfs.NewMem(), vfs.NewMem()}
	a := started(t, options(server, "a", disks[0]))
	s := works(t, a, 1)
	b := started(t, options(server, "b", disks[1]))
	has(t, b, 1)
	sameSums(t, a, b)
	testutil.Eventually(t, "node b may take over", func() bool { return b.State().Reason == "" })
	if err := s.Close(); err != nil { // as a gateway does that was drained
		t.Fatal(err)
	}
	if err := a.Release(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	closed(t, a)
	s = works(t, b, 2)
	a = started(t, options(server, "a", disks[0]))
	has(t, a, 2)
	sameSums(t, a, b)
	testutil.Eventually(t, "node a may take over", func() bool { return a.State().Reason == "" })
	testutil.Eventually(t, "node b knows of node a", func() bool {
		r := b.Report()
		return r.Figures.Owner && r.Epoch == 2 && r.Ready == 1 && r.Behind == 0 && len(r.Nodes) == 2 && r.Figures.Unfit == ""
	})
	if r := a.Report(); r.Figures.Owner || r.Epoch != 2 || r.Owner != "b" || r.Heartbeat > testutil.Patience.Seconds() {
		t.Errorf("node a knows %+v", r)
	}
	twin := started(t, options(server, "a", vfs.NewMem())) // by mistake
	select {
	case <-twin.Done():
	case <-time.After(testutil.Patience):
		t.Error("a second process of one name takes part")
	}
	closed(t, twin)
	if err := a.Err(); err != nil {
		t.Errorf("the first process of that name has ended: %v", err)
	}
	b.end(errClosed) // nobody renews the lease
	works(t, a, 3)
	c := started(t, options(server, "c", disks[2]))
	has(t, c, 3)
	has(t, c, 1)
	sameSums(t, a, c)
	if err := s.Commit(batchOf(4)); err == nil {
		t.Error("a node commits whose work another has")
	}
	_ = s.Close()
	closed(t, b)
	if err := a.Store().Close(); err != nil {
		t.Error(err)
	}
	closed(t, a)
	closed(t, c)
}

// When the disk of a server of NATS is full, the owner and the operators learn what the server says.
func TestFullDisk(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	disk := smallDisk(t)
	address := testutil.FreeAddress(t)
	server := natstest.NewWithin(t, nil, "n1", address, func(string) string {
		return fmt.Sprintf(`server_name: n1
listen: %q
jetstream { store_dir: %q, sync_interval: always, max_file: 1GB }
accounts {
	SYS: { users: [ { user: system, password: system } ] }
	PMG: { jetstream: enabled, users: [ { user: pmg, password: pmg } ] }
}
system_account: SYS
`, address, disk)
	}).Start()
	o := options(server, "a", vfs.NewMem())
	o.System = natstest.System()
	a := started(t, o)
	s := works(t, a, 1)
	var storing sync.WaitGroup
	storing.Go(func() {
		for id := uint64(2); ; id++ {
			batch := batchOf(id)
			batch.Note(store.KindBalance, []byte("key"), make([]byte, 200<<10), store.Forever)
			if s.Commit(batch) != nil {
				return // the node was closed
			}
		}
	})
	testutil.Eventually(t, "the node knows why", func() bool { return strings.Contains(a.State().Trouble, "no space left on device") })
	if r := a.Report(); !strings.Contains(r.Trouble, "server n1 says") {
		t.Errorf("%q", r.Trouble)
	}
	_ = a.journal.Close() // as a node does that does not own the work any more
	storing.Wait()
	_ = s.Close()
	_ = a.Close() // the journal is closed already
}

// A stream that has filled because one node is alone has room again when an operator has forgotten the others.
func TestFullStream(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	server := natstest.New(t, "n1", "always", "").Start()
	limited := func(node string) Options {
		o := options(server, node, vfs.NewMem())
		o.MaxOctets = 64 << 20
		return o
	}
	a, b := started(t, limited("a")), started(t, limited("b"))
	s := works(t, a, 1)
	has(t, b, 1)
	testutil.Eventually(t, "both nodes are known", func() bool { return len(a.Report().Nodes) == 2 })
	closed(t, b)
	id, full := uint64(1), error(nil)
	for octets := make([]byte, 1<<20); full == nil; {
		id++
		batch := batchOf(id)
		batch.Note(store.KindBalance, []byte("key"), octets, store.Forever)
		full = s.Commit(batch)
	}
	if !errors.Is(full, journal.ErrFull) {
		t.Fatal(full)
	}
	op, err := OpenOperator(t.Context(), limited("a"))
	if err != nil {
		t.Fatal(err)
	}
	defer op.Close()
	if err := op.Forget(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	testutil.Eventually(t, "there is room again", func() bool { return s.Commit(batchOf(id)) == nil })
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	closed(t, a)
}

// If the bucket is deleted and made again while its owner lives, no node takes an empty cell over before that owner's lease ends.
func TestLostBucket(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	server := natstest.New(t, "n1", "always", "").Start()
	short := func(node string) Options {
		o := options(server, node, vfs.NewMem())
		o.Lease = lease.Options{Lease: time.Second, Dead: 1200 * time.Millisecond, Beat: 50 * time.Millisecond}
		return o
	}
	a := started(t, short("a"))
	_ = works(t, a, 1).Close()
	conn, err := natsjournal.Connect(natstest.URLs(server), natstest.User())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err == nil {
		err = js.DeleteKeyValue(t.Context(), Bucket("PMG"))
	}
	if err != nil {
		t.Fatal(err)
	}
	b := started(t, short("b"))
	if _, err := b.TakeOver(t.Context()); err != nil || a.Holds() {
		t.Errorf("%v; the first owner holds its lease: %t", err, a.Holds())
	}
	_ = b.Store().Close()
	closed(t, b)
	closed(t, a)
}

// The store of a gateway that was alone is that of a new cluster, at each of its nodes, and of no other one.
func TestAdopt(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	server := natstest.New(t, "n1", "always", "").Start()
	fs := vfs.NewMem()
	s, err := store.Open("alone", store.Options{FS: fs, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	for id := range uint64(5000) {
		b := batchOf(id + 1)
		if id%2 == 0 {
			b.Delete(id+1, 100)
			b.Note(store.KindBalance, fmt.Append(nil, id), []byte("12.5"), store.Forever)
			b.Event(id+1, []byte("event"))
		}
		if err := s.Commit(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	last := int64(0)
	if err := Adopt(t.Context(), options(server, "a", fs), "alone", func(n int64) { last = n }); err != nil || last < 5000 {
		t.Fatalf("%d operations, %v", last, err)
	}
	a := started(t, options(server, "a", fs))
	works(t, a, 6000)
	b := started(t, options(server, "b", vfs.NewMem()))
	has(t, b, 6000)
	has(t, b, 2)
	sameSums(t, a, b)
	if v, ok, err := a.Store().Lookup(store.KindBalance, []byte("4998")); !ok || string(v) != "12.5" || err != nil {
		t.Errorf("a balance is %q, %t, %v", v, ok, err)
	}
	if err := a.Store().Close(); err != nil {
		t.Error(err)
	}
	closed(t, a)
	closed(t, b)
	if err := Adopt(t.Context(), options(server, "c", vfs.NewMem()), "alone", func(int64) {}); !errors.Is(err, ErrUsed) {
		t.Errorf("a cluster that works adopts a store: %v", err)
	}
}

func batchOf(id uint64) *store.Batch {
	b := &store.Batch{}
	b.Put(&sms.Message{ID: id}, store.Lane{Connector: "smsc"})
	return b
}
