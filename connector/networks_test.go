package connector

import (
	"fmt"
	"sync"
	"testing"

	"pmg/sms"
)

// What became of messages is counted for each network, and for those beyond a bound together, whoever counts at the same time.
func TestByNetwork(t *testing.T) {
	var b ByNetwork
	if b.Counts() != nil {
		t.Error("something was counted")
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range MaxNetworks + 100 {
				n, _ := sms.ReadNetwork(fmt.Sprint(20000 + i))
				b.Sent(n)
				b.Ended(n, i%2 == 0, 10)
			}
		})
	}
	all.Wait()
	sum, rows := NetworkCounts{}, b.Counts()
	for _, c := range rows {
		if c.Network != 0 && (c.Sent > 4 || c.Delivered > 0 && c.Undelivered > 0) {
			t.Errorf("%+v", c)
		}
		sum.Sent, sum.Delivered, sum.Undelivered, sum.Delay = sum.Sent+c.Sent, sum.Delivered+c.Delivered, sum.Undelivered+c.Undelivered, sum.Delay+c.Delay
	}
	const each = 4 * (MaxNetworks + 100) / 2
	if len(rows) != MaxNetworks+1 || rows[0].Network != 0 || sum.Sent != 2*each || sum.Delivered != each || sum.Undelivered != each || sum.Delay != 10*each {
		t.Errorf("%d rows, first %+v, sum %+v", len(rows), rows[0], sum)
	}
	n, _ := sms.ReadNetwork("20001")
	if a := testing.AllocsPerRun(100, func() { b.Sent(n); b.Ended(n, true, 1) }); a != 0 {
		t.Errorf("%v allocations", a)
	}
}

// The quality of a network is the share of its latest messages that were delivered, once some have ended.
func TestQuality(t *testing.T) {
	t.Parallel()
	var b ByNetwork
	n, _ := sms.ReadNetwork("24001")
	other, _ := sms.ReadNetwork("24002")
	ends := func(times, every int) int {
		for i := range times {
			b.Ended(n, i%every == 0, 1)
		}
		q, _ := b.Quality(n)
		return q
	}
	if q := ends(fewestEnds-1, 2); q != MostQuality {
		t.Errorf("after few ends %d", q)
	}
	if q := ends(1, 1); q < 540 || q > 560 {
		t.Errorf("half of them: %d", q)
	}
	if q := ends(2000, 1); q < 990 {
		t.Errorf("all of the latest: %d", q)
	}
	if q := ends(2000, 4); q < 220 || q > 280 {
		t.Errorf("a quarter of the latest: %d", q)
	}
	if _, known := b.Quality(n); !known {
		t.Error("it is not known")
	}
	if q, known := b.Quality(other); q != MostQuality || known {
		t.Errorf("another network: %d", q)
	}
}
