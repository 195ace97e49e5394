package poll

import (
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// notified reports whether the notifier is ready.
func notified(t *testing.T, p *Poller) bool {
	t.Helper()
	fds := []unix.PollFd{{Fd: int32(p.notifier), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	if err != nil {
		t.Fatal(err)
	}
	return n > 0
}

// An event wakes no other thread while the poller's goroutine works, and wakes the
// goroutine when it is parked.
func TestNotifier(t *testing.T) {
	p, ours, theirs := watched(t, true, false)
	send := func() {
		if _, err := unix.Write(theirs, []byte("x")); err != nil {
			t.Error(err)
		}
	}
	ready, parks := p.ready, func() {}
	p.ready = func(fd uintptr) bool {
		if ready(fd) {
			return true
		}
		parks()
		return false
	}
	for round := range 3 {
		send()
		for i := range disableAfter {
			if !notified(t, p) {
				t.Fatalf("round %d: disabled after %d Waits", round, i)
			}
			p.Wait(time.Time{})
		}
		if notified(t, p) {
			t.Fatalf("round %d: the notifier is ready while the goroutine works", round)
		}
		var b [8]byte
		if _, err := unix.Read(ours, b[:]); err != nil {
			t.Fatal(err)
		}
		p.Wait(time.Now().Add(time.Millisecond))
		if len(p.Events()) != 0 {
			t.Fatalf("round %d: an event without unread data", round)
		}
		parks = sync.OnceFunc(send)                    // not earlier: a Wait that finds the event does not park, and counts
		if p.Wait(time.Time{}); len(p.Events()) != 1 { // blocks forever if there is no notification
			t.Fatalf("round %d: no event", round)
		}
		parks = func() {}
		if _, err := unix.Read(ours, b[:]); err != nil {
			t.Fatal(err)
		}
		if err := p.Look(); err != nil {
			t.Fatal(err)
		}
	}
}

// An event that arrives while the notifier is being enabled is not lost, although epoll
// does not report an item as ready again if it was ready at the last check.
func TestNotifierLosesNoEvent(t *testing.T) {
	p, ours, theirs := watched(t, true, false)
	const bursts, length, never = 20_000, disableAfter + 1, 30 * time.Second
	peer := make(chan error, 1)
	go func() {
		b := make([]byte, length)
		for range bursts {
			if _, err := unix.Write(theirs, b); err != nil {
				peer <- err
				return
			}
			for n := 0; n < length; {
				got, err := unix.Read(theirs, b)
				if err != nil {
					peer <- err
					return
				}
				n += got
			}
		}
		peer <- nil
	}()
	var b [1]byte
	for n := range bursts * length {
		begin := time.Now()
		for len(p.Events()) == 0 {
			p.Wait(begin.Add(never))
		}
		if time.Since(begin) >= never {
			t.Fatalf("no event for octet %d", n)
		}
		// The rest of the burst is ready already, so these Waits do not park.
		if _, err := unix.Read(ours, b[:]); err != nil {
			t.Fatal(err)
		}
		if _, err := unix.Write(ours, b[:]); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-peer; err != nil {
		t.Error(err)
	}
}
