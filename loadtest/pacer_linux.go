package loadtest

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A pacer wakes its goroutine once per slot. It is a kernel timer in the runtime's
// poller, because a time.Ticker is up to a millisecond late on an idle Linux machine,
// which would be most of the measured latency.
type pacer struct{ timer *os.File }

func newPacer(slot time.Duration) (*pacer, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("cannot create timer: %w", err)
	}
	timer := os.NewFile(uintptr(fd), "pacer")
	every := unix.NsecToTimespec(int64(slot))
	if err := unix.TimerfdSettime(fd, 0, &unix.ItimerSpec{Interval: every, Value: every}, nil); err != nil {
		timer.Close()
		return nil, fmt.Errorf("cannot start timer: %w", err)
	}
	return &pacer{timer}, nil
}

// wait sleeps until the next slot, or not at all when one has passed already.
// It returns false once the pacer is closed.
func (p *pacer) wait() bool {
	var ticks [8]byte
	_, err := p.timer.Read(ticks[:])
	return err == nil
}

func (p *pacer) close() { p.timer.Close() }
