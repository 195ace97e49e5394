package networks

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"pmg/internal/textfile"
	"pmg/sms"
)

// What a file may have.
const (
	MaxRows    = 10_000_000
	maxColumns = 64
	maxName    = 64 // octets
)

// The columns that are read. Each may have other names in a header.
const (
	Prefix  = "prefix"  // all numbers that begin so
	From    = "from"    // with To: all numbers that begin with something between
	To      = "to"      // as many digits as From
	Network = "network" // MCC and MNC
	MCC     = "mcc"
	MNC     = "mnc"
	Name    = "name"   // of the network, for people
	Ignored = "ignore" // any column else
)

// Columns returns the names of columns that an option may have.
func Columns() []string { return []string{Prefix, From, To, Network, MCC, MNC, Name, Ignored} }

// headers are what providers call columns, in small letters without blanks and marks.
var headers = map[string]string{
	"prefix": Prefix, "code": Prefix, "dialcode": Prefix, "dialingcode": Prefix, "numberprefix": Prefix, "e164": Prefix,
	"e164prefix": Prefix,

	"from": From, "start": From, "begin": From, "first": From, "rangestart": From, "rangefrom": From, "numberfrom": From,
	"startrange": From,

	"to": To, "end": To, "last": To, "rangeend": To, "rangeto": To, "numberto": To, "endrange": To,

	"network": Network, "mccmnc": Network, "plmn": Network, "networkcode": Network, "imsiprefix": Network, "e212": Network,

	"mcc": MCC, "mobilecountrycode": MCC, "mnc": MNC, "mobilenetworkcode": MNC,

	"name": Name, "operator": Name, "networkname": Name, "operatorname": Name, "carrier": Name, "mno": Name,
}

// kind says that files are tables of networks.
var kind = textfile.Kind{Name: "table of networks", Check: "pmg network check"}

// ReadFile reads a file. columns says what its columns are; empty: its header does. If rows cannot be used, the error is
// *textfile.Problems, and the table has the other rows.
func ReadFile(path string, columns []string) (*Table, error) {
	f, err := kind.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := read(f, path, columns)
	if err != nil && t == nil {
		return nil, fmt.Errorf("cannot read table of networks %s: %w", path, err)
	}
	return t, err
}

// read reads the lines of a file.
func read(from io.Reader, name string, columns []string) (*Table, error) {
	p := &textfile.Problems{Kind: kind, File: name}
	r := &reader{b: newBuilder(p, runtime.Gosched), p: p, columns: columns}
	lines, err := textfile.Read(from, p, r.take)
	if err != nil {
		return nil, err
	}
	t := r.b.end(lines)
	if p.Total > 0 {
		return t, p
	}
	return t, nil
}

// A reader makes rows of lines.
type reader struct {
	b       *builder
	p       *textfile.Problems
	columns []string // empty: not known yet
	begun   bool     // a line with fields was read
	between byte     // two fields
	weights [maxDigits + 1]uint64
	fields  [maxColumns][]byte
}

// take reads a line. It reports whether the next one is to be read.
func (r *reader) take(line []byte, number int) bool {
	if len(line) == 0 || line[0] == '#' {
		return true
	}
	first := !r.begun
	if first {
		r.begun, r.between, r.weights = true, textfile.SeparatorOf(line), weights()
	}
	fields, err := textfile.Fields(line, r.between, r.fields[:0])
	if first && err == nil {
		if r.header(fields) {
			return true
		}
		if len(r.columns) == 0 {
			r.columns = []string{Prefix, Network}
		}
		if err = missing(r.columns); err == nil && len(fields) != len(r.columns) {
			err = fmt.Errorf(
				"it has %d columns, and its first line does not say what they are: write a line such as prefix,mcc,mnc above "+
					"it, or name them with the option columns", len(fields),
			)
		}
		if err != nil { // nothing of the file can be read
			r.p.Add(number, "%v", err)
			return false
		}
	}
	if err == nil {
		err = r.row(fields, number)
	}
	if err != nil {
		r.p.Add(number, "cannot read %.60q: %v", line, err)
	}
	if r.b.table.Counts.Rows > MaxRows {
		r.p.Add(number, "there are more than %d rows; the rest was not read", MaxRows)
		return false
	}
	return true
}

// header reads the first line. It reports whether it is a header, which says what the columns are unless an option has.
func (r *reader) header(fields [][]byte) bool {
	columns, some := make([]string, len(fields)), false
	for i, field := range fields {
		name := headers[plain(field)]
		if columns[i] = Ignored; name != "" && !slices.Contains(columns[:i], name) {
			columns[i], some = name, true
		}
	}
	if len(r.columns) > 0 { // the header may be in any language
		return !slices.ContainsFunc(fields, isNumber)
	}
	if !some {
		return false
	}
	r.columns = columns
	return missing(columns) == nil
}

