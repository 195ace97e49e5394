package sheet

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"pmg/sms"
)

// maxDigits is the maximum number of digits in a number (ITU-T E.164).
const maxDigits = 15

// NetworkOf returns the network of a row, from its column network, or from MCC and MNC. If the MNC is empty, a star, or a word
// for all networks, it returns the whole country. Without any of these columns' values it returns 0.
func NetworkOf(r *Row) (sms.Network, error) {
	network, mcc, mnc := r.Get(Network), r.Get(MCC), r.Get(MNC)
	if r.Has(MCC) {
		if len(mcc) == 0 && len(mnc) == 0 {
			return 0, nil
		}
		if len(mcc) != 3 || !isDigits(mcc) {
			return 0, In(MCC, fmt.Errorf("the MCC %.20q must have 3 digits", mcc))
		}
		switch {
		case isDigits(mnc) && len(mnc) > 1 && len(mnc) <= 3:
		case isEach(mnc):
			mnc = nil
		case len(mnc) == 1:
			return 0, In(MNC, fmt.Errorf("the MNC %q must have 2 or 3 digits: a spreadsheet may have dropped its zeros", mnc))
		case len(mnc) > 3 || !isDigits(mnc):
			return 0, In(MNC, fmt.Errorf("the MNC %.20q must have 2 or 3 digits", mnc))
		}
		network = append(append(make([]byte, 0, 6), mcc...), mnc...)
	}
	if len(network) == 0 {
		return 0, nil
	}
	n, ok := ReadNetwork(network)
	if !ok {
		return 0, In(Network, fmt.Errorf("the network %.20q must be MCC and MNC, 5 or 6 digits, or MCC alone", network))
	}
	return n, nil
}

// ReadNetwork parses MCC and MNC together, or MCC alone: 24001, 240-01, 240 01, 240, 240-*.
func ReadNetwork(text []byte) (sms.Network, bool) {
	if len(text) > 3 && bytes.IndexByte([]byte("-/ ."), text[3]) >= 0 {
		mnc := bytes.TrimSpace(text[4:])
		if isEach(mnc) {
			mnc = nil
		} else if len(mnc) < 2 {
			return 0, false // a zero is missing
		}
		text = append(append(make([]byte, 0, 6), text[:3]...), mnc...)
	}
	return sms.ReadNetwork(text)
}

// isEach reports whether an MNC means all networks of a country.
func isEach(mnc []byte) bool {
	switch strings.ToLower(string(bytes.Join(bytes.Fields(mnc), nil))) {
	case "", "*", "-", "all", "any", "allnetworks", "allmobile", "allmobiles", "country":
		return true
	}
	return false
}

// Ambiguous finds networks that a spreadsheet may have confused by dropping a zero: 310-30 and 310-030.
type Ambiguous map[sms.Network]int // line of each network, whose MNC is shortened to two digits

// Add records the network of a line. It returns an error if the network with the other form of the MNC was added before.
func (a Ambiguous) Add(n sms.Network, line int) error {
	short, isShort := n.Short()
	if short == 0 {
		return nil
	}
	if !isShort {
		line = -line
	}
	before, known := a[short]
	if !known {
		a[short] = line
		return nil
	}
	if before > 0 != (line > 0) {
		return fmt.Errorf(
			"its MNC has another number of digits than in line %d: %s with and without a leading 0 are different networks",
			max(before, -before), n,
		)
	}
	return nil
}

