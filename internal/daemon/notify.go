// Package daemon makes a process a service of a service manager: it informs the manager of the process's
// state, as sd_notify(3) of systemd describes, and changes its user if root has started it.
//
// # Start reading
//
// NewManager, then Manager.Watch; DropPrivileges.
package daemon

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// A Manager is the service manager, or none.
type Manager struct {
	socket   string        // socket of the manager; "": there is no manager
	watchdog time.Duration // interval in which the manager expects a sign of life; 0: the manager expects none
}

// NewManager returns the manager that the environment names to the process pid.
func NewManager(getenv func(string) string, pid int) Manager {
	m := Manager{socket: getenv("NOTIFY_SOCKET")}
	µs, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64)
	if of := getenv("WATCHDOG_PID"); err == nil && µs > 0 && (of == "" || of == strconv.Itoa(pid)) {
		m.watchdog = time.Duration(µs) * time.Microsecond
	}
	return m
}

// Ready informs the manager that the process works, or that a reload has ended.
func (m Manager) Ready() error { return m.send("READY=1") }

// Stopping informs the manager that the process is about to end.
func (m Manager) Stopping() error { return m.send("STOPPING=1") }

// Reloading informs the manager that the process reads its configuration again, until it is ready.
func (m Manager) Reloading() error {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return fmt.Errorf("cannot read the clock: %w", err)
	}
	return m.send(fmt.Sprintf("RELOADING=1\nMONOTONIC_USEC=%d", now.Nano()/1000))
}

// Watch informs the manager, until ctx is done, that the process works, twice in each period of the watchdog.
// It sends nothing while works returns false.
func (m Manager) Watch(ctx context.Context, works func() bool) error {
	if m.socket == "" || m.watchdog == 0 {
		return nil
	}
	ticker := time.NewTicker(m.watchdog / 2)
	defer ticker.Stop()
	for {
		if works() {
			if err := m.send("WATCHDOG=1"); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// timeout is the time for which a manager that does not read may delay the process.
const timeout = time.Second

// send sends a message. A name that begins with @ is one of Linux's abstract sockets, for package
// net too.
func (m Manager) send(state string) error {
	if m.socket == "" {
		return nil
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: m.socket, Net: "unixgram"})
	if err == nil {
		defer c.Close()
		_ = c.SetWriteDeadline(time.Now().Add(timeout))
		_, err = c.Write([]byte(state))
	}
	if err != nil {
		return fmt.Errorf("cannot tell the service manager (NOTIFY_SOCKET): %w", err)
	}
	return nil
}
