package lease

import (
	"testing"
	"time"
	"unsafe"
)

// The lease does not depend on the wall clock. A step of the clock after a Holder was made is the same as an origin whose wall time
// was another one and whose monotonic time is right, which is what this test makes.
func TestWallClockSteps(t *testing.T) {
	for _, step := range []int64{-3600, 3600} {
		h, err := New(nil, Options{Node: "a", Lease: time.Hour / 2, Dead: time.Hour, Beat: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		before := h.now()
		stepWall(&h.origin, step)
		if moved := time.Now().Round(0).Sub(h.origin.Round(0)) / time.Second; int64(moved)*step >= 0 {
			t.Fatalf("the wall time of the origin has not moved by %d s: it is %d s ago", step, moved)
		}
		if now := h.now(); now < before || now > before+int64(time.Minute) {
			t.Errorf("a step of %d s moves the clock from %d to %d", step, before, now)
		}
		h.until.Store(before + int64(time.Minute))
		if !h.Holds() {
			t.Errorf("a step of %d s ends the lease", step)
		}
		h.until.Store(before)
		if h.Holds() {
			t.Errorf("a step of %d s keeps a lease", step)
		}
	}
}

// stepWall moves the wall part of a time alone: the seconds, which stand above 30 bits of nanoseconds.
func stepWall(at *time.Time, seconds int64) {
	*(*int64)(unsafe.Pointer(at)) += seconds << 30
}
