package chrome

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// A page with a control without a name, and with a text that cannot be read in light colors, has violations; another one has none.
func TestAxe(t *testing.T) {
	t.Parallel()
	axe := NewAxe(t)
	b := Start(t)
	for page, want := range map[string]int{
		`<html lang="en"><title>a</title><main><h1>a</h1><label>b <input></label></main>`:                                              0,
		`<html lang="en"><title>a</title><main><h1>a</h1><input><p style="color: %23bbb; background: %23fff">a text</p></main></html>`: 4,
	} {
		b.Do(chromedp.Navigate("data:text/html," + page))
		got := axe.Violations(b)
		all := strings.Join(got, "\n")
		if len(got) != want || want > 0 && (!strings.Contains(all, "label: ") || !strings.Contains(all, "color-contrast: ")) {
			t.Errorf("%s: %q", page, got)
		}
	}
}
