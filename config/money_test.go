package config

import (
	"os"
	"path/filepath"
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

// The currencies of accounts and connectors are those of their lists. The costs of several currencies have none together.
func TestCurrencies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.csv"), []byte("*,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	yaml := "prices: [{name: e, currency: EUR, file: DIR/p.csv}, {name: s, currency: SEK, file: DIR/p.csv}]\n" +
		"accounts: [{system_id: a, password: x, prices: e}, {system_id: b, password: x}]\n" +
		"connectors:\n  - {name: one, direction: out, address: \"a:1\", system_id: x, costs: s}\n" +
		"  - {name: two, direction: out, address: \"b:1\", system_id: x, costs: OTHER}\n"
	for other, want := range map[string]string{"s": "SEK", "e": "", `""`: "SEK"} {
		c := mustParse(t, strings.NewReplacer("DIR", dir, "OTHER", other).Replace(yaml))
		if got := c.CostCurrency(); got != want {
			t.Errorf("costs %s: %q, not %q", other, got, want)
		}
		for account, price := range map[string]string{"a": "EUR", "b": "", "c": ""} {
			if p, k := c.Currencies(account, "one"); p != price || k != "SEK" {
				t.Errorf("%s: %s, %s", account, p, k)
			}
		}
		if p, k := c.Currencies("a", "none"); p != "EUR" || k != "" {
			t.Errorf("%s, %s", p, k)
		}
	}
}
