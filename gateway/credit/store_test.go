package credit

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"pmg/gateway/roomtest"
	"pmg/sms"
	"pmg/store"
)

// blind is a store whose notes of a kind cannot be read.
type blind struct {
	*full
	kind store.Kind
}

var errBlind = errors.New("input/output error")

func (s blind) Notes(kind store.Kind, from []byte, limit int, f func(key, value []byte) error) error {
	if kind == s.kind {
		return errBlind
	}
	return s.full.Notes(kind, from, limit, f)
}

func (s blind) Lookup(kind store.Kind, key []byte) ([]byte, bool, error) {
	if kind == s.kind {
		return nil, false, errBlind
	}
	return s.full.Lookup(kind, key)
}

// A list that cannot be read keeps the configuration from being in force, and names itself. One that is read is known by its name.
func TestOpen(t *testing.T) {
	t.Parallel()
	p := newTill(t, accounts(t, ", prices: p, balance: {mode: prepaid}"))
	cfg := *p.ground.Node.Config()
	o, err := p.Open(&cfg)
	if err != nil || len(o.Lists()) != 1 || o.Lists()["p"].Rows != 3 {
		t.Errorf("%+v, %v", o, err)
	}
	cfg.Prices[0].File += ".gone"
	if o, err := p.Open(&cfg); o != nil || err == nil || !strings.Contains(err.Error(), "cannot open prices p: ") {
		t.Errorf("without its file: %+v, %v", o, err)
	}
	p.Apply(&Opened{}, roomtest.New(t, roomtest.Operator("")).Node.Config())
	if terms := p.credit().Terms(); terms != (sms.Terms{}) {
		t.Errorf("an account that has no list any more: %+v", terms)
	}
}

// A start that cannot know what its accounts have says so, and of which account. It does not begin with nothing.
func TestLoadFails(t *testing.T) {
	t.Parallel()
	for octets := range 40 {
		p := newTill(t, roomtest.Operator(""))
		p.stores(func(b *store.Batch) {
			b.Note(store.KindBalance, []byte("shop"), make([]byte, octets), store.Forever)
		})
		err := p.Load()
		if whole := octets == 8 || octets == 28; whole != (err == nil) || !whole && !strings.Contains(err.Error(), `"shop"`) {
			t.Errorf("%d octets: %v", octets, err)
		}
	}
	p := newTill(t, roomtest.Operator(""))
	p.ground.Keeper.Index = blind{p.disk, store.KindBalance}
	if err := p.Load(); !errors.Is(err, errBlind) || !strings.Contains(err.Error(), "cannot read the balances of accounts: ") {
		t.Error(err)
	}
	if _, err := Compare(p.ground.Keeper.Index); !errors.Is(err, errBlind) {
		t.Error(err)
	}
	p.ground.Keeper.Index = blind{p.disk, store.KindPaid}
	if _, err := Compare(p.ground.Keeper.Index); !errors.Is(err, errBlind) {
		t.Error(err)
	}
}

// A payment that is refused changes no balance and no history; one that is taken has its time and the balance behind it.
func TestPay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		first     sms.Money // paid before, with the reference r
		amount    sms.Money
		payment   Payment
		unread    bool // the store cannot be read
		err, left string
	}{
		{name: "longest texts", amount: 1, payment: Payment{Reference: strings.Repeat("r", 100), Comment: strings.Repeat("c", 200)}, left: "0.000001"},
		{name: "reference too long", amount: 1, payment: Payment{Reference: strings.Repeat("r", 101)}, err: "up to 100 octets"},
		{name: "comment too long", amount: 1, payment: Payment{Comment: strings.Repeat("c", 201)}, err: "up to 200"},
		{name: "taken away", first: 5, amount: -7, left: "-0.000002"},
		{name: "as much as is counted", first: 1, amount: sms.MaxMoney - 1, left: "1000000000000.00"},
		{name: "more than is counted", first: 1, amount: sms.MaxMoney, err: "the balance would be 1000000000000.000001"},
		{name: "as little as is counted", first: -1, amount: 1 - sms.MaxMoney, left: "-1000000000000.00"},
		{name: "less than is counted", first: -1, amount: -sms.MaxMoney, err: "the balance would be -1000000000000.000001"},
		{name: "the same reference", first: 5, amount: 5, payment: Payment{Reference: "r"}, err: ErrTwice.Error()},
		{name: "no reference, again", first: 5, amount: 5, left: "0.00001"},
		{name: "a reference that cannot be looked up", amount: 5, payment: Payment{Reference: "s"}, unread: true, err: errBlind.Error()},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newTill(t, roomtest.Operator(""))
			if c.first != 0 {
				if _, err := p.Pay("shop", c.first, Payment{Reference: "r"}); err != nil {
					t.Fatal(err)
				}
			}
			p.at(now + 1)
			if c.unread {
				p.ground.Keeper.Index = blind{p.disk, store.KindPaid}
			}
			got, err := p.Pay("shop", c.amount, c.payment)
			p.ground.Keeper.Index = p.disk
			all, failed := p.History("shop", time.Time{})
			if failed != nil {
				t.Fatal(failed)
			}
			before := 0
			if c.first != 0 {
				before = 1
			}
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) || len(all) != before {
					t.Errorf("%v; the history is %+v", err, all)
				}
				p.want("refused", c.first, 0)
				return
			}
			if err != nil || got.Amount != c.amount.String() || got.Balance != c.left || got.At.UnixNano() != now+1 {
				t.Errorf("%+v, %v", got, err)
			}
			if len(all) != before+1 || all[before] != got {
				t.Errorf("the history is %+v", all)
			}
			p.want("taken", c.first+c.amount, 0)
			p.again()
			p.want("read again", c.first+c.amount, 0)
		})
	}
}

