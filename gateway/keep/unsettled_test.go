package keep

import (
	"errors"
	"testing"

	"pmg/store"
)

// Messages are unsettled until the commit of their own batch, of which many may stand behind each other; what one that failed has
// left is in the next one.
func TestUnsettled(t *testing.T) {
	var u Unsettled
	add := func(position uint64, n int) {
		for range n {
			u.Add(store.PositionOf(position))
		}
	}
	want := func(why string, n int64) {
		t.Helper()
		if got := u.N.Load(); got != n {
			t.Errorf("%s: %d messages, want %d", why, got, n)
		}
	}
	committed := func(position uint64, err error) { u.committed(store.PositionOf(position), err) }
	add(1, 3)
	add(3, 5) // 2 has none
	add(4, 7)
	want("all wait", 15)
	committed(1, nil)
	want("1 has ended", 12)
	committed(2, nil)
	want("2 has ended", 12)
	add(5, 11)
	committed(3, errors.New("disk error"))
	want("3 has failed", 23)
	committed(4, nil)
	want("4 has ended, with what was left of 3", 11)
	committed(5, errors.New("disk error"))
	add(6, 1)
	want("5 has failed", 12)
	committed(6, nil)
	want("all have ended", 0)
	add(7, 2)
	committed(7, nil)
	want("the last one as well", 0)
}
