package portal

import (
	"io/fs"
	"strings"
	"testing"

	"pmg/internal/testkit/templates"
)

// All that templates ask for exists, also in rows that no test's page has.
func TestTemplatesAsk(t *testing.T) {
	t.Parallel()
	templates.Check(t, templateFiles, &view{})
}

// A page with times names the zone that they are in, which is the account's.
func TestTimesNameTheirZone(t *testing.T) {
	t.Parallel()
	pages := 0
	err := fs.WalkDir(templateFiles, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(templateFiles, path)
		if text := string(b); strings.Contains(text, "$.Time ") {
			if pages++; !strings.Contains(text, "$.Zone") || strings.Contains(text, "imes are UTC") {
				t.Errorf("%s has times, and does not name the account's zone", path)
			}
		}
		return err
	})
	if err != nil || pages < 5 {
		t.Errorf("%d pages with times, %v", pages, err)
	}
}
