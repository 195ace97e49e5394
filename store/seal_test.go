package store

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// No bit of the sealed part of a manifest or a log can change, and none of its octets can be
// missing, without notice.
func TestSeal(t *testing.T) {
	t.Parallel()
	fs, _ := usedStore(t)
	text, err := readFile(fs, "data/"+sealName)
	if err != nil {
		t.Fatal(err)
	}
	s, ok := parseSeal(text)
	if !ok {
		t.Fatalf("the seal is %q", text)
	}
	for i, e := range append([]extent{s.manifest}, s.logs...) {
		places := 10
		if i == 0 {
			places = 200
		}
		path := "data/" + e.name
		good, err := readFile(fs, path)
		if errors.Is(err, os.ErrNotExist) {
			continue // what the log held is in tables
		}
		if err != nil {
			t.Fatal(err)
		}
		check := func(b []byte) error {
			writeFile(t, fs, path, b)
			return checkExtent(fs, "data", e)
		}
		if err := check([]byte(good)); err != nil {
			t.Error(err)
		}
		for at := 0; at < int(e.size); at += 1 + int(e.size)/places {
			for bit := range 8 {
				bad := []byte(good)
				bad[at] ^= 1 << bit
				if check(bad) == nil {
					t.Errorf("%s: bit %d of octet %d of %d may be wrong", e.name, bit, at, e.size)
				}
			}
			if check([]byte(good[:at])) == nil {
				t.Errorf("%s: may be cut to %d octets of %d", e.name, at, e.size)
			}
		}
	}
}

// A seal that a power cut has left half written is none.
func TestSealBroken(t *testing.T) {
	t.Parallel()
	text := seal{extent{"MANIFEST-000001", 5}, []extent{{none, 0}}}.String()
	if _, ok := parseSeal(text); !ok {
		t.Errorf("%q is no seal", text)
	}
	for n := range text {
		if s, ok := parseSeal(text[:n]); ok {
			t.Errorf("%q is %v", text[:n], s)
		}
	}
}

// A seal has the latest logs, however many there were.
func TestSealLatest(t *testing.T) {
	t.Parallel()
	var s seal
	const logs = 3 * maxSealed
	for n := range int64(logs) {
		for size := range int64(3) {
			s.synced(extent{fmt.Sprintf("%06d.log", n), size})
		}
	}
	if first, last := s.logs[0], s.logs[len(s.logs)-1]; len(s.logs) != maxSealed || first.name != fmt.Sprintf("%06d.log", logs-maxSealed) || last != (extent{fmt.Sprintf("%06d.log", logs-1), 2}) {
		t.Errorf("%d logs, from %v to %v", len(s.logs), first, last)
	}
}

// A store that is not used does not write.
func TestIdle(t *testing.T) {
	t.Parallel()
	var writes atomic.Int64
	fs := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		switch op.Kind {
		case errorfs.OpCreate, errorfs.OpRename, errorfs.OpFileWrite, errorfs.OpFileSync, errorfs.OpFileSyncData:
			writes.Add(1)
		}
		return nil
	}))
	s := open(t, fs)
	commit(t, s, func(b *Batch) { b.Put(sample(1, "text"), sampleLane) })
	s.Tidy()
	before := writes.Load()
	for range 2 * shrinkAfter {
		s.Tidy()
	}
	if n := writes.Load() - before; n != 0 {
		t.Errorf("%d operations that write", n)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func writeFile(t *testing.T, fs vfs.FS, path string, b []byte) {
	t.Helper()
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err == nil {
		_, err = f.Write(b)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}
