package store

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/internal/testkit/testutil"
)

// A backup of a store whose journal was used again, and the store itself, open whether it was killed or closed.
func TestBackupThenKill(t *testing.T) {
	t.Parallel()
	for _, closed := range []bool{false, true} {
		fs := vfs.NewCrashableMem()
		s, err := Open("data", Options{FS: fs, memTable: 64 << 10, segment: 16 << 10})
		if err != nil {
			t.Fatal(err)
		}
		id := uint64(0)
		put := func(n uint64) {
			for range n {
				id++
				commit(t, s, func(b *Batch) { b.Put(sample(id, strings.Repeat("t", 100)), sampleLane) })
			}
		}
		put(3000)
		testutil.Eventually(t, "the journal is trimmed", func() bool {
			put(1)
			s.Tidy()
			return s.(*durable).journal.Status().First > 2000
		})
		if err := s.Backup("backup"); err != nil {
			t.Fatal(err)
		}
		copied := id
		put(10)
		s.Tidy()
		killed := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if closed {
			killed = fs
		}
		for dir, want := range map[string]uint64{"data": id, "backup": copied} {
			again, err := Open(dir, Options{FS: killed})
			if err != nil {
				t.Fatalf("closed %v: %v", closed, err)
			}
			if n := again.Stats().Messages; n != int64(want) {
				t.Errorf("closed %v: %d messages of %d in %s", closed, n, want, dir)
			}
			if err := again.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// An elsewhere is a disk for backups that is another file system, and that has no room for files
// with a part of their names.
type elsewhere struct {
	vfs.FS
	full string
}

func (f elsewhere) Link(old, name string) error {
	if strings.HasPrefix(name, "backup") {
		return &os.LinkError{Op: "link", Old: old, New: name, Err: syscall.EXDEV}
	}
	return f.FS.Link(old, name)
}

func (f elsewhere) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, c)
	if err == nil && f.full != "" && strings.HasPrefix(name, "backup") && strings.Contains(filepath.Base(name), f.full) {
		return fullFile{file}, nil
	}
	return file, err
}

type fullFile struct{ vfs.File }

func (fullFile) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// The errors of a backup's disk are the backup's: the store keeps its ballast, takes messages, and
// writes its tables without a pause.
func TestBackupElsewhere(t *testing.T) {
	t.Parallel()
	for _, full := range []string{"", "MANIFEST", "marker", ".sst"} {
		s, err := Open("data", Options{FS: elsewhere{vfs.NewMem(), full}, memTable: 64 << 10, Ballast: 1 << 20, retryPause: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		put := func(first uint64) {
			for id := range uint64(1000) {
				commit(t, s, func(b *Batch) { b.Put(sample(first+id, strings.Repeat("t", 100)), sampleLane) })
			}
		}
		put(1)
		if err := s.Backup("backup"); (err != nil) != (full != "" && full != "marker") { // a marker is its name alone
			t.Errorf("%q is full: %v", full, err)
		}
		put(1001)
		if st := s.Stats(); st.Full || st.Problem != "" || st.Messages != 2000 {
			t.Errorf("%q is full: %+v", full, st)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// What is in a store, and in a copy of it, is for its owner alone.
func TestModes(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	s, err := Open(filepath.Join(base, "data"), Options{Ballast: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	commit(t, s, func(b *Batch) { b.Put(sample(1, "text"), sampleLane) })
	if err := s.Backup(filepath.Join(base, "new", "backup")); err != nil {
		t.Fatal(err)
	}
	s.Tidy()
	files := 0
	err = filepath.WalkDir(base, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == base {
			return err
		}
		info, err := d.Info()
		if want := map[bool]os.FileMode{true: 0o700, false: 0o600}[d.IsDir()]; err == nil && info.Mode().Perm() != want && d.Name() != lockName {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		files++
		return err
	})
	if err != nil || files < 8 {
		t.Errorf("%d files, error %v", files, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if s, err = Open(filepath.Join(base, "data"), Options{}); err != nil {
		t.Fatal(err)
	}
	if n := s.Stats().Octets; n < 1<<20 {
		t.Errorf("the ballast of the earlier run is not counted: %d octets", n)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A backup that is made while messages end has each message, or the note that says how it ended.
func TestBackupWhileMessagesEnd(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	s, err := Open("data", Options{FS: fs, memTable: 16 << 10, flush: 8 << 10, tables: 3})
	if err != nil {
		t.Fatal(err)
	}
	const messages = 4000
	for id := uint64(1); id <= messages; id++ {
		commit(t, s, func(b *Batch) { b.Put(sample(id, "text"), sampleLane) })
	}
	done := make(chan error, 1)
	go func() {
		for id := uint64(1); id <= messages; id++ {
			var b Batch
			b.Delete(id, 100)
			b.Note(KindEnded, appendKey(nil, 'k', id), []byte("how"), 7)
			if err := s.Commit(&b); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	var backups []string
	for i, ended := 0, false; !ended; i++ {
		backups = append(backups, fmt.Sprint("backup", i))
		if err := s.Backup(backups[i]); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-done:
			if ended = true; err != nil {
				t.Fatal(err)
			}
		default:
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, dir := range backups {
		copied, err := Open(dir, Options{FS: fs})
		if err != nil {
			t.Fatal(err)
		}
		var e Entry
		for id := uint64(1); id <= messages; id++ {
			there, err := copied.Get(id, &e)
			_, noted, failed := copied.Lookup(KindEnded, appendKey(nil, 'k', id))
			if err != nil || failed != nil || !there && !noted {
				t.Fatalf("%s: message %d is not there, and nor is its note: %v, %v", dir, id, err, failed)
			}
		}
		if err := copied.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
