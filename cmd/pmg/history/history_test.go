package history

import "testing"

// Why a gateway refuses to take a change back is said with each problem, as without a gateway.
func TestRefusal(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"detail":"cannot change accounts/a.yaml: with it the configuration cannot be used","problems":[` +
			`{"option":"block[0]","detail":"names no list: \"vip\"","file":"accounts/a.yaml","line":3},{"detail":"is wrong","file":"pmg.yaml"}]}`: "cannot change " +
			"accounts/a.yaml: with it the configuration cannot be used:\naccounts/a.yaml:3:1: block[0] names no list: \"vip\"\npmg.yaml: is wrong",
		`{"detail":"the history has no such change"}`: "the history has no such change",
		"not found\n": "not found",
	} {
		if got := refusal([]byte(body)).Error(); got != want {
			t.Errorf("%s: %q, not %q", body, got, want)
		}
	}
}
