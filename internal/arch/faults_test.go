package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The tests that docs/faults.md names exist.
func TestFaultsHaveTests(t *testing.T) {
	page, err := os.ReadFile("../../docs/faults.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{} // package.TestName
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
		if len(cells) != 7 || strings.TrimSpace(cells[1]) == "" || strings.HasPrefix(cells[1], "-") {
			continue
		}
		rows++
		for _, name := range strings.Split(cells[5], ",") {
			if name = strings.TrimSpace(name); !tests[name] {
				t.Errorf("%s names %q, which is not a test", strings.TrimSpace(cells[1]), name)
			}
		}
	}
	if rows < 40 {
		t.Errorf("only %d faults were found in the page", rows)
	}
}
