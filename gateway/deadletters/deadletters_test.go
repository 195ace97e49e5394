package deadletters

import (
	"slices"
	"testing"
	"time"

	"pmg/gateway/roomtest"
)

// newDesk returns DeadLetters whose clock stands at 1,000 hours, and which keeps letters for a week.
func newDesk(t *testing.T) *DeadLetters {
	g := roomtest.New(t, roomtest.Operator(""))
	d := New(g.Node, g.Keeper, nil)
	d.node.Clock.WallClock = func() time.Time { return time.Unix(0, 0).Add(1000 * time.Hour) }
	return d
}

func hours(n int64) int64 { return n * int64(time.Hour) }

// The oldest letters end, in the order of their times, whatever the order in which they were found.
func TestDue(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Add(1, "shop", hours(900), 10)
	d.Add(2, "shop", hours(100), 10)
	d.Add(3, "other", hours(50), 10)
	d.Add(3, "other", hours(50), 10)
	d.Add(4, "shop", hours(832), 10) // just a week
	if got := d.due(); !slices.Equal(got, []uint64{3, 2, 4}) {
		t.Errorf("due are %v", got)
	}
	d.Left(3)
	d.Left(3)
	d.Left(77)
	if got := d.due(); !slices.Equal(got, []uint64{2, 4}) {
		t.Errorf("due are %v", got)
	}
	if c := d.Counts(); len(c) != 1 || c["shop"] != 3 || d.octets != 30 {
		t.Errorf("%v, %d octets", c, d.octets)
	}
	for limit, want := range map[int][]uint64{0: nil, 2: {1, 4}, 9: {1, 4, 2}} {
		if got := d.Of("shop", limit); !slices.Equal(got, want) {
			t.Errorf("the last %d are %v", limit, got)
		}
	}
	d.Left(1)
	d.Add(1, "shop", hours(999), 10) // it was delivered again, in vain
	if got := d.due(); !slices.Equal(got, []uint64{2, 4}) {
		t.Errorf("due are %v", got)
	}
}

// There are no more than there is room for, and those that have left take none.
func TestBounds(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for id := range uint64(most + 3) {
		d.Add(id, "shop", hours(999), 1)
	}
	if got := d.due(); !slices.Equal(got, []uint64{0, 1, 2}) {
		t.Errorf("due are %v", got)
	}
	for id := range uint64(most) {
		d.Left(id)
	}
	if len(d.order) > 2*3+together || len(d.due()) != 0 {
		t.Errorf("%d have an order", len(d.order))
	}
	d.Add(7, "shop", hours(999), mostInMemory)
	if got := d.due(); !slices.Equal(got, []uint64{most, most + 1, most + 2}) {
		t.Errorf("due are %v in a store in memory", got)
	}
}
