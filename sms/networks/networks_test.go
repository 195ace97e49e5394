package networks

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"pmg/internal/sortedset"
	"pmg/internal/testkit/testutil"
	"pmg/internal/textfile"
	"pmg/sms"
	"pmg/sms/number"
)

func table(t *testing.T, text string, columns ...string) *Table {
	t.Helper()
	all, err := read(strings.NewReader(text), "networks.csv", Options{Columns: columns})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// wants checks numbers and their networks: "46701=24001 47=".
// digitsIn returns what a table says of digits, however few there are.
func digitsIn(all *Table) func([]byte) sms.Network {
	return func(text []byte) sms.Network {
		digits := bytes.TrimPrefix(text, []byte{'+'})
		if len(digits) == 0 || len(bytes.Trim(digits, "0123456789")) > 0 {
			return 0
		}
		return all.OfDigits(digits)
	}
}

// ofFile returns what a file says of digits.
func ofFile(f *File) func([]byte) sms.Network {
	return func(text []byte) sms.Network { return digitsIn(f.Table())(text) }
}

func wants(t *testing.T, of func([]byte) sms.Network, all string) {
	t.Helper()
	for _, one := range strings.Fields(all) {
		digits, want, _ := strings.Cut(one, "=")
		if got := of([]byte(digits)).String(); got != want {
			t.Errorf("%s is of network %q, not %q", digits, got, want)
		}
	}
}

// Each form in which providers sell tables is read.
func TestForms(t *testing.T) {
	t.Parallel()
	const want = "46701=24001 467012345678=24001 4670=24005 46709=24005 4671= 467= 46=24000 460= +46701=24001 x= += ="
	for name, c := range map[string]struct {
		text    string
		columns []string
	}{
		"without a header":    {"4670,24005\n46701,24001\n46,24000\n467,24000\n", nil},
		"with one":            {"Prefix,MCC-MNC,Country\n46701,24001,SE\n4670,24005,SE\n46,24000,SE\n", nil},
		"mcc and mnc":         {"mcc;mnc;dial code\r\n240;05;4670\r\n240;01;46701\r\n240;00;46\r\n", nil},
		"quotes":              {"\"prefix\",\"mccmnc\",\"name\"\n\"4670\" , \"24005\",\"A, B\"\n\"46701\",24001,\n46,240-00,C\n", nil},
		"tabs, marks":         {"\xef\xbb\xbf# sold on 2026-11-27\n\nprefix\tnetwork\n+46 70\t24005\n+46-701\t240 01\n46\t24000\n", nil},
		"an option":           {"Vorwahl;Land;Netz\n46701;SE;24001\n4670;SE;24005\n46;SE;24000\n", []string{"prefix", "ignore", "network"}},
		"an option, no names": {"46701;SE;24001\n4670;SE;24005\n46;SE;24000\n", []string{"prefix", "ignore", "network"}},
	} {
		all := table(t, c.text, c.columns...)
		t.Run(name, func(t *testing.T) {
			if name == "without a header" {
				wants(t, digitsIn(all), "46701=24001 4670=24005 467=24000 4671=24000 46=24000 4=")
				return
			}
			wants(t, digitsIn(all), strings.NewReplacer("4671= 467=", "4671=24000 467=24000", "460=", "460=24000").Replace(want))
		})
	}
	all := table(t, "from,to,mcc,mnc,operator\n46700000000,46700999999,240,01,Telia\n46700500000,46700509999,240,007,Other\n4673,4676,241,,Country\n")
	wants(t, digitsIn(all), "46700000000=24001 46700499999=24001 46700500000=240007 467005099991=240007 46700510000=24001 46701000000= 4670=")
	wants(t, digitsIn(all), "4672= 46729= 4673=241 467612345678901234=241 4677= 3=")
	if c := all.Counts; c.Rows != 3 || c.Networks != 3 || c.Within != 1 || c.Duplicates != 0 || c.Lines != 4 || c.Octets == 0 {
		t.Errorf("%+v", c)
	}
	n, _ := sms.ReadNetwork("240007")
	if name := all.Name(n); name != "Other" || all.Name(0) != "" {
		t.Errorf("%q", name)
	}
}

// A number that is shorter than a prefix does not begin with it, and a 0 at its end counts.
func TestShort(t *testing.T) {
	t.Parallel()
	all := table(t, "4670000,24001\n")
	wants(t, digitsIn(all), "467= 4670= 467000= 4670000=24001 46700001=24001 4669999= 123456789012345678901=")
}

// What cannot be used is named with its line, and nothing of the file is used.
func TestBad(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"no digits":                {"4670,24001\n467x,24001\n", `:2: cannot read "467x,24001": column prefix: the number "467x" must be digits`},
		"a spreadsheet's number":   {"4670,24001\n4.67E+10,24001\n", `:2: cannot read "4.67E+10,24001": column prefix: the number "4.67E+10" must be digits`},
		"no number":                {"4670,24001\n,24001\n", ":2: cannot read \",24001\": column prefix: it has no number"},
		"a long number":            {"4670,24001\n1234567890123456,24001\n", "more than 15 digits"},
		"no network":               {"4670,24001\n4671,2400\n", `:2: cannot read "4671,2400": column network: the network "2400" must be MCC and MNC`},
		"a short MNC":              {"prefix,mcc,mnc\n4670,240,1\n", ":2: cannot read \"4670,240,1\": column mnc: the MNC \"1\" must have 2 or 3 digits: a spreadsheet"},
		"a short MCC":              {"prefix,mcc,mnc\n4670,24,01\n", "the MCC \"24\" must have 3 digits"},
		"a column too many":        {"4670,24001\n4671,24001,x\n", ":2: cannot read \"4671,24001,x\": it has 3 columns instead of 2"},
		"a cut row":                {"4670,24001\n4671\n", "it has 1 columns instead of 2"},
		"a cut file":               {"4670,24001\n4671,240", ":2: the last line does not end with a newline, so the file may be incomplete"},
		"backwards":                {"from,to,network\n4679,4671,24001\n", "the first number is greater than the last one"},
		"other lengths":            {"from,to,network\n4679,46799,24001\n", "the first number has 4 digits, and the last one 5"},
		"an overlap":               {"from,to,network\n4671,4675,24001\n4674,4678,24002\n", ":3: its numbers overlap with those of line 2"},
		"an overlap, unsorted":     {"from,to,network\n4674,4678,24002\n1,1,31000\n4671,4675,24001\n", ":2: its numbers overlap with those of line 4"},
		"two networks":             {"4670,24001\n4671,24001\n4670,24002\n", ":3: its numbers are of network 24002, and of network 24001 in line 1"},
		"no columns":               {"4670,240,01\n", ":1: it has 3 columns, but its first line is not a header"},
		"a header without network": {"prefix,country\n4670,SE\n", `:1: there must be a column "network"`},
		"a header without prefix":  {"mcc,mnc\n240,01\n", `:1: there must be a column "prefix"`},
		"a header with from alone": {"from,network\n4670,24001\n", `:1: the columns "from" and "to" must be given together`},
		"a quote":                  {"4670,24001\n\"4671,24001\n", "a closing quote is missing"},
		"behind a quote":           {"4670,24001\n\"4671\"2,24001\n", "characters follow a closing quote"},
		"a name":                   {"prefix,network,name\n4670,24001,\x01\n", "without control characters"},
		"a long line":              {"4670,24001\n" + strings.Repeat("4", textfile.MaxLine+1) + "\n", ":2: the line is longer than 65536"},
		"many columns":             {"4670,24001\n" + strings.Repeat(",", 100) + "\n", "more than 64 columns"},
		"UTF-16":                   {"\xff\xfe4\x006\x00\n\x00", ":1:"},
		"several":                  {"x,24001\ny,24001\nz,24001\n4670,1\n", ":1: cannot read \"x,24001\": column prefix: the number \"x\" must be digits; 3 more lines cannot be read, which pmg network check shows"},
	} {
		all, err := read(strings.NewReader(c.text), "networks.csv", Options{})
		bad := (*textfile.Problems)(nil)
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) || all == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, c := range [][]string{{"prefix"}, {"prefix", "prefix", "network"}, {"network"}, {"prefix", "network", "mnc"}, {"prefix", "x", "network"}} {
		if CheckColumns(c) == nil {
			t.Errorf("%v may be columns", c)
		}
	}
	if err := CheckColumns([]string{"prefix", "ignore", "ignore", "mcc", "mnc"}); err != nil {
		t.Error(err)
	}
	for _, path := range []string{filepath.Join(t.TempDir(), "none"), t.TempDir()} {
		if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), path) {
			t.Error(err)
		}
	}
}

