package e2e

import (
	"testing"

	"golang.org/x/sys/unix"

	"pmg/internal/testkit/testutil"
)

// When there is no free descriptor the gateway stops accepting and logs that once. When one
// is free it goes on. Clients wait meanwhile, and none is lost.
func TestNoDescriptors(t *testing.T) {
	parallel(t)
	const limit, clients = 50, 100
	c := startChild(t, limit, site{})
	var peers []*peer
	for range clients {
		p := dial(t, c.addr)
		p.send(bindLine("transmitter", "acme", "s3cret"))
		peers = append(peers, p)
	}
	const message = "cannot accept; clients wait"
	testutil.Eventually(t, "descriptors run out", func() bool { return c.log.count(message) > 0 })
	for _, p := range peers {
		p.want("bind_transmitter_resp", "status=0")
		p.send("unbind seq=2")
		p.want("unbind_resp")
		p.wantEOF()
	}
	dial(t, c.addr).bind("transmitter", "acme", "s3cret")
	if n := c.log.count(message); n != 1 {
		t.Errorf("it was logged %d times", n)
	}
}

// The number of goroutines does not depend on the number of connections, and
// an idle client costs little memory.
func TestManyConnections(t *testing.T) {
	testutil.Long(t)
	parallel(t)
	const clients, room = 5000, 200
	raiseFiles(t, clients+room)
	c := startChild(t, clients+room, site{clients: "instances: 5000", limits: "prebind: 5000, prebind_per_address: 5000"})
	bind := func(n int) {
		for range n {
			dial(t, c.addr).bind("transceiver", "acme", "s3cret")
		}
	}
	bind(1)
	one := c.usage()
	bind(clients - 1)
	all := c.usage()
	each := (all.Memory - one.Memory) / (clients - 1)
	t.Logf("goroutines: %d with 1 client, %d with %d; %d octets for each", one.Goroutines, all.Goroutines, clients, each)
	const passing = 16 // some work in the background for a moment, such as on the room of the disk
	if all.Goroutines > one.Goroutines+passing {
		t.Errorf("%d goroutines with 1 client, %d with %d", one.Goroutines, all.Goroutines, clients)
	}
	if each >= 16<<10 {
		t.Errorf("%d octets for each client", each)
	}
}

// raiseFiles raises the limit of descriptors for n connections, or skips the test.
func raiseFiles(t *testing.T, n int) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	need := uint64(2*n + 1000) // other tests may run as well
	if limit.Max < need {
		t.Skipf("%d descriptors are needed, only %d can be had", need, limit.Max)
	}
	if limit.Cur < need {
		limit.Cur = need
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
			t.Skipf("cannot raise the limit of descriptors to %d: %v", need, err)
		}
	}
}
