// Package sheet reads tables as suppliers send them: CSV with any separator, quotes as in RFC 4180, a header
// in the words of the supplier, further columns, and rows without fields. Tables of networks, lists of
// prices, lists of numbers and the prefixes of routes are read with this package.
//
// A cell is read as a person would understand it. If it is ambiguous, the row is refused with its line.
//
// # Start reading
//
// Read (the lines), header.go (what the columns are), cells.go (networks and prefixes).
package sheet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/text/encoding/charmap"

	"pmg/internal/textfile"
)

// FirstRows is the number of rows that are kept as text, so that a person can check how they were parsed.
const FirstRows = 3

// MaxColumns is the maximum number of columns in a table.
const MaxColumns = 64

// Latin1 is the charset of tables that are not in UTF-8: Windows-1252, which includes the printable characters of ISO 8859-1.
const Latin1 = "latin1"

// A Form describes the tables of a kind.
type Form struct {
	Columns  []string // columns, in order; empty: those in the header
	Charset  string   // Latin1, or UTF-8
	Wanted   []string // columns that are read; other columns are ignored
	Spelled  map[string]string
	Beside   map[string]string          // further names of columns, if there are several: one alone may be an entry
	Default  func(columns int) []string // returns the columns of a table without a header; nil: unknown
	Only     string                     // the column of a table without a header whose rows have one field; empty: no column
	Example  string                     // example of a header
	Check    func(columns []string) error
	Shorter  bool // rows may lack columns at the end
	Comments bool // a comment may follow the fields, after a '#' that is not within quotes
	MaxRows  int
	HasPrice bool // a column with a price exists
}

// Full is the error of a row beyond a limit. Later rows are not read.
type Full string

// Error returns the limit.
func (f Full) Error() string { return string(f) }

// A Row is a row of a table.
type Row struct {
	Line    int
	columns []string
	fields  [][]byte
}

// Get returns the field of a column, nil if there is none.
func (r *Row) Get(column string) []byte {
	if i := slices.Index(r.columns, column); i >= 0 && i < len(r.fields) {
		return r.fields[i]
	}
	return nil
}

// Has reports whether the table has a column.
func (r *Row) Has(column string) bool { return slices.Contains(r.columns, column) }

// A reader reads lines, and makes a row of each.
type reader struct {
	form    *Form
	p       *textfile.Problems
	take    func(*Row) error
	header  *Header
	between byte
	row     Row
	rows    int
	room    [MaxColumns][]byte
}

// Read passes the rows of a table to take, whose errors become problems. It returns the header, and the number of lines.
func Read(from io.Reader, p *textfile.Problems, f *Form, take func(*Row) error) (h *Header, lines int, err error) {
	r := &reader{form: f, p: p, take: take}
	lines, err = textfile.Read(from, p, r.line)
	if r.header == nil {
		r.header = &Header{}
	}
	return r.header, lines, err
}

// fields returns the fields of a line, none for a comment and an empty row.
func (r *reader) fields(line []byte) ([][]byte, error) {
	if r.form.Comments {
		line = withoutComment(line)
	}
	if len(line) == 0 || line[0] == '#' {
		return nil, nil
	}
	if r.form.Charset == Latin1 {
		line, _ = charmap.Windows1252.NewDecoder().Bytes(line) // each octet is a character
	}
	if r.between == 0 {
		r.between = textfile.SeparatorOf(line)
	}
	fields, err := textfile.Fields(line, r.between, r.room[:0])
	if err == nil && !slices.ContainsFunc(fields, func(field []byte) bool { return len(field) > 0 }) {
		return nil, nil // an empty row of a spreadsheet
	}
	return fields, err
}

// line reads a line. It reports whether reading continues.
func (r *reader) line(line []byte, number int) bool {
	fields, err := r.fields(line)
	if err == nil && len(fields) == 0 {
		return true
	}
	if r.header == nil && err == nil {
		var isHeader bool
		r.header, isHeader, err = headerOf(r.form, fields)
		if err != nil { // no row can be read without a valid header
			r.p.Add(number, "%v", err)
			return false
		}
		if isHeader {
			return true
		}
	}
	if err == nil {
		err = r.fill(fields, number)
	}
	if err == nil {
		err = r.take(&r.row)
	}
	if err != nil && !r.goesOn(err, line, number) {
		return false
	}
	if r.rows++; r.rows > r.form.MaxRows {
		r.p.Add(number, "there are more than %d rows; the rest was not read", r.form.MaxRows)
		return false
	}
	return true
}

// goesOn records the error of a row, and reports whether reading continues.
func (r *reader) goesOn(err error, line []byte, number int) bool {
	var full Full
	if errors.As(err, &full) {
		r.p.Add(number, "%s; the rest was not read", full)
		return false
	}
	r.p.Add(number, "cannot read %.60q: %v", line, err)
	return true
}

// fill makes a row of fields.
func (r *reader) fill(fields [][]byte, line int) error {
	if r.header == nil { // the header could not be read
		return fmt.Errorf("the first row could not be read")
	}
	columns := r.header.Columns
	if r.header.only {
		var err error
		if fields, err = only(fields); err != nil {
			return err
		}
	}
	for len(fields) > len(columns) && len(fields[len(fields)-1]) == 0 {
		fields = fields[:len(fields)-1]
	}
	if len(fields) > len(columns) || len(fields) < len(columns) && !(r.form.Shorter && len(fields) >= r.least()) {
		return fmt.Errorf("it has %d columns instead of %d", len(fields), len(columns))
	}
	r.row = Row{Line: line, columns: columns, fields: fields}
	return nil
}

// only returns the one field of a row that is not empty, because spreadsheets may write empty columns beside it.
func only(fields [][]byte) ([][]byte, error) {
	if len(fields) == 1 {
		return fields, nil
	}
	full := slices.DeleteFunc(fields, func(field []byte) bool { return len(field) == 0 })
	if len(full) > 1 {
		return nil, fmt.Errorf("it has %d fields: write one in each line, or a header above them", len(full))
	}
	return full, nil
}

// withoutComment returns a line without the comment, which begins with a '#' outside of quotes.
func withoutComment(line []byte) []byte {
	if bytes.IndexByte(line, '#') < 0 {
		return line
	}
	quoted := false
	for i, c := range line {
		switch {
		case c == '"':
			quoted = !quoted
		case c == '#' && !quoted:
			return bytes.TrimSpace(line[:i])
		}
	}
	return line
}

// least returns the minimum number of columns in a row: up to the last required column.
func (r *reader) least() int {
	n := 0
	for i, c := range r.header.Columns {
		if c != Ignored && c != ValidFrom && c != Currency && c != Name {
			n = i + 1
		}
	}
	return n
}

// In adds the name of a column to an error.
func In(column string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("column %s: %w", column, err)
}

// plain returns the name of a column in lower case, without blanks and punctuation.
func plain(name []byte) string {
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune(" _-./()\u00a0", c) {
			return -1
		}
		return c
	}, strings.ToLower(string(bytes.TrimPrefix(name, []byte("\ufeff")))))
}
