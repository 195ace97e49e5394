package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testkit/natstest"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
	"pmg/store"
	"pmg/store/journal"
	inmemory "pmg/store/journal/journaltest"
	"pmg/store/journal/nats"
)

// publish appends a record to the journal, as somebody who has the secret.
func publish(t *testing.T, o Options, id journal.ID, record string) {
	t.Helper()
	j, err := nats.Open(t.Context(), natsOptions(&o))
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if _, err := j.Append(id, []byte(record)); err != nil {
		t.Fatal(err)
	}
}

// ends waits until a node takes no part any more.
func ends(t *testing.T, n *Node) {
	t.Helper()
	select {
	case <-n.Done():
	case <-time.After(testutil.Patience):
		t.Fatalf("node %s goes on", n.o.Node)
	}
}

// A record that verifies and cannot be read stops all nodes that follow, and the owner goes on. Killed, it has what it has accepted
// since in the stream alone. A repair finds all of it, and is refused while a node runs, and where another node had more.
func TestRepair(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	server := natstest.New(t, "n1", "always", "").Start()
	disks := map[string]*vfs.MemFS{"a": vfs.NewCrashableMem(), "b": vfs.NewCrashableMem()}
	a := started(t, options(server, "a", disks["a"]))
	s := works(t, a, 1)
	b := started(t, options(server, "b", disks["b"]))
	has(t, b, 1)
	if _, err := Examine(t.Context(), options(server, "b", disks["b"])); err == nil || !strings.Contains(err.Error(), "stop all nodes") {
		t.Errorf("while nodes run: %v", err)
	}
	publish(t, a.o, journal.ID{Node: number("a"), Run: a.shared.Epoch(), Number: a.shared.Number() + 1}, "no record")
	for id := range uint64(500) {
		c := batchOf(id + 2)
		c.Note(store.KindBalance, []byte("account"), fmt.Append(nil, id), store.Forever)
		if err := s.Commit(c); err != nil {
			t.Fatal(err)
		}
	}
	ends(t, b)
	closed(t, b)
	disks["a"] = disks["a"].CrashClone(vfs.CrashCloneCfg{}) // it is killed
	before := a.State()
	_ = s.Close()
	closed(t, a)

	oa, ob := options(server, "a", disks["a"]), options(server, "b", disks["b"])
	testutil.Eventually(t, "the nodes are silent", func() bool {
		f, err := Examine(t.Context(), oa)
		if err != nil {
			if !strings.Contains(err.Error(), "stop all nodes") {
				t.Fatal(err)
			}
			return false
		}
		if len(f.Unreadable) != 1 || f.Why == "" || f.Better != nil || f.Has < before.Applied {
			t.Errorf("found %+v", f)
		}
		return true
	})
	if err := Discard(t.Context(), oa); err != nil {
		t.Fatal(err)
	}
	next := oa
	next.Dir = "next"
	if err := Adopt(t.Context(), next, oa.Dir, func(int64) {}); err != nil {
		t.Fatal(err)
	}
	a = started(t, next)
	works(t, a, 1000)
	b = started(t, func() Options { ob.Dir = "next"; return ob }())
	has(t, b, 1000)
	sameSums(t, a, b)
	for _, n := range []*Node{a, b} {
		for id := range uint64(501) {
			var e store.Entry
			if ok, err := n.store.Get(id+1, &e); !ok || err != nil {
				t.Fatalf("node %s, message %d: %t, %v", n.o.Node, id+1, ok, err)
			}
		}
		if v, _, err := n.store.Lookup(store.KindBalance, []byte("account")); string(v) != "499" || err != nil {
			t.Errorf("the balance of node %s is %q, %v", n.o.Node, v, err)
		}
	}
	if err := a.Store().Close(); err != nil {
		t.Error(err)
	}
	closed(t, a)
	closed(t, b)
}

// The server comes back with the disk of a while ago: the stream has lost its end, which the nodes have.
func TestRepairLostEnd(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	disk, address := "", testutil.FreeAddress(t)
	server := natstest.NewWithin(t, nil, "n1", address, func(dir string) string {
		disk = filepath.Join(dir, "jetstream")
		return fmt.Sprintf("server_name: n1\nlisten: %q\njetstream { store_dir: %q, sync_interval: always }\n%s", address, dir,
			"accounts { PMG: { jetstream: enabled, users: [ { user: pmg, password: pmg } ] } }\n")
	}).Start()
	fs := map[string]vfs.FS{"a": vfs.NewMem(), "b": vfs.NewMem()}
	a, b := started(t, options(server, "a", fs["a"])), started(t, options(server, "b", fs["b"]))
	s := works(t, a, 1)
	has(t, b, 1)
	server.Kill()
	kept := filepath.Join(t.TempDir(), "kept")
	if err := os.CopyFS(kept, os.DirFS(disk)); err != nil {
		t.Fatal(err)
	}
	server.Start()
	for id := range uint64(50) {
		if err := s.Commit(batchOf(id + 2)); err != nil {
			t.Fatal(err)
		}
	}
	has(t, b, 51)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	closed(t, a)
	closed(t, b)
	server.Kill()
	if err := errors.Join(os.RemoveAll(disk), os.CopyFS(disk, os.DirFS(kept))); err != nil {
		t.Fatal(err)
	}
	server.Start()
	o := options(server, "b", fs["b"])
	var f *Finding
	testutil.Eventually(t, "the nodes are silent", func() bool {
		var err error
		if f, err = Examine(t.Context(), o); err != nil && !strings.Contains(err.Error(), "stop all nodes") {
			t.Fatal(err)
		}
		return err == nil
	})
	if !strings.Contains(f.Why, "it ends at ") || f.Better != nil || f.Has < 51 {
		t.Errorf("found %+v", f)
	}
	next := o
	next.Dir = "next"
	if err := errors.Join(Discard(t.Context(), o), Adopt(t.Context(), next, o.Dir, func(int64) {})); err != nil {
		t.Fatal(err)
	}
	b = started(t, next)
	for id := range uint64(51) {
		has(t, b, id+1)
	}
	closed(t, b)
}

