package testutil

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the files that tests compare with")

// Updating reports whether tests write the files that they compare with.
func Updating() bool { return *update }

// Fresh fails the test if the content of a file is not want, and shows the first difference. With -update it writes the file.
// remedy is the command that writes this file.
func Fresh(t testing.TB, file, want, remedy string) {
	t.Helper()
	if Updating() {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := Difference(string(got), want); d != "" {
		t.Errorf("%s is not as the code makes it: %s\n%s", file, remedy, d)
	}
}

const (
	shownBefore = 2   // equal lines before the first difference
	shownLines  = 3   // lines from there on, of either text
	shownOctets = 160 // of a line
)

// Difference returns the lines around the first difference of two texts, those of got behind "-"
// and those of want behind "+". It is empty if the texts are equal.
func Difference(got, want string) string {
	if got == want {
		return ""
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	at := equal(g, w)
	var b strings.Builder
	before := g[max(at-shownBefore, 0):at]
	fmt.Fprintf(&b, "from line %d:\n", at-len(before)+1)
	show(&b, "  ", before, 0)
	g, w = g[at:min(at+shownLines, len(g))], w[at:min(at+shownLines, len(w))]
	for len(g) > 1 && len(g) == len(w) && g[len(g)-1] == w[len(w)-1] {
		g, w = g[:len(g)-1], w[:len(w)-1]
	}
	skip := 0 // skipped octets of a long line, so that the difference is shown
	if len(g) > 0 && len(w) > 0 {
		skip = max(equal([]byte(g[0]), []byte(w[0]))-shownOctets/2, 0)
	}
	show(&b, "- ", g, skip)
	show(&b, "+ ", w, skip)
	return b.String()
}

// equal returns the number of equal elements at the beginning of two slices.
func equal[T comparable](a, b []T) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// show writes lines behind a mark, without the first skip octets of the first one.
func show(b *strings.Builder, mark string, lines []string, skip int) {
	for i, line := range lines {
		if i == 0 && skip > 0 {
			line = "…" + strings.ToValidUTF8(line[skip:], "")
		}
		if len(line) > shownOctets {
			line = strings.ToValidUTF8(line[:shownOctets], "") + "…"
		}
		b.WriteString(mark + line + "\n")
	}
}
