package poll

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A Wake notes itself and then sets a deadline. When a Wait comes in between, the
// deadline hits a later one, which must not be all that is ever heard of again.
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
	p.Wait(0)
	p.Wait(0)
	_ = p.file.SetReadDeadline(time.Unix(1, 0)) // and the second
	p.Wait(0)
	if p.Wait(0); len(p.Events()) != 1 {
		t.Error("what is ready is not seen")
	}
	if err := p.Err(); err != nil {
		t.Error(err)
	}
}

// Wakes end Waits, whatever the deadline, and a Wait ends at its time.
func TestWait(t *testing.T) {
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for range 1000 {
		woke := make(chan struct{})
		go func() { p.Wake(); close(woke) }()
		p.Wait(0)
		<-woke
		p.Wait(1) // long past
		p.Wake()
		p.Wait(time.Now().Add(time.Hour).UnixNano())
	}
	if err := p.Err(); err != nil {
		t.Error(err)
	}
}
