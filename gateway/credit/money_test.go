package credit

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"pmg/gateway/roomtest"
	"pmg/sms"
	"pmg/store"
)

// now is noon in UTC, by the engine's clock, which is that of the wall here.
var (
	now   = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC).UnixNano()
	today = store.DayOf(now)
)

// till is an Accountant with the account shop, whose disk can be full or unreadable.
type till struct {
	t      *testing.T
	ground *roomtest.Ground
	disk   *full
	*Accountant
}

// accounts is a configuration whose account shop has options.
func accounts(t *testing.T, options string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "prices.csv")
	if err := os.WriteFile(file, []byte("24001,0.045\n24002,0\n+46700,0.010001\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return strings.Replace(
		roomtest.Operator(""), "accounts:\n",
		"prices: [{name: p, currency: EUR, file: "+strconv.Quote(file)+"}]\naccounts:\n  - {system_id: shop, password: secret"+options+"}\n", 1,
	)
}

// newTill makes a till of a configuration, on a store that is durable.
func newTill(t *testing.T, yaml string) *till {
	t.Helper()
	g := roomtest.New(t, yaml)
	p := &till{t: t, ground: g, disk: &full{Store: store.NewMemory()}}
	p.at(now)
	g.Keeper.Open(p.disk, func(store.Position, error) {})
	t.Cleanup(func() { _ = g.Keeper.Close() })
	p.again()
	return p
}

// again forgets what is known of the money of accounts, as a restart does, and reads it from the store.
func (p *till) again() {
	p.t.Helper()
	cfg := p.ground.Node.Config()
	p.ground.Node.Origins.Tallies(func(_ string, t *sms.Tally) { t.Credit.Stored(0, sms.Charges{}) })
	p.Accountant = New(p.ground.Node, p.ground.Keeper)
	o, err := p.Open(cfg)
	if err != nil {
		p.t.Fatal(err)
	}
	p.Apply(o, cfg)
	if err := p.Load(); err != nil {
		p.t.Fatal(err)
	}
}

// at sets the wall clock.
func (p *till) at(wall int64) {
	p.ground.Node.Clock.WallClock = func() time.Time { return time.Unix(0, wall) }
}

func (p *till) credit() *sms.Credit { return &p.ground.Node.Origins.TallyOf("shop").Credit }

// want checks the balance of shop, and what of it is reserved, in millionths.
func (p *till) want(why string, balance, reserved sms.Money) {
	p.t.Helper()
	if b, r := p.credit().Balance(); b != balance || r != reserved {
		p.t.Errorf("%s: the balance is %s, reserved %s, want %s and %s", why, b, r, balance, reserved)
	}
}

// stores carries out a change of the store.
func (p *till) stores(change func(b *store.Batch)) {
	p.t.Helper()
	p.ground.Keeper.Batches.Write(change)
	if err := p.ground.Keeper.Batches.Sync(); err != nil {
		p.t.Fatal(err)
	}
}

// message is one of an account to a number.
func (p *till) message(account, to string) *sms.Message {
	m := p.ground.Node.Messages.Get()
	m.Origin = p.ground.Node.Origins.Of(account, "clients")
	m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{TON: 1, Addr: []byte(to)}, []byte("hello"))
	return m
}

