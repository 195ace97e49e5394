package poll

import (
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Who was parked for long parks at once the next time; who was not looks first, and
// who is woken does not go on looking.
func TestEager(t *testing.T) {
	p, ours, theirs := watched(t, true, false)
	p.short = eager
	p.Wait(time.Now().Add(20 * worthIt).UnixNano())
	if p.short != 0 {
		t.Error("nothing came for long, and it would look again")
	}
	if _, err := unix.Write(theirs, []byte{1}); err != nil {
		t.Fatal(err)
	}
	if !p.lookOn() || !slices.Equal(p.Events(), []Event{{FD: ours, Readable: true}}) {
		t.Error("looking does not find what is ready")
	}
	p.Wake()
	if p.lookOn() {
		t.Error("it looks on though it is woken")
	}
}
