package numbers

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"

	"pmg/internal/sheet"
	"pmg/internal/textfile"
)

// Limits of a file.
const (
	MaxEntries = 10_000_000 // numbers and prefixes
	MaxNames   = 1_000_000
)

// kind is the kind of the files.
var kind = textfile.Kind{Name: "list", Check: "pmg list check"}

// ReadFile reads a file. If lines cannot be read, the error is *textfile.Problems, and the table has the other lines.
func ReadFile(path string) (*Table, error) {
	return textfile.ReadFile(kind, path, func(from io.Reader) (*Table, error) { return read(from, path) })
}

// read reads the lines of a file.
func read(from io.Reader, name string) (*Table, error) {
	p := &textfile.Problems{Kind: kind, File: name}
	r := &reader{b: newBuilder(runtime.Gosched)}
	_, lines, err := sheet.Read(from, p, Form(), r.row)
	if err != nil {
		return nil, err
	}
	t := r.b.table(lines)
	t.First = r.first
	if p.Total > 0 {
		return t, p
	}
	return t, nil
}

// Form returns the form of tables of numbers.
func Form() *sheet.Form {
	return &sheet.Form{
		Wanted: []string{sheet.Number, sheet.Prefix, country, split}, Spelled: spelled, Beside: beside, Only: sheet.Number,
		Example: "number,note", Check: missing, Shorter: true, Comments: true, MaxRows: MaxEntries + MaxNames,
	}
}

// CellOf returns the number of a row, and whether the row's column makes it a prefix. A country code in
// another column is an error.
func CellOf(row *sheet.Row) (cell []byte, isPrefix bool, err error) {
	if c := row.Get(country); len(c) > 0 && (c[0] == '+' || c[0] >= '0' && c[0] <= '9') {
		err = fmt.Errorf("%.10q may be a part of the number: write both in one column, such as +46701740605", c)
		return nil, false, sheet.In(country, err)
	}
	column := sheet.Number
	if isPrefix = row.Has(sheet.Prefix); isPrefix {
		column = sheet.Prefix
	}
	if cell = row.Get(column); len(cell) == 0 {
		return nil, false, sheet.In(column, errors.New("it is empty"))
	}
	return cell, isPrefix, nil
}

// Columns that exist only in lists.
const (
	country = "country" // name of the country; a country code would belong to the number
	split   = "country code"
)

// spelled are the names of columns. The first line of a list with one column may be such a name.
var spelled = map[string]string{
	"number": sheet.Number, "numbers": sheet.Number, "msisdn": sheet.Number, "msisdns": sheet.Number, "phonenumber": sheet.Number,
	"phonenumbers": sheet.Number, "mobilenumber": sheet.Number, "mobilenumbers": sheet.Number, "telephonenumber": sheet.Number,
	"e164": sheet.Number, "sender": sheet.Number, "senderid": sheet.Number, "senderids": sheet.Number, "sendername": sheet.Number,

	"prefix": sheet.Prefix, "prefixes": sheet.Prefix, "e164prefix": sheet.Prefix, "numberprefix": sheet.Prefix,
}

// beside are names of columns that could also be names of senders: they are columns only if there are several columns.
var beside = map[string]string{
	"phone": sheet.Number, "phoneno": sheet.Number, "telephone": sheet.Number, "tel": sheet.Number, "mobile": sheet.Number,
	"mobileno": sheet.Number, "mobilephone": sheet.Number, "cell": sheet.Number, "cellphone": sheet.Number,
	"recipient": sheet.Number, "subscriber": sheet.Number, "contact": sheet.Number,

	"country": country, "countrycode": split, "cc": split, "code": split, "dialcode": split, "dialingcode": split,
	"areacode": split, "ndc": split,
}

// missing returns the error of invalid columns, nil if they are valid.
func missing(columns []string) error {
	has := func(name string) bool { return slices.Contains(columns, name) }
	switch {
	case has(split):
		return errors.New("the country code has a column of its own: write code and number in one column, such as +46701740605")
	case has(sheet.Number) && has(sheet.Prefix):
		return errors.New(`there are the columns "number" and "prefix": write both in one, or remove one of them`)
	case !has(sheet.Number) && !has(sheet.Prefix):
		return errors.New(`there must be a column "number", or a column "prefix"`)
	}
	return nil
}

// A reader makes entries of the rows of a file.
type reader struct {
	b     *builder
	room  [maxName]byte
	first []string
}

// row adds the entry of a row.
func (r *reader) row(row *sheet.Row) error {
	cell, isPrefix, err := CellOf(row)
	if err != nil {
		return err
	}
	e, err := parse(cell, &r.room)
	if err == nil && isPrefix && !e.prefix {
		e, err = lineOf(cell, true, &r.room)
		e.prefix = true
	}
	if err != nil {
		return err
	}
	r.b.add(&e)
	if len(r.first) < sheet.FirstRows {
		r.first = append(r.first, e.text())
	}
	if digits, names := r.b.size(); digits > MaxEntries || names > MaxNames {
		return sheet.Full(fmt.Sprintf("there are more than %d numbers and prefixes, or %d names", MaxEntries, MaxNames))
	}
	return nil
}
