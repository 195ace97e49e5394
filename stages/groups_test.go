package stages

import (
	"slices"
	"testing"

	"pmg/gateway"
)

// Clients are spread evenly, SMSCs' sessions go round, and places of sessions that have ended are used again.
func TestGroups(t *testing.T) {
	for n := 1; n <= 8; n *= 2 {
		g := newGroups(n)
		joined := make([]int, n) // clients by group
		for range 1000 * n {
			joined[g.join(true)]++
		}
		for i, clients := range joined {
			if clients < 900 || clients > 1100 { // of two at random the difference is some tens
				t.Errorf("%d groups: group %d has %d of %d clients", n, i, clients, 1000*n)
			}
			for range clients {
				g.leave(i, true)
			}
		}
		var order []int
		for range 2 * n {
			order = append(order, g.join(false))
		}
		for i, group := range order {
			if group != i%n {
				t.Errorf("%d groups: sessions to SMSCs join %v", n, order)
				break
			}
		}
		g.leave(n-1, false)
		if again := g.join(false); again != n-1 {
			t.Errorf("%d groups: a new session to an SMSC joins group %d, where %d has fewest", n, again, n-1)
		}
		want := slices.Repeat([]gateway.Pipeline{{SMSCs: 2}}, n)
		if got := g.sessions(); !slices.Equal(got, want) {
			t.Errorf("%d groups: sessions are %v, want %v", n, got, want)
		}
	}
}
