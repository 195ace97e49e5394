package document

import (
	"strings"
	"testing"
)

// A problem line never has a password in it, however the key is spelt.
func TestSourceLine(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"  password: hunter2", `- {system_id: a, "password": "hunter2"}`, "pasword : hunter2", "Passwd: hunter2", "  password:hunter2",
	} {
		if got := SourceLine([]string{line}, 1); strings.Contains(got, "hunter2") {
			t.Errorf("%q is shown as %q", line, got)
		}
	}
}

// What is written is read as it was meant: the dash of an entry stands before its first option, and no word of a comment is lost.
func TestWriter(t *testing.T) {
	t.Parallel()
	var w, item Writer
	w.Comment(0, 14, "one two  thrée\nfour a-word-that-is-longer")
	w.Option(0, "a", "1")
	w.Section(0, "list")
	item.Comment(2, 80, "about b")
	item.Option(2, "b", `"x"`)
	item.Comment(2, 80, "about c")
	item.Section(2, "c")
	item.Option(3, "d", "[]")
	w.Item(1, &item)
	want := "# one two\n# thrée four\n# a-word-that-is-longer\na: 1\nlist:\n    # about b\n  - b: \"x\"\n    # about c\n    c:\n      d: []\n"
	if got := w.String(); got != want {
		t.Errorf("%s\nis not\n%s", got, want)
	}
}
