package prices

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// The rows of a list have the price of now and the next one, by destination, and not more than are wanted.
func TestRows(t *testing.T) {
	t.Parallel()
	l, err := Read(strings.NewReader("for,price,valid_from\n24001,0.045\n24001,0.05,2026-12-01\n24001,0.06,2027-12-01\n+46701,0.04,2027-01-01\n*,0.09\n"), "p", Options{Currency: "EUR"})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC).UnixNano()
	all := func(*Row) bool { return true }
	rows, more := l.Select(now, 3, all)
	got := ""
	for _, r := range rows {
		got += fmt.Sprintf("%s %s %t %s %s; ", r.For, r.Price, r.Valid, r.Next, time.Unix(0, r.From).UTC().Format(time.DateOnly))
	}
	const want = "* 0.09 true 0.00 1970-01-01; +46701 0.00 false 0.04 2027-01-01; 24001 0.045 true 0.05 2026-12-01; "
	if got != want || more {
		t.Errorf("%s", got)
	}
	if rows, more = l.Select(now, 2, all); len(rows) != 2 || !more {
		t.Errorf("%+v %t", rows, more)
	}
	if rows, more = l.Select(now, 1, func(r *Row) bool { return r.Network != 0 }); len(rows) != 1 || more {
		t.Errorf("%+v %t", rows, more)
	}
}