// Doubled rows are counted, and change nothing.
func TestDoubled(t *testing.T) {
	t.Parallel()
	all := table(t, "4670,24001\n4671,24002\n4670,24001\n4670,24001\n46701,24001\n")
	wants(t, digitsIn(all), "4670=24001 46701=24001 4671=24002")
	if c := all.Counts; c.Rows != 5 || c.Duplicates != 2 || c.Within != 1 {
		t.Errorf("%+v", c)
	}
}

// A table finds what a search through all prefixes finds, whatever was added in whatever order, over several runs.
func TestOracle(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 2))
		number := func(most int) string {
			b := make([]byte, 1+r.IntN(most))
			for i := range b {
				b[i] = '1' + byte(r.IntN(3))
			}
			return string(b)
		}
		prefixes := map[string]string{}
		for range r.IntN(2000) {
			prefixes[number(9)] = strconv.Itoa(24000 + r.IntN(40))
		}
		var text bytes.Buffer
		for prefix, network := range prefixes { // in the order of a map: unsorted
			fmt.Fprintf(&text, "%s,%s\n", prefix, network)
		}
		all, err := read(&text, "networks.csv", Options{})
		if err != nil {
			t.Fatal(err)
		}
		for range 3000 {
			n, want := number(12), ""
			for i := range len(n) + 1 {
				if of, ok := prefixes[n[:i]]; ok {
					want = of
				}
			}
			if got := all.OfDigits([]byte(n)).String(); got != want {
				t.Fatalf("seed %d: %s is of network %q, not %q", seed, n, got, want)
			}
		}
	}
}

