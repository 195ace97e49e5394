package rewrite

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pmg/sms"
)

// compiled returns rules that must be right.
func compiled(t testing.TB, rules ...Rule) (in, out *Rules) {
	t.Helper()
	in, out, problems := Compile(rules)
	if len(problems) > 0 {
		t.Fatalf("%v", problems)
	}
	return in, out
}

// show writes an address as these tests do: TON/NPI address.
func show(a sms.Address) string { return fmt.Sprintf("%d/%d %s", a.TON, a.NPI, a.Addr) }

func TestRules(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("7", MaxAddress)
	for _, c := range []struct {
		name    string
		rules   []Rule
		address string
		want    string
	}{
		{"strip", []Rule{{Strip: "00"}}, "0049170", "2/9 49170"},
		{"strip what is not there", []Rule{{Strip: "00", TON: "1"}}, "049170", "2/9 049170"},
		{"strip and add", []Rule{{Strip: "0", Add: "49", TON: "1", NPI: "1"}}, "0170", "1/1 49170"},
		{"add", []Rule{{Add: "00"}}, "49170", "2/9 0049170"},
		{"add twice", []Rule{{Add: "1"}, {Add: "2"}, {Add: "3"}}, "4", "2/9 3214"},
		{"add to no address", []Rule{{Add: "00"}}, "", "2/9 00"},
		{"replace", []Rule{{Match: "0([1-9].*)", Replace: "49$1", TON: "1"}}, "0170", "1/9 49170"},
		{"match is for the whole address", []Rule{{Match: "[1-9].", Replace: "x"}}, "0170", "2/9 0170"},
		{"alternatives are for the whole address", []Rule{{Match: "1|2", Replace: "x"}}, "12", "2/9 12"},
		{"a line end is none", []Rule{{Match: "1", Replace: "x"}}, "1\n", "2/9 1\n"},
		{"groups", []Rule{{Match: "(.)(.)(x)?", Replace: "$2$1$3$0"}}, "ab", "2/9 baab"},
		{"match alone is a condition", []Rule{{Match: "[a-z]+", TON: "5", NPI: "0"}}, "name", "5/0 name"},
		{"match without case", []Rule{{Match: "(?i)pmg", Replace: "P"}}, "pMg", "2/9 P"},
		{"match and strip", []Rule{{Match: ".{4}", Strip: "0"}}, "0170", "2/9 170"},
		{"match and strip, one does not", []Rule{{Match: ".{4}", Strip: "0"}}, "01701", "2/9 01701"},
		{"match and add", []Rule{{Match: ".{4}", Add: "0"}}, "1701", "2/9 01701"},
		{"replaced twice", []Rule{{Match: "(.)(.*)", Replace: "$2$1"}, {Match: "(.)(.*)", Replace: "$2$1"}}, "abc", "2/9 cab"},
		{"set a name", []Rule{{Set: "PMG"}}, "49170", "5/0 PMG"},
		{"set a short code", []Rule{{Set: "12345"}}, "", "3/0 12345"},
		{"set with a type", []Rule{{Set: "12345", TON: "6", NPI: "1"}}, "", "6/1 12345"},
		{"set on a condition", []Rule{{Match: "1.*", Set: "49170123"}}, "1", "1/1 49170123"},
		{"default", []Rule{{Default: "PMG"}}, "", "5/0 PMG"},
		{"default is not needed", []Rule{{Default: "PMG"}}, "1", "2/9 1"},
		{"strip, then default", []Rule{{Strip: "00"}, {Default: "+491"}}, "00", "1/1 491"},
		{"only the plan", []Rule{{NPI: "1"}}, "1", "2/1 1"},
		{"only the type, unknown", []Rule{{TON: "0"}}, "1", "0/9 1"},
		{"auto, and a plan", []Rule{{TON: "auto", NPI: "8"}}, "+49170", "1/8 49170"},
		{"too long", []Rule{{Add: "1"}}, long, "bad_source"},
		{"just fits", []Rule{{Add: "1"}}, long[1:], "2/9 1" + long[1:]},
		{"replaced by too much", []Rule{{Match: "(.*)", Replace: "$1$1"}}, long, "bad_source"},
		{"stripped and still too long", []Rule{{Strip: "7"}}, long + "77", "bad_source"},
		{"too long from the start, and not changed", []Rule{{TON: "1"}}, long + "77", "1/9 " + long + "77"},
		{"allowed", []Rule{{Allow: []string{"1*", "PMG"}}}, "123", "2/9 123"},
		{"allowed, whole", []Rule{{Allow: []string{"1*", "PMG"}}}, "pmg", "2/9 pmg"},
		{"allowed, with plus", []Rule{{Allow: []string{"+1*", "PMG"}}}, "123", "2/9 123"},
		{"not allowed", []Rule{{Allow: []string{"1*", "PMG"}}}, "PMGS", "bad_source"},
		{"no address is not allowed", []Rule{{Allow: []string{"1*", "PMG"}}}, "", "bad_source"},
		{"denied", []Rule{{Deny: []string{"112", "Bank*"}}}, "BANKER", "bad_source"},
		{"denied, with plus", []Rule{{Deny: []string{"112", "Bank*"}}}, "+112", "bad_source"},
		{"not denied", []Rule{{Deny: []string{"112", "Bank*"}}}, "1123", "2/9 1123"},
		{"allowed and denied", []Rule{{Allow: []string{"49*"}, Deny: []string{"49900*"}}}, "499001", "bad_source"},
		{"prefixes, the first", []Rule{{Prefixes: []string{"00358", "0=00358", "00", "+=00"}}}, "0401", "2/9 00358401"},
		{"prefixes, one that stays", []Rule{{Prefixes: []string{"00358", "0=00358", "00", "+=00"}}}, "00358401", "2/9 00358401"},
		{"prefixes, a plus", []Rule{{Prefixes: []string{"00358", "0=00358", "00", "+=00"}}}, "+46701", "0/9 0046701"},
		{"prefixes, none", []Rule{{Prefixes: []string{"00358", "0=00358", "00", "+=00"}, TON: "1"}}, "46701", "2/9 46701"},
		{"prefixes, to a plus", []Rule{{Prefixes: []string{"+358", "00358=+358"}}}, "00358401", "1/1 358401"},
		{"prefixes, an international number", []Rule{{TON: "1"}, {Prefixes: []string{"46=x", "+46=0"}}}, "46701", "0/9 0701"},
		{"prefixes, any address", []Rule{{Prefixes: []string{"46", "=46"}}}, "701", "2/9 46701"},
		{"prefixes, and a type", []Rule{{Prefixes: []string{"0="}, TON: "2", NPI: "1"}}, "0701", "2/1 701"},
		{"prefixes, too long", []Rule{{Prefixes: []string{"7=77"}}}, long, "bad_source"},
		{"a list sees what rules have made", []Rule{{Strip: "00"}, {Allow: []string{"49*"}}}, "0049", "2/9 49"},
		{"a list sees what the client sent", []Rule{{Allow: []string{"49*"}}, {Strip: "00"}}, "0049", "bad_source"},
	} {
		for i := range c.rules {
			c.rules[i].In = "source"
		}
		in, out := compiled(t, c.rules...)
		if out != nil {
			t.Errorf("%s: out rules", c.name)
		}
		dest := sms.Address{TON: 1, NPI: 1, Addr: []byte("4790")}
		a := Addresses{Source: sms.Address{TON: 2, NPI: 9, Addr: []byte(c.address)}, Dest: dest}
		code := in.Apply(&a)
		got := show(a.Source)
		if code != sms.OK {
			got = code.String()
		}
		if got != c.want {
			t.Errorf("%s: %q becomes %q, not %q", c.name, c.address, got, c.want)
		}
		if show(a.Dest) != show(dest) {
			t.Errorf("%s: the destination is %s", c.name, show(a.Dest))
		}
	}
}

