package plan

import (
	"fmt"
	"go/format"
	"maps"
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nyaruka/phonenumbers"

	"pmg/internal/testkit/testutil"
)

// The table is that of libphonenumber.
func TestTableIsFresh(t *testing.T) {
	all, err := phonenumbers.MetadataCollection()
	if err != nil {
		t.Fatal(err)
	}
	made := map[int]plan{}
	for _, region := range all.GetMetadata() {
		code := int(region.GetCountryCode())
		if region.GetId() == phonenumbers.GetRegionCodeForCountryCode(code) { // countries with the same code have the same lengths
			for _, n := range region.GetGeneralDesc().GetPossibleLength() {
				made[code] |= 1 << n
			}
		}
		if mayBeginWith(t, region.GetGeneralDesc().GetNationalNumberPattern(), '0') {
			made[code] |= zero
		}
	}
	var text strings.Builder
	text.WriteString("package plan\n\n// plans are the numbering plans by country code. They are made of libphonenumber.\nvar plans = [1000]plan{\n")
	for _, code := range slices.Sorted(maps.Keys(made)) {
		fmt.Fprintf(&text, "%d: ", code)
		if made[code]&zero != 0 {
			text.WriteString("zero | ")
		}
		var bits []string
		for n := range maxLength + 1 {
			if made[code]&(1<<n) != 0 {
				bits = append(bits, fmt.Sprint("1<<", n))
			}
		}
		country := phonenumbers.GetRegionCodeForCountryCode(code)
		if country == "001" { // UN M.49: the world
			country = "no country"
		}
		fmt.Fprintf(&text, "%s, // %s\n", strings.Join(bits, " | "), country)
	}
	text.WriteString("}\n")
	source, err := format.Source([]byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	testutil.Fresh(t, "table.go", string(source), "make docs")
}

// mayBeginWith reports whether a text that a pattern matches may begin with a character.
func mayBeginWith(t *testing.T, pattern string, c rune) bool {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[uint32]bool{}
	var may func(at uint32) bool
	may = func(at uint32) bool {
		if seen[at] {
			return false
		}
		seen[at] = true
		switch i := &program.Inst[at]; i.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			return may(i.Out) || may(i.Arg)
		case syntax.InstCapture, syntax.InstEmptyWidth, syntax.InstNop:
			return may(i.Out)
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			return i.MatchRune(c)
		}
		return false
	}
	return may(uint32(program.Start))
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]string{
		"46701740605":                  "",
		"393312345678":                 "",
		"390612345678":                 "", // a fixed line in Rome, where the 0 belongs to the number
		"12125550100":                  "",
		"883510000000000":              "",
		"460701740605":                 "has a 0 after country code 46, which is dialled only within the country",
		"4670":                         "has 2 digits after country code 46, which needs 6 to 10 or 12",
		"1212555010":                   "has 9 digits after country code 1, which needs 10",
		"121255501000":                 "has 11 digits after country code 1, which needs 10",
		"46":                           "has 0 digits after country code 46, which needs 6 to 10 or 12",
		"":                             "must be digits",
		"0":                            "begins with 0, which is not a country code",
		"0046701740605":                "begins with 0, which is not a country code",
		"999123456789":                 "begins with 999, which is not a country code",
		"21":                           "begins with 21, which is not a country code",
		"+46701740605":                 "must be digits",
		"4x":                           "must be digits",
		"46701740605x":                 "must be digits",
		"4670174\x006":                 "must be digits",
		"99912345678901234":            "begins with 999, which is not a country code",
		"46" + strings.Repeat("7", 62): "has 62 digits after country code 46, which needs 6 to 10 or 12",
	} {
		if got := Refuses([]byte(number)); got != want {
			t.Errorf("%s: %q, want %q", number, got, want)
		}
	}
}

// What is possible by libphonenumber is not refused, and the rest is, and a 0 that no number of the country has behind its code.
// Among the examples of libphonenumber there is no such 0.
func TestOracle(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		n := 1 + random.IntN(20)
		digits := make([]byte, n)
		for i := range digits {
			digits[i] = byte('0' + random.IntN(10))
		}
		got := Refuses(digits)
		if want := isPossible(t, digits); (got == "") != want && !strings.Contains(got, "has a 0 after") {
			t.Fatalf("%s: %q, want %t", digits, got, want)
		}
	}
	for region := range phonenumbers.GetSupportedRegions() {
		for kind := phonenumbers.FIXED_LINE; kind <= phonenumbers.VOICEMAIL; kind++ {
			if n := phonenumbers.GetExampleNumberForType(region, kind); n != nil {
				number := strings.TrimPrefix(phonenumbers.Format(n, phonenumbers.E164), "+")
				if why := Refuses([]byte(number)); (why == "") != isPossible(t, []byte(number)) {
					t.Errorf("%s: %s: %s", region, number, why)
				}
			}
		}
	}
}

// isPossible asks libphonenumber.
func isPossible(t *testing.T, digits []byte) bool {
	for n := 1; n <= min(maxCode, len(digits)-1) && digits[0] != '0'; n++ {
		code, _ := strconv.Atoi(string(digits[:n]))
		if !phonenumbers.GetSupportedCallingCodes()[code] {
			continue
		}
		rest := string(digits[n:])
		zeros := len(rest) - len(strings.TrimLeft(rest, "0"))
		national, _ := strconv.ParseUint(rest[zeros:], 10, 64)
		number := &phonenumbers.PhoneNumber{}
		number.CountryCode, number.NationalNumber = new(int32(code)), &national
		if zeros > 0 {
			if national == 0 {
				zeros-- // because the number is written as 0
			}
			number.ItalianLeadingZero, number.NumberOfLeadingZeros = new(true), new(int32(zeros))
		}
		return phonenumbers.IsPossibleNumberWithReason(number) == phonenumbers.IS_POSSIBLE
	}
	return false
}

func FuzzRefuses(f *testing.F) {
	f.Add([]byte("46701740605"))
	f.Add([]byte("390612345678"))
	f.Add([]byte("\xff1"))
	f.Fuzz(func(t *testing.T, number []byte) {
		if why := Refuses(number); why == "" && (len(number) > maxCode+maxLength || strings.Trim(string(number), "0123456789") != "") {
			t.Errorf("%q may exist", number)
		} else if len(why) > 120 {
			t.Error(why)
		}
	})
}

// A number that may exist costs no allocation.
func TestNoAllocations(t *testing.T) {
	number := []byte("46701740605")
	if n := testing.AllocsPerRun(100, func() { Refuses(number) }); n != 0 {
		t.Error(n)
	}
}

func BenchmarkRefuses(b *testing.B) {
	number := []byte("46701740605")
	for b.Loop() {
		Refuses(number)
	}
}
