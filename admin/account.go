package admin

import (
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/sms"
)

// Account is the status of an account. Counts are over all its connectors.
type Account struct {
	Name     string `json:"name"`
	Sessions int    `json:"sessions" metric:"sessions" column:"sessions" help:"Sessions that are logged in."`
	Queued   int64  `json:"queued" metric:"queue_messages" column:"queued" help:"Messages of the account's clients that wait to be sent or are under way."`

	sms.Counters[int64]
	RefusedBy connector.Labels `json:"refused_by,omitempty" label:"reason"` // refused messages of the account's clients, by reason, since the start

	Duplicates int `json:"duplicates_remembered" metric:"duplicates_remembered" help:"Messages of the account's clients of which a repetition would be refused (duplicates)."`

	Waiting   int64   `json:"waiting" metric:"waiting_messages" column:"waiting" help:"Messages for the account's clients that wait or are under way."`
	Oldest    float64 `json:"waiting_oldest_seconds" metric:"waiting_oldest_seconds" help:"Age of the next message for the account's clients, 0 when none waits."`
	Delivered int64   `json:"delivered" metric:"messages_delivered_total" column:"received" help:"Messages that the account's clients accepted."`
	Ended     int64   `json:"ended" metric:"messages_ended_total" help:"Messages of the account's clients with a final receipt."`
	Reached   int64   `json:"reached" metric:"messages_reached_total" help:"Messages of the account's clients whose final receipt says delivered."`

	Money *Money `json:"money,omitempty"` // nil: the account is not charged

	LastMessage *time.Time `json:"last_message,omitempty"` // time of the last accepted message since the start

	Recent Recent `json:"recent"`

	late float64 // Oldest, without the events for the account's webhooks
}

// Money is the money of an account that is charged for its messages.
type Money struct {
	Balance  sms.Money `json:"balance"`
	Reserved sms.Money `json:"reserved"` // reserved for messages that have not ended
	Low      bool      `json:"low"`      // the balance is below balance.low
	Used     bool      `json:"used"`     // nothing is left for further messages
	Currency string    `json:"currency"`

	Margin *Margin `json:"margin,omitempty"` // nil: it is not known what SMSCs charge in this currency
}

// Margin has the sums of an account's messages since the start of which it is known what their SMSC charges.
type Margin struct {
	Price sms.Money `json:"price"` // what the account was charged when they were sent
	Cost  sms.Money `json:"cost"`  // what the SMSCs charge
}

// Recent are the figures of an account for the last ten minutes.
type Recent struct {
	AcceptedPerSecond float64 `json:"accepted_per_second"`
	Refused           int64   `json:"refused"`
	Failed            int64   `json:"failed"`
}

// maxAccounts is the number of accounts with metrics: the first of the configuration. /status has all.
const maxAccounts = 1000

// accounts returns the status of the accounts of the configuration. now is the time by the
// engine's clock, and wall by the wall clock.
func (v *view) accounts(now int64, wall time.Time) []Account {
	cfg := v.gateway.Node.Config()
	costs := cfg.CostCurrency()
	rows := make([]Account, len(cfg.Accounts))
	at := make(map[string]*Account, len(rows))
	for i := range rows {
		rows[i].Name = cfg.Accounts[i].SystemID
		at[rows[i].Name] = &rows[i]
		if a := v.gateway.Logins.Accounts().Account(rows[i].Name); a != nil && a.Duplicates() != nil {
			rows[i].Duplicates = a.Duplicates().Len(now)
		}
	}
	v.gateway.Node.Origins.Tallies(func(account string, t *sms.Tally) {
		if row := at[account]; row != nil {
			fill(&row.Counters, &t.Counters)
			if last := t.Last.Load(); last != 0 {
				at := wall.Add(time.Duration(last - now))
				row.LastMessage = &at
			}
			row.Money = v.moneyOf(t, costs)
			t.RefusedBy(func(why sms.Code, n int64) {
				if row.RefusedBy == nil {
					row.RefusedBy = connector.Labels{}
				}
				row.RefusedBy[why.String()] = n
			})
		}
	})
	for _, c := range v.gateway.Table.Connectors() {
		c.Links(func(l *connector.Link) {
			if row := at[accountOf(l)]; row != nil && l.Hosted.By == nil {
				row.Sessions++
			}
		})
	}
	for _, l := range v.gateway.Table.Lanes() {
		if row := at[l.Account]; row != nil {
			row.Waiting += l.Queued.Load()
			if oldest := l.Queues.Oldest(); oldest != 0 {
				row.Oldest = max(row.Oldest, seconds(now-oldest))
				if l.Home().Config().Transport() == config.BySession {
					row.late = max(row.late, seconds(now-oldest))
				}
			}
			row.Delivered += l.Delivered.Load()
			row.Ended, row.Reached = row.Ended+l.Ends.Told.Load(), row.Reached+l.Ends.Reached.Load()
		}
		l.Queues.Shares(func(s *connector.Share) {
			if row := at[s.Origin.Account]; row != nil {
				row.Queued += s.Queued()
			}
		})
	}
	return rows
}

// moneyOf returns the money of an account, nil if the account is not charged. costs is the currency in which all SMSCs charge.
func (v *view) moneyOf(t *sms.Tally, costs string) *Money {
	c := &t.Credit
	if c.Terms().List == "" {
		return nil
	}
	left, limited := c.Available()
	m := &Money{Low: c.IsLow(), Used: limited && left <= 0, Currency: v.gateway.Intake.Credit.CurrencyOf(c)}
	m.Balance, m.Reserved = c.Balance()
	if costs != "" && costs == m.Currency {
		m.Margin = &Margin{}
		m.Margin.Price, m.Margin.Cost = t.Margin.Sums()
	}
	return m
}

// Backlog returns the number of messages from an account that wait, and of those that wait for it.
func Backlog(s *Server, account string) (from, to int64) {
	for _, l := range s.view.gateway.Table.Lanes() {
		if l.Account == account {
			to += l.Queued.Load()
		}
		l.Queues.Shares(func(share *connector.Share) {
			if share.Origin.Account == account {
				from += share.Queued()
			}
		})
	}
	return from, to
}

// accountOf returns the account of a client's session, or "" if the session is not
// logged in or is not a client's.
func accountOf(l *connector.Link) string {
	if l.Session.Bound() == 0 || l.Account == nil { // Account is set before Bound reports the login
		return ""
	}
	return l.Account.SystemID
}
