package stages

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"pmg/store"
)

// unresponsive returns an address that neither accepts nor refuses connections. It is a
// listener whose backlog is full.
func unresponsive(t *testing.T) string {
	t.Helper()
	l, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(l) })
	if err := unix.Bind(l, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(l, 0); err != nil {
		t.Fatal(err)
	}
	address, err := unix.Getsockname(l)
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Close(fd) })
		_ = unix.SetNonblock(fd, true)
		_ = unix.Connect(fd, address)
	}
	return fmt.Sprintf("127.0.0.1:%d", address.(*unix.SockaddrInet4).Port)
}

// A hanging dial ends when the connector is taken out of service, and when the pipeline is
// closed. Otherwise this test would last ten minutes.
func TestDialIsCancelled(t *testing.T) {
	for _, by := range []string{"detach", "close"} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, site{operator: fmt.Sprintf("addresses: [%q], connect_timeout: 10m", unresponsive(t))}, toConnecter)
			defer r.close()
			c := r.gateway.Table.Connector("operator")
			c.Config().Address = "" // the rig's own, which refuses
			r.send(toConnecter, Dial, func(j *Job) { j.extras = &extras{Instance: c.Acquire()} })
			if by == "detach" {
				stop := r.stop
				t.Cleanup(stop)
				r.stop = func() {}
				r.send(toConnecter, Detach, func(j *Job) { j.extras = &extras{Connector: c} })
			}
		})
	}
}

// A connection that is not needed any more when it is made is closed.
func TestDialedInVain(t *testing.T) {
	t.Parallel()
	r := newRig(t, site{}, toConnecter)
	defer r.close()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[1])
	i := r.gateway.Table.Connector("operator").Acquire()
	r.send(toConnecter, Dialed, func(j *Job) { j.extras = &extras{Attempt: &attempt{instance: i, fd: pair[0]}} })
	if n, err := unix.Read(pair[1], make([]byte, 1)); n != 0 || err != nil {
		t.Errorf("the connection is still open: %d, %v", n, err)
	}
	if seen := r.take(toReader); seen != nil || i.Link() != nil {
		t.Errorf("a session was begun: %v", seen)
	}
}

// A5: while the gateway stops and has a store, an instance that is to be connected goes back to
// its lane.
func TestStoppingConnectsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, site{operator: "instances: 2"}, toConnecter)
	defer r.close()
	s, err := store.Open("store", store.Options{FS: vfs.NewMem(), Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.gateway.Keep(s); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.gateway.Close() })
	c := r.gateway.Table.Connector("operator")
	r.gateway.Node.Drain()
	r.send(toConnecter, Dial, func(j *Job) { j.extras = &extras{Instance: c.Acquire()} })
	if back := r.await(toDispatcher, 1); back[0].Kind != Parked {
		t.Errorf("the lane gets a job of kind %d", back[0].Kind)
	}
	if n := c.Stats.Failing.Load(); n != 0 || r.take(toReader) != nil {
		t.Errorf("%d dials have failed, or a session was begun", n)
	}
}
