package store

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"

	"pmg/internal/testkit/testutil"
)

// A store whose directory is removed while it is open takes no batches any more.
func TestRemoved(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	told := make(chan error, 1)
	s, err := Open(dir, Options{Log: zerolog.Nop(), Fatal: func(err error) { told <- err }})
	if err != nil {
		t.Fatal(err)
	}
	s.Tidy()
	if problem := s.Stats().Problem; problem != "" {
		t.Errorf("before: %s", problem)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	s.Tidy()
	const want = "LOCK was removed while the store was open"
	if problem := s.Stats().Problem; !strings.Contains(problem, want) {
		t.Errorf("the problem is %q", problem)
	}
	if err := <-told; !strings.Contains(err.Error(), want) {
		t.Errorf("the fault is %v", err)
	}
	if err := s.Commit(new(Batch)); err == nil {
		t.Error("a batch is taken")
	}
	_ = s.Close() // the fault again
}

// A directory with files that are not the store's is refused and left alone, and so is a store
// whose marker is missing: pebble would make a new store, and remove the messages of the old one.
func TestOpenForeign(t *testing.T) {
	t.Parallel()
	open := func(dir string) error {
		s, err := Open(dir, Options{Log: zerolog.Nop()})
		if err == nil {
			err = s.Close()
		}
		return err
	}
	write := func(dir string, names ...string) string {
		for _, name := range names {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("text"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	if err := open(write(t.TempDir(), ".hidden", "ballast", "outcomes", "seal", "seal.new", "lost+found", "000005.dbtmp", "temporary.000005")); err != nil {
		t.Errorf("files that a file system or an earlier attempt has left: %v", err)
	}
	made := t.TempDir()
	if err := open(made); err != nil {
		t.Fatal(err)
	}
	markers, err := filepath.Glob(filepath.Join(made, "marker.manifest.*"))
	if err != nil || len(markers) != 1 {
		t.Fatal(markers, err)
	}
	if err := open(write(made, "notes.txt")); err != nil {
		t.Errorf("a store with another file beside it: %v", err)
	}
	if err := os.Remove(filepath.Join(made, "notes.txt")); err != nil {
		t.Fatal(err)
	}
	if markers, err = filepath.Glob(filepath.Join(made, "marker.manifest.*")); err != nil || len(markers) != 1 {
		t.Fatal(markers, err)
	}
	if err := os.Remove(markers[0]); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, want string }{
		{write(t.TempDir(), "notes.txt", "000007.log"), "holds notes.txt and no store: give store.dir a directory of its own"},
		{write(t.TempDir(), "000007.blob"), "holds 000007.blob of a store whose manifest or marker is missing: restore"},
		{write(t.TempDir(), "000007.sst"), "holds 000007.sst of a store whose manifest or marker is missing: restore"},
		{made, " of a store whose manifest or marker is missing: restore"},
	} {
		before, _ := filepath.Glob(filepath.Join(c.dir, "*"))
		if err := open(c.dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
		after, _ := filepath.Glob(filepath.Join(c.dir, "*"))
		if len(after) < len(before) { // the lock may have come
			t.Errorf("files were %q, and are %q", before, after)
		}
	}
}

// A table, a log or a manifest that is removed is noticed, and what pebble itself removes is not.
func TestFileRemoved(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{".sst", ".log", "MANIFEST-", "marker.manifest"} {
		fs := vfs.NewMem()
		s, err := Open("data", Options{FS: fs, memTable: 16 << 10})
		if err != nil {
			t.Fatal(err)
		}
		id := uint64(0)
		put := func() {
			for range 100 {
				id++
				commit(t, s, func(b *Batch) { b.Put(sample(id, strings.Repeat("t", 100)), sampleLane); b.Delete(id-1, 100) })
			}
		}
		d := s.(*durable)
		testutil.Eventually(t, "tables are compacted, and logs used again", func() bool {
			put()
			s.Tidy()
			if problem := s.Stats().Problem; problem != "" {
				t.Fatalf("%s: before: %s", kind, problem)
			}
			m := d.db.Metrics()
			return m.Compact.Count > 1 && m.Flush.Count > 3 && m.Table.Local.LiveCount > 0
		})
		names, err := fs.List("data")
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(names, func(name string) bool { return strings.Contains(name, kind) && d.guard.files.has(name) })
		if err := fs.Remove("data/" + names[at]); err != nil {
			t.Fatal(err)
		}
		s.Tidy()
		if problem := s.Stats().Problem; !strings.Contains(problem, names[at]+" was removed while the store was open") {
			t.Errorf("%s: the problem is %q", kind, problem)
		}
		_ = s.Close() // the fault again
	}
}

// What serve refuses as damaged, a check does not take for whole.
func TestCheckAgrees(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{".sst", ".log", "MANIFEST-", "marker.manifest", "marker.format"} {
		used, _ := usedStore(t, 0)
		names, err := used.List("data")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if !strings.Contains(name, kind) {
				continue
			}
			fs, there := vfs.NewMem(), vfs.NewMem()
			for _, to := range []vfs.FS{fs, there} {
				if _, err := vfs.Clone(used, to, "data", "data"); err != nil {
					t.Fatal(err)
				}
				if err := to.Remove("data/" + name); err != nil {
					t.Fatal(err)
				}
			}
			_, checked := check(fs, "data")
			s, opened := Open("data", Options{FS: there})
			if opened == nil {
				opened = s.Close()
			}
			if (checked == nil) != (opened == nil) {
				t.Errorf("without %s: check says %v, and serve %v", name, checked, opened)
			}
		}
	}
}
