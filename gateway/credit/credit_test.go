package credit

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pmg/gateway/roomtest"
	"pmg/sms"
	"pmg/store"
)

// full is a durable store whose disk is full, or is not.
type full struct {
	store.Store
	is atomic.Bool
}

var errFull = errors.New("no space left on device")

func (*full) Durable() bool { return true }

func (f *full) Write(*store.Batch) error {
	if f.is.Load() {
		return errFull
	}
	return nil
}

func (f *full) Commit(b *store.Batch) error {
	if f.is.Load() {
		return errFull
	}
	return f.Store.Commit(b)
}

// A payment with a reference counts once, also if it is entered again because the disk was full: the next commit stores it.
func TestPayAgain(t *testing.T) {
	t.Parallel()
	g := roomtest.New(t, roomtest.Operator(""))
	disk := &full{Store: store.NewMemory()}
	g.Keeper.Open(disk, func(store.Position, error) {})
	t.Cleanup(func() { _ = g.Keeper.Close() })
	d := New(g.Node, g.Keeper)
	want := func(amount sms.Money) {
		t.Helper()
		if balance, _ := g.Node.Origins.TallyOf("shop").Credit.Balance(); balance != amount {
			t.Errorf("the balance is %s, not %s", balance, amount)
		}
	}
	disk.is.Store(true)
	for range 2 {
		if _, err := d.Pay("shop", 5_000_000, Payment{Reference: "invoice 1"}); !errors.Is(err, errFull) {
			t.Fatal(err)
		}
		want(5_000_000)
	}
	disk.is.Store(false)
	for range 2 {
		if _, err := d.Pay("shop", 5_000_000, Payment{Reference: "invoice 1"}); !errors.Is(err, ErrTwice) {
			t.Fatal(err)
		}
		want(5_000_000)
	}
	if _, err := d.Pay("shop", 1, Payment{Reference: "invoice 2"}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Pay("shop", sms.MaxMoney, Payment{}); err == nil || !strings.Contains(err.Error(), "the balance would be") {
		t.Errorf("more than is counted: %v", err)
	}
	want(5_000_001)
	all, err := d.History("shop", time.Time{})
	if err != nil || len(all) != 2 || all[0].Reference != "invoice 1" || all[1].Balance != "5.000001" {
		t.Errorf("%+v, %v", all, err)
	}
	again := New(g.Node, g.Keeper)
	g.Node.Origins.TallyOf("shop").Credit.Pay(-5_000_001)
	if err := again.Load(); err != nil {
		t.Fatal(err)
	}
	want(5_000_001)
}
