package networks

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"unicode/utf8"

	"pmg/internal/sheet"
	"pmg/internal/textfile"
)

// Limits of a file.
const (
	MaxRows = 10_000_000
	maxName = 64 // octets
)

// Columns returns the names of columns that an option may have.
func Columns() []string { return append(wanted(), sheet.Ignored) }

func wanted() []string {
	return []string{sheet.Prefix, sheet.From, sheet.To, sheet.Network, sheet.MCC, sheet.MNC, sheet.Name}
}

// kind is the kind of the files.
var kind = textfile.Kind{Name: "table of networks", Check: "pmg network check"}

// Options are the options of reading a file.
type Options struct {
	Columns []string // meaning of the columns; empty: the header names the columns
	Charset string   // sheet.Latin1, or UTF-8
}

// ReadFile reads a file. If rows cannot be used, the error is *textfile.Problems, and the table has the other rows.
func ReadFile(path string, o Options) (*Table, error) {
	return textfile.ReadFile(kind, path, func(from io.Reader) (*Table, error) { return read(from, path, o) })
}

// read reads the lines of a file.
func read(from io.Reader, name string, o Options) (*Table, error) {
	p := &textfile.Problems{Kind: kind, File: name}
	r := &reader{b: newBuilder(p, runtime.Gosched), weights: weights(), seen: sheet.Ambiguous{}}
	form := &sheet.Form{
		Columns: o.Columns, Charset: o.Charset, Wanted: wanted(), Check: missing, MaxRows: MaxRows, Example: "prefix,mcc,mnc",
		Default: func(n int) []string {
			if n != 2 {
				return nil
			}
			return []string{sheet.Prefix, sheet.Network}
		},
	}
	_, lines, err := sheet.Read(from, p, form, r.row)
	if err != nil {
		return nil, err
	}
	t := r.b.end(lines)
	if p.Total > 0 {
		return t, p
	}
	return t, nil
}

// A reader converts rows of a file to rows of the table.
type reader struct {
	b       *builder
	seen    sheet.Ambiguous
	weights [maxDigits + 1]uint64
}

// missing returns an error if a column is missing.
func missing(columns []string) error {
	has := func(name string) bool { return slices.Contains(columns, name) }
	switch {
	case has(sheet.From) != has(sheet.To):
		return errors.New(`the columns "from" and "to" must be given together`)
	case has(sheet.Prefix) == has(sheet.From):
		return errors.New(`there must be a column "prefix", or the columns "from" and "to", and not both`)
	case !has(sheet.Network) && !has(sheet.MCC):
		return errors.New(`there must be a column "network" (MCC and MNC together), or a column "mcc"`)
	}
	return sheet.CheckNetwork(columns)
}

// CheckColumns returns the error of columns that an option names, nil if the columns are valid.
func CheckColumns(columns []string) error { return sheet.CheckColumns(columns, wanted(), missing) }

// row adds a row.
func (r *reader) row(row *sheet.Row) error {
	n, err := sheet.NetworkOf(row)
	if err == nil && n == 0 {
		err = errors.New("it has no network")
	}
	if err == nil {
		err = r.seen.Add(n, row.Line)
	}
	if err != nil {
		return err
	}
	name := row.Get(sheet.Name)
	if len(name) > maxName || !utf8.Valid(name) || bytes.ContainsFunc(name, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return sheet.In(sheet.Name, fmt.Errorf(
			"its name must be UTF-8 without control characters, at most %d octets; charset: latin1 reads others", maxName,
		))
	}
	place, ok := r.b.placeOf(n, name)
	if !ok {
		return fmt.Errorf("there are more than %d networks", maxNetworks)
	}
	if row.Has(sheet.From) {
		return r.add(row.Get(sheet.From), row.Get(sheet.To), row.Line, place)
	}
	all, err := sheet.Prefixes(row.Get(sheet.Prefix))
	if err != nil {
		return sheet.In(sheet.Prefix, err)
	}
	for _, one := range all {
		if err := r.add(one[0], one[1], row.Line, place); err != nil {
			return err
		}
	}
	return nil
}

// add adds a range of numbers.
func (r *reader) add(from, to []byte, line int, place uint16) error {
	low, digits, err := r.key(from)
	if err != nil {
		return err
	}
	high, ends, err := r.key(to)
	switch {
	case err != nil:
		return err
	case digits != ends:
		return fmt.Errorf(
			"the first number has %d digits, and the last one %d: both must have the same number of digits", digits, ends,
		)
	case high < low:
		return errors.New("the first number is greater than the last one")
	}
	r.b.add(row{from: low, to: high + r.weights[maxDigits-digits] - 1, line: uint32(line), place: place})
	r.count(from, to, place)
	return nil
}

// count counts a row, and stores the first rows as text for people.
func (r *reader) count(from, to []byte, place uint16) {
	t := r.b.table
	isRange := !bytes.Equal(from, to)
	if isRange {
		t.Counts.Ranges++
	}
	if len(t.First) == sheet.FirstRows {
		return
	}
	n := t.networks[place]
	what := "network " + n.String()
	if n.IsCountry() {
		what = "country " + n.String()
	}
	if name := t.Name(n); name != "" {
		what += " (" + name + ")"
	}
	text := fmt.Sprintf("numbers that begin with %s: %s", from, what)
	if isRange {
		text = fmt.Sprintf("numbers that begin with %s to %s: %s", from, to, what)
	}
	t.First = append(t.First, text)
}

// key parses a number, and returns its key and its number of digits.
func (r *reader) key(number []byte) (key uint64, digits int, err error) {
	number = bytes.TrimPrefix(number, []byte("00")) // international prefix
	for i, c := range number {
		switch {
		case c >= '0' && c <= '9':
			if digits++; digits > maxDigits {
				return 0, 0, fmt.Errorf("the number %.30q has more than %d digits", number, maxDigits)
			}
			key += (uint64(c-'0') + 1) * r.weights[maxDigits-digits]
		case c == '+' && i == 0, c == ' ', c == '-':
		default:
			return 0, 0, fmt.Errorf("the number %.30q must be digits", number)
		}
	}
	switch {
	case digits == 0:
		return 0, 0, errors.New("it has no number")
	case number[0] == '0':
		return 0, 0, fmt.Errorf("the number %.30q begins with a 0, and no country code does", number)
	}
	return key, digits, nil
}
