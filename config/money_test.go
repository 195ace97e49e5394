package config

import (
	"slices"
	"strings"
	"testing"

	"pmg/internal/sheet"
	"pmg/sms/prices"
)

// The options of a list of prices take the columns, the charsets and the forms of days that are read.
func TestPriceWords(t *testing.T) {
	t.Parallel()
	for path, want := range map[string][]string{
		"prices[].columns": prices.Columns(), "prices[].charset": {"utf-8", sheet.Latin1}, "prices[].dates": prices.DateForms(),
	} {
		i := slices.IndexFunc(Describe(), func(o Option) bool { return o.Path == path })
		if i < 0 {
			t.Fatalf("there is no option %s", path)
		}
		got := strings.Split(Describe()[i].Allowed, ", ")
		if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("%s: %q, and read are %q", path, got, want)
		}
	}
}

// Amounts have a currency, or a warning that they have several.
func TestAmountsIn(t *testing.T) {
	t.Parallel()
	for currencies, want := range map[string]string{
		"": "", "EUR": "amounts are in EUR", "EUR EUR": "amounts are in EUR",
		"SEK EUR SEK": "amounts are in the currency of each account and SMSC (EUR, SEK): sums of several mean nothing",
	} {
		c := Default()
		for _, one := range strings.Fields(currencies) {
			c.Prices = append(c.Prices, Prices{Currency: one})
		}
		if got := c.AmountsIn(); got != want {
			t.Errorf("%s: %s", currencies, got)
		}
	}
}
