package poll

import (
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// An Event is a descriptor that is ready.
type Event struct {
	FD       int
	Readable bool // or over: a read tells which
	Writable bool
	Gone     bool // the peer neither reads nor writes any more; epoll tells it whatever fd is watched for
}

// A Poller watches descriptors. Add, Set and Wake may be called by any
// goroutine; Wait and Events by one.
type Poller struct {
	fd     int
	bell   int      // what Go's poller watches
	file   *os.File // of bell
	raw    syscall.RawConn
	ready  func(fd uintptr) bool
	events []Event
	kernel kernelEvents
	err    error
	until  time.Time // the deadline that was set last
	stale  bool      // until may not be what is set any more: a Wake has set another
	busy   int       // Waits in a row that did not park; only up to quiet is counted
	short  int       // parks in a row that were short; only up to shortParks is counted
	parked time.Time // when the Wait that goes on did, or zero
	woken  atomic.Bool
}

// batch is how many ready descriptors are fetched at once: so few that what they
// bring is still in the processor's cache when it goes out. 16 against 256 at 64
// connections, window 10: 20 % less CPU per message.
const batch = 16

// quiet is after how many Waits that did not park the bell is muted. Where each
// message finds us parked it never is.
const quiet = 4

// To park and be woken costs what looking does for long, most of all where processors
// are virtual and one that idles must be started. So after some short parks in a row a
// Wait looks so many times (9 µs) before it parks: 1x1 1.6 times the messages for
// 0.8 of the CPU each, 1x10 1.4 times (docs/bench.md).
const (
	looks      = 48
	shortPark  = 100 * time.Microsecond // a shorter one
	shortParks = 2                      // not 1: between a message that comes now and then and its answer there is one
)

// New makes a Poller.
func New() (*Poller, error) {
	p := &Poller{events: make([]Event, 0, batch)}
	if err := p.open(); err != nil {
		return nil, fmt.Errorf("cannot create poller: %w", err)
	}
	var err error
	if p.raw, err = p.file.SyscallConn(); err != nil {
		_ = p.Close()
		return nil, fmt.Errorf("cannot park poller: %w", err)
	}
	p.ready = func(uintptr) bool {
		if p.fetch() || p.short == shortParks && p.lookOn() {
			return true
		}
		muted := p.busy == quiet
		p.busy = 0
		if muted {
			p.failed(p.ring(true))
			if p.fetch() { // what has come meanwhile may not ring
				return true
			}
		}
		p.parked = time.Now()
		return p.err != nil
	}
	return p, nil
}

// lookOn looks for a while, unless somebody wakes us.
func (p *Poller) lookOn() bool {
	for range looks {
		if p.woken.Load() {
			return false
		}
		if p.fetch() {
			return true
		}
	}
	return false
}

// Wait parks until a descriptor is ready, Wake is called or the time until has come;
// the zero time means forever. until must have a monotonic clock reading, because
// otherwise Wait ends too early or too late when the wall clock has been set.
func (p *Poller) Wait(until time.Time) {
	p.events = p.events[:0]
	if p.stale || !until.Equal(p.until) {
		p.until, p.stale = until, false
		_ = p.file.SetReadDeadline(until)
	}
	if p.woken.Swap(false) {
		p.stale = true
		p.fetch() // somebody who is woken all the time must see what is ready all the same
		return
	}
	if p.busy < quiet {
		if p.busy++; p.busy == quiet {
			p.failed(p.ring(false))
		}
	}
	p.parked = time.Time{}
	err := p.raw.Read(p.ready)
	if !p.parked.IsZero() {
		p.parkedFor(time.Since(p.parked))
	}
	switch {
	case err == nil:
	case os.IsTimeout(err):
		// The deadline has passed, and it may be another than we set: that of a Wake
		// which noted itself before this Wait, or the last, and set it only now.
		p.stale = true
		p.woken.Store(false)
		p.fetch()
	default:
		p.failed(err)
	}
}

// parkedFor notes how long a park was.
func (p *Poller) parkedFor(d time.Duration) {
	switch {
	case d >= shortPark:
		p.short = 0
	case p.short < shortParks:
		p.short++
	}
}

// failed keeps the first error.
func (p *Poller) failed(err error) {
	if p.err == nil {
		p.err = err
	}
}

// Look finds what is ready, without waiting.
func (p *Poller) Look() {
	p.events = p.events[:0]
	p.fetch()
}

// Wake ends a Wait, or the next one if none is going on.
func (p *Poller) Wake() {
	if !p.woken.Swap(true) {
		_ = p.file.SetReadDeadline(time.Unix(1, 0))
	}
}

// Events gives the descriptors that the last Wait or Look found ready, once.
func (p *Poller) Events() []Event {
	found := p.events
	p.events = p.events[:0]
	return found
}

// Err is what went wrong in a Wait, if anything did.
func (p *Poller) Err() error { return p.err }
