package store

import (
	"errors"
	"os"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
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
