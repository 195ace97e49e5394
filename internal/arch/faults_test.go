package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The tests that docs/faults.md and docs/reliability.md name exist.
func TestFaultsHaveTests(t *testing.T) {
	for name, p := range map[string]struct{ cells, rows int }{"faults.md": {7, 40}, "reliability.md": {5, 10}} {
		testsOfPage(t, name, p.cells, p.rows)
	}
}

// testsOfPage checks the tests that a page names in the last cell of the rows with so many cells
// that begin with a number.
func testsOfPage(t *testing.T, name string, number, least int) {
	page, err := os.ReadFile("../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{} // package.TestName
	numbered := regexp.MustCompile(`^ [A-Z][0-9]+`)
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err = filepath.WalkDir("../..", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(text, -1) {
			tests[filepath.Base(filepath.Dir(path))+"."+string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) != number || !numbered.MatchString(cells[1]) {
			continue
		}
		rows++
		for _, name := range strings.Split(cells[number-2], ",") {
			if name = strings.TrimSpace(name); name != "-" && !tests[name] {
				t.Errorf("%s names %q, which is not a test", strings.TrimSpace(cells[1]), name)
			}
		}
	}
	if rows < least {
		t.Errorf("only %d rows were found in %s", rows, name)
	}
}