// A rule is for the address and the direction that it names, and a destination that it
// would leave without digits is refused.
func TestDirections(t *testing.T) {
	t.Parallel()
	in, out := compiled(t,
		Rule{In: "source", Add: "1"}, Rule{In: "destination", Add: "2"},
		Rule{Out: "source", Add: "3"}, Rule{Out: "destination", Strip: "00"})
	both := func() *Addresses {
		return &Addresses{Source: sms.Address{Addr: []byte("s")}, Dest: sms.Address{Addr: []byte("00")}}
	}
	a := both()
	if code := in.Apply(a); code != sms.OK || string(a.Source.Addr) != "1s" || string(a.Dest.Addr) != "200" {
		t.Errorf("in: %s, %s, %s", show(a.Source), show(a.Dest), code)
	}
	a = both()
	if code := out.Apply(a); code != sms.BadDestination || string(a.Source.Addr) != "3s" || string(a.Dest.Addr) != "00" {
		t.Errorf("out: %s, %s, %s", show(a.Source), show(a.Dest), code)
	}
}

func TestAuto(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"": "0/0 ", "+": "5/0 +", "+4917012345": "1/1 4917012345", "4917012345": "1/1 4917012345", "0170123": "0/1 0170123",
		"004917": "0/1 004917", "12345": "3/0 12345", "123456": "3/0 123456", "1234567": "1/1 1234567", "+112": "1/1 112",
		"PMG": "5/0 PMG", "1A": "5/0 1A", "*100#": "3/0 *100#", "+PMG": "5/0 +PMG",
	} {
		if got := show(Auto([]byte(address))); got != want {
			t.Errorf("%q is %q, not %q", address, got, want)
		}
	}
}

