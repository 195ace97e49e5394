package logfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const editedStamp = "20261120T000000.031337"

// starred is an edit that replaces the word bad.
func starred() *Edit {
	return &Edit{
		Wants: func(lines []byte) bool { return bytes.Contains(lines, []byte("bad")) },
		Line: func(b, line []byte) ([]byte, bool) {
			return append(b, bytes.ReplaceAll(line, []byte("bad"), []byte("*"))...), bytes.Contains(line, []byte("bad"))
		},
	}
}

// lineKeys makes a key of each word of a line.
func lineKeys(line []byte, keys []uint64) ([]uint64, int64) {
	for word := range bytes.FieldsSeq(line) {
		keys = append(keys, Hash('w', word))
	}
	return keys, 1
}

// editable returns a directory with one rotated file, and the segment.
func editable(t *testing.T, text string, packed bool) (*Dir, Segment) {
	t.Helper()
	d := NewDir(t.TempDir(), "log", Options{})
	d.Keys = lineKeys
	path := filepath.Join(d.path, "clients-"+editedStamp+Suffix)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if packed {
		if err := compressFile(path, path+packedSuffix, d.Keys, nil, nil); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		path += packedSuffix
	}
	at := time.Date(2026, 11, 20, 1, 2, 3, 0, time.UTC)
	if err := errors.Join(os.Chmod(path, 0o640), os.Chtimes(path, at, at)); err != nil {
		t.Fatal(err)
	}
	return d, Segment{path, editedStamp, packed}
}

// content returns what a segment has, and the names of all files beside it.
func content(t *testing.T, d *Dir, s Segment) (text string, names []string) {
	t.Helper()
	files, err := os.ReadDir(d.path)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		names = append(names, f.Name())
	}
	file, err := s.Open()
	if err != nil {
		return "", names
	}
	defer file.Close()
	r, err := s.Reader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(r); err != nil {
		t.Fatal(err)
	}
	return b.String(), names
}

func manyLines(n int) string {
	var b strings.Builder
	for i := range n {
		word := "good"
		if i%1000 == 7 {
			word = "bad"
		}
		fmt.Fprintf(&b, "line %d is %s and has some more words\n", i, word)
	}
	return b.String()
}

