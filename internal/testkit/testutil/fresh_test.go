package testutil

import (
	"strings"
	"testing"
)

func TestDifference(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 100)
	tail := strings.Repeat("é", 40)
	for _, c := range []struct{ got, want, difference string }{
		{"a\nb\n", "a\nb\n", ""},
		{"1\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\nfour\n5\n6\n7\n8\n", "from line 2:\n  2\n  3\n- 4\n+ four\n"},
		{"1\n2\n3\n4\n", "1\n1.5\n2\n3\n4\n", "from line 1:\n  1\n- 2\n- 3\n- 4\n+ 1.5\n+ 2\n+ 3\n"},
		{long + "1", long + "2", "from line 1:\n- …" + tail + "1\n+ …" + tail + "2\n"},
		{"", "a\n", "from line 1:\n- \n+ a\n+ \n"},
		{"a", "a\nb", "from line 1:\n  a\n+ b\n"},
		{"a\nb", "a", "from line 1:\n  a\n- b\n"},
		{long, "", "from line 1:\n- " + long[:160] + "…\n+ \n"},
	} {
		if d := Difference(c.got, c.want); d != c.difference {
			t.Errorf("%q and %q differ so:\n%s", c.got, c.want, d)
		}
	}
}
