package sms

import (
	"sync"
	"sync/atomic"
	"testing"
)

// free reserves an amount, and reports whether there was so much.
func free(c *Credit, amount Money) bool {
	_, by := c.Reserve(amount, 1)
	return by == Unbound
}

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
				if !free(&c, price) {
					continue
				}
				if balance, reserved := c.Balance(); balance-reserved < -100 {
					t.Errorf("balance %d, reserved %d", balance, reserved)
				}
				if i%3 == 0 {
					c.GiveBack(price)
					continue
				}
				if c.Settle(price, i%3 == 1, 1); i%3 == 1 {
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
	if !free(&c, 1000) {
		t.Error("without terms an account has no credit")
	}
	c.Settle(1000, true, 1)
	c.SetTerms(Terms{Limited: true, Low: 50})
	if missing, by := c.Reserve(10, 1); missing != 1010 || by != BalanceBound {
		t.Errorf("%d is missing", missing)
	}
	c.Pay(1060)
	lows := 0
	for range 5 {
		if !free(&c, 5) {
			t.Fatal("nothing is left")
		}
		if c.Settle(5, true, 1) {
			lows++
		}
	}
	c.Pay(100)
	c.Found(100)
	if c.Settle(100, true, 1) {
		lows++
	}
	if balance, reserved := c.Balance(); lows != 2 || balance != 35 || reserved != 0 {
		t.Errorf("low %d times, balance %d, reserved %d", lows, balance, reserved)
	}
}

// What is spent in a day and in a month is bounded, by days and months of UTC. What is reserved counts, and what is not charged does
// not. A clock that was set back begins no new day.
func TestCaps(t *testing.T) {
	t.Parallel()
	const last = 20_453 // 2025-12-31
	var c Credit
	c.SetTerms(Terms{Day: 100, Month: 150})
	for _, step := range []struct {
		day     uint32
		amount  Money
		missing Money
		by      Bound
		charge  bool
	}{
		{last - 1, 101, 1, DayBound, false},
		{last - 1, 100, 0, Unbound, false}, // given back
		{last - 1, 100, 0, Unbound, true},
		{last - 1, 1, 1, DayBound, false},
		{last, 51, 1, MonthBound, false},
		{last, 40, 0, Unbound, true},
		{last - 1, 11, 1, MonthBound, false},
		{last, 10, 0, Unbound, true},
		{last + 1, 101, 1, DayBound, false},
		{last + 1, 99, 0, Unbound, true},
		{last, 1, 1, MonthBound, false}, // the clock was set back into the month before
		{last + 1, 1, 0, Unbound, true},
	} {
		missing, by := c.Reserve(step.amount, step.day)
		if missing != step.missing || by != step.by {
			t.Errorf("%+v: %d are missing, %d", step, missing, by)
		}
		if by == Unbound {
			c.Settle(step.amount, step.charge, step.day)
		}
	}
	balance, s := c.On(last + 1)
	s.other = monthSum{}
	if want := (Charges{Day: last + 1, OnDay: 100, InMonth: 100}); balance != -250 || s != want {
		t.Errorf("balance %d, %+v", balance, s)
	}
	var again Credit
	again.SetTerms(c.Terms())
	again.Stored(balance, s)
	again.Found(30)
	if missing, by := again.Reserve(30, last+2); missing != 10 || by != MonthBound {
		t.Errorf("after a restart %d are missing, %d", missing, by)
	}
}
