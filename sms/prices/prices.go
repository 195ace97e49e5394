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
//	"MCC";"MNC";"Network";"Price EUR";"Valid from"         or the columns and the words of a supplier
//	"240";"01";"Telia";"0,0450";"01.12.2026"
//
// Prices have up to six digits behind the point and are 0 or more. The most exact row decides: the longest prefix, then the
// network, the country, and the star; of several for the same the one that has become valid last. A row that cannot be read, one
// for which another has another price from the same day on, and a last line that does not end make the whole file invalid.
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
	"maps"
	"slices"
	"strings"
	"time"

	"pmg/internal/sheet"
	"pmg/internal/textfile"
	"pmg/sms"
	"pmg/sms/number"
)

// MaxRows is the maximum number of rows in a file.
const MaxRows = 1_000_000

// MaxPrice is the highest price of a short message.
const MaxPrice sms.Money = 1_000_000 * 1_000_000

// A List contains the prices of a file. It does not change, so that it is safe for concurrent use.
type List struct {
	Counts
	First   []string // the first prices, as they were parsed
	Columns []string // meaning of the columns, as far as it is known

	prefixes  number.Table[[]entry]
	networks  map[sms.Network][]entry
	otherwise []entry
}

// Counts are the numbers of prices in a file, by kind.
type Counts struct{ Rows, Networks, Countries, Prefixes int }

// String returns the counts as text.
func (c Counts) String() string {
	return fmt.Sprintf("%d prices: %d of networks, %d of countries, %d of prefixes", c.Rows, c.Networks, c.Countries, c.Prefixes)
}

// Warnings returns what a list without errors lacks.
func (l *List) Warnings() []string {
	if l.Rows == 0 || l.HasOthers() {
		return nil
	}
	return []string{"there is no price for all others (*): messages to numbers without a row are refused"}
}

// HasOthers reports whether the list has a price for numbers that have no other price.
func (l *List) HasOthers() bool { return len(l.otherwise) > 0 }

// HasNetwork reports whether the list has a price for a network or its country.
func (l *List) HasNetwork(n sms.Network) bool {
	return len(l.networks[n])+len(l.networks[n.Country()]) > 0
}

// An entry is a price from a time on, in Unix nanoseconds. In a list of entries the latest comes first.
type entry struct {
	from  int64
	price sms.Money
	line  int
}

// Of returns the price of a short message to a number of a network, at a time of the wall clock. It reports false if the list
// has no price. It does not allocate.
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

// kind is the kind of the files.
var kind = textfile.Kind{Name: "prices", Check: "pmg price check"}

// Options are the options of reading a file.
type Options struct {
	Currency string
	Columns  []string // meaning of the columns; empty: the header names the columns
	Charset  string   // sheet.Latin1, or UTF-8
	Dates    string   // format of the days, such as DD/MM/YYYY; empty: 2026-12-01 or 01.12.2026
	Round    bool     // prices with more than six decimals are rounded
}

// ReadFile reads a file of prices. If rows cannot be read, the error is *textfile.Problems.
func ReadFile(path string, o Options) (*List, error) {
	return textfile.ReadFile(kind, path, func(from io.Reader) (*List, error) { return Read(from, path, o) })
}

// Columns returns the names of columns that an option may have.
func Columns() []string { return append(wanted(), sheet.Ignored) }

func wanted() []string {
	return []string{sheet.For, sheet.Network, sheet.MCC, sheet.MNC, sheet.Prefix, sheet.Price, sheet.ValidFrom, sheet.Currency}
}

// CheckColumns returns the error of columns that an option names, nil if the columns are valid.
func CheckColumns(columns []string) error { return sheet.CheckColumns(columns, wanted(), missing) }

// missing returns an error if a column is missing.
func missing(columns []string) error {
	has := func(name string) bool { return slices.Contains(columns, name) }
	switch {
	case !has(sheet.Price):
		return errors.New(`there must be a column "price"`)
	case !has(sheet.For) && !has(sheet.Network) && !has(sheet.MCC) && !has(sheet.Prefix):
		return errors.New(`there must be a column "mcc", "network" (MCC and MNC together), "prefix" or "for"`)
	case has(sheet.For) && (has(sheet.Network) || has(sheet.MCC) || has(sheet.Prefix)):
		return errors.New(`there is a column "for", and another column with the same purpose: ignore one of them`)
	}
	return sheet.CheckNetwork(columns)
}

