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
		"01146701740605": true, "08701740605": false, "06701740605": false, "4712345678": true, "012345678": true, "12345678": true, "2125550100": true, "02125550100": true, "+12125550100": true, "ACME": false, "1234": false,
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
		"467017406050": false, "x46701740605": true, "46701740605f": true, "tel46701740605": true, "\x01\x01\x0146701740605": true,
		"\x00\x0146701740605": true, "5\x0046701740605": true, "\x00a\x004\x006\x007\x000\x001\x007\x004\x000\x006\x000\x005\x00b": true,
		"70174060": false, "": false,
	} {
		if n.IsIn([]byte(text)) != want {
			t.Errorf("in %q: %v", text, !want)
		}
		if want && !n.MayBeIn([]byte(text)) && !strings.Contains(text, "\x00") { // lines have \x00 for it
			t.Errorf("%q is passed over", text)
		}
	}
}

// The national form is that of the country.
func TestTrunks(t *testing.T) {
	t.Parallel()
	for number, forms := range map[string]string{
		"+79161234567": "89161234567 09161234567", "+375291234567": "80291234567 8291234567", "+36201234567": "06201234567",
		"+390612345678": "0612345678", "+34612345678": "612345678", "+46701740605": "0701740605",
	} {
		n := numbers(t, number)
		for _, form := range strings.Fields(forms) {
			if text := []byte("tel:" + form); !n.IsNumber([]byte(form), false) || !n.IsIn(text) || !n.MayBeIn(text) {
				t.Errorf("%s as %s", number, form)
			}
		}
	}
	if n := numbers(t, "+79161234567"); n.IsIn([]byte("9161234567")) || n.IsIn([]byte("069161234567")) {
		t.Error("a number without, or with another trunk prefix")
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
	for number, want := range map[string]bool{"123456": false, "1234567": true, "123456789012345": true, "1234567890123456": false} {
		if _, err := ParseNumbers([]string{number}); (err == nil) != want {
			t.Errorf("%s: %v", number, err)
		}
	}
	if _, err := ParseNumbers(many[:MaxNumbers]); err != nil {
		t.Error(err)
	}
	if n := numbers(t, "46701740605", "+46701740605"); n.Len() != 1 {
		t.Errorf("%d numbers", n.Len())
	}
}

// A national number has six digits in some countries; a shorter one is found with its country code alone.
func TestShortNational(t *testing.T) {
	t.Parallel()
	six, five := numbers(t, "+687123456"), numbers(t, "+68212345")
	if !six.IsNumber([]byte("123456"), true) || !six.IsIn([]byte("call 123456!")) || !six.IsIn([]byte("call 687123456")) {
		t.Error("a national number of six digits is not found")
	}
	if five.IsNumber([]byte("12345"), true) || five.IsIn([]byte("call 12345!")) || !five.IsIn([]byte("call 68212345!")) {
		t.Error("a national number of five digits is found, or the international one is not")
	}
}

// A character of UCS-2 beside a number is no digit, though an octet of it would be one.
func TestWide(t *testing.T) {
	t.Parallel()
	n := numbers(t, "+46701740605")
	digits := "\x004\x006\x007\x000\x001\x007\x004\x000\x006\x000\x005"
	for text, want := range map[string]bool{
		"\x04\x30" + digits: true, digits + "\x04\x30": true, "x\x04\x30" + digits: true, "\x00\x31" + digits: false, digits + "\x00\x31": false,
	} {
		if n.IsIn([]byte(text)) != want {
			t.Errorf("in %q: %v", text, !want)
		}
	}
}
