package store

import (
	"fmt"
	"testing"
)

// Of several notes of NoteCurrent in a commit the last one is carried out, beside all others, and a start that reads the journal
// has the last one, too.
func TestNoteCurrent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b Batch
	for i := range 100 {
		b.NoteCurrent("money", []byte("acme"), fmt.Append(nil, i), Forever)
		b.NoteCurrent("money", []byte("shop"), fmt.Append(nil, 1000+i), Forever)
		b.Note("other", fmt.Append(nil, i), []byte("x"), 7)
	}
	if err := s.Commit(&b); err != nil {
		t.Fatal(err)
	}
	if n := s.(*durable).writer.batch.Count(); n != 2+1 { // and the marks; the others are in memory
		t.Errorf("pebble was given %d operations", n)
	}
	check := func(when string) {
		t.Helper()
		for key, want := range map[string]string{"acme": "99", "shop": "1099"} {
			if value, ok, err := s.Lookup("money", []byte(key)); string(value) != want || !ok || err != nil {
				t.Errorf("%s: %s is %q, %t, %v", when, key, value, ok, err)
			}
		}
		if value, _, err := s.Lookup("other", []byte("42")); string(value) != "x" || err != nil {
			t.Errorf("%s: %q, %v", when, value, err)
		}
	}
	check("behind the commit")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(dir, Options{}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	check("behind a restart")
}

// Batches without such notes cost no allocation for them.
func TestCurrentsAllocate(t *testing.T) {
	var b Batch
	for i := range uint64(100) {
		b.Note("other", []byte("key"), []byte("x"), 7)
		b.Delete(i, 100)
	}
	c := currents{}
	if n := testing.AllocsPerRun(100, func() { c.find(&b) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
