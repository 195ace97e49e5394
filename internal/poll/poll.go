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
	Readable bool // the descriptor has data or is at its end
	Writable bool
	Gone     bool // the peer neither reads nor writes any more; epoll always reports this
}

// A Poller watches descriptors. Any goroutine may call Add, Set and Wake; one goroutine
// calls Wait, Look and Events.
type Poller struct {
	fd       int
	notifier int      // descriptor that Go's poller watches
	file     *os.File // the notifier as a file
	raw      syscall.RawConn
	ready    func(fd uintptr) bool
	events   []Event
	kernel   kernelEvents
	err      error     // the first failure
	until    time.Time // the latest deadline that was set
	stale    bool      // Wake has set a deadline other than until
	unparked int       // Waits in a row that did not park; counted up to disableAfter
	short    int       // consecutive parks that were short; counted up to shortParks
	parked   time.Time // time at which the present Wait parked; zero: Wait has not parked
	woken    atomic.Bool
}

// batch is the number of ready descriptors that are fetched together. It is small, so that the data read from them is still in
// the processor's cache when it is forwarded. 16 instead of 256 took 20 % less CPU per message at 64 connections with a window
// of 10 (2026-11-20).
const batch = 16

// disableAfter is the number of Waits in a row without parking after which the notifier is
// disabled. If the goroutine parks between messages, the notifier stays enabled, so that
// such a load does not pay for switching it.
const disableAfter = 4

// Parking and being woken costs about 20 µs of CPU, and more if processors are virtual and
// an idle one must be started. Fetching 48 times costs 9 µs. So a Wait fetches up to 48
// times before it parks, if the last two parks were short. With one connection this made
// 1.6 times the messages for 0.8 times the CPU each at a window of 1, and 1.4 times the
// messages at a window of 10 (2026-11-21).
const (
	spins      = 48
	shortPark  = 100 * time.Microsecond // a park below this counts as short
	shortParks = 2                      // not 1, because a short park comes between an occasional message and its answer
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
		if p.fetch() || p.short == shortParks && p.spin() {
			return true
		}
		disabled := p.unparked == disableAfter
		p.unparked = 0
		if disabled {
			p.setErr(p.setNotify(true))
			if p.fetch() { // an event before the notifier was enabled may not cause a notification
				return true
			}
		}
		p.parked = time.Now()
		return p.err != nil
	}
	return p, nil
}

// spin fetches repeatedly, and reports whether a descriptor is ready. It ends early when
// Wake is called.
func (p *Poller) spin() bool {
	for range spins {
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
		p.setErr(p.file.SetReadDeadline(until))
	}
	if p.woken.Swap(false) {
		p.stale = true
		p.fetch() // so that events are reported even if a Wake ends every Wait
		return p.err
	}
	if p.unparked < disableAfter {
		if p.unparked++; p.unparked == disableAfter {
			p.setErr(p.setNotify(false))
		}
	}
	p.parked = time.Time{}
	err := p.raw.Read(p.ready)
	if !p.parked.IsZero() {
		p.countPark(time.Since(p.parked))
	}
	if os.IsTimeout(err) {
		// The deadline has passed. It may be the deadline of a Wake instead of until: Wake sets
		// woken before its deadline, and this or the last Wait may have cleared woken in between.
		p.stale = true
		p.woken.Store(false)
		p.fetch()
	} else {
		p.setErr(err)
	}
	return p.err
}

// countPark counts a park as short or long.
func (p *Poller) countPark(d time.Duration) {
	switch {
	case d >= shortPark:
		p.short = 0
	case p.short < shortParks:
		p.short++
	}
}

// setErr keeps the first error.
func (p *Poller) setErr(err error) {
	if p.err == nil && err != nil {
		p.err = fmt.Errorf("cannot wait for descriptors: %w", err)
	}
}

// Look fetches ready descriptors without waiting. It returns the same error as Wait.
func (p *Poller) Look() error {
	p.events = p.events[:0]
	p.fetch()
	return p.err
}

// Wake ends a Wait, or the next Wait if none is running.
func (p *Poller) Wake() {
	if !p.woken.Swap(true) {
		_ = p.file.SetReadDeadline(time.Unix(1, 0)) // an error shows in the next Wait
	}
}

// Events returns the descriptors that the last Wait or Look found ready. A second call
// returns none.
func (p *Poller) Events() []Event {
	found := p.events
	p.events = p.events[:0]
	return found
}
