package nats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"pmg/internal/testkit/natstest"
	"pmg/internal/testkit/testutil"
	"pmg/store/journal"
)

// leaderOf returns the server that leads a stream.
func leaderOf(t *testing.T, j *Journal, all []*natstest.Server) *natstest.Server {
	t.Helper()
	var leader *natstest.Server
	eventually(t, "the stream has a leader", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), usualWaits().ask)
		defer cancel()
		info, err := j.stream.Info(ctx)
		if err != nil || info.Cluster == nil {
			return false
		}
		i := slices.IndexFunc(all, func(n *natstest.Server) bool { return n.Name == info.Cluster.Leader })
		if i >= 0 {
			leader = all[i]
		}
		return i >= 0
	})
	return leader
}

// caughtUp waits until all servers have what the leader has. When another one fails before, the stream stands still until one of
// the two is back, as nats-server 2.15.2 does it.
func caughtUp(t *testing.T, j *Journal) {
	t.Helper()
	eventually(t, "all servers have caught up", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), usualWaits().ask)
		defer cancel()
		info, err := j.stream.Info(ctx)
		return err == nil && info.Cluster != nil && info.Cluster.Leader != "" && !slices.ContainsFunc(
			info.Cluster.Replicas, func(p *jetstream.PeerInfo) bool { return p.Offline || !p.Current })
	})
}

// An appended record is one that was acknowledged.
type appended struct {
	id  journal.ID
	seq journal.Seq
}

// appendUntil appends records, each tenth of which is large, until stop is closed, and returns what was acknowledged.
func appendUntil(t *testing.T, j *Journal, node uint32, stop chan struct{}) (all []appended) {
	for n := uint64(1); ; n++ {
		select {
		case <-stop:
			return all
		default:
		}
		id := journal.ID{Node: node, Run: 1, Number: n}
		seq, err := j.Append(id, recordOf(id))
		if err != nil {
			t.Errorf("%v: %v", id, err)
			return all
		}
		all = append(all, appended{id, seq})
	}
}

// largest is the ID of a record that is as large as one may be.
func largest() journal.ID { return journal.ID{Node: 9, Number: 1} }

func recordOf(id journal.ID) []byte {
	if id == largest() {
		return make([]byte, journal.MaxRecord)
	}
	if id.Number%10 == 0 {
		return []byte(strings.Repeat(fmt.Sprint(id), 300_000))
	}
	return fmt.Append(nil, id)
}

// Three servers, the leader of which is killed again and again while two nodes append. What was acknowledged is there, at its place,
// and each node's records are in order.
func TestCluster(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	all := natstest.StartCluster(t, "always")
	o := options("J", all...)
	journals := []*Journal{opened(t, o), opened(t, o)} // they are safe: three servers that sync
	if _, err := journals[0].Append(largest(), recordOf(largest())); err != nil {
		t.Fatal(err)
	}
	stop, ended := make(chan struct{}), make(chan error)
	acknowledged := make([][]appended, len(journals))
	var appending sync.WaitGroup
	for i, j := range journals {
		appending.Go(func() { acknowledged[i] = appendUntil(t, j, uint32(i), stop) })
	}
	follower, followed := opened(t, o), make(chan journal.ID, 1<<20)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		ended <- follower.FollowOn(ctx, 0, func(_ journal.Seq, id journal.ID, _ []byte) error {
			followed <- id
			return nil
		})
	}()
	for range 3 {
		leader := leaderOf(t, follower, all)
		leader.Kill()
		before := journals[0].Status().Last
		eventually(t, "records are appended by a new leader", func() bool { return journals[0].Status().Last > before+20 })
		leader.Start()
		caughtUp(t, follower)
	}
	close(stop)
	appending.Wait()
	n := check(t, opened(t, o), acknowledged)
	for range n {
		<-followed
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the one that follows: %v", err)
	}
	t.Logf("%d records; acknowledged %d and %d", n, len(acknowledged[0]), len(acknowledged[1]))
}

// check compares what was acknowledged with what is there, and returns how many records there are.
func check(t *testing.T, j *Journal, acknowledged [][]appended) (n int) {
	t.Helper()
	there, last := map[journal.Seq]journal.ID{}, map[uint32]uint64{}
	err := j.Follow(0, func(seq journal.Seq, id journal.ID, record []byte) error {
		if n++; string(record) != string(recordOf(id)) {
			return fmt.Errorf("%d has another record than %v", seq, id)
		}
		if there[seq] = id; id.Number > last[id.Node] {
			if id.Number != last[id.Node]+1 {
				return fmt.Errorf("%v comes behind %d", id, last[id.Node])
			}
			last[id.Node]++
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	for _, all := range acknowledged {
		if len(all) == 0 {
			t.Error("a node has appended nothing")
		}
		for _, a := range all {
			if there[a.seq] != a.id {
				t.Errorf("%v was acknowledged at %d, where %v is", a.id, a.seq, there[a.seq])
			}
		}
	}
	return n
}

// A server that does not sync each append is refused, and is named.
func TestRefusedServer(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	all := natstest.StartCluster(t, "2m")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	j, err := Open(ctx, options("J", all...))
	if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "n3 does not sync") || strings.Contains(err.Error(), "n1") {
		t.Fatalf("%v, %v", j, err)
	}
}
