package portal

import (
	"slices"
	"time"

	"pmg/config"
	"pmg/gateway/credit"
	"pmg/protocols/httpsms/own"
	"pmg/store"
)

// money is the money of an account.
type money struct {
	Currency  string
	Balance   string
	Reserved  string // reserved for messages that have not ended
	Available string // amount that further messages may cost; "": the account may owe any sum
	Today     string // amounts charged today and in this month, in UTC; "": no limit is set
	Month     string
	Terms     config.Balance
}

// moneyOf returns the money of the account, nil if the account is not charged.
func moneyOf(v *visit) *money {
	c := &v.x.Source().Origin.Tally.Credit
	t := c.Terms()
	if t.List == "" {
		return nil
	}
	balance, reserved := c.Balance()
	m := &money{
		Currency: v.rooms().Money.CurrencyOf(c), Balance: balance.String(), Reserved: reserved.String(),
		Terms: v.x.Account.Config().Policies.Balance,
	}
	if left, limited := c.Available(); limited {
		m.Available = left.String()
	}
	if t.Capped() {
		_, spent := c.On(store.DayOf(v.rooms().Node.Clock.WallNow()))
		m.Today, m.Month = spent.OnDay.String(), spent.InMonth.String()
	}
	return m
}

// A balance is the model of the page of that name. Only operators see the author and the comment of a payment.
type balance struct {
	Money    *money
	Payments []credit.Payment // payments, the latest first
}

func balanceOf(v *visit) (any, *own.Problem) {
	m := balance{Money: moneyOf(v)}
	all, err := v.rooms().Money.History(v.who.account, time.Time{})
	if err != nil {
		return nil, own.NewProblem("unavailable", "")
	}
	slices.Reverse(all)
	m.Payments = all[:min(len(all), mostShown)]
	return m, nil
}
