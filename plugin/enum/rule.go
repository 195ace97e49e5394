package enum

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/miekg/dns"

	"pmg/plugin"
	"pmg/sms"
)

// verdictOf returns the verdict in an answer about a number, or the name to ask for next. The rules of NAPTR (RFC
// 3403) are tried in order, up to the first whose URI has a network or a routing number.
func verdictOf(answer *dns.Msg, number string) (v plugin.Verdict, next string, err error) {
	var rules []*dns.NAPTR
	for _, r := range answer.Answer {
		if rule, ok := r.(*dns.NAPTR); ok && len(rules) < maxRules {
			rules = append(rules, rule)
		}
	}
	slices.SortStableFunc(rules, func(a, b *dns.NAPTR) int {
		return cmp.Or(int(a.Order)-int(b.Order), int(a.Preference)-int(b.Preference))
	})
	for _, r := range rules {
		if r.Flags == "" && r.Replacement != "." && r.Replacement != "" {
			return v, r.Replacement, nil
		}
		if !strings.EqualFold(r.Flags, "u") || !isENUM(r.Service) {
			continue
		}
		uri, ruleErr := substitute(unescape(r.Regexp), number)
		if ruleErr != nil {
			err = fmt.Errorf("a rule of its answer cannot be applied: %w", ruleErr)
			continue
		}
		if v := read(uri); v.Network != "" || v.RoutingNumber != "" {
			return v, "", nil
		}
	}
	return v, "", err
}

// isENUM reports whether a rule is for ENUM: "E2U+pstn:tel", or "sip+E2U", the order before RFC 3761.
func isENUM(service string) bool {
	return slices.ContainsFunc(strings.Split(service, "+"), func(s string) bool { return strings.EqualFold(s, "E2U") })
}

// unescape returns the octets of a character string, which the library returns in the form of zone files.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if n, err := strconv.ParseUint(s[i:min(i+3, len(s))], 10, 8); err == nil && i+3 <= len(s) {
			b.WriteByte(byte(n))
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

var errRule = errors.New("it is not a substitution: delimiters must stand before, between and after expression and replacement")

// substitute applies a rule (RFC 3402 §3.2) to a number. The result is "" if its expression does not match.
func substitute(rule, number string) (string, error) {
	if len(rule) < 3 {
		return "", errRule
	}
	parts, flags, ok := cut(rule[1:], rule[0])
	if !ok || flags != "" && !strings.EqualFold(flags, "i") {
		return "", errRule
	}
	expression := parts[0]
	if flags != "" {
		expression = "(?i)" + expression
	}
	re, err := regexp.Compile(expression)
	if err != nil {
		return "", err
	}
	found := re.FindStringSubmatch(number)
	if found == nil {
		return "", nil
	}
	var b strings.Builder
	for i := 0; i < len(parts[1]); i++ {
		c := parts[1][i]
		if c != '\\' || i+1 == len(parts[1]) {
			b.WriteByte(c)
			continue
		}
		i++
		switch n := int(parts[1][i] - '0'); {
		case n < 0 || n > 9:
			b.WriteByte(parts[1][i])
		case n >= len(found):
			return "", fmt.Errorf("its replacement refers to group \\%d, which its expression does not have", n)
		default:
			b.WriteString(found[n])
		}
	}
	return b.String(), nil
}

// cut returns the expression, the replacement and the flags of a rule. A backslash before a delimiter makes it an
// ordinary character.
func cut(rule string, delimiter byte) (parts [2]string, flags string, ok bool) {
	for i := range parts {
		var b strings.Builder
		at := 0
		for ; at < len(rule) && rule[at] != delimiter; at++ {
			if rule[at] == '\\' && at+1 < len(rule) {
				if at++; rule[at] != delimiter {
					b.WriteByte('\\')
				}
			}
			b.WriteByte(rule[at])
		}
		if at == len(rule) {
			return parts, "", false
		}
		parts[i], rule = b.String(), rule[at+1:]
	}
	return parts, rule, true
}

// read returns the network or the routing number in a URI: its parameters mcc and mnc, the host of an operator (3GPP
// TS 23.003 §13.2), or the routing number of RFC 4694.
func read(uri string) (v plugin.Verdict) {
	var mcc, mnc, routing, within string
	separates := func(r rune) bool { return strings.ContainsRune(";?&@.:", r) }
	for _, field := range strings.FieldsFunc(strings.ToLower(uri), separates) {
		name, value, has := strings.Cut(field, "=")
		switch {
		case has && name == "mcc" && isDigits(value, 3, 3):
			mcc = value
		case has && name == "mnc" && isDigits(value, 2, 3):
			mnc = value
		case has && name == "rn":
			routing = value
		case has && name == "rn-context":
			within = value
		case strings.HasPrefix(field, "mcc") && isDigits(field[3:], 3, 3):
			mcc = field[3:]
		case strings.HasPrefix(field, "mnc") && isDigits(field[3:], 3, 3):
			mnc = field[3:]
		}
	}
	if mcc != "" && len(mnc) == 3 && mnc[0] == '0' && !sms.IsLongMNC(mcc, mnc) { // the MNC has two digits, and a zero for padding
		mnc = mnc[1:]
	}
	if mcc != "" && mnc != "" {
		if _, ok := sms.ReadNetwork(mcc + mnc); ok {
			v.Network = mcc + mnc
			return v
		}
	}
	routing = strings.NewReplacer("-", "", "(", "", ")", "").Replace(routing)
	if !strings.HasPrefix(routing, "+") && strings.HasPrefix(within, "+") {
		routing = within + routing
	}
	if routing = strings.TrimPrefix(routing, "+"); isDigits(routing, 3, maxRouting) {
		v.RoutingNumber = routing
	}
	return v
}

// maxRouting is the maximum number of digits in a routing number: a prefix and a number.
const maxRouting = 20

func isDigits(s string, least, most int) bool {
	return len(s) >= least && len(s) <= most && strings.Trim(s, "0123456789") == ""
}
