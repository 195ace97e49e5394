// Package prices reads lists of prices by network, country and prefix, with the day from which each is valid.
//
// # File
//
//	for,price,valid_from           the header may be missing
//	24001,0.045                    a network (MCC and MNC)
//	240,0.05,2026-12-01            a country, from that day on (UTC)
//	+46701,0.04                    numbers that begin so
//	*,0.09                         all others
//
// Prices have up to six digits behind the point and are 0 or more. The most exact row decides: the longest prefix, then the
// network, the country, and the star; of several for the same the one that has become valid last. A row that cannot be read, one
// for which another has the same day, and a last line that does not end make the whole file invalid.
//
// # Start reading
//
// List.
package prices

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"pmg/internal/textfile"
	"pmg/sms"
	"pmg/sms/number"
)

// MaxRows is how many rows a file may have.
const MaxRows = 1_000_000

// MaxPrice is the highest price of a short message.
const MaxPrice sms.Money = 1_000_000 * 1_000_000

// A List is the prices of a file. It does not change, so it is safe for concurrent use.
type List struct {
	Rows int

	prefixes  number.Table[[]entry]
	networks  map[sms.Network][]entry
	otherwise []entry
}

// An entry is a price from a time on, in Unix nanoseconds. The last ones of all come first.
type entry struct {
	from  int64
	price sms.Money
	line  int
}

// Of returns the price of a short message to a number of a network at a time of the wall clock. It reports false if the list has
// none. It allocates nothing.
func (l *List) Of(to number.Number, network sms.Network, now int64) (sms.Money, bool) {
	valid := func(all []entry) bool {
		_, ok := at(all, now)
		return ok
	}
	if all, ok := l.prefixes.Find(to, valid); ok {
		return at(all, now)
	}
	if p, ok := at(l.networks[network], now); ok && network != 0 {
		return p, true
	}
	if p, ok := at(l.networks[network.Country()], now); ok && network != 0 {
		return p, true
	}
	return at(l.otherwise, now)
}

// at returns the price that is valid at a time.
func at(all []entry, now int64) (sms.Money, bool) {
	for i := range all {
		if all[i].from <= now {
			return all[i].price, true
		}
	}
	return 0, false
}

// kind says that files are lists of prices.
var kind = textfile.Kind{Name: "prices", Check: "pmg price check"}

// ReadFile reads a file of prices in a currency. If rows cannot be read, the error is *textfile.Problems.
func ReadFile(path, currency string) (*List, error) {
	f, err := kind.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l, err := read(f, path, currency)
	if err != nil && l == nil {
		return nil, fmt.Errorf("cannot read prices %s: %w", path, err)
	}
	return l, err
}

// columns are where the fields of a row are; -1: nowhere.
type columns struct{ of, price, from, currency, n int }

func read(r io.Reader, name, currency string) (*List, error) {
	l := &List{networks: map[sms.Network][]entry{}}
	p := &textfile.Problems{Kind: kind, File: name}
	c := columns{n: -1}
	_, err := textfile.Read(r, p, func(line []byte, number int) bool {
		if len(line) == 0 || line[0] == '#' {
			return true
		}
		fields, err := fieldsOf(line)
		if c.n < 0 && err == nil {
			var isHeader bool
			if c, isHeader = header(fields); isHeader {
				return true
			}
		}
		if err == nil {
			err = l.add(&c, fields, currency, number)
		}
		if err != nil {
			p.Add(number, "cannot read %.60q: %v", line, err)
		}
		if l.Rows++; l.Rows > MaxRows {
			p.Add(number, "there are more than %d rows; the rest was not read", MaxRows)
		}
		return l.Rows <= MaxRows
	})
	if err != nil {
		return nil, err
	}
	if p.Total > 0 {
		return l, p
	}
	return l, nil
}

// maxColumns is how many columns a file may have.
const maxColumns = 16

// fieldsOf returns the fields of a line.
func fieldsOf(line []byte) (fields []string, err error) {
	var room [maxColumns][]byte
	all, err := textfile.Fields(line, textfile.SeparatorOf(line), room[:0])
	for _, f := range all {
		fields = append(fields, string(f))
	}
	return fields, err
}

// header returns where the fields are, and reports whether a line says so.
func header(fields []string) (c columns, ok bool) {
	c = columns{-1, -1, -1, -1, len(fields)}
	for i, f := range fields {
		switch strings.ToLower(strings.NewReplacer(" ", "", "_", "", "-", "").Replace(f)) {
		case "for", "network", "mccmnc", "prefix", "destination":
			c.of = i
		case "price", "rate", "cost":
			c.price = i
		case "validfrom", "from", "effective", "effectivefrom":
			c.from = i
		case "currency":
			c.currency = i
		}
	}
	if c.of >= 0 && c.price >= 0 {
		return c, true
	}
	return columns{0, 1, 2, -1, 3}, false
}

// add adds the row of a line.
func (l *List) add(c *columns, fields []string, currency string, line int) error {
	field := func(at int) string {
		if at < 0 || at >= len(fields) {
			return ""
		}
		return fields[at]
	}
	if len(fields) < 2 || len(fields) > max(c.n, 3) {
		return fmt.Errorf("it has %d columns", len(fields))
	}
	price, ok := sms.ReadMoney(field(c.price))
	switch {
	case !ok:
		return fmt.Errorf(
			"the price %.30q must be an amount such as 0.045, with at most six digits behind the point", field(c.price),
		)
	case price < 0 || price > MaxPrice:
		return fmt.Errorf("the price %s must be from 0 to %s", price, MaxPrice)
	case c.currency >= 0 && field(c.currency) != currency:
		return fmt.Errorf("its currency is %.10q, and that of the list is %s", field(c.currency), currency)
	}
	from, err := timeOf(field(c.from))
	if err != nil {
		return err
	}
	e := entry{from, price, line}
	switch of := field(c.of); {
	case of == "*":
		l.otherwise, err = with(l.otherwise, e)
	case strings.HasPrefix(of, "+"):
		prefix, ok := number.ParsePrefix(of)
		if !ok || len(prefix.Digits) > 15 {
			return fmt.Errorf("the prefix %.20q must be + and up to 15 digits", of)
		}
		var all []entry
		all, _ = l.prefixes.Of(prefix)
		all, err = with(all, e)
		l.prefixes.Set(prefix, all)
	default:
		n, ok := sms.ReadNetwork(of)
		if !ok {
			return fmt.Errorf("%.20q must be a network (MCC and MNC), a country (MCC), a prefix with + in front, or *", of)
		}
		l.networks[n], err = with(l.networks[n], e)
	}
	return err
}

// timeOf reads the day from which a price is valid.
func timeOf(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil && t.Year() >= 1970 && t.Year() < 2200 {
			return t.UnixNano(), nil
		}
	}
	return 0, errors.New("the day from which it is valid must be one such as 2026-12-01, or a time such as 2026-12-01T08:00:00Z")
}

// with returns prices with one more.
func with(all []entry, e entry) ([]entry, error) {
	i, found := slices.BinarySearchFunc(all, e, func(a, b entry) int { return cmp.Compare(b.from, a.from) })
	if found {
		return all, fmt.Errorf("line %d has a price for the same, from the same day on", all[i].line)
	}
	return slices.Insert(all, i, e), nil
}
