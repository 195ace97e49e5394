package statement

import (
	"fmt"
	"time"

	"pmg/internal/timetext"
	"pmg/sms"
)

// A Period is what a statement is about: all times from From on that are before To.
type Period struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// Month returns a month in a zone, such as 2026-11 of Europe/Stockholm. "" is the month of now. A month that has not ended
// ends now.
func Month(month, zone string, now time.Time) (Period, error) {
	at, ok := timetext.LoadZone(zone)
	if !ok {
		return Period{}, fmt.Errorf("cannot find the time zone %q", zone)
	}
	now = now.In(at)
	from := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, at)
	if month != "" {
		var err error
		if from, err = time.ParseInLocation("2006-01", month, at); err != nil {
			return Period{}, fmt.Errorf("cannot read the month %q: it is written like 2026-11", month)
		}
	}
	p := Period{from, from.AddDate(0, 1, 0)}
	switch {
	case p.From.After(now):
		return p, fmt.Errorf("the month %s has not begun", month)
	case p.To.After(now):
		p.To = now
	}
	return p, nil
}

// A Payment is what an account has paid, or what was taken away from it.
type Payment struct {
	At        time.Time `json:"at"`
	Amount    sms.Money `json:"amount"`
	Reference string    `json:"reference,omitempty"`
	Comment   string    `json:"comment,omitempty"`
}

// A Ledger is what a gateway knows of an account, or of an SMSC, which has neither a balance nor payments.
type Ledger struct {
	Account   string    `json:"account,omitempty"`
	Connector string    `json:"connector,omitempty"` // of an SMSC; "": it is about an account
	Currency  string    `json:"currency,omitempty"`
	Timezone  string    `json:"timezone"`
	Balance   sms.Money `json:"balance"`  // behind Event
	Event     uint64    `json:"event"`    // number of the last event
	Payments  []Payment `json:"payments"` // since the period began
}

// A Line is what was charged for the messages to a network at a price.
type Line struct {
	Country  string    `json:"country"`           // MCC; "": unknown
	Network  string    `json:"network,omitempty"` // MCC and MNC; "": only the country is known
	Name     string    `json:"name,omitempty"`
	Price    sms.Money `json:"price"`    // of a short message; of a refund the amount
	Messages int64     `json:"messages"` // long messages count once
	Shorts   int64     `json:"short_messages"`
	Sum      sms.Money `json:"sum"`
}

// Traffic is what became of the messages to a network that were sent.
type Traffic struct {
	Network     string `json:"network,omitempty"`
	Name        string `json:"name,omitempty"`
	Sent        int64  `json:"sent"`
	Delivered   int64  `json:"delivered"`
	Undelivered int64  `json:"undelivered"`
	DelayMS     int64  `json:"delay_ms"` // mean time from acceptance to the SMSC's answer
}

// A Statement is what an account, or an SMSC, is charged in a period.
type Statement struct {
	Period
	Account   string `json:"account,omitempty"`
	Connector string `json:"connector,omitempty"`
	Currency  string `json:"currency,omitempty"`
	Timezone  string `json:"timezone"`

	Lines    []Line    `json:"lines"`
	Refunds  []Line    `json:"refunds"` // what was given back, because receipts say that messages were not delivered
	Traffic  []Traffic `json:"traffic"`
	Payments []Payment `json:"payments"`

	Messages int64     `json:"messages"`
	Shorts   int64     `json:"short_messages"`
	Charged  sms.Money `json:"charged"`
	Refunded sms.Money `json:"refunded"`
	Paid     sms.Money `json:"paid"`
	Opening  sms.Money `json:"opening_balance"` // Opening, Paid, less Charged, and Refunded, are Closing
	Closing  sms.Money `json:"closing_balance"`
}

// Net returns what is to be paid for the period.
func (s *Statement) Net() sms.Money { return s.Charged - s.Refunded }
