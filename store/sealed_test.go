package store

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"pmg/sms"
)

// keyOf is a key of equal octets.
func keyOf(b byte) []byte { return bytes.Repeat([]byte{b}, 32) }

// textsOf returns the texts of all messages of a store, by Scan and by Get.
func textsOf(t *testing.T, s Store) (all []string) {
	t.Helper()
	if _, err := s.Scan(0, 100, func(e *Entry) error {
		m := new(sms.Pool).Get()
		defer m.Release()
		var other Entry
		ok, err := s.Get(e.ID, &other)
		if err != nil || !ok || !bytes.Equal(other.Record, e.Record) {
			t.Errorf("message %d by its id: %t, %v", e.ID, ok, err)
		}
		if err := Decode(e.Record, m, 0); err != nil {
			return err
		}
		all = append(all, string(m.Text()))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// With a key no text is on the disk, neither in the journal nor in tables; what was stored before stays readable; another key
// changes nothing that is there; and a start without the right key is refused and leaves all as it is.
func TestSealed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(id uint64, text string, keys ...[]byte) []string {
		t.Helper()
		s, err := Open(dir, Options{Keys: keys})
		if err != nil {
			t.Fatal(err)
		}
		var b Batch
		b.Put(sample(id, text), sampleLane)
		if err := errors.Join(s.(Writer).Write(&b), s.Commit(&b)); err != nil {
			t.Fatal(err)
		}
		var again Batch
		again.Replace(sample(id, text+", again"), sampleLane)
		if err := s.Commit(&again); err != nil {
			t.Fatal(err)
		}
		texts := textsOf(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return texts
	}
	put(1, "plain words")
	if found := grep(t, dir, "plain words"); len(found) == 0 {
		t.Error("the search for texts finds none")
	}
	put(2, "hidden words", keyOf(1))
	for _, keys := range [][][]byte{nil, {keyOf(2)}, {keyOf(2), keyOf(3)}} {
		if _, err := Open(dir, Options{Keys: keys}); !errors.Is(err, ErrKey) {
			t.Errorf("with %d other keys: %v", len(keys), err)
		}
	}
	if _, err := Open(dir, Options{Keys: [][]byte{keyOf(2)}}); !errors.Is(err, ErrKey) {
		t.Errorf("with another key: %v", err)
	}
	put(3, "hidden words", keyOf(2), keyOf(1))
	if _, err := Open(dir, Options{Keys: [][]byte{keyOf(2)}}); !errors.Is(err, ErrKey) {
		t.Errorf("without the key of before, which a message needs: %v", err)
	}
	if got := put(4, "hidden words", keyOf(2), keyOf(1)); fmt.Sprint(got) !=
		"[plain words, again hidden words, again hidden words, again hidden words, again]" {
		t.Errorf("%q", got)
	}
	if found := grep(t, dir, "hidden"); len(found) > 0 {
		t.Errorf("a text is in %q", found)
	}
	if r, err := Check(dir); err != nil || r.Messages != 4 || len(r.Faults) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// The key of before is needed until the last message is gone that it has encrypted. The store says when that is.
func TestOldKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	with := func(needs bool, f func(b *Batch), keys ...[]byte) {
		t.Helper()
		s, err := Open(dir, Options{Keys: keys})
		if err != nil {
			t.Fatal(err)
		}
		var b Batch
		if f(&b); b.Len() > 0 {
			err = s.Commit(&b)
		}
		s.Tidy()
		if got := s.Stats().OldKey; got != needs {
			t.Errorf("the key of before is needed: %t", got)
		}
		if err = errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	one, two, three := keyOf(1), keyOf(2), keyOf(3)
	with(false, func(b *Batch) { b.Put(sample(1, "first"), sampleLane) }, one)
	with(true, func(b *Batch) { b.Put(sample(2, "second"), sampleLane) }, two, one)
	with(true, func(*Batch) {}, two, one)
	for _, keys := range [][][]byte{nil, {one}, {two}, {three}, {three, one}, {three, two}} {
		if _, err := Open(dir, Options{Keys: keys}); !errors.Is(err, ErrKey) {
			t.Errorf("with %d keys: %v", len(keys), err)
		}
	}
	with(false, func(b *Batch) { b.Delete(1, 0) }, two, one)
	with(false, func(*Batch) {}, two)
	if _, err := Open(dir, Options{Keys: [][]byte{one}}); !errors.Is(err, ErrKey) {
		t.Errorf("with the key of before alone: %v", err)
	}
	with(false, func(b *Batch) { b.Delete(2, 0) }, two)
	with(false, func(b *Batch) { b.Put(sample(3, "third"), sampleLane) }, three)
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrKey) {
		t.Errorf("without a key: %v", err)
	}
}

// A key that comes back into use needs the other one for the messages that this one has encrypted meanwhile.
func TestOldKeyBack(t *testing.T) {
	t.Parallel()
	for _, first := range []int{0, 2} { // messages that are there before the keys change
		dir, one, two, id := t.TempDir(), keyOf(1), keyOf(2), uint64(0)
		run := func(messages int, keys ...[]byte) (needs bool) {
			t.Helper()
			s, err := Open(dir, Options{Keys: keys})
			if err != nil {
				t.Fatal(err)
			}
			needs = s.Stats().OldKey
			var b Batch
			for range messages {
				id++
				b.Put(sample(id, "text"), sampleLane)
			}
			if b.Len() > 0 {
				err = s.Commit(&b)
			}
			if err = errors.Join(err, s.Close()); err != nil {
				t.Fatal(err)
			}
			return needs
		}
		run(first, one)
		run(2, two, one)
		run(0, two, one)
		for i, messages := range []int{0, 1, 1} {
			if !run(messages, one, two) {
				t.Errorf("%d messages before, start %d with the first key: the other is not needed", first, i)
			}
		}
		if _, err := Open(dir, Options{Keys: [][]byte{one}}); !errors.Is(err, ErrKey) {
			t.Errorf("without the other key: %v", err)
		}
	}
}

// A repair needs no key, and what it saves is still encrypted.
func TestSealedRepair(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	s, err := Open(dir, Options{Keys: [][]byte{keyOf(1)}})
	if err != nil {
		t.Fatal(err)
	}
	var b Batch
	b.Put(sample(7, "hidden words"), sampleLane)
	if err := errors.Join(s.Commit(&b), s.Close()); err != nil {
		t.Fatal(err)
	}
	if _, r, err := Repair(dir, time.Now()); err != nil || r.Messages != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrKey) {
		t.Errorf("without the key: %v", err)
	}
	if s, err = Open(dir, Options{Keys: [][]byte{keyOf(1)}}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := textsOf(t, s); len(got) != 1 || got[0] != "hidden words" {
		t.Errorf("%q", got)
	}
}

// A text of an inbox is on no disk where the store has a key, and readable with it alone. A new key takes its place at the next
// start, so that the key of before is not needed; without both, the start is refused. What somebody forgets is found in it.
func TestSealedInbox(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key := func(id byte) []byte { return append([]byte("shop\x00m"), 0, 0, 0, 0, 0, 0, 0, id) }
	with := func(f func(s Store), keys ...[]byte) {
		t.Helper()
		s, err := Open(dir, Options{Keys: keys})
		if err != nil {
			t.Fatal(err)
		}
		f(s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	put := func(s Store, id byte, text string) {
		t.Helper()
		var b Batch
		b.Claim(KindInbox, key(id), []byte(text), Forever)
		b.Note(KindPaid, key(id), []byte("a plain note"), Forever)
		if err := errors.Join(s.(Writer).Write(&b), s.Commit(&b)); err != nil {
			t.Fatal(err)
		}
	}
	has := func(s Store, want string) {
		t.Helper()
		var all []string
		err := s.Notes(KindInbox, nil, 10, func(k, v []byte) error {
			found, ok, err := s.Lookup(KindInbox, k)
			if err != nil || !ok || !bytes.Equal(found, v) {
				t.Errorf("%q: %q, %t, %v", k, found, ok, err)
			}
			all = append(all, string(v))
			return nil
		})
		if err != nil || fmt.Sprint(all) != want {
			t.Errorf("%q, %v, not %s", all, err, want)
		}
		e := EraserOf(s)
		n := 0
		if err := e.EachNote(t.Context(), func(v *Note) error {
			if is, err := e.IsStill(v); !is || err != nil {
				t.Errorf("%+v: %t, %v", v, is, err)
			}
			if v.Kind == KindInbox && bytes.HasSuffix(v.Value, []byte("words")) {
				n++
			}
			return nil
		}); err != nil || n != len(all) {
			t.Errorf("%d notes can be forgotten, %v", n, err)
		}
	}
	with(func(s Store) { put(s, 1, "open words"); has(s, "[open words]") })
	with(func(s Store) { put(s, 2, "hidden words"); has(s, "[open words hidden words]") }, keyOf(1))
	with(func(s Store) { has(s, "[open words hidden words]") }, keyOf(2), keyOf(1))
	with(func(s Store) { has(s, "[open words hidden words]") }, keyOf(2))
	if _, err := Open(dir, Options{Keys: [][]byte{keyOf(1)}}); !errors.Is(err, ErrKey) {
		t.Errorf("with the key of before: %v", err)
	}
	if found := grep(t, dir, "hidden"); len(found) > 0 {
		t.Errorf("a text is in %q", found)
	}
	if found := grep(t, dir, "a plain note"); len(found) == 0 {
		t.Error("other notes are encrypted")
	}
}
