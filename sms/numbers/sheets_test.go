package numbers

import (
	"fmt"
	"strings"
	"testing"
)

// Lists as spreadsheets and other programs write them: what a person reads there is on the list.
func TestSheets(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want string // the first rows, then counts
	}{
		"a customer system": {
			"\xef\xbb\xbfMobile;Opt-out date;Reason\r\n+46 70 174 06 05;2026-11-01;STOP\r\n;;\r\n0046701740606;01.11.2026;\"he said \"\"no\"\"; twice\"\r\n",
			"number 46701740605, number 46701740606: 2 numbers, 0 prefixes, 0 names",
		},
		"a further column in front": {
			"id,Phone number,created\n1,+4670-174 0605,2026-11-01T08:00:00Z\n2,(46) 701740606,\n", "number 46701740605, number 46701740606: 2 numbers, 0 prefixes, 0 names",
		},
		"Latin-1 beside the numbers":      {"msisdn\tnote\n46701740605\tk\xf6nig\n", "number 46701740605: 1 numbers, 0 prefixes, 0 names"},
		"rows without their last columns": {"number,note\n46701\n46702,x\n", "number 46701, number 46702: 2 numbers, 0 prefixes, 0 names"},
		"one column with its header":      {"MSISDN\n46701\n", "number 46701: 1 numbers, 0 prefixes, 0 names"},
		"a column with empty ones":        {"46701;\n;46702\n;;\n", "number 46701, number 46702: 2 numbers, 0 prefixes, 0 names"},
		"prefixes":                        {"prefix,operator\n4670,A\n+46 73,B\n004676*,C\n", "numbers that begin with 4670, numbers that begin with 4673, numbers that begin with 4676: 0 numbers, 3 prefixes, 0 names"},
		"senders":                         {"Sender ID|Company\nACME|Acme Ltd\nMy shop|Shop, Inc\n12345|x\n", "sender ACME, sender MY SHOP, number 12345: 1 numbers, 0 prefixes, 2 names"},
		"a name that could be a header":   {"Mobile\nCode\nPhone\n", "sender MOBILE, sender CODE, sender PHONE: 0 numbers, 0 prefixes, 3 names"},
		"quotes, one column":              {"\"46701740605\"\n\"Shop, Inc\"\n", "number 46701740605, sender SHOP, INC: 1 numbers, 0 prefixes, 1 names"},
		"a comment behind a row":          {"number,note\n46701,x # y\n46702,\"#1\"\n", "number 46701, number 46702: 2 numbers, 0 prefixes, 0 names"},
		"a country beside the number":     {"number,country\n46701,Sweden\n", "number 46701: 1 numbers, 0 prefixes, 0 names"},
	} {
		l, err := Open(write(t, c.text), false)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		table := l.file.InForce()
		got := fmt.Sprintf("%s: %d numbers, %d prefixes, %d names", strings.Join(table.First, ", "), table.Counts.Numbers, table.Counts.Prefixes, table.Counts.Names)
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// What a person would read in another way is refused.
func TestSheetsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"the country code beside":        {"Country code;Number\n46;701740605\n", ":1: the country code has a column of its own"},
		"a code, which may be it":        {"Code;Number\n46;701740605\n", ":1: the country code has a column of its own"},
		"a country that is a code":       {"Country;Number\n46;701740605\n", "column country: \"46\" may be a part of the number"},
		"two columns of numbers":         {"Phone;Mobile\n468123;46701\n", "its columns \"Phone\" and \"Mobile\" are both the number"},
		"a number and a prefix":          {"Prefix;Number\n46;701740605\n", `there are the columns "number" and "prefix"`},
		"no header":                      {"46701740605;2026-11-01\n", ":1: it has 2 columns, but its first line is not a header"},
		"a header in unknown words":      {"Rufnummer;Datum\n46701740605;2026-11-01\n", ":1: it has 2 columns, but its first line is not a header"},
		"a row without its number":       {"number,note\n46701,x\n,y\n", ":3: cannot read \",y\": column number: it is empty"},
		"a number with an exponent":      {"number,note\n\"4,67017E+10\",x\n", ":2: cannot read"},
		"more fields than columns":       {"number,note\n46701,x,y\n", ":2: cannot read \"46701,x,y\": it has 3 columns instead of 2"},
		"a quote that does not end":      {"number,note\n46701,\"x\n", "a closing quote is missing"},
		"a separator that changes":       {"number;note\n46701,46702;x\n", ":2: cannot read"},
		"a number and a day in a column": {"number,note\n46701740605 2026-11-01,x\n", "there is more than a number"},
	} {
		_, err := Open(write(t, c.text), false)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}
