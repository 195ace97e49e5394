// Package credit charges accounts for their messages.
//
// What a message costs is reserved of its account's money when it is accepted, and stands in its record: the commit that stores
// the message stores the reservation. When the message ends, the commit that deletes it stores the balance: less its price if an
// SMSC has accepted it, as it was otherwise. So after a kill the balance is exact, and what is reserved is the sum of the prices
// of the messages that the store has.
//
// # Start reading
//
// credit.go (prices and balances), paid.go (what accounts pay); sms.Credit has the money of an account.
package credit

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"pmg/config"
	"pmg/gateway/keep"
	"pmg/gateway/node"
	"pmg/sms"
	"pmg/sms/number"
	"pmg/sms/prices"
	"pmg/store"
)

// An Accountant charges accounts. It is safe for concurrent use.
type Accountant struct {
	node  *node.Node
	keep  *keep.Keeper
	inUse atomic.Pointer[Opened]

	paying  sync.Mutex      // one payment at a time
	pending map[string]bool // the keys of references whose payments failed to be stored, which the next commit does
}

// Opened are the lists of prices of a configuration, by their names.
type Opened struct{ lists map[string]*list }

type list struct {
	prices   *prices.List
	currency string
}

// Lists returns the prices of the lists, by their names.
func (o *Opened) Lists() map[string]*prices.List {
	all := make(map[string]*prices.List, len(o.lists))
	for name, l := range o.lists {
		all[name] = l.prices
	}
	return all
}

// New returns what has no prices. Open and Apply follow.
func New(n *node.Node, k *keep.Keeper) *Accountant {
	d := &Accountant{node: n, keep: k, pending: map[string]bool{}}
	d.inUse.Store(&Opened{})
	return d
}

// Open reads the lists of prices of a configuration.
func (d *Accountant) Open(cfg *config.Config) (*Opened, error) {
	o := &Opened{lists: map[string]*list{}}
	for i := range cfg.Prices {
		c := &cfg.Prices[i]
		all, err := prices.ReadFile(c.File, c.Reading())
		if err != nil {
			return nil, fmt.Errorf("cannot open prices %s: %w", c.Name, err)
		}
		o.lists[c.Name] = &list{all, c.Currency}
	}
	return o, nil
}

// Apply puts lists of prices, and what accounts have agreed, in force.
func (d *Accountant) Apply(o *Opened, cfg *config.Config) {
	d.inUse.Store(o)
	terms := map[string]sms.Terms{}
	for i := range cfg.Accounts {
		a := &cfg.Accounts[i]
		if t := a.Terms(); t.List != "" {
			terms[a.SystemID] = t
			d.node.Origins.TallyOf(a.SystemID)
		}
	}
	d.node.Origins.Tallies(func(account string, t *sms.Tally) { t.Credit.SetTerms(terms[account]) })
}

// Price returns what a short message costs its account, and why there is no price, "" if there is one.
func (d *Accountant) Price(m *sms.Message, now int64) (price sms.Money, why string) {
	if len(d.inUse.Load().lists) == 0 {
		return 0, ""
	}
	return d.priceIn(m.Origin.Tally.Credit.Terms().List, m, now)
}

// priceIn is Price by a list.
func (d *Accountant) priceIn(name string, m *sms.Message, now int64) (price sms.Money, why string) {
	l := d.inUse.Load().lists[name]
	if l == nil {
		return 0, ""
	}
	price, ok := l.prices.Of(number.Of(m.Dest()), m.Network, d.node.Clock.Wall(now))
	if !ok {
		network := m.Network.String()
		if network == "" {
			network = config.UnknownNetwork
		}
		return 0, "there is no price for network " + network + " in the list of prices " + name +
			": a row for the network, its country, the beginning of the number, or * makes one"
	}
	return price, ""
}

