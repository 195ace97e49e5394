package privacy

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"pmg/pdulog"
	"pmg/sms/charset"
	"pmg/sms/number"
	"pmg/sms/plan"
)

// Bounds of what is forgotten at a time.
const (
	MaxNumbers    = 100
	leastDigits   = 7  // shorter numbers belong to services
	mostDigits    = 15 // maximum digits of an international number (E.164)
	leastNational = 6  // shorter numbers without a country code are not searched for
)

// Numbers are the phone numbers of people. Each is found in the forms in which it is written and dialled: with +, 00, 011 or
// nothing in front, and in national form, with the trunk prefix of the country or with the type of number for national numbers.
type Numbers struct {
	international map[string]bool
	forms         map[string]bool // digits that stand for one of the numbers in any context
	national      map[string]bool // digits that stand for one of the numbers if it is known that they have no country code
	needles       [][]byte        // each line with one of the numbers contains one of these
}

var _ pdulog.Subject = (*Numbers)(nil)

// ParseNumbers reads international numbers, as people write them.
func ParseNumbers(all []string) (*Numbers, error) {
	n := &Numbers{international: map[string]bool{}, forms: map[string]bool{}, national: map[string]bool{}}
	for _, text := range all {
		cleaned, err := number.Clean(text)
		digits := strings.TrimPrefix(strings.TrimPrefix(cleaned, "+"), "00")
		if err != nil || len(digits) < leastDigits || len(digits) > mostDigits || digits[0] == '0' {
			return nil, fmt.Errorf(
				"cannot forget a number that is not international: it must have %d to %d digits and begin with the country "+
					"code, such as +46701740605; names of senders and short numbers are no persons", leastDigits, mostDigits,
			)
		}
		n.add(digits)
	}
	switch {
	case len(n.international) == 0:
		return nil, fmt.Errorf("cannot forget nobody: name a number, such as +46701740605")
	case len(n.international) > MaxNumbers:
		return nil, fmt.Errorf("cannot forget more than %d numbers at a time: ask several times", MaxNumbers)
	}
	return n, nil
}

func (n *Numbers) add(digits string) {
	if n.international[digits] {
		return
	}
	n.international[digits] = true
	for _, front := range []string{"", "00", "011"} {
		n.forms[front+digits] = true
	}
	national := string(plan.National([]byte(digits)))
	if len(national) >= leastNational {
		n.national[national] = true
		for _, front := range trunks(strings.TrimSuffix(digits, national)) {
			n.forms[front+national] = true
		}
	} else {
		national = digits
	}
	end := []byte(national[max(0, len(national)-leastDigits):]) // all forms of the number end with these digits
	wide := bytes.Join(bytes.Split(end, nil), []byte{0})
	n.needles = append(
		n.needles, end, wide, bytes.Join(bytes.Split(end, nil), []byte(`\x00`)), // as UCS-2 is written in a line
		[]byte(hex.EncodeToString(end)), []byte(hex.EncodeToString(wide)),
	)
	for shift := range 8 { // packed in 7 bits, without the octets that share bits with other characters
		packed := charset.AppendPacked(nil, append(bytes.Repeat([]byte{0}, shift), end...), 0)
		whole := packed[(7*shift+7)/8 : 7*(shift+len(end))/8]
		n.needles = append(n.needles, bytes.ToUpper([]byte(hex.EncodeToString(whole))))
	}
}

// trunks returns what the countries with a code dial in front of their national numbers. A 0 is among it, because numbers are
// also written with it by those who do not know better.
func trunks(code string) []string {
	switch code {
	case "7", "370", "993": // 8 is dialed in front
		return []string{"0", "8"}
	case "375":
		return []string{"0", "8", "80"}
	case "36":
		return []string{"0", "06"}
	case "52":
		return []string{"0", "", "1", "01", "044", "045"}
	}
	if slices.Contains(strings.Fields(closed), code) {
		return []string{"0", ""}
	}
	return []string{"0"}
}

// closed are the codes of the countries where nothing is dialled in front of a number, wherever it is dialled.
const closed = "1 30 34 39 45 47 48 65 216 220 221 222 223 224 225 226 227 228 229 230 235 236 237 238 239 240 242 244 245 " +
	"248 253 257 258 266 267 268 269 350 351 352 354 356 357 371 372 376 378 420 500 501 502 503 504 505 506 507 " +
	"509 590 592 597 598 599 670 672 673 674 675 676 677 678 679 680 681 682 683 685 686 687 688 689 690 852 853 " +
	"960 965 968 973 974 975 992 998"

// Len returns how many numbers there are.
func (n *Numbers) Len() int { return len(n.international) }

// MayBeIn reports whether lines may contain one of the numbers. It is a fast check.
func (n *Numbers) MayBeIn(lines []byte) bool {
	for _, needle := range n.needles {
		if bytes.Contains(lines, needle) {
			return true
		}
	}
	return false
}

// IsNumber implements pdulog.Subject.
func (n *Numbers) IsNumber(address []byte, national bool) bool {
	digits := bytes.TrimPrefix(address, []byte{'+'})
	return n.forms[string(digits)] || national && n.national[string(digits)]
}

// IsIn implements pdulog.Subject. A number with a further digit beside it is another number.
func (n *Numbers) IsIn(octets []byte) bool {
	if n.isRun(octets) {
		return true
	}
	if bytes.IndexByte(octets, 0) < 0 { // the octets contain no UCS-2
		return false
	}
	return n.isRun(bytes.ReplaceAll(octets, []byte{0}, nil)) || n.isRun(wide(octets)) || n.isRun(wide(octets[1:]))
}

// wide returns the characters of UCS-2, with a blank for each that is no octet.
func wide(octets []byte) []byte {
	narrow := make([]byte, 0, len(octets)/2)
	for ; len(octets) > 1; octets = octets[2:] {
		if octets[0] == 0 {
			narrow = append(narrow, octets[1])
		} else {
			narrow = append(narrow, ' ')
		}
	}
	return narrow
}

// isRun reports whether one of the numbers is among the runs of digits.
func (n *Numbers) isRun(octets []byte) bool {
	for at := 0; at < len(octets); at++ {
		end := at
		for end < len(octets) && octets[end] >= '0' && octets[end] <= '9' {
			end++
		}
		if end-at >= leastNational && n.forms[string(octets[at:end])] {
			return true
		}
		at = end
	}
	return false
}
