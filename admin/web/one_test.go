package web

import (
	"testing"

	"pmg/admin"
)

// The page about one thing shows as many sessions as any table, and says where the others are.
func TestFirstSessions(t *testing.T) {
	t.Parallel()
	for n, more := range map[int]int{0: 0, most: 0, most + 3: 3} {
		if open := firstOf(make([]admin.Session, n), "clients/"); len(open.Rows) != min(n, most) || open.More != more || open.Filter != "clients/" {
			t.Errorf("%d sessions: %d rows, %d more, %q", n, len(open.Rows), open.More, open.Filter)
		}
	}
}
