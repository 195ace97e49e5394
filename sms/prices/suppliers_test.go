package prices

import (
	"strings"
	"testing"
	"time"

	"pmg/sms"
	"pmg/sms/number"
)

// pricesIn returns what a list charges now, for 46701740605=24001 and the like.
func pricesIn(l *List, of string) string {
	var all []string
	at := time.Date(2027, 6, 1, 0, 0, 0, 0, time.UTC).UnixNano()
	for _, one := range strings.Fields(of) {
		to, text, _ := strings.Cut(one, "=")
		network, _ := sms.ReadNetwork([]byte(text))
		price, ok := l.Of(number.Read(to), network, at)
		if all = append(all, price.String()); !ok {
			all[len(all)-1] = "none"
		}
	}
	return strings.Join(all, " ")
}

// Sheets are read as suppliers send them.
func TestSuppliers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text    string
		options Options
		of      string
		want    string
	}{
		"quotes, decimal commas": {
			"\xef\xbb\xbf\"MCC\";\"MNC\";\"Country\";\"Network\";\"Price EUR\";\"Valid from\"\r\n\"240\";\"01\";\"Sweden\";\"Telia\";\"0,0450\";\"01.12.2026\"\r\n" +
				"\"262\";\"\";\"Germany\";\"\";\"0,07\";\"\"\r\n\"240\";\"all networks\";\"Sweden\";\"\";\"0,0500000\";\"01.12.2026\"\r\n" +
				"\"240\";\"07\";\"Sweden\";\"Net4; Sweden \"\"4\"\"\";\"0,06\";\"01.12.2026\"\r\n;;;;;\r\n",
			Options{}, "46701740605=24001 46701740605=24005 491512345678=26201 46701740605=24007 4512345678=23801", "0.045 0.05 0.07 0.06 none",
		},
		"English": {
			"Country,Network,MCCMNC,Prefix,Rate (EUR),Effective Date,Change\nSweden,Telia,24001,4670,0.045,2026-12-01,decrease\n" +
				"Sweden,Telia,24001,4673,0.045,2026-12-01,decrease\nSweden,\"Net4, Sweden\",240-07,4676,.06,2026-12-01,\n",
			Options{}, "46701740605=24001 46761740605=24007 46701740605=", "0.045 0.06 none",
		},
		"tabs": {
			"MCC\tMNC\tRATE\tCURRENCY\tCOUNTRY\tOPERATOR\n240\t01\t0.045\tEUR\tSweden\tTelia\n240\t*\t0.05\tEUR\tSweden\t\n",
			Options{}, "46701740605=24001 46701740605=24005", "0.045 0.05",
		},
		"prefixes without plus": {
			"prefix,price\n46701,0.04\n358,0.07\n*,0.10\n", Options{}, "46701740605= 358401234567= 4512345678= 35840=", "0.04 0.07 0.10 0.10",
		},
		"ranges, several": {
			"prefix;price\n46700-46709;0,04\n45, 47;0,05\n4671 4672;0,06\n0049;0,07\n", Options{},
			"46705740605= 4512345678= 4712345678= 46711740605= 46721740605= 491512345678= 46731740605=", "0.04 0.05 0.05 0.06 0.06 0.07 none",
		},
		"short codes": {"+1,0.01\n+7,0.02\n*,0.5\n", Options{}, "12345= 72500= +12125550100= 0072500123456=", "0.50 0.50 0.01 0.02"},
		"options": {
			"Land;Netz;Preis;ab\nSchweden;24001;0,04500049;30/11/2026\nD\xe4nemark;23801;0,0450005;1/12/2026\n",
			Options{Columns: []string{"ignore", "network", "price", "valid_from"}, Charset: "latin1", Dates: "DD/MM/YYYY", Round: true},
			"46701740605=24001 4512345678=23801", "0.045 0.045001",
		},
		"no header":  {"24001;0,045\n240;0,05;01.12.2026\n", Options{}, "46701740605=24001 46701740605=24005", "0.045 0.05"},
		"thousands":  {"24001;1,234\n", Options{}, "46701740605=24001", ""},
		"a currency": {"mcc,mnc,price\n240,01,0.045 EUR\n", Options{}, "46701740605=24001", "0.045"},
	} {
		c.options.Currency = "EUR"
		l, err := Read(strings.NewReader(c.text), "prices.csv", c.options)
		if c.want == "" {
			if err == nil {
				t.Errorf("%s: it is read", name)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := pricesIn(l, c.of); got != c.want {
			t.Errorf("%s: %s, not %s", name, got, c.want)
		}
	}
}

// What a person reads in another way is refused with its line and its column.
func TestSuppliersRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"a zero is gone":         {"MCC,MNC,price\n240,1,0.045\n", `:2: cannot read "240,1,0.045": column mnc: the MNC "1" must have 2 or 3 digits`},
		"two forms":              {"mcc,mnc,price\n310,30,0.01\n310,030,0.02\n", ":3: cannot read \"310,030,0.02\": its MNC has another number of digits than in line 2"},
		"a day without an order": {"24001,0.045,01/12/2026\n", "the option dates names another form"},
		"seven digits":           {"24001,0.0450001\n", "the option round rounds"},
		"another currency":       {"mcc,mnc,price usd\n240,01,0.045\n", "its prices are in USD according to the header"},
		"an unknown header":      {"Land,Preis\n240,0.045\n", "nor a known name of a column"},
		"columns without names":  {"240,01,Sweden,0.045\n", "it has 4 columns, but its first line is not a header"},
		"a national prefix":      {"prefix,price\n070,0.04\n", "column prefix: the number \"070\" begins with a 0"},
		"scientific":             {"prefix,price\n4.67E+10,0.04\n", "must be digits"},
		"one number or two":      {"prefix,price\n4670 1740,0.04\n", "may be one number or several"},
		"a prefix in for":        {"4670,0.04\n", "a prefix with + in front"},
		"an empty price":         {"24001,\n", "the price \"\" must be an amount"},
		"signs":                  {"24001;-0,045\n", "must be from 0"},
		"points and commas":      {"24001;1.234,5\n", "must be an amount"},
		"a broken range":         {"prefix;price\n46709-46700;0.04\n", "must be ascending"},
	} {
		l, err := Read(strings.NewReader(c.text), "prices.csv", Options{Currency: "EUR"})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %+v", name, err, l)
		}
	}
}

// The counts say what rows are about, without the header, and the first ones as they were understood.
func TestCounts(t *testing.T) {
	t.Parallel()
	l, err := Read(strings.NewReader("mcc,mnc,price,valid from\n240,01,0.045,2026-12-01\n240,,0.05,\n"), "prices.csv", Options{Currency: "EUR"})
	if err != nil || l.Counts != (Counts{Rows: 2, Networks: 1, Countries: 1}) || l.HasOthers() || !l.HasNetwork(1_24005) || l.HasNetwork(1_23801) {
		t.Fatalf("%+v, %v", l, err)
	}
	if got := strings.Join(l.First, "; "); got != "network 240-01: 0.045 from 2026-12-01 on; country 240: 0.05" {
		t.Error(got)
	}
}