// What the short messages of a message cost is reserved to the millionth, or it is refused with what is missing and nothing is
// reserved: by the balance, by what may be owed, by the day, by the month.
func TestReserve(t *testing.T) {
	t.Parallel()
	const dear, nothing, unknown = "46700000001", "24002", "45700000001" // dear costs 0.010001
	for _, c := range []struct {
		name, options string
		paid          sms.Money
		to            string
		shorts        int
		parts         uint8 // of the message; below 2 it leaves whole
		reading       bool  // messages of earlier runs are still being read
		code          sms.Code
		why           string
		price         sms.Money // of the message
	}{
		{name: "all that there is", options: "prepaid", paid: 10_001, shorts: 1, price: 10_001},
		{name: "a millionth is missing", options: "prepaid", paid: 10_000, shorts: 1, code: sms.NoCredit,
			why: "the balance of the account is too low: 0.000001 EUR are missing"},
		{name: "each part has its price", options: "prepaid", paid: 30_003, shorts: 3, parts: 3, price: 10_001},
		{name: "one part more than paid", options: "prepaid", paid: 30_002, shorts: 3, parts: 3, code: sms.NoCredit, why: "0.000001 EUR"},
		{name: "two parts", options: "prepaid", paid: 20_002, shorts: 2, parts: 2, price: 10_001},
		{name: "whole, as three", options: "prepaid", paid: 30_003, shorts: 3, parts: 1, price: 30_003},
		{name: "all that may be owed", options: `postpaid, limit: "0.01"`, paid: 1, shorts: 1, price: 10_001},
		{name: "more than may be owed", options: `postpaid, limit: "0.01"`, shorts: 1, code: sms.NoCredit, why: "0.000001 EUR"},
		{name: "the day allows it", options: `none, day: "0.010001"`, shorts: 1, price: 10_001},
		{name: "the day does not", options: `none, day: "0.01"`, paid: 1_000_000, shorts: 1, code: sms.NoCredit,
			why: "the account may not spend more today (balance.day): 0.000001 EUR are missing"},
		{name: "the month does not", options: `none, month: "0.01"`, paid: 1_000_000, shorts: 1, code: sms.NoCredit,
			why: "the account may not spend more this month (balance.month): 0.000001 EUR are missing"},
		{name: "any sum", options: "none", shorts: 3, parts: 3, price: 10_001},
		{name: "for nothing", options: "prepaid", to: nothing, shorts: 3},
		{name: "no price, unknown network", options: "prepaid", paid: 1_000_000, to: unknown, shorts: 1, code: sms.NoPrice,
			why: "there is no price for network unknown in the list of prices p"},
		{name: "no price, known network", options: "prepaid", paid: 1_000_000, to: "24003", shorts: 1, code: sms.NoPrice,
			why: "there is no price for network 24003 in the list of prices p"},
		{name: "read, prepaid", options: "prepaid", paid: 1_000_000, shorts: 1, reading: true, code: sms.QueueFull, why: "earlier runs"},
		{name: "read, a day", options: `none, day: "1"`, shorts: 1, reading: true, code: sms.QueueFull, why: "earlier runs"},
		{name: "read, any sum", options: "none", shorts: 1, reading: true, price: 10_001},
		{name: "read, for nothing", options: "prepaid", to: nothing, shorts: 1, reading: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newTill(t, accounts(t, ", prices: p, balance: {mode: "+c.options+"}"))
			if !c.reading {
				p.ground.Keeper.SetRecovered()
			}
			p.credit().Pay(c.paid)
			m := p.message("shop", dear)
			if c.to == unknown {
				m = p.message("shop", c.to)
			} else if n, ok := sms.ReadNetwork(c.to); ok {
				m = p.message("shop", unknown)
				m.Network = n
			}
			m.Parts = c.parts
			code, why := p.Reserve(now, m, c.shorts)
			if code != c.code || !strings.Contains(why, c.why) || (why == "") != (c.code == sms.OK) {
				t.Errorf("%s, %q", code, why)
			}
			if got := sms.PriceOf(m); got != c.price {
				t.Errorf("the price is %s, want %s", got, c.price)
			}
			p.want("reserved", c.paid, c.price*sms.Money(max(c.parts, 1)))
		})
	}
}

// An account without a list of prices pays nothing, whatever it submits, with lists for others or without.
func TestReserveNothing(t *testing.T) {
	t.Parallel()
	for _, yaml := range []string{accounts(t, ""), roomtest.Operator("")} {
		p := newTill(t, yaml)
		m := p.message("shop", "46700000001")
		code, why := p.Reserve(now, m, 3)
		price, none := p.Price(m, now)
		if code != sms.OK || why != "" || sms.PriceOf(m) != 0 || price != 0 || none != "" {
			t.Errorf("%s, %q, %s, %s, %q", code, why, sms.PriceOf(m), price, none)
		}
		p.want("without prices", 0, 0)
		if c := p.CurrencyOf(p.credit()); c != "" {
			t.Errorf("without prices: %q", c)
		}
	}
}

// Price is what a short message costs, without reserving it.
func TestPrice(t *testing.T) {
	t.Parallel()
	p := newTill(t, accounts(t, ", prices: p, balance: {mode: prepaid}"))
	if price, why := p.Price(p.message("shop", "46700000001"), now); price != 10_001 || why != "" {
		t.Errorf("%s, %q", price, why)
	}
	if price, why := p.Price(p.message("shop", "45700000001"), now); price != 0 || !strings.Contains(why, "no price for network unknown") {
		t.Errorf("without a price: %s, %q", price, why)
	}
	if c := p.CurrencyOf(p.credit()); c != "EUR" {
		t.Errorf("the currency is %q", c)
	}
	p.want("asked", 0, 0)
}

