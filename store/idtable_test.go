package store

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
)

// Whatever is put and removed, the table has what a map has.
func TestIDTable(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		random, table, want := rand.New(rand.NewPCG(seed, 0)), newIDTable(), map[uint64]string{}
		last, spread := uint64(0), 1+random.Uint64N(5000)
		for range 20_000 {
			var id uint64
			switch random.IntN(4) {
			case 0:
				last += 1 + random.Uint64N(3)
				id = last
			case 1:
				id = 1 + random.Uint64N(last+1)
			default:
				id = 1 + last - min(last, random.Uint64N(spread))
			}
			m, ok := table.get(id)
			if string(m.record) != want[id] || ok != (want[id] != "") {
				t.Fatalf("seed %d: %d is %q, %v, not %q", seed, id, m.record, ok, want[id])
			}
			if random.IntN(2) == 0 {
				want[id] = fmt.Sprint(id, random.IntN(9))
				table.put(youngMessage{id: id, record: []byte(want[id])})
			} else {
				if table.remove(id) != ok {
					t.Fatalf("seed %d: %d was removed: %v", seed, id, !ok)
				}
				delete(want, id)
			}
		}
		got := map[uint64]string{}
		for m := range table.all() {
			got[m.id] = string(m.record)
		}
		if !maps.Equal(got, want) || table.len() != len(want) {
			t.Fatalf("seed %d: %d messages, not %d", seed, table.len(), len(want))
		}
		table.clear()
		if table.len() != 0 {
			t.Error("not empty")
		}
	}
}
