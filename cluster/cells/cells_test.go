package cells

import (
	"context"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"pmg/cluster/lease"
	"pmg/cluster/lease/leasetest"
	"pmg/internal/testkit/natstest"
	"pmg/internal/testkit/testutil"
)

func TestMain(m *testing.M) { testutil.NoLeaks(m) }

func opened(t *testing.T, o Options) *Bucket {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testutil.Patience)
	defer cancel()
	b, err := Open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// A cell in a bucket of one server is a cell of a lease.
func TestContract(t *testing.T) {
	server, n := natstest.New(t, "n1", "always", "").Start(), 0
	leasetest.Test(t, func(t *testing.T) (one, other lease.Cell) {
		n++
		o := Options{Servers: natstest.URLs(server), Connect: natstest.User(), Bucket: fmt.Sprint("B", n), Replicas: 1}
		return opened(t, o).Cell("owner"), opened(t, o).Cell("owner")
	})
}

// So is one in a bucket of three.
func TestContractCluster(t *testing.T) {
	testutil.Long(t)
	all, n := natstest.StartCluster(t, "always"), 0
	leasetest.Test(t, func(t *testing.T) (one, other lease.Cell) {
		n++
		o := Options{Servers: natstest.URLs(all...), Connect: natstest.User(), Bucket: fmt.Sprint("B", n), Replicas: 3}
		return opened(t, o).Cell("owner"), opened(t, o).Cell("owner")
	})
}

// A bucket answers by its leader, also one that NATS has made otherwise.
func TestLeaderAnswers(t *testing.T) {
	server := natstest.New(t, "n1", "always", "").Start()
	o := Options{Servers: natstest.URLs(server), Connect: natstest.User(), Bucket: "B", Replicas: 1}
	b := opened(t, o)
	js, err := jetstream.New(b.conn)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s, err := js.Stream(t.Context(), "KV_B")
		if err != nil {
			t.Fatal(err)
		}
		c := s.CachedInfo().Config
		if c.AllowDirect {
			t.Fatal("any server answers")
		}
		c.AllowDirect = true
		if _, err := js.UpdateStream(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		opened(t, o)
	}
	if _, version, err := b.Cell("owner").Read(t.Context()); version != 0 || err != nil {
		t.Errorf("a cell without a value: %d, %v", version, err)
	}
}

// All lists what stands below a prefix, and nothing else.
func TestAll(t *testing.T) {
	server := natstest.New(t, "n1", "always", "").Start()
	b := opened(t, Options{Servers: natstest.URLs(server), Connect: natstest.User(), Bucket: "B", Replicas: 1})
	if all, err := b.All(t.Context(), "node."); err != nil || len(all) != 0 {
		t.Fatalf("an empty bucket has %v, %v", all, err)
	}
	for _, name := range []string{"node.a", "node.b", "owner"} {
		if err := b.Put(t.Context(), name, []byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	testutil.Eventually(t, "both nodes are listed", func() bool {
		all, err := b.All(t.Context(), "node.")
		return err == nil && len(all) == 2 && all[0].Name == "a" && string(all[1].Octets) == "node.b"
	})
}
