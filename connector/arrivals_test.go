package connector

import (
	"testing"

	"pmg/sms"
)

// Messages are counted together while much room is free. Several Arrivals that take messages for one share at the same time
// hardly exceed its room, although none of them is flushed.
func TestArrivalsTogether(t *testing.T) {
	t.Parallel()
	const most, few = 1000, 100
	d := newDesk(t, "max_queue: 1000")
	d.used.SetLimit(1 << 30)
	s := d.share("client")
	enter := func(a *Arrivals) bool {
		has := a.HasRoom(s, 1, 1, 0, 0)
		if has {
			a.Enter(s, &sms.Message{}, start)
		}
		return has
	}
	var all [4]Arrivals
	for range few {
		enter(&all[0])
	}
	if n := s.Queued(); n != 0 {
		t.Errorf("%d are counted before Flush", n)
	}
	for more := true; more; {
		more = false
		for i := range all {
			more = enter(&all[i]) || more
		}
	}
	for i := range all {
		all[i].Flush()
	}
	if n := s.Queued(); n < most || n > most+few {
		t.Errorf("%d have entered a queue of %d", n, most)
	}
}
