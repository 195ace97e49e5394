package prices

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// The differences of two lists: what is new, gone, dearer, cheaper or valid from another day; prices that are far off, and
// destinations that lose their price until a day to come.
func TestCompare(t *testing.T) {
	t.Parallel()
	list := func(text string) *List {
		t.Helper()
		l, err := Read(strings.NewReader("for,price,valid_from\n"+text), "list", Options{Currency: "EUR"})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	at := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC).UnixNano()
	was := list("*,0.09\n240,0.05\n24001,0.04\n24002,0.03\n262,0.06\n+4670,0.01\n+4671,0.02\n310,0.02,2026-01-01\n311,0.02\n311,0.03,2026-12-01\n208,0.01\n")
	now := list("240,0.05\n24001,0.45\n24002,0.02\n24003,6\n262,0.06,2026-12-01\n+4670,0.0009\n+4671,0.02\n+4672,0.03\n310,0.02\n311,0.02\n311,0.03,2026-12-01\n208,0.01\n208,0.02,2026-12-01\n")
	c := Compare(was, now, at, 100)
	var got strings.Builder
	for _, d := range c.Rows {
		fmt.Fprintf(&got, "%s %s %s %s", d.For, d.Kind, d.Was, d.Now)
		if d.From != 0 {
			got.WriteString(" later")
		}
		if d.Far {
			got.WriteString(" far")
		}
		if d.Gap {
			got.WriteString(" gap")
		}
		got.WriteString("\n")
	}
	const want = `24003 new 0.00 6.00 far
24001 up 0.04 0.45 far
+4670 down 0.01 0.0009 far
+4672 new 0.00 0.03
* gone 0.09 0.00
208 up 0.01 0.02 later
24002 down 0.03 0.02
262 other days 0.06 0.06 later gap
`
	if got.String() != want {
		t.Errorf("%s\nnot\n%s", got.String(), want)
	}
	if c.Same != 4 || c.Far != 3 || c.Gaps != 1 || c.Later != 3 || c.Total() != 8 || c.Count(Added) != 2 {
		t.Errorf("%+v", c)
	}
	if few := Compare(was, now, at, 2); few.Total() != 8 || len(few.Rows) != 2 || few.Rows[1].For != "24001" {
		t.Errorf("%+v", few)
	}
	if first := Compare(nil, now, at, 5); first.Count(Added) != 11 || first.Total() != 11 || len(first.Rows) != 5 {
		t.Errorf("%+v", first)
	}
}
