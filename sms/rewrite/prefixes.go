package rewrite

import (
	"bytes"
	"fmt"
	"strings"

	"pmg/sms"
)

// A prefix is an entry of prefixes: the beginning of an address, and its replacement. A leading '+' means TON international.
type prefix struct {
	old, next         []byte
	oldPlus, nextPlus bool
	stays             bool // the address is not changed
}

// prefixes checks the entries of prefixes.
func (c *compiler) prefixes() (all []prefix) {
	for i, entry := range c.Prefixes {
		name := fmt.Sprintf("prefixes[%d]", i)
		old, next, changes := strings.Cut(entry, "=")
		if strings.Contains(next, "=") || entry == "" {
			c.problem(name, "must be a prefix, or a prefix and its replacement: 0=46, not %q", entry)
		}
		c.address(name, entry)
		p := prefix{stays: !changes}
		old, p.oldPlus = strings.CutPrefix(old, "+")
		next, p.nextPlus = strings.CutPrefix(next, "+")
		p.old, p.next = []byte(old), []byte(next)
		all = append(all, p)
	}
	return all
}

// unify replaces the first prefix of the list that matches an address, using room. It reports whether a prefix matches, and
// whether the result fits.
func unify(prefixes []prefix, a *sms.Address, room []byte) (found, fits bool) {
	digits, plus := a.Addr, false
	if len(digits) > 0 && digits[0] == '+' {
		digits, plus = digits[1:], true
	} else if a.TON == tonInternational {
		plus = true
	}
	for i := range prefixes {
		p := &prefixes[i]
		if p.oldPlus != plus && len(p.old) > 0 || p.oldPlus && !plus || !bytes.HasPrefix(digits, p.old) {
			continue
		}
		rest := digits[len(p.old):]
		switch {
		case p.stays:
			return true, true
		case len(p.next)+len(rest) > MaxAddress:
			return true, false
		}
		a.Addr = append(append(room, p.next...), rest...)
		switch {
		case p.nextPlus:
			a.TON, a.NPI = tonInternational, npiISDN
		case plus:
			a.TON = tonUnknown
		}
		return true, true
	}
	return false, true
}
