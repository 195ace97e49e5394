package document

import (
	"strings"
	"testing"
)

// A problem line never has a password in it, however the key is spelt.
func TestSourceLine(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"  password: hunter2", `- {system_id: a, "password": "hunter2"}`, "pasword : hunter2", "Passwd: hunter2", "  password:hunter2",
	} {
		if got := SourceLine([]string{line}, 1); strings.Contains(got, "hunter2") {
			t.Errorf("%q is shown as %q", line, got)
		}
	}
}
