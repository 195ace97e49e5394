package sheet

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The columns that can be read. A header may have other names for them.
const (
	Number    = "number"  // one number, or the name of a sender
	Prefix    = "prefix"  // all numbers that begin with the prefix
	From      = "from"    // with To: first prefix of a range
	To        = "to"      // last prefix of a range, with as many digits as From
	Network   = "network" // MCC and MNC
	MCC       = "mcc"
	MNC       = "mnc"
	Name      = "name" // name of the network, for people
	For       = "for"  // a network, a country, a prefix with a leading +, or *
	Price     = "price"
	ValidFrom = "valid_from"
	Currency  = "currency"
	Ignored   = "ignore" // any other column
)

// spelled are the suppliers' names of columns, in the form that plain returns.
var spelled = map[string]string{
	"prefix": Prefix, "code": Prefix, "dialcode": Prefix, "dialingcode": Prefix, "numberprefix": Prefix, "e164": Prefix,
	"e164prefix": Prefix, "prefixes": Prefix, "dialprefix": Prefix,

	"from": From, "start": From, "begin": From, "first": From, "rangestart": From, "rangefrom": From, "numberfrom": From,
	"startrange": From,

	"to": To, "end": To, "last": To, "rangeend": To, "rangeto": To, "numberto": To, "endrange": To,

	"network": Network, "mccmnc": Network, "plmn": Network, "networkcode": Network, "imsiprefix": Network, "e212": Network,

	"mcc": MCC, "mobilecountrycode": MCC, "mnc": MNC, "mobilenetworkcode": MNC,

	"name": Name, "operator": Name, "networkname": Name, "operatorname": Name, "carrier": Name, "mno": Name,

	"for": For, "destination": For,

	"price": Price, "rate": Price, "cost": Price, "pricepersms": Price, "unitprice": Price, "newprice": Price, "newrate": Price,

	"validfrom": ValidFrom, "effective": ValidFrom, "effectivefrom": ValidFrom, "effectivedate": ValidFrom,
	"startdate": ValidFrom, "validfromdate": ValidFrom, "date": ValidFrom,

	"currency": Currency, "curr": Currency, "ccy": Currency,
}

// A Header describes the columns of a table.
type Header struct {
	Columns  []string
	Currency string // currency in the header's name of the price, such as Rate (EUR); empty: none
	only     bool   // each row has one field, whatever its place
}

// headerOf parses the first line with fields. It reports whether the line is a header.
func headerOf(f *Form, fields [][]byte) (h *Header, isHeader bool, err error) {
	named := &Header{}
	some, code, twice := 0, false, error(nil)
	names := make([]string, len(fields))
	for i, field := range fields {
		names[i] = plain(field)
		column := named.columnOf(names[i], f, len(fields) > 1)
		if at := slices.Index(named.Columns, column); at >= 0 && column != Network && column != Name && column != Ignored {
			if twice == nil {
				twice = fmt.Errorf(
					"its columns %q and %q are both the %s: give one of them another name", fields[at], field, column,
				)
			}
			column = Ignored
		}
		code = code || column == MCC || column == Network && names[i] != Network
		if column != Ignored {
			some++
		}
		named.Columns = append(named.Columns, column)
	}
	if len(f.Columns) > 0 { // the header may be in any language
		isHeader = !slices.ContainsFunc(fields, isNumber)
		if isHeader && len(fields) != len(f.Columns) {
			return nil, false, fmt.Errorf("it has %d columns, but the option columns has %d", len(fields), len(f.Columns))
		}
		return &Header{Columns: f.Columns}, isHeader, f.Check(f.Columns)
	}
	named.nameNetworks(names, code, f)
	if some > 0 && !(some == 1 && slices.ContainsFunc(fields, isNumber)) {
		return named, true, cmp.Or(twice, f.Check(named.Columns))
	}
	if _, err := only(slices.Clone(fields)); f.Only != "" && err == nil {
		return &Header{Columns: []string{f.Only}, only: true}, false, nil
	}
	var columns []string
	if f.Default != nil {
		columns = f.Default(len(fields))
	}
	switch {
	case columns == nil && f.Only != "":
		return nil, false, fmt.Errorf(
			"it has %d columns, but its first line is not a header: write a line such as %s above it",
			len(fields), f.Example,
		)
	case columns == nil:
		return nil, false, fmt.Errorf(
			"it has %d columns, but its first line is not a header: write a line such as %s above it, or name them "+
				"with the option columns", len(fields), f.Example,
		)
	case !slices.ContainsFunc(fields, isNumber) && !slices.ContainsFunc(fields, isAll):
		return nil, false, fmt.Errorf(
			"its first line %.60q has neither a number nor a known name of a column: write a line such as %s there, or "+
				"name the columns with the option columns", strings.Join(names, " "), f.Example,
		)
	}
	return &Header{Columns: columns}, false, f.Check(columns)
}

