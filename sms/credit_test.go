package sms

import (
	"sync"
	"sync/atomic"
	"testing"
)

// What is reserved by many at the same time is never more than there is, and each message is charged or given back once.
func TestCredit(t *testing.T) {
	t.Parallel()
	var c Credit
	c.SetTerms(Terms{Limited: true, Limit: 100})
	if c.Pay(900) != 900 {
		t.Error("the balance is another")
	}
	var charged atomic.Int64
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for i := range 1000 {
				price := Money(1 + (n+i)%7)
				if c.Reserve(price) != 0 {
					continue
				}
				if balance, reserved := c.Balance(); balance-reserved < -100 {
					t.Errorf("balance %d, reserved %d", balance, reserved)
				}
				if i%3 == 0 {
					c.GiveBack(price)
					continue
				}
				if c.Settle(price, i%3 == 1); i%3 == 1 {
					charged.Add(int64(price))
				}
			}
		})
	}
	all.Wait()
	if balance, reserved := c.Balance(); balance != 900-Money(charged.Load()) || reserved != 0 || balance < -100 {
		t.Errorf("balance %d, reserved %d, charged %d", balance, reserved, charged.Load())
	}
}

func TestTerms(t *testing.T) {
	t.Parallel()
	var c Credit
	if c.Reserve(1000) != 0 {
		t.Error("without terms an account has no credit")
	}
	c.Settle(1000, true)
	c.SetTerms(Terms{Limited: true, Low: 50})
	if missing := c.Reserve(10); missing != 1010 {
		t.Errorf("%d is missing", missing)
	}
	c.Pay(1060)
	lows := 0
	for range 5 {
		if c.Reserve(5) != 0 {
			t.Fatal("nothing is left")
		}
		if _, low := c.Settle(5, true); low {
			lows++
		}
	}
	c.Pay(100)
	c.Found(100)
	if _, low := c.Settle(100, true); low {
		lows++
	}
	if balance, reserved := c.Balance(); lows != 2 || balance != 35 || reserved != 0 {
		t.Errorf("low %d times, balance %d, reserved %d", lows, balance, reserved)
	}
}