// Each thing that is wrong with a rule is said in words that lead to a right one.
func TestProblems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule Rule
		want string // option: text
	}{
		{Rule{Strip: "0"}, `: must have either in or out: write in: source, in: destination, out: source or out: destination`},
		{Rule{In: "source", Out: "source", Strip: "0"}, `: must have either in or out: write in: source, in: destination, out: source or out: destination`},
		{Rule{In: "source"}, `: has no effect: give it replace, prefixes, strip, add, set, default, ton, npi, allow or deny`},
		{Rule{In: "source", Match: ".*"}, `: has no effect: give it replace, prefixes, strip, add, set, default, ton, npi, allow or deny`},
		{Rule{Out: "source", Allow: []string{"1"}}, `: cannot refuse an outgoing message: write in instead of out, for the connector or the account that it comes from`},
		{Rule{In: "source", Allow: []string{"1"}, Strip: "0", Match: "."}, `: has a list besides strip, match: write two rules`},
		{Rule{In: "source", Replace: "1"}, `replace: needs match: give the expression that the address must match, or write set instead`},
		{Rule{In: "source", Default: "1", Match: "."}, `match: never matches: default is for messages without an address: remove match, or write set instead of default`},
		{Rule{In: "source", Set: "1", Default: "2"}, `: has set and default, each of which sets the address: make a rule for each`},
		{Rule{In: "source", Match: "(", Replace: "1"}, "match: is not a regular expression: missing closing ): `(`"},
		{Rule{In: "source", Match: "a)|(b", Replace: "1"}, "match: is not a regular expression: unexpected ): `a)|(b`"},
		{Rule{In: "source", Match: "(.)", Replace: "$2"}, `replace: has $2, but match has no such group: put ( ) around the part for $2`},
		{Rule{In: "source", Match: "(.)", Replace: "${1}"}, `replace: has a $ without a digit: $1 is the first group of match, and addresses have no $`},
		{Rule{In: "source", Prefixes: []string{"0=46"}, Match: "."}, `prefixes: needs no match: an address that begins with none of the prefixes is not changed`},
		{Rule{In: "source", Prefixes: []string{"46", "0=4=6"}}, `prefixes[1]: must be a prefix, or a prefix and its replacement: 0=46, not "0=4=6"`},
		{Rule{In: "source", Prefixes: []string{"46"}, Set: "1"}, `: has set and prefixes, each of which sets the address: make a rule for each`},
		{Rule{In: "destination", Add: "é"}, `add: must be characters of ASCII, not "é"`},
		{Rule{In: "source", Add: "\u200b"}, `add: must be visible characters, not "\u200b"`},
		{Rule{In: "source", Add: strings.Repeat("1", 65)}, `add: must be at most 64 characters, not 65`},
		{Rule{In: "source", Deny: []string{"1", "4*9"}}, `deny[1]: must have '*' at its end only, not "4*9"`},
		{Rule{In: "source", Allow: []string{""}}, `allow[0]: must be an address, or the beginning of one and '*', not ""`},
	} {
		_, _, problems := Compile([]Rule{{In: "source", NPI: "1"}, c.rule})
		if len(problems) == 0 || problems[0].Rule != 1 || problems[0].Option+": "+problems[0].Text != c.want {
			t.Errorf("%+v: %v, not %q", c.rule, problems, c.want)
		}
	}
}

// Tell is called for each rule that had an effect, with what it changed.
func TestTell(t *testing.T) {
	t.Parallel()
	in, _ := compiled(t,
		Rule{In: "destination", Strip: "00", TON: "1"}, Rule{Out: "source", Set: "x"}, Rule{In: "destination", Strip: "00"},
		Rule{In: "source", Allow: []string{"PMG"}}, Rule{In: "destination", Deny: []string{"49*"}}, Rule{In: "source", Add: "1"})
	a := &Addresses{Source: sms.Address{TON: 5, Addr: []byte("PMG")}, Dest: sms.Address{Addr: []byte("0049170")}}
	var b bytes.Buffer
	a.Tell = func(s Step) {
		fmt.Fprintf(&b, "%d source=%t list=%t %s -> %s %s %t\n", s.Rule, s.Source, s.List, show(s.Before), show(s.After), s.Code, s.Rules == in)
	}
	code := in.Apply(a)
	const want = `0 source=false list=false 0/0 0049170 -> 1/0 49170 ok true
3 source=true list=true 5/0 PMG -> 5/0 PMG ok true
4 source=false list=true 1/0 49170 -> 1/0 49170 bad_destination true
5 source=true list=false 5/0 PMG -> 5/0 1PMG ok true
`
	if b.String() != want || code != sms.BadDestination {
		t.Errorf("%s, got:\n%s", code, b.String())
	}
}

