package journaltest

import (
	"errors"
	"testing"

	"pmg/store/journal"
)

func TestContract(t *testing.T) {
	Test(t, Implementation{Open: func(*testing.T) journal.Journal { return New(nil) }})
}

// What an engine does that is far away: a record that the caller knows nothing of may be there once, twice, late, or not.
func TestFaults(t *testing.T) {
	faults := []Fault{Lost, Unknown, Repeated, LateTwice, None}
	j := New(func(id journal.ID) Fault { return faults[id.Number] })
	for n, f := range faults {
		_, err := j.Append(journal.ID{Number: uint64(n)}, nil)
		if unknown := f != None && f != Repeated; unknown != errors.Is(err, ErrUnknown) {
			t.Errorf("fault %d: %v", f, err)
		}
	}
	var got []uint64
	if err := j.Follow(0, func(_ journal.Seq, id journal.ID, _ []byte) error {
		got = append(got, id.Number)
		return nil
	}); err != nil {
		t.Error(err)
	}
	want := []uint64{1, 2, 2, 3, 4, 3}
	if len(got) != len(want) {
		t.Fatalf("%v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%v, want %v", got, want)
		}
	}
}
