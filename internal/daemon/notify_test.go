package daemon

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// manager returns a Manager with further variables, and what it hears.
func manager(t *testing.T, socket string, variables ...string) (Manager, func() string) {
	t.Helper()
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	environment := map[string]string{"NOTIFY_SOCKET": socket}
	for _, v := range variables {
		name, value, _ := strings.Cut(v, "=")
		environment[name] = value
	}
	return NewManager(func(name string) string { return environment[name] }, 7), func() string {
		b := make([]byte, 4096)
		n, err := c.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
}

// The manager hears of each state, by a socket in the file system and by an abstract one.
func TestStates(t *testing.T) {
	t.Parallel()
	sockets := []string{filepath.Join(t.TempDir(), "s")}
	if runtime.GOOS == "linux" {
		sockets = append(sockets, fmt.Sprintf("@%s", t.TempDir()))
	}
	for _, socket := range sockets {
		m, heard := manager(t, socket)
		for _, c := range []struct {
			tell func() error
			want string
		}{
			{m.Ready, `^READY=1$`},
			{m.Reloading, `^RELOADING=1\nMONOTONIC_USEC=[1-9]\d+$`},
			{m.Stopping, `^STOPPING=1$`},
		} {
			if err := c.tell(); err != nil {
				t.Fatal(err)
			}
			if got := heard(); !regexp.MustCompile(c.want).MatchString(got) {
				t.Errorf("%s: heard %q, want %s", socket, got, c.want)
			}
		}
	}
}

// The manager hears that the process works as often as works has reported it.
func TestWatch(t *testing.T) {
	t.Parallel()
	m, heard := manager(t, filepath.Join(t.TempDir(), "s"), "WATCHDOG_USEC=2000", "WATCHDOG_PID=7")
	ctx, cancel := context.WithCancel(t.Context())
	rounds := 0
	err := m.Watch(ctx, func() bool {
		if rounds++; rounds == 6 {
			cancel()
		}
		return rounds <= 2
	})
	if err != nil || m.Ready() != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"WATCHDOG=1", "WATCHDOG=1", "READY=1"} {
		if got := heard(); got != want {
			t.Errorf("heard %q, want %q", got, want)
		}
	}
}

// Nothing is watched for another process, without a manager, or with a time that is none.
func TestNoWatchdog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, variables := range [][]string{
		{"WATCHDOG_USEC=2000", "WATCHDOG_PID=8"}, {"WATCHDOG_USEC=2000", "NOTIFY_SOCKET="},
		{"WATCHDOG_USEC=0"}, {"WATCHDOG_USEC=-1"}, {"WATCHDOG_USEC=soon"}, {},
	} {
		m, _ := manager(t, filepath.Join(dir, fmt.Sprint(i)), variables...)
		if err := m.Watch(t.Context(), func() bool { t.Error("it is watched"); return false }); err != nil {
			t.Errorf("%v: %v", variables, err)
		}
	}
}

// A manager that is not there is an error, and no manager is none.
func TestNoManager(t *testing.T) {
	t.Parallel()
	gone := NewManager(func(string) string { return "/nowhere/gone" }, 7)
	if err := gone.Ready(); err == nil || !strings.HasPrefix(err.Error(), "cannot tell the service manager (NOTIFY_SOCKET): dial unixgram") {
		t.Errorf("error %v", err)
	}
	none := NewManager(func(string) string { return "" }, 7)
	for _, tell := range []func() error{none.Ready, none.Reloading, none.Stopping} {
		if err := tell(); err != nil {
			t.Error(err)
		}
	}
}
