package access

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

// What strangers do elsewhere fills the audit log with one line for each address, and hides nothing of those who are known.
func TestRecordStrangers(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	a, err := NewAudit("", zerolog.New(&out))
	if err != nil {
		t.Fatal(err)
	}
	for port := range 100 {
		for _, who := range []string{"unknown", "user ann of account acme"} {
			for host := range 2 {
				a.Record(who, fmt.Sprintf("127.0.0.%d:%d", host+1, port+1000), "portal/login", nil, "refused")
			}
		}
	}
	for who, want := range map[string]int{`"who":"unknown"`: 2, `"who":"user ann of account acme"`: 200} {
		if n := strings.Count(out.String(), who); n != want {
			t.Errorf("%d lines with %s, not %d", n, who, want)
		}
	}
}
