package credit

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"

	"pmg/sms"
	"pmg/store"
)

// A Comparison holds the balances of a store against what payments and events say. It is for a store of which something could not
// be read: a note of an older table may have taken the place of a balance.
type Comparison struct {
	accounts map[string]*Compared
	first    uint64 // number of the first event
}

// A Compared is the money of an account.
type Compared struct {
	Account                 string
	Balance                 sms.Money // that the store has
	Paid, Charged, Refunded sms.Money // by the payments that the store has, and by the events
	Counted                 sms.Money // what these give
}

// Compare reads the balances and the payments of a store. Add follows, with the events.
func Compare(index store.Index) (*Comparison, error) {
	c := &Comparison{accounts: map[string]*Compared{}}
	err := index.Notes(store.KindBalance, nil, maxAccounts, func(account, value []byte) error {
		if len(value) >= 8 {
			c.of(string(account)).Balance = moneyOf(value)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = index.Notes(store.KindPaid, nil, math.MaxInt, func(key, value []byte) error {
		account, rest, ok := bytes.Cut(key, []byte{0})
		var p Payment
		if !ok || len(rest) == 0 || rest[0] != 'p' || json.Unmarshal(value, &p) != nil {
			return nil // a reference, or a payment that cannot be read, which is a difference then
		}
		if amount, ok := sms.ReadMoney(p.Amount); ok {
			c.of(string(account)).Paid += amount
		}
		return nil
	})
	return c, err
}

func (c *Comparison) of(account string) *Compared {
	one := c.accounts[account]
	if one == nil {
		one = &Compared{Account: account}
		c.accounts[account] = one
	}
	return one
}

// Add adds an event, what it says of an account's money.
func (c *Comparison) Add(number uint64, account string, price, refund sms.Money) {
	if c.first == 0 {
		c.first = number
	}
	if price != 0 || refund != 0 {
		one := c.of(account)
		one.Charged, one.Refunded = one.Charged+price, one.Refunded+refund
	}
}

// Whole reports whether the events were there from the first one on, so that what they give can be compared.
func (c *Comparison) Whole() bool { return c.first == 1 }

// Accounts returns the money of all accounts, by their names.
func (c *Comparison) Accounts() (all []Compared) {
	for _, account := range slices.Sorted(maps.Keys(c.accounts)) {
		one := *c.accounts[account]
		one.Counted = one.Paid - one.Charged + one.Refunded
		all = append(all, one)
	}
	return all
}
