package privacy

import (
	"strings"
	"testing"
)

func numbers(t *testing.T, all ...string) *Numbers {
	t.Helper()
	n, err := ParseNumbers(all)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A number is found in all of its forms, and no other number is.
func TestNumbers(t *testing.T) {
	n := numbers(t, "+46 70-174 06 05", "4712345678", "1.212.555.0100")
	for address, want := range map[string]bool{
		"46701740605": true, "+46701740605": true, "0046701740605": true, "0701740605": true,
		"701740605": false, "6701740605": false, "467017406051": false, "146701740605": false, "01740605": false, "": false,
		"4712345678": true, "012345678": true, "12345678": false, "02125550100": true, "+12125550100": true, "ACME": false, "1234": false,
	} {
		if n.IsNumber([]byte(address), false) != want {
			t.Errorf("%s: %v", address, !want)
		}
	}
	for address, want := range map[string]bool{"701740605": true, "12345678": true, "0701740605": true, "1740605": false} {
		if n.IsNumber([]byte(address), true) != want {
			t.Errorf("national %s: %v", address, !want)
		}
	}
	for text, want := range map[string]bool{
		"call +46701740605!": true, "46701740605": true, "0701740605,": true, "46701740605:281126101112": true,
		"\x004\x006\x007\x000\x001\x007\x004\x000\x006\x000\x005": true,
		"467017406050": false, "x46701740605": false, "46701740605f": false, "1a46701740605b3c": false, "70174060": false, "": false,
	} {
		if n.IsIn([]byte(text)) != want {
			t.Errorf("in %q: %v", text, !want)
		}
		if want && !n.MayBeIn([]byte(text)) && !strings.Contains(text, "\x00") { // lines have \x00 for it
			t.Errorf("%q is passed over", text)
		}
	}
}

// What is no number of a person is refused.
func TestNoNumbers(t *testing.T) {
	many := make([]string, MaxNumbers+1)
	for i := range many {
		many[i] = "4670000" + string(rune('0'+i/100)) + string(rune('0'+i/10%10)) + string(rune('0'+i%10))
	}
	for _, all := range [][]string{{"ACME"}, {"71234"}, {"0701740605"}, {"+4670174060512345"}, {""}, {}, {"+"}, {"46701740605", "x"}, many} {
		if _, err := ParseNumbers(all); err == nil || !strings.HasPrefix(err.Error(), "cannot forget") {
			t.Errorf("%.3q: %v", all, err)
		}
	}
	if n := numbers(t, "46701740605", "+46701740605"); n.Len() != 1 {
		t.Errorf("%d numbers", n.Len())
	}
}