// withoutHeader returns the columns of a file without a header.
func withoutHeader(n int) []string {
	if n < 1 || n > 3 {
		return nil
	}
	return []string{sheet.For, sheet.Price, sheet.ValidFrom}
}

// A reader makes prices from the rows of a file.
type reader struct {
	list    *List
	options Options
	seen    sheet.Ambiguous
}

// Read reads prices. If rows cannot be read, the error is *textfile.Problems, and the list has the other rows.
func Read(from io.Reader, name string, o Options) (*List, error) {
	l := &List{networks: map[sms.Network][]entry{}}
	p := &textfile.Problems{Kind: kind, File: name}
	r := &reader{list: l, options: o, seen: sheet.Ambiguous{}}
	form := &sheet.Form{
		Columns: o.Columns, Charset: o.Charset, Wanted: wanted(), Check: missing, MaxRows: MaxRows, Shorter: true, HasPrice: true,
		Spelled: map[string]string{"from": sheet.ValidFrom, "start": sheet.ValidFrom}, Default: withoutHeader,
		Example: "mcc,mnc,price",
	}
	h, _, err := sheet.Read(from, p, form, r.row)
	if err != nil {
		return nil, err
	}
	l.Columns = h.Columns
	if h.Currency != "" && h.Currency != o.Currency {
		p.Add(1, "its prices are in %s according to the header, but the currency of the list is %s", h.Currency, o.Currency)
	}
	if p.Total > 0 {
		return l, p
	}
	return l, nil
}

// row adds the prices of a row.
func (r *reader) row(row *sheet.Row) error {
	price, err := priceOf(string(row.Get(sheet.Price)), r.options)
	if err != nil {
		return sheet.In(sheet.Price, err)
	}
	if currency := string(row.Get(sheet.Currency)); row.Has(sheet.Currency) && currency != r.options.Currency {
		return sheet.In(
			sheet.Currency, fmt.Errorf("its currency is %.10q, but that of the list is %s", currency, r.options.Currency),
		)
	}
	from, err := timeOf(string(row.Get(sheet.ValidFrom)), r.options.Dates)
	if err != nil {
		return sheet.In(sheet.ValidFrom, err)
	}
	e := entry{from, price, row.Line}
	text := string(row.Get(sheet.For))
	switch {
	case text == "*" || text == "" && isAll(row):
		l := r.list
		if l.otherwise, err = with(l.otherwise, e); err == nil {
			r.add("all others", e)
		}
		return err
	case strings.HasPrefix(text, "+"):
		return r.prefixes([]byte(text), e)
	case row.Has(sheet.For):
		n, ok := sheet.ReadNetwork([]byte(text))
		if !ok {
			return fmt.Errorf(
				"%.20q must be a network (MCC and MNC), a country (MCC), a prefix with + in front, or *; a column prefix needs "+
					"no +", text,
			)
		}
		return r.network(n, e)
	}
	n, err := sheet.NetworkOf(row)
	if err != nil {
		return err
	}
	if n != 0 {
		return r.network(n, e)
	}
	return r.prefixes(row.Get(sheet.Prefix), e)
}

// isAll reports whether a row without the column for has the price for all other numbers.
func isAll(row *sheet.Row) bool {
	if row.Has(sheet.For) {
		return false
	}
	for _, c := range []string{sheet.Prefix, sheet.Network, sheet.MCC} {
		if string(row.Get(c)) == "*" {
			return true
		}
	}
	return false
}

// network adds the price of a network or a country.
func (r *reader) network(n sms.Network, e entry) error {
	err := r.seen.Add(n, e.line)
	if err == nil {
		r.list.networks[n], err = with(r.list.networks[n], e)
	}
	switch {
	case err != nil:
	case n.IsCountry():
		r.list.Countries++
		r.add("country "+n.String(), e)
	default:
		r.list.Networks++
		text := n.String()
		r.add("network "+text[:3]+"-"+text[3:], e)
	}
	return err
}

// prefixes adds a price for the prefixes in a cell, and for ranges of prefixes.
func (r *reader) prefixes(cell []byte, e entry) error {
	return sheet.Each(cell, func(digits string) error {
		prefix := number.Prefix{Digits: digits, International: true}
		entries, _ := r.list.prefixes.Of(prefix)
		entries, err := with(entries, e)
		if err != nil {
			return err
		}
		r.list.prefixes.Set(prefix, entries)
		r.list.Prefixes++
		r.add("numbers that begin with +"+digits, e)
		return nil
	})
}

