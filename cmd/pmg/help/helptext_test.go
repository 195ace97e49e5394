package help

import (
	"strings"
	"testing"
)

// Paragraphs are wrapped, and what has columns stays.
func TestReflow(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"one two\nthree four": "one two\nthree four", "one\ntwo\nthree": "one two\nthree", "a\n\nb c": "a\n\nb c",
		"a:\n  kept   as\n  it is": "a:\n  kept   as\n  it is", "überlanges Wort": "überlanges\nWort", "": "",
	} {
		if got := reflow(text, 10); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
	if got := indent("a\nb", "  "); got != "  a\n  b" || strings.Contains(got, "\t") {
		t.Errorf("%q", got)
	}
}
