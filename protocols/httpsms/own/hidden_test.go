package own

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A number that was copied with characters that nobody sees is that number, and others are named.
func TestHidden(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{
		"\u202a+46701740605\u202c": "+46701740605", "+46701740605\u00a0": "+46701740605", "\ufeff46701740605": "46701740605",
		"+46 70-174 06 05": "+46701740605", "+46 (0)70 174 06 05": "+46701740605",
	} {
		m, p := new(Reader).Message([]byte(fmt.Sprintf(`{"to":%q,"text":"a"}`, to)), time.Now())
		if p != nil || m.To != want {
			t.Errorf("%q: %v", to, p)
		}
	}
	for to, want := range map[string]string{"+4670174\u03010605": "the invisible character U+0301", "+4670174О605": `"О" is not a digit`} {
		_, p := new(Reader).Message([]byte(fmt.Sprintf(`{"to":%q,"text":"a"}`, to)), time.Now())
		if p == nil || !strings.Contains(fmt.Sprint(p.Errors), want) {
			t.Errorf("%q: %+v", to, p)
		}
	}
}
