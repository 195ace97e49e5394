package networks

import (
	"strings"
	"testing"
)

// Tables are read as suppliers send them: several prefixes and ranges in a cell, quotes, rows without fields, names in Latin-1.
func TestSuppliers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text    string
		options Options
		want    string
	}{
		"ranges":            {"46700-46709,24001\n", Options{}, "4670174060=24001 46709=24001 4671= 46699="},
		"several, by blank": {"\"46701 46702\",24001\n", Options{}, "46701=24001 46702=24001 46703= 4670146702=24001"},
		"several, by comma": {"\"46701, 46703-46704,+467 05\",24001\n", Options{}, "46701=24001 46702= 46704=24001 46705=24001"},
		"several, by slash": {"46701/46703;24001\n", Options{}, "46701=24001 46702= 46703=24001"},
		"00 in front":       {"0046701,24001\n", Options{}, "46701=24001 0046701="},
		"a name with a separator": {
			"prefix,mccmnc,name\n46701,24007,\"Net4; Sweden \"\"4\"\"\"\n,,\n", Options{}, "46701=24007",
		},
		"prefix, mcc, mnc, network": {"prefix,mcc,mnc,network\n46701,240,01,Telia\n", Options{}, "46701=24001"},
		"Country, Network, MCCMNC":  {"Country;Network;MCCMNC;Prefix\nSweden;Telia;240-01;46701\n;;;\n", Options{}, "46701=24001"},
		"all networks":              {"prefix,mcc,mnc\n46,240,all networks\n", Options{}, "46701=240"},
		"Latin-1":                   {"prefix;network;name\n4510;23801;D\xe4nemark\n", Options{Charset: "latin1"}, "4510=23801"},
	} {
		all, err := read(strings.NewReader(c.text), "networks.csv", c.options)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		t.Run(name, func(t *testing.T) { wants(t, digitsIn(all), c.want) })
		if name == "Latin-1" && all.Name(1_23801) != "D\u00e4nemark" {
			t.Error(all.Name(1_23801))
		}
		if name == "a name with a separator" && all.Name(1_24007) != `Net4; Sweden "4"` {
			t.Error(all.Name(1_24007))
		}
	}
	for text, want := range map[string]string{
		"prefix,mcc,mnc\n1,310,30\n2,310,030\n":  ":3: cannot read \"2,310,030\": its MNC has another number of digits than in line 2",
		"070,24001\n":                            "column prefix: the number \"070\" begins with a 0",
		"46709-46700,24001\n":                    "the first number is greater than the last one",
		"46-47,24001\n":                          "",
		"4670 1740,24001\n":                      "may be one number or several",
		"46701.0,24001\n":                        "must be digits",
		"prefix;network;name\n45;23801;D\xe4n\n": "charset: latin1",
	} {
		if _, err := read(strings.NewReader(text), "networks.csv", Options{}); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
