// Package journaltest tests what every journal must do. It contains a journal in memory that
// simulates the faults of an engine on other machines.
//
// # Start reading
//
// Test, New.
package journaltest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"pmg/store/journal"
)

// An Implementation describes how a test opens journals.
type Implementation struct {
	Open func(t *testing.T) journal.Journal // returns a new journal without records
	// Reopen opens a journal again after Close. It is nil if closing loses the records.
	Reopen func(t *testing.T) journal.Journal
}

// Test tests an implementation.
func Test(t *testing.T, of Implementation) {
	for name, test := range map[string]func(*testing.T, Implementation){
		"order": order, "bounds": bounds, "trim": trim, "together": together, "again": again,
	} {
		t.Run(name, func(t *testing.T) { test(t, of) })
	}
}

// A record is a record that a test has appended.
type record struct {
	id    journal.ID
	value []byte
	seq   journal.Seq // the record's place in the journal
}

func recordOf(n int) record {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	value := make([]byte, r.IntN(300))
	for i := range value {
		value[i] = byte(r.Uint32())
	}
	return record{id: journal.ID{Node: 1, Run: 2, Number: uint64(n)}, value: value}
}

// add appends the record one to the journal and to the slice all, and returns the slice.
func add(t *testing.T, to func(journal.ID, []byte) (journal.Seq, error), all []record, one record) []record {
	t.Helper()
	seq, err := to(one.id, one.value)
	if err != nil || seq <= place(all, len(all)) {
		t.Fatalf("record %d: place %d behind %d, %v", len(all)+1, seq, place(all, len(all)), err)
	}
	one.seq = seq
	return append(all, one)
}

// place returns the place of the n-th record. For n = 0 it returns 0.
func place(all []record, n int) journal.Seq {
	if n == 0 {
		return 0
	}
	return all[n-1].seq
}

// fill appends n records to the journal and to the slice all, every third one with Write. It
// returns the slice.
func fill(t *testing.T, j journal.Journal, all []record, n int) []record {
	t.Helper()
	for range n {
		to := j.Append
		if len(all)%3 == 1 {
			to = j.Write
		}
		all = add(t, to, all, recordOf(len(all)))
	}
	if err := j.Sync(place(all, len(all))); err != nil {
		t.Fatal(err)
	}
	return all
}

// check compares the records of the journal after the n-th one with the appended records.
func check(t *testing.T, j journal.Journal, after int, all []record) {
	t.Helper()
	n := after
	err := j.Follow(place(all, after), func(seq journal.Seq, id journal.ID, value []byte) error {
		if n++; n > len(all) || seq != all[n-1].seq || id != all[n-1].id || !bytes.Equal(value, all[n-1].value) {
			return fmt.Errorf("record %d comes as place %d with %v and %d octets", n, seq, id, len(value))
		}
		return nil
	})
	if err != nil || n != len(all) {
		t.Fatalf("behind %d: %d of %d records, %v", after, n-after, len(all)-after, err)
	}
}

func order(t *testing.T, of Implementation) {
	j := of.Open(t)
	check(t, j, 0, nil)
	all := fill(t, j, nil, 200)
	for _, after := range []int{0, 1, 77, 199, 200} {
		check(t, j, after, all)
	}
	if s := j.Status(); s.Synced != s.Last {
		t.Errorf("%+v", s)
	}
	if s := j.Status(); s.First == 0 || s.First > place(all, 1) || s.Last != place(all, 200) || s.Fault != nil || s.Octets == 0 {
		t.Errorf("%+v", s)
	}
	stop, n := errors.New("stop"), 0
	if err := j.Follow(0, func(journal.Seq, journal.ID, []byte) error { n++; return stop }); !errors.Is(err, stop) || n != 1 {
		t.Errorf("Follow goes on behind an error: %d, %v", n, err)
	}
	end(t, j)
}

func bounds(t *testing.T, of Implementation) {
	j := of.Open(t)
	all := add(t, j.Append, nil, record{})
	all = add(t, j.Append, all, record{id: journal.ID{Number: 1}, value: bytes.Repeat([]byte{7}, 3<<20)})
	if _, err := j.Append(journal.ID{}, make([]byte, journal.MaxRecord+1)); !errors.Is(err, journal.ErrTooLarge) {
		t.Errorf("a record that is too large: %v", err)
	}
	all = add(t, j.Append, all, record{id: journal.ID{Number: 2}, value: []byte{8}})
	for after := range len(all) + 1 {
		check(t, j, after, all)
	}
	end(t, j)
}

func trim(t *testing.T, of Implementation) {
	j := of.Open(t)
	all := fill(t, j, nil, 100)
	all = add(t, j.Append, all, record{id: journal.ID{Number: 100}, value: recordOf(100).value})
	if err := j.Trim(place(all, 60)); err != nil {
		t.Fatal(err)
	}
	check(t, j, 60, all)
	if first := j.Status().First; first > place(all, 61) {
		t.Errorf("all from %d on are kept, and %d is needed", first, place(all, 61))
	} else {
		err := j.Follow(0, func(journal.Seq, journal.ID, []byte) error { return nil })
		if first > place(all, 1) != errors.Is(err, journal.ErrTrimmed) {
			t.Errorf("the first is %d, and all are asked for: %v", first, err)
		}
	}
	if err := j.Trim(place(all, 101)); err != nil {
		t.Fatal(err)
	}
	all = add(t, j.Append, all, record{})
	check(t, j, 101, all)
	end(t, j)
}

func together(t *testing.T, of Implementation) {
	j := of.Open(t)
	var all sync.Map
	var done sync.WaitGroup
	for g := range 8 {
		done.Go(func() {
			for n := range 50 {
				id := journal.ID{Node: uint32(g), Number: uint64(n)}
				seq, err := j.Append(id, fmt.Append(nil, g, n))
				if _, twice := all.LoadOrStore(seq, id); err != nil || twice {
					t.Errorf("%v: place %d, %v", id, seq, err)
				}
			}
		})
	}
	done.Wait()
	numbers := map[uint32]uint64{}
	err := j.Follow(0, func(seq journal.Seq, id journal.ID, value []byte) error {
		want, _ := all.LoadAndDelete(seq)
		if want != id || string(value) != fmt.Sprint(id.Node, id.Number) || id.Number != numbers[id.Node] {
			return fmt.Errorf("place %d has %v, want %v: %s", seq, id, want, value)
		}
		numbers[id.Node]++
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	all.Range(func(seq, id any) bool { t.Errorf("%v at %v is missing", id, seq); return true })
	end(t, j)
}

func again(t *testing.T, of Implementation) {
	if of.Reopen == nil {
		t.Skip("it is lost when it is closed")
	}
	j := of.Open(t)
	var all []record
	for _, n := range []int{0, 10, 0, 1, 90} {
		all = fill(t, j, all, n)
		end(t, j)
		j = of.Reopen(t)
		check(t, j, 0, all)
		if last := j.Status().Last; last != place(all, len(all)) {
			t.Errorf("the last is %d, not %d", last, place(all, len(all)))
		}
	}
	end(t, j)
}

// end closes a journal, and checks that the journal does nothing any more.
func end(t *testing.T, j journal.Journal) {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	_, appended := j.Append(journal.ID{}, nil)
	_, noted := j.Write(journal.ID{}, nil)
	for _, err := range []error{appended, noted, j.Sync(1), j.Trim(1), j.Close(), j.Follow(0, nil)} {
		if !errors.Is(err, journal.ErrClosed) {
			t.Errorf("behind its end: %v", err)
		}
	}
}
