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

// A Comparison compares the balances of a store with the payments and events. It is used after a
// repair, because an older note may have replaced the balance of an account.
type Comparison struct {
	accounts map[string]*Compared
	first    uint64 // number of the first event
}

// A Compared is the comparison for one account.
type Compared struct {
	Account                 string
	Balance                 sms.Money // balance in the store
	Paid, Charged, Refunded sms.Money // sums: Paid of the payments in the store, Charged and Refunded of the events
	Counted                 sms.Money // the balance that results from these sums
}

// Compare reads the balances and the payments of a store. Afterwards the caller passes each event
// to Add.
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
			return nil // a reference, or an unreadable payment, which appears as a difference
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

// Add adds an event: its number, and the price and the refund of an account.
func (c *Comparison) Add(number uint64, account string, price, refund sms.Money) {
	if c.first == 0 {
		c.first = number
	}
	if price != 0 || refund != 0 {
		one := c.of(account)
		one.Charged, one.Refunded = one.Charged+price, one.Refunded+refund
	}
}

// Whole reports whether no event is missing from the beginning, so that the results can be
// compared.
func (c *Comparison) Whole() bool { return c.first == 1 }

// Accounts returns the comparisons of all accounts, sorted by name.
func (c *Comparison) Accounts() (all []Compared) {
	for _, account := range slices.Sorted(maps.Keys(c.accounts)) {
		one := *c.accounts[account]
		one.Counted = one.Paid - one.Charged + one.Refunded
		all = append(all, one)
	}
	return all
}
