package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The tests of what docs/reliability.md promises exist.
func TestPromisesHaveTests(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("testdata", "promises.txt"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{} // package.TestName
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
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
	named := regexp.MustCompile(`\b\w+\.Test\w+`).FindAllString(string(page), -1)
	for _, name := range named {
		if !tests[name] {
			t.Errorf("promises.txt names %q, which is not a test", name)
		}
	}
	if len(named) < 40 {
		t.Errorf("promises.txt names only %d tests", len(named))
	}
}
