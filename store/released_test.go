package store

import (
	"os"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// The store of each released format can be opened. testdata/format-N is a store that
// fillReleased has filled, by the version that introduced format N: the first was closed then, the second was killed. A
// new format adds a directory, and no directory is ever changed.
func TestReleased(t *testing.T) {
	t.Parallel()
	now := vfs.NewMem()
	s := open(t, now)
	fillReleased(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	checkReleased(t, "this version's store", now)
	dirs, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	formats := 0
	for _, dir := range dirs {
		if dir.Name() == "fuzz" {
			continue
		}
		formats++
		fs := vfs.NewMem()
		if _, err := vfs.Clone(vfs.Default, fs, "testdata/"+dir.Name(), "data"); err != nil {
			t.Fatal(err)
		}
		checkReleased(t, dir.Name(), fs)
		if _, err := fs.Stat("data/seal"); err == nil {
			t.Errorf("%s: what this version does not read is still there", dir.Name())
		}
	}
	if formats != formatVersion {
		t.Errorf("%d stores in testdata, and the format is %d", formats, formatVersion)
	}
}

func fillReleased(t *testing.T, s Store) {
	t.Helper()
	commit(t, s, func(b *Batch) {
		for i, text := range []string{"first", "second", "third", "fourth"} {
			b.Put(sample(uint64(10+i), text), sampleLane)
		}
	})
	commit(t, s, func(b *Batch) {
		b.Delete(11, 100)
		b.Note("north", []byte("peer 11"), []byte("origin"), 20_000)
		b.Event(7, []byte("line"))
		b.Keep(sample(12, "third"), State{Lane: sampleLane, Reason: "busy"})
		b.Keep(sample(13, "fourth"), State{Aside: Parked, Reason: "no route"})
	})
}

func checkReleased(t *testing.T, name string, fs vfs.FS) {
	t.Helper()
	s := open(t, fs)
	want := []string{"10 first", "12 third (busy)", "13 fourth (no route)"}
	if got, _ := entries(t, s, 0, 10); !slices.Equal(got, want) {
		t.Errorf("%s: %q", name, got)
	}
	value, ok, err := s.Lookup("north", []byte("peer 11"))
	if err != nil || !ok || string(value) != "origin" {
		t.Errorf("%s: %q %v %v", name, value, ok, err)
	}
	line := ""
	last, err := s.Events(0, 10, func(_ uint64, b []byte) error { line = string(b); return nil })
	if err != nil || last != 7 || line != "line" {
		t.Errorf("%s: event %d %q %v", name, last, line, err)
	}
	if s.LastID() != 13 || s.Stats().Messages != 3 {
		t.Errorf("%s: last id %d, %d messages", name, s.LastID(), s.Stats().Messages)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
