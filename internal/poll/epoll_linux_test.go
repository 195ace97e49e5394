package poll

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// ringing reports whether an event that is ready rings the bell.
func ringing(t *testing.T, p *Poller) bool {
	t.Helper()
	fds := []unix.PollFd{{Fd: int32(p.bell), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	if err != nil {
		t.Fatal(err)
	}
	return n > 0
}

// A poller whose goroutine is working wakes no other thread; one that parks is woken.
func TestBell(t *testing.T) {
	p, ours, theirs := watched(t, true, false)
	send := func() {
		if _, err := unix.Write(theirs, []byte("x")); err != nil {
			t.Error(err)
		}
	}
	for round := range 3 {
		send()
		for i := range muteAfter {
			if !ringing(t, p) {
				t.Fatalf("round %d: muted after %d Waits", round, i)
			}
			p.Wait(time.Time{})
		}
		if ringing(t, p) {
			t.Fatalf("round %d: rings while we are at work", round)
		}
		var b [8]byte
		if _, err := unix.Read(ours, b[:]); err != nil {
			t.Fatal(err)
		}
		p.Wait(time.Now().Add(time.Millisecond))
		if len(p.Events()) != 0 {
			t.Fatalf("round %d: sees what was read", round)
		}
		time.AfterFunc(time.Millisecond, send)
		if p.Wait(time.Time{}); len(p.Events()) != 1 { // forever, if nothing rang
			t.Fatalf("round %d: nothing is seen", round)
		}
		if _, err := unix.Read(ours, b[:]); err != nil {
			t.Fatal(err)
		}
		if err := p.Look(); err != nil {
			t.Fatal(err)
		}
	}
}

// What comes while the bell is put on again is not missed: epoll does not report an item
// that is ready, if it was ready the last time somebody looked.
func TestBellMissesNothing(t *testing.T) {
	p, ours, theirs := watched(t, true, false)
	const bursts, length, never = 20_000, muteAfter + 1, 30 * time.Second
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
			t.Fatalf("octet %d is not seen", n)
		}
		// The rest of the burst is ready already: Waits that do not park.
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
