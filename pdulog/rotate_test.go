package pdulog

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/rs/zerolog"

	"pmg/internal/logfile"
	"pmg/internal/testkit/testutil"
)

func TestRotateBySize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		f := mustOpen(t, dir, "clients", Options{Options: logfile.Options{MaxSize: 200, Compress: true}})
		for n := range 20 { // 56 bytes a line: 3 fit
			f.Line(time.Now().UnixNano(), 1, true, submit(n), LoggedIn, About{})
			flush(f, time.Now().UnixNano())
		}
		synctest.Wait() // for the retention's goroutine
		files := names(t, dir)
		if len(files) != 7 {
			t.Errorf("%d files, want 7: %v", len(files), files)
		}
		for _, name := range files {
			if !strings.HasSuffix(name, ".zst") && name != "clients.log" {
				t.Errorf("%s is not compressed", name)
			}
		}
		// All are rotated in the same microsecond, but each file has its own name.
		if files[0] != "clients-20000101T000000.000000.log"+".zst" || files[1] != "clients-20000101T000000.000001.log"+".zst" {
			t.Errorf("got %v", files)
		}
		wantNumbers(t, readAll(t, dir, Query{}), numbers(0, 20))
		mustClose(t, f)
	})
}

func TestRotateByTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		f := mustOpen(t, dir, "clients", Options{Options: logfile.Options{RotateEvery: 24 * time.Hour}})
		write := func(n int) {
			f.Line(time.Now().UnixNano(), 1, true, submit(n), LoggedIn, About{})
			flush(f, time.Now().UnixNano())
		}
		write(0)
		time.Sleep(24*time.Hour - time.Second)
		write(1)
		if got := names(t, dir); len(got) != 1 {
			t.Errorf("%v a second before midnight", got)
		}
		time.Sleep(time.Second)
		write(2)
		time.Sleep(100 * time.Hour) // days without lines make no empty files
		write(3)
		want := []string{"clients-20000102T000000.000000.log", "clients-20000106T040000.000000.log", "clients.log"}
		if got := names(t, dir); !slices.Equal(got, want) {
			t.Errorf("got %v", got)
		}
		wantNumbers(t, readAll(t, dir, Query{}), numbers(0, 4))
		mustClose(t, f)
	})
}

func TestRotateOldFileOnOpen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "clients.log")
	mustWrite(t, path, "2020-01-01T00:00:00.000000Z clients/1 < submit_sm seq=0\n")
	old := time.Now().Add(-25 * time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	f := mustOpen(t, dir, "clients", Options{Options: logfile.Options{RotateEvery: 24 * time.Hour}})
	f.Line(time.Now().UnixNano(), 1, true, submit(1), LoggedIn, About{})
	mustClose(t, f)
	if got := names(t, dir); len(got) != 2 {
		t.Errorf("yesterday's file is still used: %v", got)
	}
}

func TestRotateFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		f := mustOpen(t, dir, "clients", Options{Options: logfile.Options{MaxSize: 60}})
		f.dir.logs.Rename = func(string, string) error { return syscall.EACCES }
		now := at("2026-11-20T19:05:22Z")
		f.Line(now, 1, true, submit(0), LoggedIn, About{})
		flush(f, now)
		f.Line(now, 1, true, submit(1), LoggedIn, About{})
		flush(f, now)
		f.dir.logs.Rename = os.Rename
		f.Line(now, 1, true, submit(2), LoggedIn, About{})
		flush(f, now+1)
		wantNumbers(t, readAll(t, dir, Query{}), numbers(0, 3))
		if segments, _ := logfile.Rotated(dir, "clients"); len(segments) != 0 {
			t.Errorf("rotated again immediately: %v", segments)
		}
		f.Line(now, 1, true, submit(3), LoggedIn, About{})
		flush(f, now+int64(time.Minute))
		if segments, _ := logfile.Rotated(dir, "clients"); len(segments) != 1 {
			t.Errorf("not rotated after a while: %v", segments)
		}
		mustClose(t, f)
	})
}

func TestRetention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		mustWrite(t, filepath.Join(dir, "other-20000101T000000.000000.log.gz"), "another connector's")
		f := mustOpen(t, dir, "clients", Options{Options: logfile.Options{MaxSize: 1, Keep: 3, KeepAge: 10 * time.Hour, Compress: true}})
		for n := range 8 {
			f.Line(time.Now().UnixNano(), 1, true, submit(n), LoggedIn, About{})
			flush(f, time.Now().UnixNano())
			synctest.Wait()
			time.Sleep(time.Hour)
		}
		wantNumbers(t, readAll(t, dir, Query{Connectors: []string{"clients"}}), numbers(4, 8)) // 3 files and the one being written
		time.Sleep(10 * time.Hour)                                                             // without a rotation
		synctest.Wait()
		wantNumbers(t, readAll(t, dir, Query{Connectors: []string{"clients"}}), []int{7})
		if got := names(t, dir); !slices.Contains(got, "other-20000101T000000.000000.log.gz") {
			t.Errorf("removed a file of another connector: %v", got)
		}
		mustClose(t, f)
	})
}

func TestCompressionThatWasCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const line = "2026-11-20T19:05:22.469303Z clients/3 < submit_sm seq=0\n"
		dir := t.TempDir()
		// Killed while writing the .zst, and killed before removing the plain file.
		first := filepath.Join(dir, "clients-20000101T000000.000000.log")
		mustWrite(t, first, line)
		mustWrite(t, first+".zst.tmp", "half")
		second := filepath.Join(dir, "clients-20000101T000000.000001.log")
		mustWrite(t, second, strings.Replace(line, "=0", "=1", 1))
		if err := compress(second, second+".zst"); err != nil {
			t.Fatal(err)
		}
		wantNumbers(t, readAll(t, dir, Query{}), numbers(0, 2))
		f := mustOpen(t, dir, "clients", Options{Options: logfile.Options{Compress: true}})
		synctest.Wait()
		want := []string{filepath.Base(first) + ".zst", filepath.Base(second) + ".zst", "clients.log"}
		if got := names(t, dir); !slices.Equal(got, want) {
			t.Errorf("got %v", got)
		}
		wantNumbers(t, readAll(t, dir, Query{}), numbers(0, 2))
		mustClose(t, f)
	})
}

// U9, O5: files are kept for a week if the disk has room, and for less time otherwise: those
// of the last day only give way where the logs themselves fill the disk, and none does where
// that would not help.
func TestRetentionOnSmallDisk(t *testing.T) {
	const line = 58
	const size = 1000 * line // 100 lines must stay free
	for _, c := range []struct {
		name    string
		others  int // lines' room that other files take
		written int // one an hour, each in a file of its own
		left    int
		logs    string
	}{
		{"there is room", 0, 200, 169, ""},
		{"others fill it, older files make room", 860, 48, 40, "are removed early"},
		{"others fill it, older files are too few", 880, 26, 26, "would not make enough room"},
		{"others fill it beyond what files can help", 970, 28, 28, "would not make enough room"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				var log testutil.Log
				d := NewDir(dir, Options{Options: logfile.Options{MaxSize: 1, KeepAge: 7 * 24 * time.Hour, MinFree: 10}, Log: zerolog.New(&log)})
				d.logs.Space = func(string) (int64, int64, error) {
					return int64(size-c.others*line) - octetsIn(t, dir), size, nil
				}
				f, err := d.Open("clients")
				if err != nil {
					t.Fatal(err)
				}
				writeEvery(f, 100, c.written, time.Hour)
				wantNumbers(t, readAll(t, dir, Query{}), numbers(100+c.written-c.left, 100+c.written))
				if !strings.Contains(log.String(), c.logs) || c.logs == "" && log.String() != "" {
					t.Errorf("logged %s", &log)
				}
				if want := c.written - c.left; c.logs != "" && f.RemovedEarly() != int64(want) {
					t.Errorf("%d files are counted as removed early, want %d", f.RemovedEarly(), want)
				}
				mustClose(t, f)
			})
		})
	}
}

// A log that fills the disk by itself within a day keeps as much as there is room for.
func TestRetentionFillsDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		const line = 58
		d := NewDir(dir, Options{Options: logfile.Options{MaxSize: 1, MinFree: 10}, Log: zerolog.Nop()})
		d.logs.Space = func(string) (int64, int64, error) { return 90*line - octetsIn(t, dir), 100 * line, nil }
		f, err := d.Open("clients")
		if err != nil {
			t.Fatal(err)
		}
		writeEvery(f, 100, 200, time.Minute)
		wantNumbers(t, readAll(t, dir, Query{}), numbers(100+200-81, 100+200))
		mustClose(t, f)
	})
}

// octetsIn returns how many octets the files of a directory take.
func octetsIn(t *testing.T, dir string) (n int64) {
	for _, name := range names(t, dir) {
		if st, err := os.Stat(filepath.Join(dir, name)); err == nil {
			n += st.Size()
		}
	}
	return n
}

// writeEvery writes lines with a pause behind each, in which files are checked.
func writeEvery(f *File, from, lines int, pause time.Duration) {
	for n := range lines {
		f.Line(time.Now().UnixNano(), 1, true, submit(from+n), LoggedIn, About{})
		flush(f, time.Now().UnixNano())
		synctest.Wait()
		time.Sleep(pause)
		synctest.Wait()
	}
}

// Old files are removed when another program has filled the disk between two rotations.
func TestRetentionOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "clients-20000101T000000.000000.log.zst")
	mustWrite(t, old, "old")
	var free atomic.Int64
	free.Store(100)
	d := NewDir(dir, Options{Options: logfile.Options{MinFree: 10}})
	d.logs.Space = func(string) (int64, int64, error) { return free.Load(), 1000, nil }
	d.logs.Open = (&disk{room: 0}).open
	f, err := d.Open("clients")
	if err != nil {
		t.Fatal(err)
	}
	flush(f, 0)
	if !exists(old) {
		t.Fatal("removed, but there was room")
	}
	free.Store(99)
	f.Line(0, 1, true, submit(1), LoggedIn, About{})
	flush(f, 0)
	testutil.Eventually(t, "an old file goes, because the disk is full", func() bool { return !exists(old) })
	if f.Close() == nil {
		t.Error("a line was written to a full disk")
	}
}

// compress writes a compressed copy of a file.
func compress(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	z, err := zstd.NewWriter(&packed)
	if err != nil {
		return err
	}
	_, err = z.Write(b)
	if err = errors.Join(err, z.Close()); err != nil {
		return err
	}
	return os.WriteFile(to, packed.Bytes(), 0o600)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
