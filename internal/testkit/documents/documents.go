// Package documents reads the project's documents for tests that compare them with the program, or run what they show.
package documents

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// All returns the documents below the project's directory, by their paths from there.
func All(t testing.TB, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			name, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			all[filepath.ToSlash(name)] = Read(t, file)
		}
	}
	return all
}

// Read returns one document.
func Read(t testing.TB, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Blocks returns what a document has between lines of ```kind and ```.
func Blocks(document, kind string) (found []string) {
	for _, m := range regexp.MustCompile("(?ms)^```"+kind+"\n(.*?)^```$").FindAllStringSubmatch(document, -1) {
		found = append(found, m[1])
	}
	return found
}
