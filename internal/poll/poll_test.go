package poll

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A Wake sets woken and then a deadline. When a Wait runs in between, the deadline ends a
// later Wait. The Waits after that one must work as usual.
func TestLateWake(t *testing.T) {
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var pipe [2]int
	if err := unix.Pipe(pipe[:]); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pipe[0])
	defer unix.Close(pipe[1])
	if _, err := unix.Write(pipe[1], []byte{1}); err != nil {
		t.Fatal(err)
	}
	if err := p.Add(pipe[0], true, false); err != nil {
		t.Fatal(err)
	}
	p.woken.Store(true) // the first half of a Wake
	p.Wait(time.Time{})
	p.Wait(time.Time{})
	_ = p.file.SetReadDeadline(time.Unix(1, 0)) // and the second
	p.Wait(time.Time{})
	if p.Wait(time.Time{}); len(p.Events()) != 1 {
		t.Error("a ready descriptor is not reported")
	}
	if err := p.Look(); err != nil {
		t.Error(err)
	}
}

// A Wake ends a Wait before its deadline, and a Wait ends at its deadline.
func TestWait(t *testing.T) {
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for range 1000 {
		woke := make(chan struct{})
		go func() { p.Wake(); close(woke) }()
		p.Wait(time.Time{})
		<-woke
		p.Wait(time.Unix(1, 0)) // long past
		p.Wake()
		p.Wait(time.Now().Add(time.Hour))
	}
	if err := p.Look(); err != nil {
		t.Error(err)
	}
}

// watched returns a poller that watches one end of a socket pair, and the two ends.
func watched(t *testing.T, read, write bool) (p *Poller, ours, theirs int) {
	t.Helper()
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = unix.Close(pair[0])
		_ = unix.Close(pair[1])
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := p.Add(pair[0], read, write); err != nil {
		t.Fatal(err)
	}
	return p, pair[0], pair[1]
}

func (e Event) without(fd int) Event { e.FD -= fd; return e }

// A poller that is woken again and again still reports ready descriptors.
func TestWakeHidesNothing(t *testing.T) {
	p, ours, theirs := watched(t, true, false)
	if _, err := unix.Write(theirs, []byte("x")); err != nil {
		t.Fatal(err)
	}
	p.Wake()
	p.Wait(time.Time{})
	if e := p.Events(); len(e) != 1 || e[0].without(ours) != (Event{Readable: true}) {
		t.Errorf("woken, events %+v", e)
	}
	if e := p.Events(); len(e) != 0 {
		t.Errorf("events that were returned are returned again: %+v", e)
	}
	p.Look()
	if e := p.Events(); len(e) != 1 {
		t.Errorf("a descriptor with unread data is not reported again: %+v", e)
	}
}