// When the servers have lost everything, the new stream gets what a node's store has.
func TestRepairEmpty(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	fs := vfs.NewMem()
	n := started(t, options(natstest.New(t, "n1", "always", "").Start(), "a", fs))
	if err := works(t, n, 1).Close(); err != nil {
		t.Fatal(err)
	}
	closed(t, n)
	o := options(natstest.New(t, "n1", "always", "").Start(), "a", fs)
	if f, err := Examine(t.Context(), o); err != nil || f.Why == "" || f.Better != nil {
		t.Fatalf("found %+v, %v", f, err)
	}
	next := o
	next.Dir = "next"
	if err := errors.Join(Discard(t.Context(), o), Adopt(t.Context(), next, o.Dir, func(int64) {})); err != nil {
		t.Fatal(err)
	}
	n = started(t, next)
	has(t, n, 1)
	closed(t, n)
}

// A repair takes what nodes would take without a record that cannot be read, whether that was one of the owner or not, and nothing
// behind a gap.
func TestSalvage(t *testing.T) {
	t.Parallel()
	record := func(id uint64) []byte {
		var got []byte
		inner := inmemory.New(nil)
		c, err := store.OpenCopy("store", store.Options{FS: vfs.NewMem(), Journal: inner, Origin: "J"})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		var b store.Batch
		b.Put(&sms.Message{ID: id}, store.Lane{Connector: "smsc"})
		if err := c.Commit(&b); err != nil {
			t.Fatal(err)
		}
		_ = inner.Follow(0, func(_ journal.Seq, _ journal.ID, r []byte) error {
			got = append(got, r...)
			return nil
		})
		return got
	}
	type row struct {
		node, run uint32
		number    uint64
		message   uint64 // 0: it cannot be read
	}
	for _, c := range []struct {
		what string
		rows []row
		has  string
		gap  bool
	}{
		{"another's, with the number of the owner's next", []row{{1, 1, 1, 1}, {1, 1, 2, 0}, {1, 1, 2, 2}, {1, 1, 3, 3}}, "1 2 3", false},
		{"another's, with a higher epoch", []row{{1, 1, 1, 1}, {7, 9, 1, 0}, {1, 1, 2, 2}, {2, 10, 1, 3}}, "1 2 3", false},
		{"the owner's", []row{{1, 1, 1, 1}, {1, 1, 2, 0}, {1, 1, 3, 3}, {2, 2, 1, 4}}, "1 3 4", false},
		{"two of the owner's", []row{{1, 1, 1, 1}, {1, 1, 2, 0}, {1, 1, 3, 0}, {1, 1, 4, 4}}, "1 4", false},
		{"a new owner's first", []row{{1, 1, 1, 1}, {2, 2, 1, 0}, {1, 1, 2, 2}, {2, 2, 2, 3}}, "1 2", true},
		{"a void one", []row{{1, 2, 1, 1}, {3, 1, 9, 0}, {1, 2, 2, 2}}, "1 2", false},
		{"a gap", []row{{1, 1, 1, 1}, {1, 1, 3, 3}}, "1", true},
	} {
		copied, err := store.OpenCopy("store", store.Options{FS: vfs.NewMem(), Journal: inmemory.New(nil), Origin: "J"})
		if err != nil {
			t.Fatal(err)
		}
		s := &salvage{copy: copied}
		for i, r := range c.rows {
			octets := []byte("junk")
			if r.message > 0 {
				octets = record(r.message)
			}
			if err = s.take(journal.Seq(i+1), journal.ID{Node: r.node, Run: r.run, Number: r.number}, octets); err != nil {
				break
			}
		}
		var all []string
		for id := range uint64(9) {
			var e store.Entry
			if ok, _ := copied.Get(id+1, &e); ok {
				all = append(all, fmt.Sprint(id+1))
			}
		}
		if got := strings.Join(all, " "); got != c.has || (err != nil) != c.gap {
			t.Errorf("%s: it has %s, and %v", c.what, got, err)
		}
		if err := copied.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A node is better where it had read more than this one has, and had read itself.
func TestBetter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		has, read, other, last uint64
		better, damaged        bool
	}{
		{10, 10, 10, 10, false, false},
		{10, 12, 12, 12, false, false}, // those at the end had no changes
		{10, 10, 12, 12, true, false},
		{10, 10, 12, 10, true, true},
		{12, 10, 11, 12, false, false}, // it has read the stream since
		{10, 12, 9, 10, false, true},
	} {
		f := Finding{Has: c.has, Read: c.read, Nodes: []State{{Node: "a", Applied: c.read}, {Node: "b", Applied: c.other}}}
		f.compare(c.last)
		if (f.Better != nil) != c.better || (f.Why != "") != c.damaged {
			t.Errorf("%+v: %+v", c, f)
		}
	}
}
