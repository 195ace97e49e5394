package docs

import (
	"fmt"
	"strings"
	"testing"
)

// A document is split at its headings, and a comment in a block of code is none.
func TestSectionsOf(t *testing.T) {
	t.Parallel()
	got := sectionsOf("a.md", "# A\n\none\n## B\ntwo\n```sh\n# no heading\n```\n### C\nthree\n## D\n#5 is text\n")
	want := "[{a.md A one} {a.md A: B two\n```sh\n# no heading\n```} {a.md A: B: C three} {a.md A: D #5 is text}]"
	if fmt.Sprint(got) != want {
		t.Errorf("%v", got)
	}
}

// Every document has a first section, and none is without a title.
func TestSections(t *testing.T) {
	t.Parallel()
	files, titles := map[string]bool{}, 0
	for _, s := range Sections() {
		if files[s.File] = true; s.Title == "" || strings.HasPrefix(s.Title, ":") {
			t.Errorf("%s has a section without a title", s.File)
		}
		titles++
	}
	if len(files) < 30 || titles < 200 {
		t.Errorf("%d documents with %d sections", len(files), titles)
	}
}
