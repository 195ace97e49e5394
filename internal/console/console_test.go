package console

import (
	"strings"
	"testing"
)

// A table has no character that a terminal obeys, those that turn the direction of a text included.
func TestTable(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := Table(&out, [][]string{{"name", "by", "comment"}, {"a\x1b[1m", "", "x\u202ey\tz"}}); err != nil {
		t.Fatal(err)
	}
	if want := "name   by  comment\na?[1m  -   x?y?z\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
