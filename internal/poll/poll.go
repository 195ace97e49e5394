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
	Readable bool // or at its end: a read returns which
	Writable bool
	Gone     bool // the peer neither reads nor writes any more; epoll reports it whatever fd is watched for
}

// A Poller watches descriptors. Any goroutine may call Add, Set and Wake; one goroutine
// calls Wait, Look and Events.
type Poller struct {
	fd       int
	bell     int      // the descriptor that Go's poller watches
	file     *os.File // of bell
	raw      syscall.RawConn
	ready    func(fd uintptr) bool
	events   []Event
	kernel   kernelEvents
	err      error     // the first failure
	until    time.Time // the deadline that was set last
	stale    bool      // a Wake has set another deadline than until
	unparked int       // Waits in a row that did not park; counted up to muteAfter
	short    int       // parks in a row that were short; counted up to shortParks
	parked   time.Time // when the Wait that is going on parked; zero: it has not
	woken    atomic.Bool
}

// batch is how many ready descriptors are fetched together: so few that what is read
// from them is still in the processor's cache when it is written on. 16 instead of 256
// took 20 % less CPU per message at 64 connections with a window of 10 (2026-11-20).
const batch = 16

// muteAfter is after how many Waits in a row that did not park the bell is muted. Under
// a load at which each message finds the goroutine parked, it never is.
const muteAfter = 4

// Parking and being woken costs about 20 µs of CPU, more where processors are virtual
// and an idle one must be started. Looking 48 times costs 9 µs. So a Wait looks that
// often before it parks, if the last two parks were short: with one connection and a
// window of 1 that made 1.6 times the messages for 0.8 of the CPU each, with a window
// of 10 it made 1.4 times (2026-11-21, docs/bench.md).
const (
	looks      = 48
	shortPark  = 100 * time.Microsecond // what is shorter is short
	shortParks = 2                      // not 1, because an occasional message and its answer have one short park between them
)

// New returns a Poller that watches nothing yet.
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
		muted := p.unparked == muteAfter
		p.unparked = 0
		if muted {
			p.note(p.setBell(true))
			if p.fetch() { // what came before the bell was on may not ring it
				return true
			}
		}
		p.parked = time.Now()
		return p.err != nil
	}
	return p, nil
}

// lookOn looks for a while, until something is ready or Wake is called.
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
// otherwise Wait ends too early or too late when the wall clock has been set. An error
// means that the poller is broken and no descriptor is reported any more.
func (p *Poller) Wait(until time.Time) error {
	p.events = p.events[:0]
	if p.stale || !until.Equal(p.until) {
		p.until, p.stale = until, false
		p.note(p.file.SetReadDeadline(until))
	}
	if p.woken.Swap(false) {
		p.stale = true
		p.fetch() // what is ready must be seen by a goroutine that is woken all the time, too
		return p.err
	}
	if p.unparked < muteAfter {
		if p.unparked++; p.unparked == muteAfter {
			p.note(p.setBell(false))
		}
	}
	p.parked = time.Time{}
	err := p.raw.Read(p.ready)
	if !p.parked.IsZero() {
		p.parkedFor(time.Since(p.parked))
	}
	if os.IsTimeout(err) {
		// The deadline has passed, and it may be another than until: that of a Wake
		// which noted itself before this Wait, or the last, and set it only now.
		p.stale = true
		p.woken.Store(false)
		p.fetch()
	} else {
		p.note(err)
	}
	return p.err
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

// note keeps the first error.
func (p *Poller) note(err error) {
	if p.err == nil && err != nil {
		p.err = fmt.Errorf("cannot wait for descriptors: %w", err)
	}
}

// Look finds what is ready, without waiting. Its error is as Wait's.
func (p *Poller) Look() error {
	p.events = p.events[:0]
	p.fetch()
	return p.err
}

// Wake ends a Wait, or the next one if none is going on.
func (p *Poller) Wake() {
	if !p.woken.Swap(true) {
		_ = p.file.SetReadDeadline(time.Unix(1, 0)) // an error shows in the next Wait
	}
}

// Events returns the descriptors that the last Wait or Look found ready, once.
func (p *Poller) Events() []Event {
	found := p.events
	p.events = p.events[:0]
	return found
}
