package sock

import (
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What is not for this process is not touched.
func TestTakeHandedNone(t *testing.T) {
	for _, env := range []map[string]string{
		{}, {"LISTEN_FDS": "1"}, {"LISTEN_FDS": "1", "LISTEN_PID": "1"}, {"LISTEN_FDS": "x", "LISTEN_PID": strconv.Itoa(os.Getpid())},
		{"LISTEN_FDS": "-1", "LISTEN_PID": strconv.Itoa(os.Getpid())}, {"LISTEN_FDS": "0", "LISTEN_PID": strconv.Itoa(os.Getpid())},
	} {
		if h, problems := TakeHanded(func(name string) string { return env[name] }, os.Getpid()); len(h)+len(problems) > 0 {
			t.Errorf("%v: %v, %v", env, h, problems)
		}
	}
}

// A socket that listens for TCP is taken over; others are not.
func TestAdopt(t *testing.T) {
	l := listen(t, "127.0.0.1:0")
	if err := unix.SetNonblock(l.FD, false); err != nil {
		t.Fatal(err)
	}
	if addr, err := adopt(l.FD); addr != l.Addr || err != nil {
		t.Errorf("%v, %v; want %v", addr, err, l.Addr)
	}
	if _, _, ok, err := Accept(l.FD); ok || err != nil {
		t.Error("it blocks, or has a connection", ok, err)
	}
	if flags, err := unix.FcntlInt(uintptr(l.FD), unix.F_GETFD, 0); flags&unix.FD_CLOEXEC == 0 || err != nil {
		t.Errorf("the descriptor would outlive an exec: %d, %v", flags, err)
	}
	_, connected, _ := connection(t, "127.0.0.1:0")
	local, err := net.Listen("unix", t.TempDir()+"/socket")
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	file, err := local.(*net.UnixListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for what, fd := range map[string]int{"a connection": connected, "a unix socket": int(file.Fd()), "a file": int(null.Fd()), "nothing": 1 << 20} {
		if addr, err := adopt(fd); err == nil {
			t.Errorf("%s is taken for a socket that listens on %v", what, addr)
		}
	}
}

// An address is compared with that of a socket.
func TestListeningIs(t *testing.T) {
	l := listen(t, "127.0.0.1:0")
	_, port, _ := strings.Cut(l.Addr.String(), ":")
	for address, want := range map[string]bool{
		"127.0.0.1:" + port: true, "127.0.0.1:0": true, "localhost:" + port: true, "127.0.0.2:" + port: false, ":" + port: false,
		"0.0.0.0:" + port: false, "127.0.0.1:1": false, "nonsense": false,
	} {
		if got := l.Is(address); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
	if any := listen(t, ":0"); !any.Is(":0") || !any.Is("0.0.0.0:0") || any.Is("127.0.0.1:0") {
		t.Errorf("%v is not any address", any.Addr)
	}
}