// Prefixes returns the prefixes and ranges in a cell: for each its first and last prefix, in digits without + or 00.
func Prefixes(cell []byte) (all [][2][]byte, err error) {
	one, ok, err := prefixOf(cell)
	if err != nil || ok {
		return append(all, [2][]byte{one, one}), err
	}
	for _, part := range bytes.FieldsFunc(cell, func(c rune) bool { return c == ',' || c == ';' || c == '|' || c == '/' }) {
		several, err := severalOf(bytes.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		for _, part = range several {
			from, to, isRange := bytes.Cut(part, []byte{'-'})
			low, ok, err := prefixOf(from)
			if err == nil && !ok {
				err = fmt.Errorf("the number %.30q must be digits", part)
			}
			if err != nil {
				return nil, err
			}
			high := low
			if isRange {
				if high, ok, err = prefixOf(to); err == nil && !ok {
					err = fmt.Errorf("the number %.30q must be digits", to)
				}
				if err != nil {
					return nil, err
				}
			}
			all = append(all, [2][]byte{low, high})
		}
	}
	if len(all) == 0 {
		return nil, errors.New("the cell has no number")
	}
	return all, nil
}

// mostOfRange is the maximum number of prefixes in a range whose prefixes are stored one by one.
const mostOfRange = 10_000

// Each calls take for each prefix of a cell, including all prefixes of a range.
func Each(cell []byte, take func(prefix string) error) error {
	all, err := Prefixes(cell)
	if err != nil {
		return In(Prefix, err)
	}
	for _, one := range all {
		low, _ := strconv.ParseUint(string(one[0]), 10, 64) // it has at most maxDigits digits
		high, _ := strconv.ParseUint(string(one[1]), 10, 64)
		switch {
		case len(one[0]) != len(one[1]):
			return fmt.Errorf("the range %s-%s must have as many digits on both sides", one[0], one[1])
		case high < low || high-low >= mostOfRange:
			return fmt.Errorf("the range %s-%s must be ascending, with fewer than %d numbers", one[0], one[1], mostOfRange)
		}
		for ; low <= high; low++ {
			if err := take(strconv.FormatUint(low, 10)); err != nil {
				return err
			}
		}
	}
	return nil
}

// severalOf splits a cell at its blanks if each part can be a prefix: all have at least three digits. Otherwise the blanks
// belong to the number, as in +46 70.
func severalOf(part []byte) ([][]byte, error) {
	fields := bytes.Fields(bytes.ReplaceAll(part, []byte(" - "), []byte{'-'}))
	for _, f := range fields {
		if len(bytes.TrimLeft(f, "+")) < 4 {
			return [][]byte{part}, nil
		}
		if !bytes.Equal(bytes.TrimLeft(f, "+0")[:2], bytes.TrimLeft(fields[0], "+0")[:2]) {
			return nil, fmt.Errorf("%.40q may be one number or several: write a comma between several", part)
		}
	}
	return fields, nil
}

// prefixOf parses one prefix. It reports false for a cell with several prefixes, or a range.
func prefixOf(cell []byte) (digits []byte, ok bool, err error) {
	text := bytes.TrimSpace(cell)
	digits = bytes.TrimPrefix(text, []byte{'+'})
	if !isDigits(digits) {
		digits = nil
		group, long := 0, 0
		for i, c := range text {
			switch {
			case c >= '0' && c <= '9':
				digits = append(digits, c)
				if group++; group == 4 {
					long++
				}
			case c == '+' && i == 0:
			case c == ' ' || c == '-':
				group = 0
			default:
				return nil, false, nil
			}
		}
		if long > 1 || isRange(text) { // 46700-46709, 46701 46702
			return nil, false, nil
		}
	}
	digits = bytes.TrimPrefix(digits, []byte("00"))
	switch {
	case len(digits) == 0:
		return nil, false, errors.New("it has no number")
	case digits[0] == '0':
		return nil, false, fmt.Errorf("the number %.30q begins with a 0, and no country code does", text)
	case len(digits) > maxDigits:
		return nil, false, fmt.Errorf("the number %.30q has more than %d digits", text, maxDigits)
	}
	return digits, true, nil
}

// isRange reports whether both sides of a hyphen have the same number of digits, and enough digits for two numbers.
func isRange(text []byte) bool {
	from, to, ok := bytes.Cut(bytes.TrimLeft(text, "+"), []byte{'-'})
	return ok && len(bytes.TrimSpace(from)) == len(bytes.TrimSpace(to))
}

func isDigits(text []byte) bool {
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(text) > 0
}
