package numbers

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmg/internal/sortedset"
	"pmg/internal/testkit/testutil"
	"pmg/internal/textfile"
	"pmg/sms/number"
)

// write writes a file, and returns its path.
func write(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "list.txt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// open opens a list of a text.
func open(t testing.TB, text string) *List {
	t.Helper()
	l, err := Open(write(t, text), false)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestHas(t *testing.T) {
	t.Parallel()
	l := open(t, "\xef\xbb\xbf# a comment\r\n+46 70-174.06/05\r\n\r\n(070)1\n4673*  # all of these\nAcme\nmy shop*\n12345678901234567890\n"+
		"98765432109876543*\n46733*\n0046\n")
	for address, want := range map[string]bool{
		"46701740605": true, "+46701740605": true, "46 701 740 605": true, "4670174060": false, "467017406055": false,
		"46731": true, "4673": true, "467": false, "46": false, "": false, "+": false, "-": false,
		"0701": true, "701": false, "ACME": true, "acme": true, "Acme ": true, "ACMES": false, "ACM": false,
		"MY SHOP": true, "my shopper": true, "my sho": false,
		"12345678901234567890": true, "1234567890123456789": false, "12345678901234567891": false,
		"98765432109876543": true, "98765432109876543210": true, "9876543210987654": false, "98765432109876544": false,
		"0046": true, "00460": false, "046": false, "a\x00b": false, "größe": false, "gr\xf6sse": false, "0046701740605": true, "01146701740605": true, "+46 (0)70 174 06 05": true,
		"46\u00a0701740605": true, "\u202a+46701740605\u202c": true, "\ufeff46701740605": true, strings.Repeat("9", 70): false,
	} {
		if got := l.Has(number.Read(address)); got != want {
			t.Errorf("Has(%q) = %v, want %v", address, got, want)
		}
	}
	c := l.Status()
	if c.Entries != 8 || l.file.InForce().Counts.Covered != 1 {
		t.Errorf("%+v %+v", c, l.file.InForce().Counts)
	}
}

// What is wrong with a file is refused with its name and its line.
func TestBadFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"letter O in a number":   {"46701\n4670174o605\n", `:2: cannot read "4670174o605": it has a letter among the digits`},
		"letter behind a +":      {"+46x\n", ":1: cannot read"},
		"a star within":          {"46*7\n", "a '*' is allowed only at the end"},
		"everything":             {"*\n", "would match every number"},
		"marks alone":            {"--\n", "there are no digits"},
		"a NUL":                  {"46701\x00\n", "it has a NUL"},
		"UTF-16":                 {"\xff\xfe4\x006\x00\n\x00", ":1:"},
		"control":                {"4670\x01\n", "control character"},
		"a tab in a name":        {"ACME\nA\tB\n", ":2: cannot read \"A\\tB\": it has a control character"},
		"not ASCII":              {"Gr\xf6\xdfe\n", "not UTF-8"},
		"+ and a name":           {"+ACME\n", "a '+' is allowed"},
		"a long name":            {"ABCDEFGHIJKLMNOPQRSTU\n", "longer than 20"},
		"a long number":          {"123456789012345678901\n", "longer than 20"},
		"a very long entry":      {strings.Repeat("7", 100) + "\n", "longer than 20"},
		"cut in the last line":   {"46701\n4670", ":2: the last line does not end with a newline"},
		"a line that has no end": {"46701\n" + strings.Repeat("4", textfile.MaxLine+1) + "\n", ":2: the line is longer than 65536 octets"},
		"a number and a day":     {"46701740605 2026-11-01\n", ":1: cannot read \"46701740605 2026-11-01\": there "},
		"a short one and a day":  {"4670174 1.11.2026\n", "there is more than a number"},
		"two numbers":            {"4512345678 4512345679\n", "there are two numbers"},
		"two, with a comma":      {"46701740605, 46701740606\n", ":1: it has 2 columns, but its first line is not a header: write a line such as number,note"},
		"two, with a slash":      {"46701740605/46701740606\n", "there are two numbers"},
		"two, with a tab":        {"46\n4512345\t4512346\n", ":2: cannot read \"4512345\\t4512346\": there are two numbers"},
		"two, with a semicolon":  {"46701;46702\n", ":1: it has 2 columns"},
		"two, later":             {"46701\n46702,46703\n", ":2: cannot read \"46702,46703\": it has 2 fields"},
		"two with a plus":        {"+4512345678 +4512345679\n", "\"+\" is not a digit"},
		"a number and a count":   {"46701740605 17\n", "there is more than a number"},
		"a range":                {"46701740600-46701740699\n", "there are two numbers"},
		"several":                {"x*y\nz*z\n46\n*\n", ":1: cannot read \"x*y\": a '*' is allowed only at the end; 2 more lines"},
	} {
		_, err := Open(write(t, c.text), false)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "list.txt:") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, path := range map[string]string{"absent": filepath.Join(t.TempDir(), "none"), "directory": t.TempDir()} {
		if _, err := Open(path, false); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, text := range []string{"", "\n", "# none\n", "\xef\xbb\xbf"} {
		if _, err := Open(write(t, text), false); err != nil && text != "\xef\xbb\xbf" {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// An endless reader ends a test if it is read for long.
type endless struct {
	text string
	left int
}

func (e *endless) Read(b []byte) (int, error) {
	if e.left -= len(b); e.left < 0 {
		panic("too much was read")
	}
	for n := 0; n < len(b); {
		n += copy(b[n:], e.text)
	}
	return len(b), nil
}

// A line of 1 GB and names without end are read no further than needed.
func TestBounds(t *testing.T) {
	t.Parallel()
	if _, err := read(&endless{"7", 1 << 20}, "list"); err == nil || !strings.Contains(err.Error(), "longer than 65536") {
		t.Error(err)
	}
	if _, err := read(&endless{"ABCDEFG\n", 16 << 20}, "list"); err == nil || !strings.Contains(err.Error(), "1000000 names") {
		t.Error(err)
	}
}

// A file of 20,000,000 lines is refused, and read no further than it may be long.
func TestTooMany(t *testing.T) {
	t.Parallel()
	testutil.Long(t)
	if _, err := read(&endless{"4670\n", 51 << 20}, "list"); err == nil || !strings.Contains(err.Error(), "list:10000001: there are more than 10000000") {
		t.Error(err)
	}
}

// A table has what a map has, whatever was added in whatever order.
func TestOracle(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		digits := func() string {
			n := 1 + r.IntN(6)
			if r.IntN(3) == 0 {
				n = 15 + r.IntN(6)
			}
			b := make([]byte, n)
			for i := range b {
				b[i] = '1' + byte(r.IntN(2)) // with a 0 in front there are several forms
			}
			return string(b)
		}
		exact, prefixes := map[string]bool{}, map[string]bool{}
		var text bytes.Buffer
		for range r.IntN(3000) {
			switch n := digits(); r.IntN(12) {
			case 0:
				if len(n) > 3 {
					prefixes[n[:min(len(n), maxDigits)]] = true
					fmt.Fprintln(&text, n[:min(len(n), maxDigits)]+"*")
				}
			default:
				exact[n] = true
				fmt.Fprintln(&text, n)
			}
		}
		table, err := read(&text, "list")
		if err != nil {
			t.Fatal(err)
		}
		for range 3000 {
			n := digits()
			want := exact[n]
			for i := range len(n) + 1 {
				want = want || prefixes[n[:i]]
			}
			var room [maxName]byte
			e, _ := addressOf(number.Read(n), &room)
			if table.has(&e) != want {
				t.Fatalf("seed %d: %s: not %v", seed, n, want)
			}
		}
	}
}

// Numbers over many runs and blocks are all found, and no others.
func TestManyRuns(t *testing.T) {
	t.Parallel()
	const n = 3*sortedset.RunSize + 77
	c := collector{rest: func() {}}
	for i := range uint64(n) {
		c.add((i * 7919 % n) * 3)
		c.add((i * 104729 % n) * 3)
	}
	s, duplicates := c.set(nil)
	if s.Len() != n || duplicates != n {
		t.Fatal(s.Len(), duplicates)
	}
	for i := range uint64(3 * n) {
		if s.Has(i) != (i%3 == 0) {
			t.Fatal(i)
		}
	}
	if v, at, ok := s.Floor(1 << 60); !ok || v != 3*n-3 || at != n-1 {
		t.Error(v, ok)
	}
}

func TestHasAllocatesNothing(t *testing.T) {
	l := open(t, "46701740605\n4673*\nACME\nshop*\n12345678901234567890\n")
	if _, err := l.Add(Origin{}, "46709", "Mine"); err != nil {
		t.Fatal(err)
	}
	all := []number.Number{number.Read("46701740605"), number.Read("46739"), number.Read("shopper"), number.Read("+1 234"),
		number.Read("mine"), number.Read("größe"), number.Read("12345678901234567890"), number.Read("46709")}
	if n := testing.AllocsPerRun(100, func() {
		for _, a := range all {
			l.Has(a)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{"", "46*\n", "\xef\xbb\xbf4\r\n", "A\x00\n", "12345678901234567890*\n", "+\n", "4 6*# x\nacme\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := read(io.MultiReader(strings.NewReader("46\n"), bytes.NewReader(data)), "list") // without a header
		if table == nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			line, _, _ = bytes.Cut(line, []byte("#"))
			var room, again [maxName]byte
			e, bad := parse(bytes.TrimSpace(line), &room)
			if bad != nil || err != nil || bytes.ContainsAny(line, `",`) { // cells of a table
				continue
			}
			if !table.has(&e) {
				t.Fatalf("%q is not in the table", line)
			}
			text := e.appendTo(nil)
			if other, err := parse(text, &again); err != nil || !bytes.Equal(other.appendTo(nil), text) {
				t.Fatalf("%q is written as %q: %v", line, text, err)
			}
		}
	})
}