// add counts a price, and stores the first prices as text for people.
func (r *reader) add(what string, e entry) {
	l := r.list
	if l.Rows++; len(l.First) < sheet.FirstRows {
		text := what + ": " + e.price.String()
		if e.from != 0 {
			text += " from " + time.Unix(0, e.from).UTC().Format(time.DateOnly) + " on"
		}
		l.First = append(l.First, text)
	}
}

// priceOf parses a price: with a decimal point or comma, and any number of trailing zeros.
func priceOf(text string, o Options) (sms.Money, error) {
	given := text
	text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), o.Currency))
	text = strings.TrimSpace(strings.TrimPrefix(text, o.Currency))
	bad := fmt.Errorf("the price %.30q must be an amount such as 0.045 or 0,045", given)
	if strings.ContainsAny(text, "eE+") || strings.Count(text, ".")+strings.Count(text, ",") > 1 {
		return 0, bad
	}
	whole, behind, _ := strings.Cut(strings.ReplaceAll(text, ",", "."), ".")
	if strings.HasPrefix(whole, "-") {
		return 0, fmt.Errorf("the price %.30q must be from 0 to %s", given, MaxPrice)
	}
	if strings.Contains(text, ",") && len(behind) == 3 && strings.Trim(whole, "0") != "" {
		return 0, fmt.Errorf("the comma in the price %.30q can mean decimals or thousands: write decimals behind a point", given)
	}
	if behind = strings.TrimRight(behind, "0"); len(behind) > 6 {
		if !o.Round || strings.Trim(behind, "0123456789") != "" {
			return 0, fmt.Errorf(
				"the price %.30q has more than six decimals: the option round rounds such prices", given,
			)
		}
		up := behind[6] >= '5'
		price, ok := sms.ReadMoney(cmp.Or(whole, "0") + "." + behind[:6])
		if !ok {
			return 0, bad
		}
		if up {
			price++
		}
		return price, nil
	}
	clean := cmp.Or(whole, "0")
	if behind != "" {
		clean += "." + behind
	}
	price, ok := sms.ReadMoney(clean)
	switch {
	case !ok || whole == "" && behind == "" && !strings.Contains(text, "0"):
		return 0, bad
	case price < 0 || price > MaxPrice:
		return 0, fmt.Errorf("the price %s must be from 0 to %s", price, MaxPrice)
	}
	return price, nil
}

// dateForms are the layouts of package time by the forms of days in an option.
var dateForms = map[string]string{
	"YYYY-MM-DD": time.DateOnly, "DD.MM.YYYY": "2.1.2006", "DD/MM/YYYY": "2/1/2006", "MM/DD/YYYY": "1/2/2006",
	"DD-MM-YYYY": "2-1-2006",
	"YYYY/MM/DD": "2006/1/2", "YYYYMMDD": "20060102",
}

// DateForms returns the forms of days that an option may have.
func DateForms() []string { return slices.Sorted(maps.Keys(dateForms)) }

// timeOf parses the day from which a price is valid.
func timeOf(text, form string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	layouts := []string{time.DateOnly, time.RFC3339, dateForms["DD.MM.YYYY"]} // no text matches two of these layouts
	if form != "" {
		layouts = []string{dateForms[form]}
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil && t.Year() >= 1970 && t.Year() < 2200 {
			return t.UnixNano(), nil
		}
	}
	if form != "" {
		return 0, fmt.Errorf("the day %.30q from which it is valid must be written as %s", text, form)
	}
	return 0, fmt.Errorf(
		"the day %.30q from which it is valid must be one such as 2026-12-01 or 01.12.2026, or a time such as "+
			"2026-12-01T08:00:00Z; the option dates names another form, such as DD/MM/YYYY", text,
	)
}

// with returns entries with another entry.
func with(all []entry, e entry) ([]entry, error) {
	i, found := slices.BinarySearchFunc(all, e, func(a, b entry) int { return cmp.Compare(b.from, a.from) })
	if found && all[i].price == e.price {
		return all, nil // several rows of a network are usual, one for each prefix
	}
	if found {
		return all, fmt.Errorf("line %d has a price for the same, from the same day on", all[i].line)
	}
	return slices.Insert(all, i, e), nil
}