// Rows over many runs and blocks are all found.
func TestManyRuns(t *testing.T) {
	t.Parallel()
	const n = 2*sortedset.RunSize + 77
	var text bytes.Buffer
	for i := range n {
		fmt.Fprintf(&text, "%d,%d\n", 1_000_000+(i*7919%n), 20000+(i*7919%n)%50)
	}
	all, err := read(&text, "networks.csv", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		digits := []byte(strconv.Itoa(1_000_000 + i))
		if got := all.OfDigits(append(digits, "123"...)).String(); got != strconv.Itoa(20000+i%50) {
			t.Fatalf("%s: %s", digits, got)
		}
	}
	wants(t, digitsIn(all), "999999= "+strconv.Itoa(1_000_000+n)+"=")
}

// A file with too many rows is read no further than it may be long.
func TestTooMany(t *testing.T) {
	t.Parallel()
	testutil.Long(t)
	rows := &endless{text: "4670,24001\n"}
	if _, err := read(rows, "networks.csv", Options{}); err == nil || !strings.Contains(err.Error(), "networks.csv:10000001: there are more than 10000000 rows") {
		t.Error(err)
	}
	if rows.n > 120_000_000 {
		t.Errorf("%d octets were read", rows.n)
	}
}

// An endless reader repeats a text.
type endless struct {
	text string
	n    int
}

func (e *endless) Read(b []byte) (n int, err error) {
	for n < len(b) {
		n += copy(b[n:], e.text[(e.n+n)%len(e.text):])
	}
	e.n += n
	return n, nil
}

// A file is read when it has not changed for a second. One that is invalid leaves what was read before in force, and is a problem
// that is returned once.
func TestReload(t *testing.T) {
	t.Parallel()
	path, now := filepath.Join(t.TempDir(), "networks.csv"), time.Now()
	put := func(text string) {
		t.Helper()
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, now, now)); err != nil {
			t.Fatal(err)
		}
	}
	put("4670,24001\n")
	f, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	refresh := func(n int) (reloads int, errs []string) {
		for range n {
			now = now.Add(time.Second)
			reloaded, err := f.Refresh(now)
			if reloaded {
				reloads++
			}
			if err != nil {
				errs = append(errs, err.Error())
			}
		}
		return reloads, errs
	}
	put("4670,24002\n4671,24002\n")
	if n, errs := refresh(1); n != 0 || errs != nil {
		t.Fatal(n, errs)
	}
	wants(t, ofFile(f), "4670=24001 4671=")
	if n, errs := refresh(2); n != 1 || errs != nil {
		t.Fatal(n, errs)
	}
	wants(t, ofFile(f), "4670=24002 4671=24002")
	for i, text := range []string{"4670,24003\n467", "", "4670,24003\n4670,24004\n", "prefix,network\n", "\x00\n"} {
		put(text)
		if n, errs := refresh(4); n != 0 || len(errs) != 1 || !strings.Contains(errs[0], "networks.csv") {
			t.Fatalf("%q: %d %q", text, n, errs)
		}
		wants(t, ofFile(f), "4670=24002 4671=24002")
		if s := f.Status(); s.Problem == "" || s.Faults != int64(i+1) {
			t.Errorf("%q: %+v", text, s)
		}
	}
	put("4670,24005\n")
	if n, errs := refresh(3); n != 1 || errs != nil {
		t.Fatal(n, errs)
	}
	wants(t, ofFile(f), "4670=24005 4671=")
	if s := f.Status(); s.Problem != "" || s.Reloads != 2 || s.Rows != 1 {
		t.Errorf("%+v", s)
	}
}

func TestOfAllocatesNothing(t *testing.T) {
	all := table(t, "4670,24001\n46701,24002\n47,24201\n")
	numbers := []number.Number{number.Read("46701740605"), number.Read("+46701740605"), number.Read("ACME"), number.Read("1"), {}}
	if n := testing.AllocsPerRun(100, func() {
		for _, n := range numbers {
			all.Of(n)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{"", "46,24001\n", "\xef\xbb\xbf4;24001\r\n", "prefix,mcc,mnc,name\n46,240,01,x\n", "from,to,network\n1,9,24001\n4,5,262\n4,6,001\n", "\"46\",24001\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := read(bytes.NewReader(data), "networks.csv", Options{})
		if all == nil {
			t.Fatal(err)
		}
		for _, text := range []string{"46701740605", "1", "999999999999999", "4"} {
			if n := all.OfDigits([]byte(text)); n != 0 && !n.IsValid() {
				t.Fatalf("%s is of network %d", text, n)
			}
		}
	})
}
