package system

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"pmg/internal/testkit/natstest"
	"pmg/internal/testkit/testutil"
	"pmg/loadtest"
	"pmg/store/journal/nats"
)

const (
	lateAnswer = 50 * time.Millisecond // of the SMSC
	// lateBound is how many messages may be sent twice: the windows, and what SMSCs answer while two commits become late.
	lateBound = 2*10 + int64(time.Second/lateAnswer)*2*10
)

// An owner that is killed while the servers of NATS elect has sent little that it could not store the end of, however much
// waited.
func TestClusterLate(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	servers := natstest.StartCluster(t, "always")
	sink, err := loadtest.StartSink(loadtest.SinkOptions{Listen: "127.0.0.1:0", Delay: lateAnswer})
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	g := newClusterRig(t, servers, clusterTimes{10 * time.Second, 11 * time.Second}, sink.Addr())
	for i := range g.nodes { // room for more than could leave while the leader stands still, and no more than leave within seconds
		g.edit(&g.nodes[i], "max_queue: 500", "max_queue: 3000")
	}
	loads := startStubborn(2)
	owner := g.owner(nil)
	loads.to.Store(&owner.address)
	testutil.Eventually(t, "messages wait, and arrive", func() bool { return sink.Result().Unique > 1000 })
	leader := streamLeader(t, servers)
	before := sink.Result()
	leader.Signal(syscall.SIGSTOP)
	time.Sleep(3 * time.Second) // shorter than an election
	owner.p.Kill()
	at := sink.Result()
	leader.Kill()
	leader.Start()
	owner = g.owner(owner.p)
	loads.to.Store(&owner.address)
	g.settle(sink, loads, nil)
	r := sink.Result()
	t.Logf("%d messages arrived while the leader stood still; %d were sent twice, and %d may be", at.Unique-before.Unique, r.Doubled, lateBound)
	if r.Doubled > lateBound {
		t.Errorf("%d messages were sent twice, and %d may be", r.Doubled, lateBound)
	}
}

// streamLeader returns the server that leads the stream of the journal.
func streamLeader(t *testing.T, servers []*natstest.Server) (leader *natstest.Server) {
	t.Helper()
	conn, err := nats.Connect(natstest.URLs(servers...), natstest.User())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	testutil.Eventually(t, "the stream has a leader", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		stream, err := js.Stream(ctx, "PMG")
		if err != nil {
			return false
		}
		info := stream.CachedInfo()
		for _, s := range servers {
			if info.Cluster != nil && s.Name == info.Cluster.Leader {
				leader = s
			}
		}
		return leader != nil
	})
	return leader
}
