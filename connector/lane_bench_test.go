package connector

import (
	"fmt"
	"testing"

	"pmg/sms"
)

// laneRun returns a desk with messages of a number of accounts, and a function that adds a
// message, sends one and answers one.
func laneRun(t testing.TB, accounts int) (d *desk, one func()) {
	d = newDesk(t, "instances: 1, window: 10, static: true")
	d.connect()
	shares := make([]*Share, accounts)
	messages := make([]*sms.Message, 4*accounts)
	for i := range shares {
		shares[i] = d.share(fmt.Sprint("account", i))
	}
	for i := range messages { // they belong to no pool, so Release does nothing
		messages[i] = &sms.Message{ID: 1, Arrived: d.now, Origin: shares[i%accounts].Origin}
	}
	next := 0
	push := func() {
		m, s := messages[next%len(messages)], shares[next%accounts]
		next++
		d.used.Add(m.Size())
		s.add(1)
		d.Queues.Push(d.now, s, m)
	}
	for range 2 * accounts {
		push()
	}
	return d, func() {
		push()
		slot, _ := d.Next(d.now)
		d.Answered(d.now, slot, sms.Answer{Code: sms.OK, At: d.now})
		d.Publish()
	}
}

// A message on its way through a lane allocates nothing.
func TestLaneAllocations(t *testing.T) {
	for _, accounts := range []int{1, 64} {
		d, one := laneRun(t, accounts)
		if n := testing.AllocsPerRun(1000, one); n > 0 {
			t.Errorf("%d accounts: %g allocations", accounts, n)
		}
		if q := d.Queued.Load(); q != int64(2*accounts) {
			t.Errorf("%d accounts: %d queued", accounts, q)
		}
	}
}

// BenchmarkLane measures a message that arrives, and one that leaves and is answered, with
// one account and with many.
func BenchmarkLane(b *testing.B) {
	for _, accounts := range []int{1, 64} {
		b.Run(fmt.Sprintf("accounts=%d", accounts), func(b *testing.B) {
			_, one := laneRun(b, accounts)
			b.ReportAllocs()
			for b.Loop() {
				one()
			}
		})
	}
}
