package lossfs

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// mount shows a file system in a directory, or skips the test.
func mount(t *testing.T, f *FS, dir string) func() {
	t.Helper()
	unmount, err := f.Mount(dir)
	if err != nil {
		t.Skipf("FUSE is not to be had: %v", err)
	}
	return func() {
		if err := unmount(); err != nil {
			t.Error(err)
		}
	}
}

func write(t *testing.T, path, text string, sync bool) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil && sync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func syncDir(t *testing.T, path string) {
	t.Helper()
	d, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, path, text string) {
	t.Helper()
	if b, err := os.ReadFile(path); string(b) != text {
		t.Errorf("%s has %q, %v; want %q", filepath.Base(path), b, err, text)
	}
}

// The disk has what was synced, files and names apart, and shows the rest until the power is cut.
func TestPowerCut(t *testing.T) {
	f, dir := New(), t.TempDir()
	unmount := mount(t, f, dir)
	in := func(name string) string { return filepath.Join(dir, name) }
	write(t, in("a"), "first", true)
	write(t, in("unnamed"), "first", true)
	write(t, in("b"), "", true)
	if err := os.Remove(in("unnamed")); err != nil {
		t.Fatal(err)
	}
	syncDir(t, dir)
	write(t, in("unnamed"), "first", true)
	write(t, in("a"), "later", false)
	if err := os.Rename(in("b"), in("c")); err != nil {
		t.Fatal(err)
	}
	want(t, in("a"), "later")
	next := f.PowerOff(All, rand.New(rand.NewPCG(1, 1)))
	unmount()
	unmount = mount(t, next, dir)
	defer unmount()
	want(t, in("a"), "first")
	want(t, in("b"), "")
	for _, name := range []string{"unnamed", "c"} {
		if _, err := os.Stat(in(name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Behind a failed sync a file shows what was written, and a later sync of it does nothing. What is written again is synced.
func TestFailedSync(t *testing.T) {
	for _, again := range []bool{false, true} {
		f, dir := New(), t.TempDir()
		unmount := mount(t, f, dir)
		path := filepath.Join(dir, "a")
		write(t, path, "first", true)
		syncDir(t, dir)
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err == nil {
			_, err = file.WriteString("later")
		}
		if err != nil {
			t.Fatal(err)
		}
		f.Fail(Sync, 1, nil)
		if err := file.Sync(); !errors.Is(err, syscall.EIO) || f.Failed() != 1 {
			t.Fatalf("%v, %d have failed", err, f.Failed())
		}
		text := "first"
		if again {
			text = "later"
			if _, err := file.WriteAt([]byte(text), 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(file.Sync(), file.Close()); err != nil {
			t.Fatal(err)
		}
		want(t, path, "later")
		next := f.PowerOff(All, nil)
		unmount()
		unmount = mount(t, next, dir)
		want(t, path, text)
		unmount()
	}
}

// A loss leaves pages, or sectors of them.
func TestLoss(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for l, wants := range map[Loss][2]bool{All: {true, false}, Some: {true, true}, Torn: {true, true}, None: {false, true}} {
		f := New()
		i := f.newInode(syscall.S_IFREG)
		f.root.names["a"] = i
		_, _ = f.write(i, make([]byte, 64*pageSize), 0)
		_, _ = f.sync(i), f.sync(f.root)
		_, _ = f.write(i, bytes.Repeat([]byte{1}, 64*pageSize), 0)
		got := f.PowerOff(l, random).root.names["a"]
		b := make([]byte, 64*pageSize)
		f.read(got, b, 0)
		if lost, left := bytes.Contains(b, []byte{0}), bytes.Contains(b, []byte{1}); [2]bool{lost, left} != wants {
			t.Errorf("loss %d: lost %t, left %t", l, lost, left)
		}
	}
	f := New()
	i := f.newInode(syscall.S_IFREG)
	f.Fail(Write, 2, nil)
	_, first := f.write(i, []byte("one"), 0)
	_, second := f.write(i, []byte("two"), 3)
	f.truncate(i, 2)
	f.truncate(i, 4)
	b := make([]byte, 8)
	if n := f.read(i, b, 0); first != 0 || second != syscall.EIO || string(b[:n]) != "on\x00\x00" {
		t.Errorf("%v, %v, %q", first, second, b[:n])
	}
}