// An edited file has the mode and the time of the one before, and an index that finds its lines.
func TestEdit(t *testing.T) {
	for _, packed := range []bool{false, true} {
		text := manyLines(15_000) + "half a bad line"
		d, s := editable(t, text, packed)
		before, _ := os.Stat(s.Path)
		dry, err := d.Edit(t.Context(), s, starred(), true)
		if got, _ := content(t, d, s); err != nil || dry.Changed != 16 || got != text {
			t.Fatalf("the dry run has changed %d, %v", dry.Changed, err)
		}
		done, err := d.Edit(t.Context(), s, starred(), false)
		if err != nil || done.Changed != 16 || done.Octets != int64(len(text)) {
			t.Fatalf("%+v, %v", done, err)
		}
		got, names := content(t, d, s)
		if got != strings.ReplaceAll(text, "bad", "*") || len(names) != 1 {
			t.Errorf("the file is not as it should be, or not alone: %q", names)
		}
		after, _ := os.Stat(s.Path)
		if after.Mode() != before.Mode() || !after.ModTime().Equal(before.ModTime()) {
			t.Errorf("%v %v, was %v %v", after.Mode(), after.ModTime(), before.Mode(), before.ModTime())
		}
		w, err := new(Logs).Walk(d.path, lineKeys, []string{"clients"}, time.Time{}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		blocks := 0
		err = w.Blocks(t.Context(), []Key{{Hash: Hash('w', []byte("14007"))}}, func(l Lines) bool {
			blocks++
			if !bytes.Contains(l.Text, []byte("line 14007 is * and")) {
				t.Error("the index leads to another block")
			}
			return true
		})
		if w.Close(); err != nil || blocks != 1 {
			t.Errorf("%d blocks, %v", blocks, err)
		}
		if again, err := d.Edit(t.Context(), s, starred(), false); err != nil || again.Changed != 0 {
			t.Errorf("the second time: %+v, %v", again, err)
		}
	}
}

// What a walk remembers of a file does not count for the one in its place.
func TestEditIsSeen(t *testing.T) {
	d, s := editable(t, manyLines(10_000), true)
	var logs Logs
	find := func(word string) (n int) {
		w, err := logs.Walk(d.path, lineKeys, []string{"clients"}, time.Time{}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if err := w.Blocks(t.Context(), []Key{{Hash: Hash('w', []byte(word))}}, func(Lines) bool { n++; return true }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for range 3 {
		if find("9007") != 1 {
			t.Fatal("a line is not found")
		}
		if _, err := d.Edit(t.Context(), s, starred(), false); err != nil {
			t.Fatal(err)
		}
		if find("9007") != 1 || find("bad") != 0 {
			t.Fatal("the lines are not found as they are")
		}
		if _, err := d.Edit(t.Context(), s, &Edit{
			Wants: func([]byte) bool { return true },
			Line: func(b, line []byte) ([]byte, bool) {
				return append(b, bytes.ReplaceAll(line, []byte("is *"), []byte("is bad"))...), bytes.Contains(line, []byte("is *"))
			},
		}, false); err != nil {
			t.Fatal(err)
		}
	}
}

// A badDisk fails at some step.
type badDisk struct {
	OSFile
	room int
	sync error
}

func (f *badDisk) Write(b []byte) (int, error) {
	if f.room -= len(b); f.room < 0 {
		return 0, syscall.ENOSPC
	}
	return f.OSFile.Write(b)
}

func (f *badDisk) Sync() error { return errors.Join(f.sync, f.OSFile.Sync()) }

// A file that cannot be rewritten stays as it is, and nothing is left beside it.
func TestEditFails(t *testing.T) {
	text := manyLines(8_000)
	failed := errors.New("broken")
	with := func(change func(f *badDisk)) func(d *Dir) {
		return func(d *Dir) {
			d.Create = func(path string) (OSFile, error) {
				f, err := create(path)
				bad := &badDisk{OSFile: f, room: 1 << 30}
				change(bad)
				return bad, err
			}
		}
	}
	for name, breakIt := range map[string]func(d *Dir){
		"full":     with(func(f *badDisk) { f.room = 1000 }),
		"sync":     with(func(f *badDisk) { f.sync = failed }),
		"rename":   func(d *Dir) { d.Rename = func(string, string) error { return failed } },
		"creation": func(d *Dir) { d.Create = func(string) (OSFile, error) { return nil, failed } },
	} {
		for _, packed := range []bool{false, true} {
			d, s := editable(t, text, packed)
			breakIt(d)
			_, err := d.Edit(t.Context(), s, starred(), false)
			got, names := content(t, d, s)
			if err == nil || !strings.Contains(err.Error(), "stays as it is") || got != text || len(names) != 1 {
				t.Errorf("%s: %v, files %q", name, err, names)
			}
			d.Create, d.Rename = create, os.Rename
			if done, err := d.Edit(t.Context(), s, starred(), false); err != nil || done.Changed != 8 {
				t.Errorf("%s: the next time %+v, %v", name, done, err)
			}
		}
	}
}

// What a kill leaves behind does not matter: half a file beside the other one, or a plain file that was compressed already.
func TestEditAfterKill(t *testing.T) {
	text := manyLines(3000)
	d, s := editable(t, text, false)
	if err := compressFile(s.Path, s.Path+packedSuffix, d.Keys, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.Path+tmpSuffix, []byte(text[:100]), 0o600); err != nil {
		t.Fatal(err)
	}
	segments, err := Rotated(d.path, "clients")
	if err != nil || len(segments) != 1 {
		t.Fatal(segments, err)
	}
	if _, err := d.Edit(t.Context(), segments[0], starred(), false); err != nil {
		t.Fatal(err)
	}
	if got, names := content(t, d, s); strings.Contains(got, "bad") || len(names) != 1 {
		t.Errorf("files %q", names) // the compressed one would have the words
	}
}

// A file that was removed while it was rewritten does not come back.
func TestEditRemoved(t *testing.T) {
	d, s := editable(t, manyLines(3000), false)
	e := starred()
	e.Rest = func(context.Context, int) error { return s.remove() }
	if _, err := d.Edit(t.Context(), s, e, false); err != nil {
		t.Fatal(err)
	}
	if _, names := content(t, d, s); len(names) != 0 {
		t.Errorf("files %q", names)
	}
	if done, err := d.Edit(t.Context(), s, starred(), false); err != nil || done.Octets != 0 {
		t.Errorf("a file that is gone: %+v, %v", done, err)
	}
}

// A compressed file that is damaged, or cut off, stays as it is.
func TestEditDamaged(t *testing.T) {
	for i, damage := range []func(b []byte) []byte{
		func(b []byte) []byte { return b[:len(b)/2] },
		func(b []byte) []byte { b[300] ^= 0xff; b[301] ^= 0xff; return b },
		func(b []byte) []byte { return append([]byte("no zstd at all"), b...) },
	} {
		d, s := editable(t, manyLines(10_000), true)
		b, err := os.ReadFile(s.Path)
		if err == nil {
			b = damage(b)
			err = os.WriteFile(s.Path, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = d.Edit(t.Context(), s, starred(), false)
		if now, _ := os.ReadFile(s.Path); err == nil || !bytes.Equal(now, b) {
			t.Errorf("damage %d: %v, size %d", i, err, len(b))
		}
	}
}

// An edit may be ended at any time.
func TestEditEnds(t *testing.T) {
	text := manyLines(60_000)
	d, s := editable(t, text, true)
	for pieces := range 5 {
		ctx, cancel := context.WithCancel(t.Context())
		e, n := starred(), 0
		e.Rest = func(ctx context.Context, _ int) error {
			if n++; n > pieces {
				cancel()
			}
			return ctx.Err()
		}
		if _, err := d.Edit(ctx, s, e, false); !errors.Is(err, context.Canceled) {
			t.Fatalf("after %d pieces: %v", pieces, err)
		}
		cancel()
		if got, names := content(t, d, s); got != text || len(names) != 1 {
			t.Fatalf("after %d pieces: files %q", pieces, names)
		}
	}
}

// A log that nobody writes is closed, and one that is written goes on in a new file.
func TestCloseLog(t *testing.T) {
	d := NewDir(t.TempDir(), "log", Options{})
	if err := d.CloseLog("clients", 1); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.path, "clients.log"), []byte("one\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := d.CloseLog("clients", 1); err != nil {
		t.Fatal(err)
	}
	segments, err := Rotated(d.path, "clients")
	if err != nil || len(segments) != 1 {
		t.Fatal(segments, err)
	}
	if got, names := content(t, d, segments[0]); got != "one\n" || len(names) != 1 {
		t.Errorf("%q, files %q", got, names)
	}
}
