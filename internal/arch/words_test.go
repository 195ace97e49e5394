package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// gone are words that the code had for things with a usual name, or that a reader
// has to decode. docs and review say what stands instead.
var gone = map[string]*regexp.Regexp{
	"reports whether":    regexp.MustCompile(`\btells whether\b`),
	"returns":            regexp.MustCompile(`(?m)^// [A-Z]\w* gives the \w+ (of|that|with)\b`),
	"the goroutine that": regexp.MustCompile(`\b(for|by|to|from) who (sleeps|waits|else|has|is|reads|writes)\b`),
	"job extras":         regexp.MustCompile(`\bRare\b`),
	"back-pressure":      regexp.MustCompile(`\bCrowd\b`),
	"session drained":    regexp.MustCompile(`\bSpent\b`),
}

// Words that are gone do not come back.
func TestWords(t *testing.T) {
	err := filepath.WalkDir("../..", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "words_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for instead, word := range gone {
			for _, at := range word.FindAllIndex(text, -1) {
				line := 1 + strings.Count(string(text[:at[0]]), "\n")
				t.Errorf("%s:%d: %q: write %q", path, line, text[at[0]:at[1]], instead)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
