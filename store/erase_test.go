package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmg/internal/testkit/testutil"
)

// grep returns the files of a directory in which a word stands.
func grep(t *testing.T, dir, word string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(word)) {
			found = append(found, path)
		}
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) { // pebble removes files meanwhile
		t.Fatal(err)
	}
	return found
}

// What was erased, replaced and deleted is on the disk no more when the store was purged, and what else there is stays, also
// behind a restart.
func TestPurge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	commit := func(change func(b *Batch)) {
		t.Helper()
		var b Batch
		change(&b)
		if err := s.Commit(&b); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 200 { // several segments of the journal, one of which was used before
		commit(func(b *Batch) {
			b.Put(sample(uint64(i+1), strings.Repeat("secret-text ", 2000)), sampleLane)
			b.Note("north", fmt.Append(nil, "secret-key ", i), []byte("value"), 7)
			b.Note("south", fmt.Append(nil, "key ", i), []byte("secret-value"), 7)
			b.Event(uint64(i+1), []byte("secret-event"))
		})
		if i%50 == 0 {
			s.Tidy()
		}
	}
	e := EraserOf(s)
	for value, still := range map[string]bool{"value": true, "other": false} {
		if is, err := e.IsStill(&Note{"north", []byte("secret-key 7"), []byte(value), 7}); is != still || err != nil {
			t.Errorf("%s: %t, %v", value, is, err)
		}
	}
	if is, err := e.IsStill(&Note{"north", []byte("secret-key 7"), []byte("value"), 8}); is || err != nil {
		t.Errorf("a note of another day: %t, %v", is, err)
	}
	n := 0
	commit(func(b *Batch) {
		err := e.EachNote(t.Context(), func(v *Note) error {
			switch n++; v.Kind {
			case "north":
				b.Erase(v.Kind, v.Key, v.Day)
			default:
				b.Note(v.Kind, v.Key, []byte("other"), v.Day)
			}
			return nil
		})
		if err != nil || n != 400 {
			t.Fatalf("%d notes, %v", n, err)
		}
		for i := range 200 {
			b.Delete(uint64(i+1), 100)
		}
		b.DropEvents(200)
		b.Put(sample(300, "kept"), sampleLane)
	})
	if err := e.Purge(t.Context(), func() error { commit(func(b *Batch) { b.DropEvents(0) }); return nil }); err != nil {
		t.Fatal(err)
	}
	testutil.Eventually(t, "nothing is on the disk", func() bool {
		return len(grep(t, dir, "secret-text")) == 0 && len(grep(t, dir, "secret-event")) == 0 && len(grep(t, dir, "secret-value")) == 0
	})
	for _, file := range grep(t, dir, "secret") { // pebble's manifest has the first and the last key of each table there was
		if !strings.HasPrefix(filepath.Base(file), "MANIFEST-") {
			t.Errorf("%s has it", file)
		}
	}
	check := func() {
		t.Helper()
		if _, ok, err := s.Lookup("north", []byte("secret-key 17")); ok || err != nil {
			t.Errorf("an erased note is there: %v, %v", ok, err)
		}
		if v, ok, err := s.Lookup("south", []byte("key 17")); string(v) != "other" || !ok || err != nil {
			t.Errorf("a note is %q, %v, %v", v, ok, err)
		}
		var one Entry
		if ok, err := s.Get(300, &one); !ok || err != nil {
			t.Errorf("a message is gone: %v", err)
		}
	}
	check()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // pebble keeps one manifest of before
		if s, err = Open(dir, Options{}); err != nil {
			t.Fatal(err)
		}
		check()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if left := grep(t, dir, "secret"); len(left) > 0 {
		t.Errorf("files that have it: %q", left)
	}
}

// A note in memory is erased, too, but not one that is newer.
func TestEraseInMemory(t *testing.T) {
	s := NewMemory()
	var b Batch
	b.Note("north", []byte("key"), []byte("value"), 7)
	b.Erase("north", []byte("key"), 6)
	if err := s.Commit(&b); err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := EraserOf(s).EachNote(t.Context(), func(*Note) error { n++; return nil }); err != nil || n != 1 {
		t.Errorf("%d notes, %v", n, err)
	}
	b.Reset()
	b.Erase("north", []byte("key"), 7)
	if err := s.Commit(&b); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := s.Lookup("north", []byte("key")); ok || err != nil {
		t.Errorf("it is there: %v", err)
	}
}
