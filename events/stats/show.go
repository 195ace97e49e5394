package stats

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"pmg/internal/figuretext"
	"pmg/sms"
)

// usualDays is the number of days that are shown by default.
const usualDays = 30

// Days is a choice of days, as text: one day, a month, a first and a last day, or nothing for the last days.
type Days struct{ Day, Month, From, To string }

// Of sets the days of a query.
func (d *Days) Of(q *Query, now time.Time) (err error) {
	switch {
	case d.Day != "" && d.Month+d.From+d.To != "" || d.Month != "" && d.From+d.To != "":
		return errors.New("a day, a month, or the first and the last day: use only one of these")
	case d.Day != "":
		q.From, err = DayOf(d.Day, now)
		q.To = q.From
	case d.Month != "":
		if q.From, err = time.Parse("2006-01", d.Month); err != nil {
			return fmt.Errorf("cannot read the month %q: it is written like 2026-11", d.Month)
		}
		q.To = q.From.AddDate(0, 1, -1)
	case d.From == "" && d.To == "":
		q.From = now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-usualDays)
	default:
		if q.From, err = DayOf(d.From, now); err == nil {
			q.To, err = DayOf(d.To, now)
		}
	}
	return err
}

// Period returns the beginning of the days, and their end: now where no last day is given.
func (d *Days) Period(now time.Time) (from, to time.Time, err error) {
	var q Query
	if err = d.Of(&q, now); err != nil || q.To.IsZero() {
		return q.From, now, err
	}
	return q.From, q.To.AddDate(0, 0, 1), nil
}

// DayOf parses a day. It returns the zero time for "".
func DayOf(text string, now time.Time) (time.Time, error) {
	today := now.UTC().Truncate(24 * time.Hour)
	switch text {
	case "":
		return time.Time{}, nil
	case "today":
		return today, nil
	case "yesterday":
		return today.AddDate(0, 0, -1), nil
	}
	t, err := time.Parse(dayLayout, text)
	if err != nil {
		return t, fmt.Errorf("cannot read the day %q: it is written like 2026-11-27, or is today or yesterday", text)
	}
	return t, nil
}

// Objects returns rows for JSON.
func Objects(by []string, rows []Row) []map[string]any {
	all := make([]map[string]any, len(rows))
	for i := range rows {
		r := &rows[i]
		one := map[string]any{}
		for g, name := range by {
			one[name] = r.Values[g]
		}
		for f, name := range Figures() {
			if one[name] = r.figures[f]; figure(f).isMoney() {
				one[name] = r.text(figure(f))
			}
		}
		if one["reasons"] = r.Reasons(); r.Reasons() == nil {
			delete(one, "reasons")
		}
		all[i] = one
	}
	return all
}

// WriteCSV writes all figures of the rows of a query.
func WriteCSV(out io.Writer, q *Query, rows []Row) error {
	w, shown := csv.NewWriter(out), figures
	if !q.Costs {
		shown = cost
	}
	err := w.Write(append(slices.Clone(q.By), figureNames[:shown]...))
	for i := range rows {
		line := slices.Clone(rows[i].Values)
		for f := range shown {
			line = append(line, rows[i].text(f))
		}
		err = errors.Join(err, w.Write(line))
	}
	w.Flush()
	return errors.Join(err, w.Error())
}

// columns are the figures of a table. After them come the charge less refunds, where it is known what SMSCs charge this and the
// margin, the mean delay, and the delivered share.
var columns = [...]figure{messages, accepted, sent, delivered, undelivered, failed, rejected, unknown, expired, deleted, mo}

// A Table is rows as people read them.
type Table struct {
	Heads []string
	Rows  []TableRow
	More  bool  // there are more rows
	Most  int64 // the most that a row has accepted
}

// A TableRow is a row of a table.
type TableRow struct {
	Cells    []string
	Accepted int64
}

// TableOf returns the table of the rows of a query, and of one with their sum below more than one. With most above 0 it has
// only so many of the rows, the first ones or, if last is true, the last ones.
func TableOf(q *Query, rows []Row, most int, last bool) Table {
	total := Total(rows)
	t, costs, all := Table{Heads: slices.Clone(q.By)}, total.figures[cost] != 0, rows
	for _, f := range columns {
		t.Heads = append(t.Heads, figureNames[f])
	}
	t.Heads = append(t.Heads, "charged")
	if costs {
		t.Heads = append(t.Heads, "cost", "margin")
	}
	t.Heads = append(t.Heads, "delay", "share")
	for i := range rows {
		t.Most = max(t.Most, rows[i].figures[accepted])
	}
	if t.More = len(rows) > most && most > 0; t.More {
		if rows = rows[:most]; last {
			rows = all[len(all)-most:]
		}
	}
	for i := range rows {
		t.Rows = append(t.Rows, TableRow{rows[i].cells(costs), rows[i].figures[accepted]})
	}
	if len(all) > 1 {
		t.Rows = append(t.Rows, TableRow{total.cells(costs), total.figures[accepted]})
	}
	return t
}

// cells returns the cells of a row.
func (r *Row) cells(costs bool) (all []string) {
	for _, v := range r.Values {
		if v == "" {
			v = "-"
		}
		all = append(all, v)
	}
	for _, f := range columns {
		all = append(all, r.text(f))
	}
	paid := sms.Money(r.figures[charged] - r.figures[refunded])
	all = append(all, paid.String())
	if costs {
		all = append(all, r.text(cost), (paid - sms.Money(r.figures[cost])).String())
	}
	delay := "-"
	if n := r.figures[sent]; n > 0 {
		delay = (time.Duration(r.figures[delayMS]/n) * time.Millisecond).String()
	}
	return append(all, delay, r.Share())
}

// Share returns the delivered share of the messages with a final receipt, as text.
func (c *Counts) Share() string {
	return figuretext.Percent(figuretext.DeliveredShare(c.figures[delivered], c.figures[undelivered]))
}

// Total returns the sum of rows.
func Total(rows []Row) Row {
	var total Row
	for i := range rows {
		if total.Values == nil && len(rows[i].Values) > 0 {
			total.Values = slices.Repeat([]string{""}, len(rows[i].Values))
			total.Values[0] = "total"
		}
		total.Add(&rows[i].Counts)
	}
	return total
}