// columnOf returns the column with a name, Ignored if it is not wanted.
func (h *Header) columnOf(name string, f *Form, several bool) string {
	column := f.Spelled[name]
	if column == "" && several {
		column = f.Beside[name]
	}
	if column == "" && (several || f.Only == "") {
		column = spelled[name]
	}
	if column == "" && f.HasPrice {
		column = h.priceIn(name)
	}
	if !slices.Contains(f.Wanted, column) {
		return Ignored
	}
	return column
}

// nameNetworks decides about a column "network": it is the network's name if another column has the codes.
func (h *Header) nameNetworks(names []string, code bool, f *Form) {
	seen := false
	for i, c := range h.Columns {
		switch {
		case c != Network:
		case code && names[i] == Network:
			if h.Columns[i] = Ignored; slices.Contains(f.Wanted, Name) && !slices.Contains(h.Columns, Name) {
				h.Columns[i] = Name
			}
		case seen || slices.Contains(h.Columns, MCC):
			h.Columns[i] = Ignored
		default:
			seen = true
		}
	}
}

// priceIn returns Price for a name with a currency, such as rateeur, and records the currency.
func (h *Header) priceIn(name string) string {
	const letters = 3
	if len(name) <= letters {
		return ""
	}
	for _, cut := range [][2]string{
		{name[:len(name)-letters], name[len(name)-letters:]}, {name[letters:], name[:letters]},
	} {
		if spelled[cut[0]] == Price && strings.Trim(cut[1], "abcdefghijklmnopqrstuvwxyz") == "" && h.Currency == "" {
			h.Currency = strings.ToUpper(cut[1])
			return Price
		}
	}
	return ""
}

// isNumber reports whether a field begins like a number.
func isNumber(field []byte) bool {
	return len(field) > 0 && (field[0] >= '0' && field[0] <= '9' || field[0] == '+')
}

func isAll(field []byte) bool { return string(field) == "*" }

// CheckColumns returns the error of columns that an option names, nil if they are valid.
func CheckColumns(columns, wanted []string, check func([]string) error) error {
	all := append(slices.Clone(wanted), Ignored)
	for i, c := range columns {
		if !slices.Contains(all, c) {
			return fmt.Errorf("there is no column %q: it must be one of %s", c, strings.Join(all, ", "))
		}
		if c != Ignored && slices.Contains(columns[:i], c) {
			return fmt.Errorf("the column %q is named twice", c)
		}
	}
	if len(columns) > MaxColumns {
		return fmt.Errorf("there are more than %d columns", MaxColumns)
	}
	return check(columns)
}

// CheckNetwork returns the error of the columns of networks.
func CheckNetwork(columns []string) error {
	has := func(name string) bool { return slices.Contains(columns, name) }
	switch {
	case has(Network) && has(MCC):
		return errors.New(`there must be a column "network" (MCC and MNC together), or a column "mcc", and not both`)
	case has(MNC) && !has(MCC):
		return errors.New(`there is a column "mnc", but no column "mcc"`)
	}
	return nil
}
