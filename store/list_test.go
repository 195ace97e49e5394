package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Messages are listed from the latest on: those that are kept, and of the others what the latest day knows of them, each once.
func TestList(t *testing.T) {
	t.Parallel()
	s := open(t, vfs.NewMem())
	key := func(id uint64) []byte { return binary.BigEndian.AppendUint64(nil, id) }
	commit(t, s, func(b *Batch) {
		for _, id := range []uint64{3, 7, 1 << 62} {
			b.Put(sample(id, fmt.Sprint("text ", id)), Lane{Connector: "north"})
		}
		b.Note(KindEnded, key(2), []byte("2 of day 5"), 5)
		b.Note(KindEnded, key(4), []byte("4 of day 5"), 5)
		b.Note(KindEnded, key(6), []byte("6 of day 5"), 5)
		b.Note(KindEnded, key(4), []byte("4 of day 6"), 6)
		b.Note(KindEnded, key(4), []byte("4 of day 7"), 7)
		b.Note(KindEnded, key(3), []byte("3 of day 7"), 7) // it is kept, too: a part of it has ended
		b.Note(KindEnded, key(9), []byte("9 of day 7"), 7)
		b.Note(KindEnded, []byte("short"), []byte("no id"), 7)
		b.Note(KindEnded, append(key(8), 'x'), []byte("no id"), 7)
		b.Note(".endless", key(5), []byte("of others"), 7)
		b.Note(".end", key(5), []byte("of others"), 7)
	})
	commit(t, s, func(b *Batch) { b.Keep(sample(7, "text 7"), State{Aside: Parked}) })
	errEnough := errors.New("enough")
	list := func(below uint64, since uint32, limit int, stop uint64) (string, uint64, error) {
		var got []string
		last, err := s.(Lister).List(KindEnded, below, since, limit, func(e *Listed) error {
			switch {
			case e.ID == stop:
				return errEnough
			case e.Record != nil && e.Note != nil:
				t.Errorf("%d is known twice", e.ID)
			case e.Record != nil && (e.State != nil) != (e.ID == 7):
				t.Errorf("the state of %d: %x", e.ID, e.State)
			}
			got = append(got, fmt.Sprint(e.ID))
			if e.Record == nil {
				got = append(got, "("+string(e.Note)+")")
			}
			return nil
		})
		return strings.Join(got, " "), last, err
	}
	for _, c := range []struct {
		below uint64
		since uint32
		limit int
		want  string
		last  uint64
	}{
		{0, 0, 100, "4611686018427387904 9 (9 of day 7) 7 6 (6 of day 5) 4 (4 of day 7) 3 2 (2 of day 5)", 0},
		{0, 0, 7, "4611686018427387904 9 (9 of day 7) 7 6 (6 of day 5) 4 (4 of day 7) 3 2 (2 of day 5)", 0},
		{0, 0, 2, "4611686018427387904 9 (9 of day 7)", 9},
		{9, 0, 3, "7 6 (6 of day 5) 4 (4 of day 7)", 4},
		{4, 0, 3, "3 2 (2 of day 5)", 0},
		{2, 0, 3, "", 0},
		{0, 6, 100, "4611686018427387904 9 (9 of day 7) 7 4 (4 of day 7) 3", 0},
		{0, 8, 100, "4611686018427387904 7 3", 0},
	} {
		if got, last, err := list(c.below, c.since, c.limit, 0); got != c.want || last != c.last || err != nil {
			t.Errorf("%+v: %q, %d, %v", c, got, last, err)
		}
	}
	if got, _, err := list(0, 0, 100, 7); got != "4611686018427387904 9 (9 of day 7)" || !errors.Is(err, errEnough) {
		t.Errorf("it ended behind %q: %v", got, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, ok := NewMemory().(Lister); ok {
		t.Error("a store in memory lists")
	}
}
