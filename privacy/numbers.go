package privacy

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"

	"pmg/pdulog"
	"pmg/sms/plan"
)

// Bounds of what is forgotten at a time.
const (
	MaxNumbers    = 100
	leastDigits   = 7  // shorter ones are those of services
	mostDigits    = 15 // of an international number (E.164)
	leastNational = 6  // digits without the country code, below which they are not looked for
)

// Numbers are the phone numbers of people. Each is found in the forms in which it is written: with +, 00 or nothing in front,
// and national, with a 0 in front or with a type of number that says so.
type Numbers struct {
	international map[string]bool
	national      map[string]bool // without a country code, and without a 0 in front
	needles       [][]byte        // one of which lines have that have a number
}

var _ pdulog.Subject = (*Numbers)(nil)

// ParseNumbers reads international numbers. Blanks and - . / ( ) in them make no difference.
func ParseNumbers(all []string) (*Numbers, error) {
	n := &Numbers{international: map[string]bool{}, national: map[string]bool{}}
	for _, text := range all {
		digits := strings.Map(func(c rune) rune {
			if strings.ContainsRune(" -./()", c) {
				return -1
			}
			return c
		}, text)
		digits = strings.TrimPrefix(strings.TrimPrefix(digits, "+"), "00")
		if strings.Trim(digits, "0123456789") != "" || len(digits) < leastDigits || len(digits) > mostDigits || digits[0] == '0' {
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
	national := string(plan.National([]byte(digits)))
	if len(national) >= leastNational {
		n.national[national] = true
	} else {
		national = digits
	}
	end := []byte(national[max(0, len(national)-leastDigits):]) // which all forms have
	wide := bytes.Join(bytes.Split(end, nil), []byte{0})
	n.needles = append(
		n.needles, end, bytes.Join(bytes.Split(end, nil), []byte(`\x00`)), // UCS-2 in a line
		[]byte(hex.EncodeToString(end)), []byte(hex.EncodeToString(wide)),
	)
}

// Len returns how many numbers there are.
func (n *Numbers) Len() int { return len(n.international) }

// MayBeIn reports whether lines may have one of the numbers. It takes little time.
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
	if rest, ok := bytes.CutPrefix(digits, []byte("00")); ok {
		digits = rest
	}
	if n.international[string(digits)] || national && n.national[string(digits)] {
		return true
	}
	rest, ok := bytes.CutPrefix(digits, []byte{'0'})
	return ok && n.national[string(rest)]
}

// IsIn implements pdulog.Subject. A number counts where neither letters nor digits are beside it.
func (n *Numbers) IsIn(octets []byte) bool {
	if bytes.IndexByte(octets, 0) >= 0 { // UCS-2
		octets = bytes.ReplaceAll(octets, []byte{0}, nil)
	}
	for at := 0; at < len(octets); {
		if !isWord(octets[at]) {
			at++
			continue
		}
		end, digits := at, true
		for ; end < len(octets) && isWord(octets[end]); end++ {
			digits = digits && octets[end] <= '9'
		}
		if digits && end-at >= leastNational && n.IsNumber(octets[at:end], false) {
			return true
		}
		at = end
	}
	return false
}

func isWord(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' }
