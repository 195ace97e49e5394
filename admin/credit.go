package admin

import (
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode"

	"pmg/admin/access"
	"pmg/gateway/credit"
	"pmg/sms"
	"pmg/store"
)

// Credit is the money of an account.
type Credit struct {
	Account   string `json:"account"`
	Currency  string `json:"currency,omitempty"`
	Prices    string `json:"prices,omitempty"` // the list of prices for the account; "": the account is not charged
	Mode      string `json:"mode,omitempty"`
	Balance   string `json:"balance"`
	Reserved  string `json:"reserved"`            // reserved for messages that have not ended
	Available string `json:"available,omitempty"` // amount that further messages may cost; "": the account may owe any sum
	Today     string `json:"today,omitempty"`     // amounts charged today and in this month, if the account's spending is limited
	Month     string `json:"month,omitempty"`     // in UTC, like Today
}

// Paid is the answer to a request to enter a payment.
type Paid struct {
	Credit
	Payment credit.Payment `json:"payment"`
}

// creditOf returns the money of an account.
func creditOf(s *Server, account string) (Credit, error) {
	a := s.view.gateway.Table.Account(account)
	if a == nil {
		return Credit{}, refuse(http.StatusNotFound, "cannot find account "+account+": the configuration does not have it")
	}
	c := &s.view.gateway.Node.Origins.TallyOf(account).Credit
	balance, reserved := c.Balance()
	row := Credit{
		Account: account, Currency: s.view.gateway.Intake.Credit.CurrencyOf(c), Prices: a.Policies.Prices,
		Mode: a.Policies.Balance.Mode, Balance: balance.String(), Reserved: reserved.String(),
	}
	t := c.Terms()
	if left, limited := c.Available(); limited {
		row.Available = left.String()
	}
	if t.Capped() {
		_, spent := c.On(store.DayOf(s.view.gateway.Node.Clock.WallNow()))
		row.Today, row.Month = spent.OnDay.String(), spent.InMonth.String()
	}
	return row, nil
}

// addCredit enters a payment of ?account=, with ?amount=, ?reference= and ?comment=.
func addCredit(s *Server, r *http.Request) (any, error) {
	account := r.FormValue("account")
	if _, err := creditOf(s, account); err != nil {
		return nil, err
	}
	amount, ok := sms.ReadMoney(r.FormValue("amount"))
	if !ok || amount == 0 {
		return nil, refuse(
			http.StatusBadRequest,
			"cannot add credit: the amount must be one such as 100 or -0.50, with at most six digits behind the point",
		)
	}
	p := credit.Payment{Reference: r.FormValue("reference"), Comment: r.FormValue("comment"), By: access.CallerOf(r).String()}
	if strings.ContainsFunc(p.Reference+p.Comment, unicode.IsControl) {
		return nil, refuse(http.StatusBadRequest, "cannot add credit: reference and comment must not have control characters")
	}
	p, err := s.view.gateway.Intake.Credit.Pay(account, amount, p)
	if err != nil {
		if errors.Is(err, credit.ErrTwice) {
			return nil, refuse(http.StatusConflict, "cannot add credit: "+err.Error())
		}
		return nil, refuse(http.StatusInternalServerError, "cannot add credit: "+err.Error())
	}
	row, err := creditOf(s, account)
	if err != nil {
		return nil, err
	}
	access.After(r, p)
	return Paid{row, p}, nil
}

// showCredit shows the money of ?account=, or of all accounts that have prices.
func showCredit(s *Server, w http.ResponseWriter, r *http.Request) {
	rows, names := []Credit{}, []string{r.FormValue("account")}
	if names[0] == "" {
		names = nil
		cfg := s.view.gateway.Node.Config()
		for i := range cfg.Accounts {
			if cfg.Accounts[i].Policies.Prices != "" {
				names = append(names, cfg.Accounts[i].SystemID)
			}
		}
	}
	for _, name := range names {
		row, err := creditOf(s, name)
		if err != nil {
			http.Error(w, err.Error(), StatusOf(err))
			return
		}
		rows = append(rows, row)
	}
	answerJSON(w, rows, nil)
}

// creditHistory shows the payments of ?account=.
func creditHistory(s *Server, w http.ResponseWriter, r *http.Request) {
	all, err := s.view.gateway.Intake.Credit.History(r.FormValue("account"), time.Time{})
	if all == nil {
		all = []credit.Payment{}
	}
	answerJSON(w, all, err)
}
