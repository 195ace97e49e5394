package prices

import (
	"strings"
	"testing"
	"time"

	"pmg/sms"
	"pmg/sms/number"
)

const list = `# prices of 2026
for;price;valid_from
24001;0.045;
24001;0.05;2026-12-01
240;0.06
+46701;0.04
+4670199;0
+4670;0.07;2026-12-01T00:00:00+01:00
*;0.09;2026-11-01
`

func TestOf(t *testing.T) {
	t.Parallel()
	l, err := Read(strings.NewReader(list), "prices.csv", Options{Currency: "EUR"})
	if err != nil || l.Rows != 7 {
		t.Fatal(l, err)
	}
	for _, c := range []struct{ number, network, at, want string }{
		{"46720000001", "24001", "2026-11-30T23:59:59Z", "0.045"}, {"46720000001", "24001", "2026-12-01T00:00:00Z", "0.05"},
		{"46720000001", "24005", "2026-12-01T00:00:00Z", "0.06"}, {"46720000001", "240", "2026-12-01T00:00:00Z", "0.06"},
		{"+46701000001", "24001", "2026-12-01T00:00:00Z", "0.04"}, {"46701990001", "24001", "2026-12-01T00:00:00Z", "0.00"},
		{"46700000001", "24001", "2026-11-30T22:59:59Z", "0.045"}, {"46700000001", "24001", "2026-11-30T23:00:00Z", "0.07"},
		{"4512345678", "", "2026-12-01T00:00:00Z", "0.09"}, {"4512345678", "", "2026-10-31T00:00:00Z", "none"}, {"467", "", "2026-10-31T00:00:00Z", "none"},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		network, _ := sms.ReadNetwork(c.network)
		got := "none"
		if price, ok := l.Of(number.Read(c.number), network, at.UnixNano()); ok {
			got = price.String()
		}
		if got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// What cannot be used is named with its line.
func TestBad(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"seven digits":       {"24001,0.045\n24002,0.0450001\n", `:2: cannot read "24002,0.0450001": column price: the price "0.0450001" has more than six decimals`},
		"below 0":            {"24001,-0.5\n", "must be from 0 to"},
		"too high":           {"24001,1000000.000001\n", "must be from 0 to 1000000.00"},
		"two commas":         {"24001;0,04,5\n", "must be an amount such as 0.045"},
		"another currency":   {"network,price,currency\n24001,0.045,USD\n", `its currency is "USD", but that of the list is EUR`},
		"no currency":        {"network,price,currency\n24001,0.045\n", "its currency is \"\""},
		"half a file":        {"24001,0.045\n24002,0.0", ":2: the last line does not end with a newline, so the file may be incomplete"},
		"half a row":         {"24001,0.045\n24002\n", "it has 1 columns"},
		"twice":              {"24001,0.045\n24001,0.05\n", ":2: cannot read \"24001,0.05\": line 1 has a price for the same, from the same day on"},
		"twice from a day":   {"24001,0.045,2026-12-01\n24001,0.05,2026-12-01\n", "line 1 has a price for the same"},
		"no network":         {"2400,0.045\n", `"2400" must be a network`},
		"no prefix":          {"+46x,0.045\n", "must be digits"},
		"no day":             {"24001,0.045,12.2026\n", "must be one such as 2026-12-01"},
		"a column too many":  {"24001,0.045,2026-12-01,x\n", "it has 4 columns"},
		"several":            {"a,1\nb,1\n", "1 more lines cannot be read, which pmg price check shows"},
		"nothing but a name": {"EUR\n", "has neither a number"},
	} {
		if _, err := Read(strings.NewReader(c.text), "prices.csv", Options{Currency: "EUR"}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ReadFile(t.TempDir()+"/none", Options{Currency: "EUR"}); err == nil || !strings.Contains(err.Error(), "make the file") {
		t.Error(err)
	}
}

func TestOfAllocatesNothing(t *testing.T) {
	l, err := Read(strings.NewReader(list), "prices.csv", Options{Currency: "EUR"})
	if err != nil {
		t.Fatal(err)
	}
	to, now := number.Read("46701000001"), time.Now().UnixNano()
	if n := testing.AllocsPerRun(100, func() { l.Of(to, 1_24001, now) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
