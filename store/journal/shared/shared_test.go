package shared

import (
	"errors"
	"testing"

	"pmg/internal/testkit/testutil"
	"pmg/store/journal"
	"pmg/store/journal/journaltest"
)

func TestMain(m *testing.M) { testutil.NoLeaks(m) }

// follow passes to a node what it has not judged.
func follow(t *testing.T, inner journal.Journal, j *Journal) (counted []string) {
	t.Helper()
	err := inner.Follow(j.Last(), func(at journal.Seq, id journal.ID, record []byte) error {
		counts, err := j.Judge(at, id)
		if counts {
			counted = append(counted, string(record))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return counted
}

// takeOver makes a node the owner.
func takeOver(t *testing.T, inner journal.Journal, j *Journal, epoch uint32) {
	t.Helper()
	at, err := j.Begin(epoch, []byte("epoch"))
	if err != nil {
		t.Fatal(err)
	}
	if follow(t, inner, j); j.Last() < at {
		t.Fatalf("judged up to %d, and the epoch is at %d", j.Last(), at)
	}
	if err := j.Own(epoch); err != nil {
		t.Fatal(err)
	}
}

// An owner that was deposed finds that out by its next record, which is void for all.
func TestDeposed(t *testing.T) {
	inner := journaltest.New(nil)
	a, b, c := New(inner, 1), New(inner, 2), New(inner, 3)
	if _, err := a.Append(journal.ID{}, []byte("too early")); err == nil {
		t.Error("a node appends that does not own")
	}
	takeOver(t, inner, a, 1)
	if _, err := a.Append(journal.ID{}, []byte("one")); err != nil {
		t.Fatal(err)
	}
	takeOver(t, inner, b, 2)
	for range 2 {
		if _, err := a.Append(journal.ID{}, []byte("late")); !errors.Is(err, ErrDeposed) {
			t.Errorf("an owner that was deposed appends: %v", err)
		}
	}
	at, err := b.Append(journal.ID{}, []byte("two"))
	if err != nil || at != 5 {
		t.Errorf("the new owner's record is at %d, %v", at, err)
	}
	if got := follow(t, inner, c); len(got) != 4 || got[1] != "one" || got[3] != "two" {
		t.Errorf("another node counts %q", got)
	}
	if err := a.Own(1); !errors.Is(err, ErrDeposed) {
		t.Errorf("own again: %v", err)
	}
}

// A record that the journal has twice, now or later, counts once, and its owner goes on.
func TestRepeated(t *testing.T) {
	fault := journaltest.None
	inner := journaltest.New(func(journal.ID) journaltest.Fault { return fault })
	a, b := New(inner, 1), New(inner, 2)
	takeOver(t, inner, a, 1)
	fault = journaltest.Repeated
	first, err := a.Append(journal.ID{}, []byte("one"))
	if err != nil || first != 2 {
		t.Fatalf("at %d, %v", first, err)
	}
	fault = journaltest.None
	second, err := a.Append(journal.ID{}, []byte("two"))
	if err != nil || second != 4 {
		t.Fatalf("at %d, %v", second, err)
	}
	if got := follow(t, inner, b); len(got) != 3 || got[1] != "one" || got[2] != "two" {
		t.Errorf("another node counts %q", got)
	}
	if a.Last() != b.Last() {
		t.Errorf("judged up to %d and %d", a.Last(), b.Last())
	}
}

// Two nodes with one name, which take the same epoch, are found out.
func TestForged(t *testing.T) {
	inner := journaltest.New(nil)
	a := New(inner, 1)
	takeOver(t, inner, a, 1)
	if _, err := inner.Append(journal.ID{Node: 2, Run: 1, Number: 1}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Append(journal.ID{}, nil); err == nil || errors.Is(err, ErrDeposed) {
		t.Errorf("a second node has the epoch: %v", err)
	}
}

// What a store does not need any more is noted, and stays.
func TestTrim(t *testing.T) {
	inner := journaltest.New(nil)
	a := New(inner, 1)
	takeOver(t, inner, a, 1)
	if err := a.Trim(1); err != nil || a.Moved() != 1 || inner.Status().First != 1 {
		t.Errorf("%v, moved %d, first %d", err, a.Moved(), inner.Status().First)
	}
}
