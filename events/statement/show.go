package statement

import (
	"encoding/csv"
	"errors"
	"io"
	"strconv"
	"time"

	"pmg/internal/figuretext"
	"pmg/sms"
)

// dayLayout is the layout of days.
const dayLayout = "2006-01-02"

// Title returns what a statement is about, as text.
func (s *Statement) Title() string {
	title := "Statement of account " + s.Account
	if s.Connector != "" {
		title = "Costs of SMSC " + s.Connector
	}
	return title + ", " + s.Days()
}

// Days returns the first and the last day, as text.
func (s *Statement) Days() string {
	return s.From.Format(dayLayout) + " to " + s.To.Add(-time.Nanosecond).Format(dayLayout) + " (" + s.Timezone + ")"
}

// A Table is a part of a statement, as text.
type Table struct {
	Title string
	Left  int // number of columns of text, which come first
	Heads []string
	Rows  [][]string
}

// Tables returns the parts of a statement that are not empty.
func (s *Statement) Tables() (all []Table) {
	all = append(all, s.charges())
	if len(s.Refunds) > 0 {
		all = append(all, refundsOf(s.Refunds, s.Refunded))
	}
	if len(s.Payments) > 0 {
		all = append(all, paymentsOf(s.Payments, s.Paid))
	}
	if s.Connector == "" {
		all = append(all, s.balances())
	}
	if len(s.Traffic) > 0 {
		all = append(all, trafficOf(s.Traffic))
	}
	return all
}

func whole(n int64) string { return strconv.FormatInt(n, 10) }

// or returns a text, or a dash in place of an empty one.
func or(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// where returns the first cells of a line.
func (l *Line) where() []string { return []string{or(l.Country), or(l.Network), or(l.Name)} }

func (s *Statement) charges() Table {
	t := Table{
		Title: "Charged, in " + or(s.Currency), Left: 3,
		Heads: []string{"country", "network", "name", "price", "messages", "short messages", "sum"},
	}
	for _, l := range s.Lines {
		t.Rows = append(t.Rows, append(l.where(), l.Price.String(), whole(l.Messages), whole(l.Shorts), l.Sum.String()))
	}
	t.Rows = append(t.Rows, []string{"total", "", "", "", whole(s.Messages), whole(s.Shorts), s.Charged.String()})
	return t
}

func refundsOf(lines []Line, sum sms.Money) Table {
	t := Table{
		Title: "Given back, because not delivered", Left: 3,
		Heads: []string{"country", "network", "name", "amount", "messages", "sum"},
	}
	n := int64(0)
	for _, l := range lines {
		n += l.Messages
		t.Rows = append(t.Rows, append(l.where(), l.Price.String(), whole(l.Messages), l.Sum.String()))
	}
	t.Rows = append(t.Rows, []string{"total", "", "", "", whole(n), sum.String()})
	return t
}

func paymentsOf(payments []Payment, sum sms.Money) Table {
	t := Table{Title: "Payments", Left: 3, Heads: []string{"at", "reference", "comment", "amount"}}
	for _, p := range payments {
		t.Rows = append(t.Rows, []string{p.At.Format("2006-01-02 15:04"), or(p.Reference), or(p.Comment), p.Amount.String()})
	}
	t.Rows = append(t.Rows, []string{"total", "", "", sum.String()})
	return t
}

func (s *Statement) balances() Table {
	return Table{Title: "Balance", Left: 1, Heads: []string{"", "amount"}, Rows: [][]string{
		{"at the beginning", s.Opening.String()},
		{"paid", s.Paid.String()},
		{"charged", (-s.Charged).String()},
		{"given back", s.Refunded.String()},
		{"at the end", s.Closing.String()},
	}}
}

func trafficOf(all []Traffic) Table {
	t := Table{Title: "Sent", Left: 2, Heads: []string{"network", "name", "sent", "delivered", "undelivered", "share", "delay"}}
	for _, one := range all {
		t.Rows = append(t.Rows, []string{
			or(one.Network), or(one.Name), whole(one.Sent), whole(one.Delivered), whole(one.Undelivered),
			figuretext.Percent(figuretext.DeliveredShare(one.Delivered, one.Undelivered)),
			(time.Duration(one.DelayMS) * time.Millisecond).String(),
		})
	}
	return t
}

// WriteCSV writes all that changes the balance, one kind after the other, and the balances.
func (s *Statement) WriteCSV(out io.Writer) error {
	w := csv.NewWriter(out)
	err := w.Write([]string{
		"kind", "at", "country", "network", "name", "price", "messages", "short_messages", "amount", "currency", "reference",
		"comment",
	})
	write := func(kind, at string, l Line, amount sms.Money, reference, comment string) {
		price, messages, shorts := "", "", ""
		if l.Messages|l.Shorts != 0 {
			price, messages, shorts = l.Price.String(), whole(l.Messages), whole(l.Shorts)
		}
		err = errors.Join(err, w.Write([]string{
			kind, at, l.Country, l.Network, l.Name, price, messages, shorts, amount.String(), s.Currency, reference, comment,
		}))
	}
	if s.Connector == "" {
		write("opening balance", s.From.Format(time.RFC3339), Line{}, s.Opening, "", "")
	}
	for _, p := range s.Payments {
		write("payment", p.At.Format(time.RFC3339), Line{}, p.Amount, p.Reference, p.Comment)
	}
	for _, l := range s.Lines {
		write("charge", "", l, -l.Sum, "", "")
	}
	for _, l := range s.Refunds {
		write("refund", "", l, l.Sum, "", "")
	}
	if s.Connector == "" {
		write("closing balance", s.To.Format(time.RFC3339), Line{}, s.Closing, "", "")
	}
	w.Flush()
	return errors.Join(err, w.Error())
}
