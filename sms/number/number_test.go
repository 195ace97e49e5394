package number

import (
	"strings"
	"testing"

	"pmg/sms"
)

func address(ton uint8, text string) sms.Address { return sms.Address{TON: ton, Addr: []byte(text)} }

// All forms of a number are equal, and have one key; those of another number are not.
func TestEqual(t *testing.T) {
	t.Parallel()
	groups := [][]sms.Address{
		{
			address(1, "46701740605"), address(1, "+46701740605"), address(0, "46701740605"), address(0, "+46701740605"),
			address(0, "0046701740605"), address(1, "0046701740605"), address(0, "01146701740605"), address(2, "0046701740605"),
		},
		{address(2, "701740605"), address(2, "0701740605"), address(0, "0701740605"), address(1, "0701740605")},
		{address(0, "701740605"), address(1, "701740605")},
		{address(0, "12345"), address(1, "12345"), address(3, "12345"), address(4, "12345"), address(0, "+12345")},
		{address(0, "012345")},
		{address(3, "46701740605"), address(4, "46701740605"), address(5, "46701740605")},
		{address(5, "ACME"), address(0, "ACME")},
		{address(5, "acme")},
		{address(0, "01159123456"), address(2, "1159123456")}, // Nottingham, and not Bolivia
		{address(0, "011987654321"), address(2, "11987654321")},
		{address(0, "00")},
		{address(0, "0000000000")},
		{address(0, "+")},
		{{}},
	}
	for i, group := range groups {
		for _, a := range group {
			for j, others := range groups {
				for _, b := range others {
					if got := Same(a, b); got != (i == j) {
						t.Errorf("%d %s and %d %s: %t", a.TON, a.Addr, b.TON, b.Addr, got)
					}
					if got := Of(a).Key() == Of(b).Key(); got != (i == j) {
						t.Errorf("the keys of %d %s and %d %s: %t", a.TON, a.Addr, b.TON, b.Addr, got)
					}
				}
			}
			if n := Of(a); n.Kind() != Within && !Read(n.String()).Equal(n) {
				t.Errorf("%d %s is written as %s, which is another", a.TON, a.Addr, n)
			}
		}
	}
}

func TestMayBe(t *testing.T) {
	t.Parallel()
	for pair, want := range map[string]bool{
		"46701740605 0701740605": true, "0701740605 +46701740605": true, "0701740605 47701740605": true, "46701740605 46701740605": true,
		"46701740605 701740605": false, "012345 4612345": false, "0740605 46701740605": false, "ACME ACME": true, "ACME acme": false,
	} {
		a, b, _ := strings.Cut(pair, " ")
		if got := Read(a).MayBe(Read(b)); got != want {
			t.Errorf("%s: %t", pair, got)
		}
	}
	if Read("").MayBe(Read("")) {
		t.Error("no number is a number")
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		address       sms.Address
		international bool
		person        bool
	}{
		{address(0, "12345"), false, false}, {address(1, "72500"), false, false}, {address(3, "72500"), false, false},
		{address(3, "46701740605"), false, true}, {address(2, "701740605"), false, true}, {address(0, "0701740605"), false, true},
		{address(0, "46701740605"), true, true}, {address(1, "+46701740605"), true, true}, {address(0, "0046701740605"), true, true},
		{address(5, "ACME"), false, false}, {sms.Address{}, false, false},
	} {
		if n := Of(c.address); n.IsInternational() != c.international || n.IsPerson() != c.person {
			t.Errorf("%d %s: %d", c.address.TON, c.address.Addr, n.Kind())
		}
	}
}

// A prefix with a '+' is none of a short code, and none of a number that names no country.
func TestTable(t *testing.T) {
	t.Parallel()
	var table Table[string]
	for _, text := range []string{"+1", "+7", "+46", "+46701", "725", "07"} {
		p, ok := ParsePrefix(text)
		if !ok {
			t.Fatal(text)
		}
		table.Set(p, text)
	}
	any := func(string) bool { return true }
	for to, want := range map[string]string{
		"12125550100": "+1", "12345": "", "72500": "725", "72599": "725", "73000": "", "+72500": "725", "+46701740605": "+46701",
		"0046701740605": "+46701", "46702000000": "+46", "0701740605": "07", "4670": "", "ACME": "", "": "", "72512345678": "725",
	} {
		if got, _ := table.Find(Read(to), any); got != want {
			t.Errorf("%s: %q, not %q", to, got, want)
		}
	}
	if got, _ := table.Find(Of(address(2, "4670174060")), any); got != "" {
		t.Error(got)
	}
	if got, _ := table.Find(Read("46701740605"), func(v string) bool { return v == "+46" }); got != "+46" {
		t.Error(got)
	}
	n := 0
	table.All(func(p Prefix, v string) bool {
		if at, ok := table.Of(p); !ok || at != v {
			t.Errorf("%+v: %s", p, at)
		}
		n++
		return n < 5
	})
	if n != 5 || table.Len() != 6 {
		t.Error(n, table.Len())
	}
	for _, bad := range []string{"+", "4x", "+4 6"} {
		if _, ok := ParsePrefix(bad); ok {
			t.Error(bad)
		}
	}
}

// What people write and copy is read; what may be something else is not.
func TestClean(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"+46 70-174 06 05": "+46701740605", " 46701740605\t": "46701740605", "+46 (0)70 174 06 05": "+46701740605",
		"0046 (0)701740605": "0046701740605", "(070) 1740605": "0701740605", "070/174.06.05": "0701740605",
		"\u202a+46701740605\u202c": "+46701740605", "+46\u00a070\u2011174\u20090605": "+46701740605", "\ufeff46701740605": "46701740605",
		"06 12 34 56 78": "0612345678", "011 46 70 174 06 05": "01146701740605", "07700 900123": "07700900123", "12345": "12345",
	} {
		if got, err := Clean(text); got != want || err != nil {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"4512345678 4512345679": "two numbers", "46701740605 2026-11-01": "", "12345 2026-11-01": "more than a number",
		"12345 01.11.2026": "more than a number", "12345 11/30/2026": "more than a number", "46701740605 5": "more than a number",
		"46701740605,1": `"," is not a digit`, "4670174o605": `"o" is not a digit`, "+46 +47": `"+" is not a digit`, "": "no digit", "+ -": "no digit",
		"46\x0070": "U+0000", "46\u030170": "the invisible character U+0301", "46\xff": "octet 3 is not UTF-8",
		"٤٦٧٠١": "is not a digit", "46701740605;46701740606": `";"`,
	} {
		if got, err := Clean(text); err == nil || !strings.Contains(err.Error(), want) || got != text {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

// What is done for each message allocates nothing.
func TestAllocations(t *testing.T) {
	a, b := address(0, "01146701740605"), address(1, "46701740605")
	room := make([]byte, 0, 64)
	var table Table[int]
	table.Set(Prefix{"46", true}, 1)
	now, name := 0, []byte("Müller")
	if n := testing.AllocsPerRun(100, func() {
		n := Of(a)
		if !n.Equal(Of(b)) || len(n.AppendKey(room)) == 0 {
			panic("they differ")
		}
		now++
		if v, ok := table.Find(n, func(v int) bool { return v <= now }); !ok || v != 1 {
			panic("there is no value")
		}
		AppendName(room, name)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