// Only the events that a descriptor is watched for are reported, but epoll always reports
// that the connection is gone.
func TestEvents(t *testing.T) {
	p, ours, theirs := watched(t, false, false)
	want := func(why string, want ...Event) {
		t.Helper()
		p.Look()
		e := p.Events()
		if len(e) != len(want) || len(e) == 1 && e[0].without(ours) != want[0] {
			t.Errorf("%s: %+v, want %+v", why, e, want)
		}
	}
	set := func(read, write bool) {
		t.Helper()
		if err := p.Set(ours, read, write); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := unix.Write(theirs, []byte("x")); err != nil {
		t.Fatal(err)
	}
	want("watched for nothing")
	set(false, true)
	want("watched for writing", Event{Writable: true})
	set(true, false)
	want("watched for reading", Event{Readable: true})
	set(false, false)
	if err := unix.Shutdown(theirs, unix.SHUT_WR); err != nil {
		t.Fatal(err)
	}
	want("the peer writes no more, but that is not watched for")
	set(true, false)
	want("the peer writes no more", Event{Readable: true})
	set(false, false)
	if err := unix.Shutdown(theirs, unix.SHUT_RD); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "linux" {
		return
	}
	want("the peer is gone", Event{Readable: true, Writable: true, Gone: true})
	if err := p.Remove(ours); err != nil {
		t.Fatal(err)
	}
	want("removed")
	if p.Remove(ours) == nil || p.Set(ours, true, false) == nil {
		t.Error("the watch of a descriptor that is not watched can be changed")
	}
}

// All of many ready descriptors are reported, even if they do not fit in one fetch.
func TestManyDescriptors(t *testing.T) {
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	waiting := map[int]bool{}
	for range batch + 50 {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(pair[0])
		defer unix.Close(pair[1])
		if err := p.Add(pair[0], true, false); err != nil {
			t.Fatal(err)
		}
		if _, err := unix.Write(pair[1], []byte("x")); err != nil {
			t.Fatal(err)
		}
		waiting[pair[0]] = true
	}
	for range (batch+50)/batch + 2 { // the kernel rotates ready descriptors, so that none starves
		p.Wait(time.Time{})
		for _, e := range p.Events() {
			delete(waiting, e.FD)
			var b [1]byte
			_, _ = unix.Read(e.FD, b[:])
		}
		if len(waiting) == 0 {
			return
		}
	}
	t.Errorf("%d ready descriptors are not reported", len(waiting))
}

// A Wait costs no allocation.
func TestWaitAllocations(t *testing.T) {
	p, _, theirs := watched(t, true, false)
	if _, err := unix.Write(theirs, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { p.Wait(time.Time{}) }); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

// A poller whose last parks were short spins before it parks, one whose last park was long
// does not, and one that is woken stops spinning.
func TestSpin(t *testing.T) {
	p, ours, theirs := watched(t, true, false)
	for range shortParks + 1 {
		p.countPark(shortPark - 1)
	}
	if p.short != shortParks {
		t.Errorf("after %d short parks %d are counted", shortParks+1, p.short)
	}
	// On a busy machine the deadline may pass before the Wait parks: then a later one is tried.
	for d := 20 * shortPark; p.short != 0; d *= 2 {
		if d > 20*time.Second {
			t.Fatal("the last park was long, and the poller would spin")
		}
		p.Wait(time.Now().Add(d))
	}
	if _, err := unix.Write(theirs, []byte{1}); err != nil {
		t.Fatal(err)
	}
	if !p.spin() || !slices.Equal(p.Events(), []Event{{FD: ours, Readable: true}}) {
		t.Error("spinning does not find a ready descriptor")
	}
	p.Wake()
	if p.spin() {
		t.Error("it spins though it is woken")
	}
}

// BenchmarkWait measures a Wait that a Wake ends, and one that finds a ready descriptor.
func BenchmarkWait(b *testing.B) {
	p, err := New()
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	b.Run("woken", func(b *testing.B) {
		for b.Loop() {
			p.Wake()
			p.Wait(time.Time{})
		}
	})
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	if err := p.Add(pair[0], false, true); err != nil {
		b.Fatal(err)
	}
	b.Run("ready", func(b *testing.B) {
		for b.Loop() {
			p.Wait(time.Time{})
		}
	})
}

// F8: Wait sets the deadline with its monotonic clock reading, also after a Wake has set
// another.
func TestDeadline(t *testing.T) {
	t.Parallel()
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for n := range 10 {
		if n%2 == 1 {
			p.Wake()
		}
		until := time.Now().Add(time.Millisecond)
		p.Wait(until)
		if p.until != until || p.until == p.until.Round(0) {
			t.Errorf("the deadline is %v, want %v", p.until, until)
		}
	}
}

// F21: the Wait of a poller that has failed returns an error, and so does every later one.
// It does not return immediately without an event and an error.
func TestFailedPoller(t *testing.T) {
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := p.Wait(time.Time{}); err == nil || !strings.HasPrefix(err.Error(), "cannot wait for descriptors: ") {
			t.Errorf("error %v of a broken poller", err)
		}
	}
	if err := p.Look(); err == nil {
		t.Error("no error of a broken poller")
	}
}