// Each way in which a reservation ends leaves the balance that the account owes, and the store has the same after a restart.
func TestEnds(t *testing.T) {
	t.Parallel()
	const price = sms.Money(10_001)
	settle := func(accepted bool) func(p *till, m *sms.Message) {
		return func(p *till, m *sms.Message) {
			p.stores(func(b *store.Batch) { Settle(b, m, accepted, today) })
		}
	}
	for _, c := range []struct {
		name              string
		parts             uint8 // for which the price is reserved each
		end               func(p *till, m *sms.Message)
		balance, reserved sms.Money // behind it
		price             sms.Money // that the message has left
	}{
		{"accepted", 1, settle(true), -price, 0, price},
		{"not accepted", 1, settle(false), 0, 0, price},
		{"one of three accepted", 3, settle(true), -price, 2 * price, price},
		{"given back", 1, func(_ *till, m *sms.Message) { GiveBack(m, true) }, 0, 0, 0},
		{"given back without a number of parts", 0, func(_ *till, m *sms.Message) { GiveBack(m, true) }, 0, 0, 0},
		{"given back with its parts", 3, func(_ *till, m *sms.Message) { GiveBack(m, true) }, 0, 0, 0},
		{"a part given back", 3, func(_ *till, m *sms.Message) { GiveBack(m, false) }, 0, 2 * price, 0},
		{"given back twice", 3, func(_ *till, m *sms.Message) { GiveBack(m, true); GiveBack(m, true) }, 0, 0, 0},
		{"accepted as one", 3, func(_ *till, m *sms.Message) { Alone(m, 3) }, 0, price, price},
		{"was one", 1, func(_ *till, m *sms.Message) { Alone(m, 1) }, 0, price, price},
		{"charged and undone", 1, func(p *till, m *sms.Message) {
			settle(true)(p, m)
			p.stores(func(b *store.Batch) { Undo(b, "shop", p.credit(), price-1, today) })
		}, -1, 0, price},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newTill(t, accounts(t, ", prices: p"))
			m := p.message("shop", "46700000001")
			m.Parts = c.parts
			if code, why := p.Reserve(now, m, int(max(c.parts, 1))); code != sms.OK {
				t.Fatal(code, why)
			}
			c.end(p, m)
			p.want("ended", c.balance, c.reserved)
			if got := sms.PriceOf(m); got != c.price {
				t.Errorf("its price is %s, want %s", got, c.price)
			}
			p.again()
			p.want("read again", c.balance, c.reserved)
		})
	}
	p := newTill(t, accounts(t, ", prices: p"))
	m := p.message("shop", "46700000001") // nothing is reserved for it
	GiveBack(m, true)
	Alone(m, 3)
	p.want("for nothing", 0, 0)
}

// A balance that a message makes low is said once, of the message that does.
func TestLow(t *testing.T) {
	t.Parallel()
	p := newTill(t, accounts(t, `, prices: p, balance: {mode: prepaid, low: "0.02"}`))
	p.ground.Keeper.SetRecovered()
	p.credit().Pay(30_001)
	for i, want := range []bool{false, true, false} { // leaves 0.02, 0.009999, and then nothing is charged
		m := p.message("shop", "46700000001")
		if i < 2 {
			p.Reserve(now, m, 1)
		}
		p.stores(func(b *store.Batch) {
			if low := Settle(b, m, true, today); low != want {
				t.Errorf("message %d: low %v", i, low)
			}
		})
	}
}

// What an account has spent in its day and month is there after a restart, so that it cannot spend more by one.
func TestSpentStays(t *testing.T) {
	t.Parallel()
	for _, bound := range []string{"day", "month"} {
		p := newTill(t, accounts(t, fmt.Sprintf(`, prices: p, balance: {mode: none, %s: "0.020002"}`, bound)))
		p.ground.Keeper.SetRecovered()
		reserve := func(at int64) (*sms.Message, sms.Code) {
			m := p.message("shop", "46700000001")
			code, _ := p.Reserve(at, m, 1)
			return m, code
		}
		for range 2 {
			m, code := reserve(now)
			if code != sms.OK {
				t.Fatal(bound, code)
			}
			p.stores(func(b *store.Batch) { Settle(b, m, true, today) })
			p.again()
		}
		p.want("read again", -20_002, 0)
		if _, code := reserve(now); code != sms.NoCredit {
			t.Errorf("%s: after a restart: %s", bound, code)
		}
		later := map[string]int{"day": 1, "month": 3}[bound] // days
		if bound == "month" {
			if _, code := reserve(now + int64(24*time.Hour)); code != sms.NoCredit {
				t.Errorf("the next day: %s", code)
			}
		}
		if _, code := reserve(now + int64(later)*int64(24*time.Hour)); code != sms.OK {
			t.Errorf("the next %s: %s", bound, code)
		}
	}
}
