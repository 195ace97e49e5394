package token

import (
	"strings"
	"testing"
)

// Tokens differ, and so do their hashes, which the configuration can distinguish from tokens.
func TestTokens(t *testing.T) {
	t.Parallel()
	a, b := New(), New()
	if a == b || !strings.HasPrefix(a, "pmg_") || len(a) != len("pmg_")+43 || Hash(a) == Hash(b) || !IsHash(Hash(a)) {
		t.Errorf("%s %s, %s %s", a, b, Hash(a), Hash(b))
	}
	for _, wrong := range []string{"", a, Hash(a)[:70], Hash(a) + "0", strings.ToUpper(Hash(a)), "sha256:" + a} {
		if IsHash(wrong) {
			t.Errorf("%s is a hash", wrong)
		}
	}
}