// Rules without a regular expression do not allocate.
func TestAllocations(t *testing.T) {
	in, _ := compiled(t,
		Rule{In: "destination", Strip: "00", Add: "+", TON: "1"}, Rule{In: "destination", Add: "00"}, Rule{In: "source", Set: "PMG"}, Rule{In: "destination", Prefixes: []string{"1=2", "00=00"}},
		Rule{In: "source", Allow: []string{"PMG*"}}, Rule{In: "destination", Deny: []string{"1", "2*"}})
	source, dest := []byte("1234"), []byte("0049170")
	var a Addresses
	if n := testing.AllocsPerRun(100, func() {
		a.Set(sms.Address{Addr: source}, sms.Address{Addr: dest})
		if code := in.Apply(&a); code != sms.OK || string(a.Dest.Addr) != "00+49170" {
			t.Fatalf("%s, %s", code, a.Dest.Addr)
		}
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// FuzzRules applies any rule to any address: a changed address fits into a PDU, and it is
// the same each time.
func FuzzRules(f *testing.F) {
	f.Add("0(.*)", "49$1", "0", "49", "PMG", "auto", "0170", true)
	f.Add("", "", "00", "+", "", "1", "0049170", false)
	f.Add("", "", "", "", "", "auto", "+", false)
	f.Add("(.)(.*)", "$2$1$0", "", "", "", "", strings.Repeat("7", 255), true)
	f.Add("", "", "00358,0=00358,+=00", "", "", "", "+46701", false)
	f.Fuzz(func(t *testing.T, match, replace, strip, add, set, ton, address string, source bool) {
		r := Rule{In: "destination", Match: match, Replace: replace, Strip: strip, Add: add, Set: set, TON: ton}
		if strings.Contains(strip, ",") {
			r.Strip, r.Prefixes = "", strings.Split(strip, ",")
		}
		if source {
			r.In = "source"
		}
		in, _, problems := Compile([]Rule{r, {In: "destination", Add: "00"}, {In: "source", TON: "auto"}})
		if len(problems) > 0 {
			return
		}
		given := sms.Address{Addr: []byte(address)[:min(len(address), 255)]}
		run := func() (*Addresses, sms.Code) {
			var a Addresses
			a.Set(given, given)
			return &a, in.Apply(&a)
		}
		a, code := run()
		for _, got := range []sms.Address{a.Source, a.Dest} {
			if len(got.Addr) > MaxAddress && !bytes.Contains(given.Addr, got.Addr) {
				t.Errorf("%d octets", len(got.Addr))
			}
		}
		if code == sms.OK && len(given.Addr) > 0 && len(a.Dest.Addr) == 0 {
			t.Error("no destination")
		}
		again, code2 := run()
		if show(again.Source) != show(a.Source) || show(again.Dest) != show(a.Dest) || code != code2 {
			t.Errorf("once %s, %s, then %s, %s", show(a.Source), show(a.Dest), show(again.Source), show(again.Dest))
		}
	})
}

// The addresses of a message are copied: it may change while rules work on them.
func TestSetCopies(t *testing.T) {
	t.Parallel()
	source, dest := []byte("1234"), []byte("46700000001")
	var a Addresses
	a.Set(sms.Address{Addr: source}, sms.Address{Addr: dest})
	copy(source, "xxxx")
	copy(dest, "yyyyyyyyyyy")
	if string(a.Source.Addr) != "1234" || string(a.Dest.Addr) != "46700000001" {
		t.Errorf("%s, %s", show(a.Source), show(a.Dest))
	}
}

// What a rule makes has up to 64 characters: one more is refused.
func TestLongestAddress(t *testing.T) {
	t.Parallel()
	in, _ := compiled(t, Rule{In: "source", Match: "(.*)", Replace: "~ $1"})
	for n, want := range map[int]sms.Code{62: sms.OK, 63: sms.BadSource} {
		a := &Addresses{Source: sms.Address{Addr: bytes.Repeat([]byte("1"), n)}, Dest: sms.Address{Addr: []byte("1")}}
		if code := in.Apply(a); code != want || want == sms.OK && len(a.Source.Addr) != 64 {
			t.Errorf("%d characters and two: %s, %s", n, code, show(a.Source))
		}
	}
}
