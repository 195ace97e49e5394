package stats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"time"
)

func compare(a, b key) int {
	return cmp.Or(
		cmp.Compare(a.hour, b.hour), strings.Compare(a.account, b.account), strings.Compare(a.connector, b.connector),
		strings.Compare(a.network, b.network),
	)
}

// daysIn returns the days with a file in a directory, in order.
func daysIn(dir string) (all []int64, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if number, ok := dayOf(e.Name()); ok {
			all = append(all, number)
		}
	}
	slices.Sort(all)
	return all, err
}

// Groups returns the names that Query.By can have.
func Groups() []string { return []string{"month", "day", "hour", "account", "connector", "network"} }

// A Query selects events, and groups them.
type Query struct {
	From, To                    time.Time      // days, as times of UTC, To included; zero: the first or the last existing day
	Zone                        *time.Location // zone of days, months and hours, for which HasHours must be true; nil: UTC
	Account, Connector, Network string         // values to select; "": all
	By                          []string       // groups; rows with the same values are added up. Empty: one row in total
	Costs                       bool           // the rows have what SMSCs charge, which accounts must not see
}

// HasHours reports whether the hours of a zone begin with those of UTC, by which events are counted, in the year of a time. Those
// of India begin at half past.
func HasHours(zone *time.Location, at time.Time) bool {
	for month := time.January; month <= time.December; month++ {
		if _, offset := time.Date(at.Year(), month, 1, 12, 0, 0, 0, zone).Zone(); offset%3600 != 0 {
			return false
		}
	}
	return true
}

// zone returns the zone of the days of the query.
func (q *Query) zone() *time.Location {
	if q.Zone == nil {
		return time.UTC
	}
	return q.Zone
}

// hours returns the first hour of the query's days, and the first hour behind them, since 1970.
func (q *Query) hours() (first, end int64) {
	first, end = math.MinInt64, math.MaxInt64
	hour := func(day time.Time) int64 {
		return time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, q.zone()).Unix() / 3600
	}
	if !q.From.IsZero() {
		first = hour(q.From)
	}
	if !q.To.IsZero() {
		end = hour(q.To.AddDate(0, 0, 1))
	}
	return first, end
}

// Check returns an error if a query makes no sense.
func (q *Query) Check() error {
	for i, name := range q.By {
		switch {
		case !slices.Contains(Groups(), name):
			return fmt.Errorf("cannot group by %q, only by %s", name, strings.Join(Groups(), ", "))
		case slices.Contains(q.By[:i], name):
			return fmt.Errorf("%q is named twice", name)
		}
	}
	if !q.From.IsZero() && !q.To.IsZero() && q.To.Before(q.From) {
		return errors.New("the last day is before the first")
	}
	return nil
}

// A Row is the sum of events with the same values.
type Row struct {
	Values []string // values of the groups of Query.By; "": the events lack a value
	Counts
}

// mostSums is the maximum number of rows in an answer.
const mostSums = 100_000

// ErrTooMany is the error for a query with too many rows.
var ErrTooMany = fmt.Errorf("there are more than %d rows: ask for fewer days or for less", mostSums)

// Read sums up the statistics in a directory.
func Read(ctx context.Context, dir string, q Query) ([]Row, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	days, err := daysIn(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot read the statistics in %s: %w", dir, err)
	}
	s := sums{q: q, rows: map[string]*Row{}}
	s.first, s.end = q.hours()
	for _, number := range days {
		if (number+1)*24 <= s.first || number*24 >= s.end {
			continue
		}
		if err := s.day(ctx, dir, number); err != nil {
			return nil, err
		}
	}
	all := make([]Row, 0, len(s.rows))
	for _, r := range s.rows {
		all = append(all, *r)
	}
	slices.SortFunc(all, func(a, b Row) int { return slices.Compare(a.Values, b.Values) })
	return all, nil
}

// sums are the rows of an answer in progress.
type sums struct {
	q    Query
	rows map[string]*Row
	name []byte

	first, end int64 // hours since 1970
}

// day adds the rows of a day. A file that was removed meanwhile has no rows.
func (s *sums) day(ctx context.Context, dir string, number int64) error {
	f, err := os.Open(pathOf(dir, number))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = readDay(f, number, func(k key, c *Counts) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return s.add(k, c)
	})
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", f.Name(), err)
	}
	return nil
}

func (s *sums) add(k key, c *Counts) error {
	if q := &s.q; q.Account != "" && q.Account != k.account || q.Connector != "" && q.Connector != k.connector ||
		q.Network != "" && q.Network != k.network || k.hour < s.first || k.hour >= s.end {
		return nil
	}
	s.name = s.name[:0]
	for _, name := range s.q.By {
		s.name = append(append(s.name, s.q.valueOf(k, name)...), 0)
	}
	r := s.rows[string(s.name)]
	if r == nil {
		if len(s.rows) >= mostSums {
			return ErrTooMany
		}
		r = &Row{}
		for _, name := range s.q.By {
			r.Values = append(r.Values, s.q.valueOf(k, name))
		}
		s.rows[string(s.name)] = r
	}
	if r.Add(c); !s.q.Costs {
		r.figures[cost] = 0
	}
	return nil
}

// valueOf returns a row's value for a group.
func (q *Query) valueOf(k key, name string) string {
	at := func(layout string) string { return time.Unix(k.hour*3600, 0).In(q.zone()).Format(layout) }
	switch name {
	case "month":
		return at("2006-01")
	case "day":
		return at(dayLayout)
	case "hour":
		return at("2006-01-02T15")
	case "account":
		return k.account
	case "connector":
		return k.connector
	}
	return k.network
}
