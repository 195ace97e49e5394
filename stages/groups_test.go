package stages

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pmg/gateway"
)

// Clients are spread evenly, SMSCs' sessions go round, and places of sessions that have ended are used again.
func TestGroups(t *testing.T) {
	for n := 1; n <= 8; n *= 2 {
		g := newGroups(n)
		joined := make([]int, n) // clients by group
		for range 1000 * n {
			joined[g.joinClient(0)]++
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
			order = append(order, g.joinSMSC())
		}
		for i, group := range order {
			if group != i%n {
				t.Errorf("%d groups: sessions to SMSCs join %v", n, order)
				break
			}
		}
		g.leave(n-1, false)
		if again := g.joinSMSC(); again != n-1 {
			t.Errorf("%d groups: a new session to an SMSC joins group %d, where %d has fewest", n, again, n-1)
		}
		want := slices.Repeat([]gateway.Pipeline{{SMSCs: 2}}, n)
		if got := g.sessions(); !slices.Equal(got, want) {
			t.Errorf("%d groups: sessions are %v, want %v", n, got, want)
		}
	}
}

// Clients that have much more to say than others are spread as well, if each has been heard before the next one comes.
func TestGroupsOfUnequalClients(t *testing.T) {
	const n, clients, heavy, rounds = 4, 64, 8, 200
	var worst []float64 // the busiest group's octets, in units of the mean, by round
	for range rounds {
		g, now := newGroups(n), int64(0)
		said := make([]int64, n) // octets a second of each group's clients
		for _, i := range rand.Perm(clients) {
			now += int64(2 * time.Second)
			weight := int64(100)
			if i < heavy {
				weight = 10_000
			}
			said[g.joinClient(now)] += weight
			for i := range said {
				g.all[i].read.Add(2 * said[i])
			}
		}
		worst = append(worst, float64(slices.Max(said))*n/float64(heavy*10_000+(clients-heavy)*100))
	}
	slices.Sort(worst)
	if median, most := worst[rounds/2], worst[rounds*9/10]; median > 1.5 || most > 1.6 { // by numbers of clients 1.4 and 1.9
		t.Errorf("the busiest group has %.2f times the mean's load, and %.2f in a tenth of the rounds", median, most)
	}
}
