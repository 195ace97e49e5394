package web

import (
	"strings"
	"testing"

	"pmg/config"
)

// The page Help shows what has a word, by subjects, and what it is shown is text.
func TestHelp(t *testing.T) {
	t.Parallel()
	base, _ := start(t)
	c := visitor(t, base, config.LookScope)
	for query, want := range map[string]struct {
		code  int
		words []string
	}{
		"":                                      {200, []string{"A word is looked for"}},
		"?q=window":                             {200, []string{"pmg &lt;b&gt;window", "<h2>Commands</h2>", "&lt;pre&gt;", `value="window"`}},
		"?q=none":                               {200, []string{"No command, option or document has it."}},
		"?q=" + strings.Repeat("a", mostWord+1): {200, []string{"The word is too long."}},
	} {
		code, body, _ := ask(t, c, "GET", base+"/ui/help"+query, nil)
		for _, word := range want.words {
			if code != want.code || !strings.Contains(body, word) {
				t.Errorf("%.20s: %d without %s: %.2000s", query, code, word, body)
			}
		}
		if strings.Count(body, "<h2>Documents</h2>") != map[bool]int{true: 1}[query == "?q=window"] {
			t.Errorf("%.20s: the subjects do not begin once", query)
		}
	}
	if code, _, _ := ask(t, visitor(t, base, ""), "GET", base+"/ui/help?q=window", nil); code != 303 {
		t.Errorf("somebody without a login sees it: %d", code)
	}
}
