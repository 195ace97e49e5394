package sms

import (
	"sync"
	"time"
)

// Credit is the money of an account: the balance, and the part of the balance that is reserved for messages
// that have not ended. It is safe for concurrent use.
//
//	accepted ──► Reserve ──► the message has its price ──► ended: Settle charges it, or gives it back
//	refused  ◄───┘      └──► not stored: GiveBack
type Credit struct {
	mu       sync.Mutex
	terms    Terms
	balance  Money // below 0: the account owes money
	reserved Money
	charges  Charges
	low      bool // the balance is below terms.Low, and the event was reported
}

// Terms are the terms of payment of an account.
type Terms struct {
	Limited    bool   // false: the account may owe any sum
	Limit      Money  // amount that the account may owe; 0: prepaid
	Day, Month Money  // amounts that the account may spend in a day and in a month; 0: any sum
	Low        Money  // Settle reports a balance that falls below it; 0: never
	Undo       bool   // charges are given back when a receipt reports that the message was not delivered
	List       string // list of prices; "": the account's messages cost nothing
}

// Capped reports whether the amount that an account may spend in a day or a month is limited.
func (t *Terms) Capped() bool { return t.Day != 0 || t.Month != 0 }

// Charges are the sums that an account was charged on a day, and in the month of the day, in UTC.
type Charges struct {
	Day            uint32 // since 1970
	OnDay, InMonth Money
	other          monthSum // sums of the previous month, to which the clock may be set back
}

// A monthSum is the sum that was charged in a month.
type monthSum struct {
	month [2]int
	sum   Money
}

// goOn begins new sums if day is later than the day of the sums. If the clock was set back, the sums continue.
func (s *Charges) goOn(day uint32) {
	if day <= s.Day {
		return
	}
	if last := monthOf(s.Day); monthOf(day) != last {
		s.other = monthSum{last, s.InMonth}
		s.InMonth = 0
	}
	s.Day, s.OnDay = day, 0
}

// inMonth returns the sum of a day's month: that of the previous month if the clock was set back.
func (s *Charges) inMonth(day uint32) *Money {
	if day < s.Day && monthOf(day) == s.other.month {
		return &s.other.sum
	}
	return &s.InMonth
}

func monthOf(day uint32) [2]int {
	year, month, _ := time.Unix(int64(day)*24*3600, 0).UTC().Date()
	return [2]int{year, int(month)}
}

// A Bound is the limit that an amount would exceed.
type Bound uint8

// The bounds.
const (
	Unbound Bound = iota
	BalanceBound
	DayBound
	MonthBound
)

// SetTerms puts terms in force, also for waiting messages.
func (c *Credit) SetTerms(t Terms) {
	c.mu.Lock()
	c.terms, c.low = t, c.low && t.Low == c.terms.Low
	c.mu.Unlock()
}

// Terms returns the terms in force.
func (c *Credit) Terms() Terms {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.terms
}

// Reserve reserves an amount for a message on a day. If too little is left, it returns the missing amount,
// and the limit. Reserved amounts count in each day and month as if they were charged then.
func (c *Credit) Reserve(amount Money, day uint32) (missing Money, by Bound) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if left := c.available(); c.terms.Limited && left < amount {
		return amount - left, BalanceBound
	}
	if c.terms.Capped() {
		c.charges.goOn(day)
		if left := c.terms.Day - c.charges.OnDay - c.reserved; c.terms.Day != 0 && left < amount {
			return amount - left, DayBound
		}
		if left := c.terms.Month - *c.charges.inMonth(day) - c.reserved; c.terms.Month != 0 && left < amount {
			return amount - left, MonthBound
		}
	}
	c.reserved += amount
	return 0, Unbound
}

// Found reserves an amount for a message that an earlier run accepted, even if too little is left.
func (c *Credit) Found(amount Money) {
	c.mu.Lock()
	c.reserved += amount
	c.mu.Unlock()
}

// GiveBack ends the reservation of a message that was not accepted.
func (c *Credit) GiveBack(amount Money) { c.Found(-amount) }

// Settle ends the reservation of a message that has ended on a day. If charge is true, the account pays the
// amount. Settle reports whether the balance has become low.
func (c *Credit) Settle(amount Money, charge bool, day uint32) (low bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reserved -= amount
	if !charge {
		return false
	}
	c.balance -= amount
	c.charges.goOn(day)
	c.charges.OnDay += amount
	*c.charges.inMonth(day) += amount
	low = c.terms.Low != 0 && c.balance < c.terms.Low && !c.low
	c.low = c.low || low
	return low
}

// Pay adds a payment of the account, or subtracts it if the amount is negative. It returns the balance.
func (c *Credit) Pay(amount Money) Money {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.balance += amount
	c.low = c.low && c.balance < c.terms.Low
	return c.balance
}

// Stored sets the balance and the charges that an earlier run has stored.
func (c *Credit) Stored(balance Money, s Charges) {
	c.mu.Lock()
	c.balance, c.charges = balance, s
	c.mu.Unlock()
}

// Balance returns the balance, and the reserved part of the balance.
func (c *Credit) Balance() (balance, reserved Money) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.balance, c.reserved
}

// Available returns the amount that is left for further messages. It reports false if the account may owe any sum.
func (c *Credit) Available() (left Money, limited bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.available(), c.terms.Limited
}

// available returns the sum of the free balance and the amount that the account may owe. The caller holds the lock.
func (c *Credit) available() Money { return c.balance + c.terms.Limit - c.reserved }

// On returns the balance and, if charges are limited, the sums charged on a day and in its month.
func (c *Credit) On(day uint32) (balance Money, s Charges) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.terms.Capped() {
		c.charges.goOn(day)
		s = c.charges
	}
	return c.balance, s
}

// IsLow reports whether the balance is below the threshold of the terms.
func (c *Credit) IsLow() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.terms.Low != 0 && c.balance < c.terms.Low
}