// Reserve reserves what a message costs, for each of the short messages that it is: those that it is cut into have a price each,
// and one that leaves whole has that of all. It returns why it is refused, and says what is missing.
func (d *Accountant) Reserve(now int64, m *sms.Message, shorts int) (code sms.Code, why string) {
	if len(d.inUse.Load().lists) == 0 {
		return sms.OK, ""
	}
	c := &m.Origin.Tally.Credit
	t := c.Terms()
	price, why := d.priceIn(t.List, m, now)
	if why != "" {
		return sms.NoPrice, why
	}
	if price == 0 {
		return sms.OK, ""
	}
	if (t.Limited || t.Capped()) && !d.keep.Recovered() {
		return sms.QueueFull, "messages of earlier runs, for which money is reserved, are still being read"
	}
	missing, by := c.Reserve(price*sms.Money(shorts), store.DayOf(d.node.Clock.Wall(now)))
	if by != sms.Unbound {
		return sms.NoCredit, boundTexts[by] + ": " + missing.String() + " " + d.CurrencyOf(c) + " are missing"
	}
	if m.Parts < 2 {
		price *= sms.Money(shorts)
	}
	sms.SetPrice(m, price)
	return sms.OK, ""
}

var boundTexts = [...]string{
	sms.BalanceBound: "the balance of the account is too low", sms.DayBound: "the account may not spend more today (balance.day)",
	sms.MonthBound: "the account may not spend more this month (balance.month)",
}

// CurrencyOf returns the currency of an account's prices, "" if it has none.
func (d *Accountant) CurrencyOf(c *sms.Credit) string {
	if l := d.inUse.Load().lists[c.Terms().List]; l != nil {
		return l.currency
	}
	return ""
}

// GiveBack ends the reservation for a message that is not accepted; whole says that it may have parts that stand for messages.
func GiveBack(m *sms.Message, whole bool) {
	if sms.PriceOf(m) == 0 {
		return
	}
	amount := sms.PriceOf(m)
	if whole {
		amount *= sms.Money(max(m.Parts, 1))
	}
	m.Origin.Tally.Credit.GiveBack(amount)
	sms.SetPrice(m, 0)
}

// Alone gives back what is reserved for the other parts of a message that is accepted as one.
func Alone(m *sms.Message) {
	if price := sms.PriceOf(m); price != 0 && m.Parts > 1 {
		m.Origin.Tally.Credit.GiveBack(price * sms.Money(m.Parts-1))
	}
}

// Settle ends the reservation for a message that ends in a batch, and charges its account if an SMSC has accepted it.
func Settle(b *store.Batch, m *sms.Message, accepted bool, day uint32) (low bool) {
	c := &m.Origin.Tally.Credit
	low = c.Settle(sms.PriceOf(m), accepted, day)
	if accepted {
		write(b, m.Origin.Account, c, day)
	}
	return low
}

// Undo gives back in a batch what an account was charged for a message. It still counts among what the account has spent in a day
// and a month.
func Undo(b *store.Batch, account string, c *sms.Credit, amount sms.Money, day uint32) {
	c.Pay(amount)
	write(b, account, c, day)
}

// write stores a balance and, if they are bounded, what was spent on a day and in its month. The lock of the batch keeps notes in
// the order of what they are about.
func write(b *store.Batch, account string, c *sms.Credit, day uint32) {
	var value [withSpent]byte
	balance, s := c.On(day)
	n := len(binary.BigEndian.AppendUint64(value[:0], uint64(balance)))
	if s.Day != 0 {
		v := binary.BigEndian.AppendUint32(value[:n], s.Day)
		n = len(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(v, uint64(s.OnDay)), uint64(s.InMonth)))
	}
	b.NoteCurrent(store.KindBalance, []byte(account), value[:n], store.Forever)
}

// withSpent is how many octets a note has with what was spent.
const withSpent = 8 + 4 + 8 + 8

func moneyOf(b []byte) sms.Money { return sms.Money(binary.BigEndian.Uint64(b)) }

// maxAccounts is how many balances are read.
const maxAccounts = 1_000_000

// Load reads the balances of the store, before messages come.
func (d *Accountant) Load() error {
	err := d.keep.Index.Notes(store.KindBalance, nil, maxAccounts, func(account, value []byte) error {
		var s sms.Charges
		switch len(value) {
		case withSpent:
			s.Day = binary.BigEndian.Uint32(value[8:])
			s.OnDay, s.InMonth = moneyOf(value[12:]), moneyOf(value[20:])
		case 8:
		default:
			return fmt.Errorf("the balance of account %q has %d octets", account, len(value))
		}
		d.node.Origins.TallyOf(string(account)).Credit.Stored(moneyOf(value), s)
		return nil
	})
	if err != nil {
		return fmt.Errorf("cannot read the balances of accounts: %w", err)
	}
	return nil
}
