package queue

import (
	"math/rand/v2"
	"testing"

	"pmg/sms"
)

// A ring under random additions and removals, at its ends and in its midst, does what a
// list does, whichever chunks it spans.
func TestRing(t *testing.T) {
	t.Parallel()
	m := &sms.Message{}
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 4))
		r, id := &ring{}, uint64(0)
		var list []uint64 // 0: it was taken out
		for range 3000 {
			switch n := random.IntN(20); {
			case n < 10:
				for range random.IntN(chunkSize / 2) {
					id++
					list = append(list, id)
					*r.extend() = Entry{ID: id, Due: int64(id / 3), Message: m}
				}
			case n < 12 && len(list) > 0: // from the end
				for range random.IntN(2 * chunkSize) {
					if len(list) == 0 {
						break
					}
					r.last().take()
					r.trim()
					list[len(list)-1] = 0
					list = trimmed(list)
				}
			case n < 15 && len(list) > 0: // in the midst
				i := random.IntN(len(list))
				e := Entry{ID: list[i], Due: int64(list[i] / 3)}
				found := r.find(&e)
				if (found != nil) != (list[i] != 0) {
					t.Fatalf("seed %d: %d is found: %t", seed, list[i], found != nil)
				}
				if found != nil {
					found.take()
					r.trim()
					list[i] = 0
					list = trimmed(list)
				}
			default:
				for range random.IntN(chunkSize) {
					if len(list) == 0 {
						break
					}
					r.first().take()
					r.trim()
					list[0] = 0
					list = trimmed(list)
				}
			}
			if r.n != len(list) || r.n > 0 && (r.first().ID != list[0] || r.last().ID != list[r.n-1]) {
				t.Fatalf("seed %d: %d entries, want %d", seed, r.n, len(list))
			}
			if i := random.IntN(max(r.n, 1)); r.n > 0 && list[i] != 0 && r.at(i).ID != list[i] {
				t.Fatalf("seed %d: %d at %d, want %d", seed, r.at(i).ID, i, list[i])
			}
		}
	}
}

// trimmed returns the list without what was taken out at its ends.
func trimmed(list []uint64) []uint64 {
	for len(list) > 0 && list[0] == 0 {
		list = list[1:]
	}
	for len(list) > 0 && list[len(list)-1] == 0 {
		list = list[:len(list)-1]
	}
	return list
}
