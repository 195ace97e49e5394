package store

import (
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// What Export passes makes the same store from an empty one, whatever a gateway has done before: messages, states, notes of each day,
// events, and the ids that were given.
func TestExport(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0))
		fs, m, last := vfs.NewMem(), newModel(), uint64(0)
		for range 2 {
			s, err := Open("old", Options{FS: fs})
			if err != nil {
				t.Fatal(err)
			}
			for range 150 {
				var b Batch
				m.change(r, &b)
				if err := s.Commit(&b); err != nil {
					t.Fatal(err)
				}
				if r.IntN(20) == 0 {
					s.Tidy()
				}
			}
			last = s.LastID()
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		fresh, err := Open("new", Options{FS: fs})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		want, err := Export("old", Options{FS: fs}, func(b *Batch) error {
			n++
			return fresh.Commit(b)
		})
		if err != nil {
			t.Fatal(err)
		}
		_, got, err := contentsOf(fresh.(*durable)).sum()
		if err != nil || got != want {
			t.Errorf("seed %d: the sum is %s, and was %s; %v", seed, got, want, err)
		}
		if d := m.differs(fresh); d != "" {
			t.Errorf("seed %d: %s", seed, d)
		}
		if got := fresh.LastID(); got != last {
			t.Errorf("seed %d: the last id is %d, and was %d", seed, got, last)
		}
		if err := fresh.Close(); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			t.Error("nothing was passed")
		}
	}
}
