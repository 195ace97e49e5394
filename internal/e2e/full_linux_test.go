package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"pmg/internal/testkit/testutil"
)

// smallDisk mounts a file system of so many MiB until the end of the test.
func smallDisk(t *testing.T, mib int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", mib)); err != nil {
		t.Skipf("cannot mount a small file system: %v; it takes root", err)
	}
	t.Cleanup(func() { // a process that another test starts has the open files for a moment, until it runs its program
		testutil.Eventually(t, "it is unmounted", func() bool { return unix.Unmount(dir, 0) == nil })
	})
	return dir
}

// T5: a file system that fills up while messages wait. Messages are refused before it is full,
// and those that wait are sent, none is lost. The store's own log takes most of the room first,
// and another file the rest, because filling it with messages takes long.
func TestFullFileSystem(t *testing.T) {
	parallel(t)
	disk := smallDisk(t, 128)
	operator := newSMSC(t)
	operator.down()
	g := start(t, site{operator: operator, disk: filepath.Join(disk, "data"), out: "window: 100", top: "store: {min_free: 20MiB}\n"})
	c := g.bind("transmitter")
	text := strings.Repeat("x", 1500) // ten short messages, the most that an account may submit as one
	submit := func(n int) (status string) {
		c.send(fmt.Sprintf("submit_sm seq=%d source_addr=1234 destination_addr=46700000001 message_payload=\"%s\"", n, text))
		return field(c.want("submit_sm_resp", fmt.Sprint("seq=", n)), "status")
	}
	const waiting = 50
	for n := range waiting {
		if status := submit(n + 1); status != "0" {
			t.Fatalf("message %d: %s", n+1, status)
		}
	}
	if err := os.WriteFile(filepath.Join(disk, "other"), make([]byte, room(t, disk)-18<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	testutil.Eventually(t, "there is too little room", func() bool { s := g.Gateway.Keeper.StoreStatus(); return strings.HasPrefix(s.Refuses, "only ") })
	if status := submit(waiting + 1); !strings.HasPrefix(status, "0x14") {
		t.Errorf("without room: %s", status)
	}
	if s := g.Gateway.Keeper.StoreStatus(); s.Space.Free == 0 || s.Failed != "" {
		t.Errorf("%+v", s)
	}
	operator.up()
	s := operator.session()
	for range waiting {
		s.answer(0, field(s.want("submit_sm"), "seq"))
	}
	testutil.Eventually(t, "all is sent", func() bool { return g.Pending() == 0 })
}

// room returns how many octets are free on the file system of a directory.
func room(t *testing.T, dir string) int64 {
	t.Helper()
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	return int64(st.Bavail) * int64(st.Bsize)
}

// T5: when something else fills the file system messages are refused, and they are accepted
// again, without a restart, when it has gone.
func TestRoomComesBack(t *testing.T) {
	parallel(t)
	disk := smallDisk(t, 64)
	g := start(t, site{more: downRow(t, "operator", ""), routes: "{to: operator}", disk: filepath.Join(disk, "data")})
	c := g.bind("transmitter")
	c.put(1, 1)
	refuses := func() bool { s := g.Gateway.Keeper.StoreStatus(); return s.Refuses != "" }
	other := filepath.Join(disk, "other")
	if err := os.WriteFile(other, make([]byte, room(t, disk)-18<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	testutil.Eventually(t, "messages are refused", refuses)
	c.submit(2, 2)
	c.want("submit_sm_resp", "seq=2", "status=0x14(ESME_RMSGQFUL)")
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	testutil.Eventually(t, "messages are not refused", func() bool { return !refuses() })
	c.put(3, 3)
}
