// Package credit charges accounts for their messages.
//
// When a message is accepted, its price is reserved from the account's money and stored in the
// message's record. So one commit stores message and reservation. When the message ends, the commit
// that deletes it also stores the new balance, which is lower by the price if an SMSC has accepted
// the message. So after a kill the balance is exact, and the reserved money is the sum of the
// prices of all stored messages.
//
// # Start reading
//
// credit.go (prices and balances), paid.go (what accounts pay); sms.Credit has the money of an
// account.
package credit

import (
	"encoding/binary"
	"fmt"
	"math"
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

	paying  sync.Mutex      // held during a payment
	pending map[string]bool // keys of references whose payments failed to be stored, and are stored by the next commit
}

// Opened is the set of price lists of a configuration, by name.
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

// New returns an Accountant without prices. The caller then calls Open and Apply.
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

// Apply puts price lists, and the agreements of accounts, in force.
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

// Price returns what a short message costs its account. why is the reason if there is no price,
// otherwise "".
func (d *Accountant) Price(m *sms.Message, now int64) (price sms.Money, why string) {
	if len(d.inUse.Load().lists) == 0 {
		return 0, ""
	}
	return d.priceIn(m.Origin.Tally.Credit.Terms().List, m, now)
}

// priceIn returns the price of a short message by one list, as Price does.
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

// Reserve reserves the price of a message. shorts is its number of short messages: the parts of a
// cut message have a price each, and a message that leaves whole has the price of all. code is OK
// or the reason of a refusal, and why is its text.
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
		d.quote(m, 0, t.List)
		return sms.OK, ""
	}
	if (t.Limited || t.Capped()) && !d.keep.Recovered() {
		return sms.QueueFull, "messages of earlier runs, for which money is reserved, are still being read"
	}
	missing, by := c.Reserve(price*sms.Money(shorts), store.DayOf(d.node.Clock.Wall(now)))
	if by != sms.Unbound {
		return sms.NoCredit, boundTexts[by] + ": " + missing.String() + " " + d.CurrencyOf(c) + " are missing"
	}
	d.quote(m, price*sms.Money(shorts), t.List)
	if m.Parts > 1 {
		shorts = 1
	}
	sms.SetPrice(m, price*sms.Money(shorts), uint8(min(shorts, math.MaxUint8)))
	return sms.OK, ""
}

var boundTexts = [...]string{
	sms.BalanceBound: "the balance of the account is too low", sms.DayBound: "the account may not spend more today (balance.day)",
	sms.MonthBound: "the account may not spend more this month (balance.month)",
}

// quote records what the client pays, for messages of clients that may ask for it: those by HTTP.
func (d *Accountant) quote(m *sms.Message, price sms.Money, list string) {
	if m.Context() != nil {
		sms.SetQuote(m, sms.Quote{Price: price, Currency: d.Currency(list)})
	}
}

// CurrencyOf returns the currency of an account's prices, or "" if the account has no prices.
func (d *Accountant) CurrencyOf(c *sms.Credit) string { return d.Currency(c.Terms().List) }

// Prices returns the list of an account's prices, nil if the account has none.
func (d *Accountant) Prices(c *sms.Credit) *prices.List {
	if l := d.inUse.Load().lists[c.Terms().List]; l != nil {
		return l.prices
	}
	return nil
}

// Currency returns the currency of a list of prices, or "" if there is no such list.
func (d *Accountant) Currency(list string) string {
	if l := d.inUse.Load().lists[list]; l != nil {
		return l.currency
	}
	return ""
}

// GiveBack ends the reservation for a message that is not accepted. whole says that the message may
// stand for several short messages.
func GiveBack(m *sms.Message, whole bool) {
	if sms.PriceOf(m) == 0 {
		return
	}
	amount := sms.PriceOf(m)
	if whole {
		amount *= sms.Money(max(m.Parts, 1))
	}
	m.Origin.Tally.Credit.GiveBack(amount)
	sms.SetPrice(m, 0, 0)
}

// Alone gives back the reservation for the other parts of a message that was to be cut into parts, and is accepted as one.
func Alone(m *sms.Message, parts uint8) {
	if price := sms.PriceOf(m); price != 0 && parts > 1 {
		m.Origin.Tally.Credit.GiveBack(price * sms.Money(parts-1))
		sms.SetQuote(m, sms.Quote{Price: price, Currency: sms.QuoteOf(m.Context()).Currency})
	}
}

// Settle ends the reservation for a message that ends in a batch. If accepted is true, an SMSC has
// accepted the message, and its account is charged. low reports whether the account's balance has
// become low.
func Settle(b *store.Batch, m *sms.Message, accepted bool, day uint32) (low bool) {
	c := &m.Origin.Tally.Credit
	low = c.Settle(sms.PriceOf(m), accepted, day)
	if accepted {
		write(b, m.Origin.Account, c, day)
	}
	return low
}

// Undo gives back in a batch what an account was charged for a message. The amount still counts
// towards the account's spending of the day and the month.
func Undo(b *store.Batch, account string, c *sms.Credit, amount sms.Money, day uint32) {
	c.Pay(amount)
	write(b, account, c, day)
}

// write stores a balance. If the account's spending is limited, it also stores the amounts spent on
// the day and in the month. The lock of the batch keeps the notes in order.
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

// withSpent is the size of a note that includes the spent amounts, in octets.
const withSpent = 8 + 4 + 8 + 8

func moneyOf(b []byte) sms.Money { return sms.Money(binary.BigEndian.Uint64(b)) }

// maxAccounts is the maximum number of balances that are read.
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
