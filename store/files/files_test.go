package files

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"pmg/internal/testkit/testutil"
	"pmg/store"
)

func TestMain(m *testing.M) { testutil.NoLeaks(m) }

// Files of any size come back as they were put last, and removed ones do not.
func TestFiles(t *testing.T) {
	s, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := Open(s, func(add func(*store.Batch)) error {
		var b store.Batch
		add(&b)
		return s.Commit(&b)
	})
	if last, err := f.Last(); last != 0 || err != nil {
		t.Errorf("a new store has files: %d, %v", last, err)
	}
	r, want := rand.New(rand.NewPCG(1, 2)), map[string]string{}
	for range 60 {
		var all []File
		for _, n := range r.Perm(8)[:1+r.IntN(3)] {
			one := File{Name: fmt.Sprintf("accounts/%d.yaml", n)}
			if delete(want, one.Name); r.IntN(4) > 0 {
				one.Data = bytes.Repeat([]byte{byte(r.IntN(256))}, r.IntN(4)*r.IntN(pieceOctets+2))
				want[one.Name] = string(one.Data)
			}
			all = append(all, one)
		}
		if err := f.Put(all...); err != nil {
			t.Fatal(err)
		}
		if has := got(t, f); !maps.Equal(has, want) {
			t.Fatalf("%d files, want %d", len(has), len(want))
		}
		last, err := f.Last()
		if err != nil {
			t.Fatal(err)
		}
		names, known, err := f.Since(last-1, last)
		if err != nil || !known || len(names) != len(all) {
			t.Fatalf("change %d is of %q: %t, %v", last, names, known, err)
		}
		for _, one := range all {
			if data, err := f.Get(one.Name); err != nil || !bytes.Equal(data, one.Data) || (data == nil) != (one.Data == nil) {
				t.Fatalf("%s has %d octets, want %d: %v", one.Name, len(data), len(one.Data), err)
			}
		}
	}
	last, err := f.Last()
	if last != 60 || err != nil {
		t.Errorf("%d changes, %v", last, err)
	}
	if _, known, err := f.Since(0, changesKept+1); known || err != nil {
		t.Errorf("changes of long ago are known, or %v", err)
	}
	if _, known, err := f.Since(last, last+1); known || err != nil {
		t.Errorf("a change that was not made is known, or %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func got(t *testing.T, f *Files) map[string]string {
	t.Helper()
	all := map[string]string{}
	if err := f.Each(func(one File) error { all[one.Name] = string(one.Data); return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}
