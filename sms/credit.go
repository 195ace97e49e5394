package sms

import "sync"

// Credit is the money of an account: what is left of what it has paid, and what of that is reserved for messages that have not
// ended. It is safe for concurrent use.
//
//	accepted ──► Reserve ──► the message has its price ──► ended: Settle charges it, or gives it back
//	refused  ◄───┘      └──► not stored: GiveBack
type Credit struct {
	mu       sync.Mutex
	terms    Terms
	balance  Money // below 0: it owes
	reserved Money
	low      bool // the balance is below terms.Low, and that was noticed
}

// Terms are what an account has agreed.
type Terms struct {
	Limited bool   // without it the account may owe any sum
	Limit   Money  // that it may owe; 0: it pays before
	Low     Money  // below which Settle says that the balance is low; 0: never
	List    string // of prices; "": its messages cost nothing
}

// SetTerms puts terms in force, also for messages that wait.
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

// Reserve reserves an amount for a message. It returns how much is missing if there is less.
func (c *Credit) Reserve(amount Money) (missing Money) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if left := c.balance + c.terms.Limit - c.reserved; c.terms.Limited && left < amount {
		return amount - left
	}
	c.reserved += amount
	return 0
}

// Found reserves an amount for a message that was accepted by an earlier run, whatever is left.
func (c *Credit) Found(amount Money) {
	c.mu.Lock()
	c.reserved += amount
	c.mu.Unlock()
}

// GiveBack ends the reservation of a message that was not accepted.
func (c *Credit) GiveBack(amount Money) { c.Found(-amount) }

// Settle ends the reservation of a message that has ended. charge says whether the account pays it. It returns the balance, and
// reports whether that has become low.
func (c *Credit) Settle(amount Money, charge bool) (balance Money, low bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reserved -= amount
	if !charge {
		return c.balance, false
	}
	c.balance -= amount
	low = c.terms.Low != 0 && c.balance < c.terms.Low && !c.low
	c.low = c.low || low
	return c.balance, low
}

// Pay adds what the account has paid, or takes an amount below 0 away. It returns the balance.
func (c *Credit) Pay(amount Money) Money {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.balance += amount
	c.low = c.low && c.balance < c.terms.Low
	return c.balance
}

// Balance returns the balance, and how much of it is reserved.
func (c *Credit) Balance() (balance, reserved Money) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.balance, c.reserved
}
