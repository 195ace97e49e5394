package wholefile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"pmg/internal/testkit/lossfs"
)

// A file has all that was written, or what it had before.
func TestReplace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	put := func(text string, fault error) error {
		return Replace(path, func(w io.Writer) error { _, err := io.WriteString(w, text); return errors.Join(err, fault) })
	}
	for _, c := range []struct {
		text  string
		fault error
		want  string
	}{{"first", nil, "first"}, {"half", errors.New("full"), "first"}, {"second", nil, "second"}} {
		if err := put(c.text, c.fault); !errors.Is(err, c.fault) {
			t.Errorf("%s: %v", c.text, err)
		}
		if b, err := os.ReadFile(path); string(b) != c.want || err != nil {
			t.Errorf("%s: %q, %v", c.text, b, err)
		}
	}
	if err := SyncDir(dir); err != nil {
		t.Error(err)
	}
	path = filepath.Join(dir, "none", "file")
	if err := errors.Join(put("text", nil), SyncDir(filepath.Dir(path))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// Directories that were made, and what is written again behind a failed sync, survive a power cut.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	f, dir := lossfs.New(), t.TempDir()
	unmount, err := f.Mount(dir)
	if err != nil {
		t.Skipf("FUSE is not to be had: %v", err)
	}
	deep := filepath.Join(dir, "a", "b", "c")
	path := filepath.Join(deep, "file")
	if err := errors.Join(MakeDir(deep, 0o700), MakeDir(deep, 0o700)); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(path)
	if err == nil {
		_, err = file.WriteString("first, and later")
	}
	if err = errors.Join(err, SyncDir(deep)); err != nil {
		t.Fatal(err)
	}
	f.Fail(lossfs.Sync, 1, nil)
	if err := file.Sync(); err == nil {
		t.Fatal("the sync has not failed")
	}
	if err := errors.Join(file.Close(), WriteAgain(path, 5, 16)); err != nil {
		t.Fatal(err)
	}
	next := f.PowerOff(lossfs.None, nil)
	if err := unmount(); err != nil {
		t.Fatal(err)
	}
	if unmount, err = next.Mount(dir); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unmount() }()
	if b, err := os.ReadFile(path); string(b) != "first, and later" {
		t.Errorf("%q, %v", b, err)
	}
}