// isNumber reports whether a field begins as a number does.
func isNumber(field []byte) bool {
	return len(field) > 0 && (field[0] >= '0' && field[0] <= '9' || field[0] == '+')
}

// plain returns the name of a column in small letters, without blanks and marks.
func plain(name []byte) string {
	return strings.Map(func(c rune) rune {
		if c == ' ' || c == '_' || c == '-' || c == '.' || c == '/' {
			return -1
		}
		return c
	}, strings.ToLower(string(name)))
}

// missing returns which column is missing, nil if none is.
func missing(columns []string) error {
	has := func(name string) bool { return slices.Contains(columns, name) }
	switch {
	case has(From) != has(To):
		return errors.New("the columns from and to must be there together")
	case has(Prefix) == has(From):
		return errors.New("there must be a column prefix, or the columns from and to")
	case has(Network) == has(MCC):
		return errors.New("there must be a column network (MCC and MNC together), or a column mcc")
	case has(MNC) && !has(MCC):
		return errors.New("there is a column mnc, and none of mcc")
	}
	return nil
}

// CheckColumns returns what is wrong with columns as an option names them, nil if nothing is.
func CheckColumns(columns []string) error {
	for i, c := range columns {
		if !slices.Contains(Columns(), c) {
			return fmt.Errorf("%q is no column: it must be one of %s", c, strings.Join(Columns(), ", "))
		}
		if c != Ignored && slices.Contains(columns[:i], c) {
			return fmt.Errorf("%s is there twice", c)
		}
	}
	if len(columns) > maxColumns {
		return fmt.Errorf("there are more than %d columns", maxColumns)
	}
	return missing(columns)
}

// row adds the row of a line.
func (r *reader) row(fields [][]byte, line int) error {
	if len(fields) != len(r.columns) {
		return fmt.Errorf("it has %d columns instead of %d", len(fields), len(r.columns))
	}
	var from, to, network, mcc, mnc, name []byte
	for i, c := range r.columns {
		switch c {
		case Prefix:
			from, to = fields[i], fields[i]
		case From:
			from = fields[i]
		case To:
			to = fields[i]
		case Network:
			network = fields[i]
		case MCC:
			mcc = fields[i]
		case MNC:
			mnc = fields[i]
		case Name:
			name = fields[i]
		}
	}
	n, err := networkOf(network, mcc, mnc)
	if err != nil {
		return err
	}
	low, digits, err := r.key(from)
	if err != nil {
		return err
	}
	high, ends, err := r.key(to)
	switch {
	case err != nil:
		return err
	case digits != ends:
		return fmt.Errorf("its first number has %d digits, and its last one %d: they must have as many", digits, ends)
	case high < low:
		return errors.New("its first number is behind its last one")
	case len(name) > maxName || !utf8.Valid(name) || bytes.ContainsFunc(name, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return fmt.Errorf("its name must be UTF-8 without control characters, at most %d octets", maxName)
	}
	place, ok := r.b.placeOf(n, name)
	if !ok {
		return fmt.Errorf("there are more than %d networks", maxNetworks)
	}
	r.b.add(row{from: low, to: high + r.weights[maxDigits-digits] - 1, line: uint32(line), place: place})
	return nil
}

// networkOf reads a network from its column, or from those of MCC and MNC.
func networkOf(network, mcc, mnc []byte) (sms.Network, error) {
	if network == nil {
		if len(mcc) != 3 {
			return 0, fmt.Errorf("the MCC %.20q must have 3 digits", mcc)
		}
		if len(mnc) == 1 {
			return 0, fmt.Errorf("the MNC %q must have 2 or 3 digits: a spreadsheet may have dropped its zeros", mnc)
		}
		if len(mnc) > 3 {
			return 0, fmt.Errorf("the MNC %.20q must have 2 or 3 digits", mnc)
		}
		network = append(append(make([]byte, 0, 6), mcc...), mnc...)
	} else if len(network) > 3 && (network[3] == '-' || network[3] == ' ') {
		network = append(append(make([]byte, 0, 6), network[:3]...), network[4:]...)
	}
	n, ok := sms.ReadNetwork(network)
	if !ok {
		return 0, fmt.Errorf("the network %.20q must be MCC and MNC, 5 or 6 digits, or MCC alone", network)
	}
	return n, nil
}

// key reads a number, and returns its key and how many digits it has.
func (r *reader) key(number []byte) (key uint64, digits int, err error) {
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
	if digits == 0 {
		return 0, 0, errors.New("it has no number")
	}
	return key, digits, nil
}