// A gateway that keeps nothing takes no payment, which would be gone with it.
func TestPayInMemory(t *testing.T) {
	t.Parallel()
	g := roomtest.New(t, roomtest.Operator(""))
	if _, err := New(g.Node, g.Keeper).Pay("shop", 1, Payment{}); err == nil || !strings.Contains(err.Error(), "store.engine: memory") {
		t.Error(err)
	}
	if b, _ := g.Node.Origins.TallyOf("shop").Credit.Balance(); b != 0 {
		t.Errorf("the balance is %s", b)
	}
}

// A history has the payments of its account alone, and says that one cannot be read.
func TestHistory(t *testing.T) {
	t.Parallel()
	p := newTill(t, roomtest.Operator(""))
	for _, account := range []string{"sho", "shop", "shop2"} {
		if _, err := p.Pay(account, 1, Payment{Reference: "r", Comment: account}); err != nil {
			t.Fatal(err)
		}
	}
	for _, account := range []string{"sho", "shop", "shop2"} {
		if all, err := p.History(account, time.Time{}); err != nil || len(all) != 1 || all[0].Comment != account {
			t.Errorf("%s: %+v, %v", account, all, err)
		}
	}
	if all, err := p.History("a", time.Time{}); err != nil || len(all) != 0 {
		t.Errorf("another one: %+v, %v", all, err)
	}
	first, err := p.History("shop", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	for since, want := range map[time.Time]int{first[0].At: 1, first[0].At.Add(1): 0, first[0].At.Add(-time.Hour): 1} {
		if all, err := p.History("shop", since); err != nil || len(all) != want {
			t.Errorf("since %s: %+v, %v", since, all, err)
		}
	}
	p.stores(func(b *store.Batch) {
		b.Note(store.KindPaid, append(prefixOf("shop"), 0xff), []byte("{"), store.Forever)
	})
	if _, err := p.History("shop", time.Time{}); err == nil || !strings.Contains(err.Error(), "cannot read a payment") {
		t.Error(err)
	}
}

// What payments and events give is compared with the balances that the store has, for each account by its name. A payment that
// cannot be read, and a balance that is cut off, are differences.
func TestCompare(t *testing.T) {
	t.Parallel()
	p := newTill(t, roomtest.Operator(""))
	for _, one := range []struct {
		account string
		amount  sms.Money
	}{{"shop", 1_000_000}, {"also", 5}, {"shop", -1}} {
		if _, err := p.Pay(one.account, one.amount, Payment{Reference: one.amount.String()}); err != nil {
			t.Fatal(err)
		}
		p.at(p.ground.Node.Clock.WallNow() + 1)
	}
	p.stores(func(b *store.Batch) {
		b.Note(store.KindBalance, []byte("cut"), make([]byte, 7), store.Forever)
		b.Note(store.KindBalance, []byte("shop"), binary.BigEndian.AppendUint64(nil, 880_000), store.Forever)
		b.Note(store.KindPaid, append(prefixOf("shop"), 0xff), []byte("{"), store.Forever)
		b.Note(store.KindPaid, append(prefixOf("shop"), 0xfe), []byte(`{"amount":"much"}`), store.Forever)
		b.Note(store.KindPaid, []byte("shop\x00"), []byte(`{"amount":"1"}`), store.Forever)
		b.Note(store.KindPaid, []byte("shop"), []byte(`{"amount":"1"}`), store.Forever)
	})
	c, err := Compare(p.ground.Keeper.Index)
	if err != nil {
		t.Fatal(err)
	}
	c.Add(1, "shop", 100_000, 0)
	c.Add(2, "shop", 45_000, 0)
	c.Add(3, "shop", 0, 25_001)
	c.Add(4, "free", 0, 0)
	c.Add(5, "billed", 7, 0)
	want := []Compared{
		{Account: "also", Balance: 5, Paid: 5, Counted: 5},
		{Account: "billed", Charged: 7, Counted: -7},
		{Account: "shop", Balance: 880_000, Paid: 999_999, Charged: 145_000, Refunded: 25_001, Counted: 880_000},
	}
	got := c.Accounts()
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
	if !c.Whole() {
		t.Error("the events begin with the first one")
	}
	late := &Comparison{accounts: map[string]*Compared{}}
	if late.Add(2, "shop", 1, 0); late.Whole() {
		t.Error("an event is missing")
	}
}
