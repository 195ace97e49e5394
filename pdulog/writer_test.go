package pdulog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"pmg/internal/logfile"
	"pmg/internal/testkit/testutil"
)

// A frozenDisk blocks every call until it thaws.
type frozenDisk struct {
	mu     sync.Mutex
	thawed chan struct{} // nil: not frozen
}

func (d *frozenDisk) freeze() (thaw func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := make(chan struct{})
	d.thawed = c
	return func() { close(c) }
}

func (d *frozenDisk) wait() {
	d.mu.Lock()
	c := d.thawed
	d.mu.Unlock()
	if c != nil {
		<-c
	}
}

func (d *frozenDisk) open(path string) (logfile.OSFile, error) {
	d.wait()
	f, err := logfile.OpenFile(path)
	return &frozenFile{f, d}, err
}

type frozenFile struct {
	logfile.OSFile
	disk *frozenDisk
}

func (f *frozenFile) Write(b []byte) (int, error) { f.disk.wait(); return f.OSFile.Write(b) }
func (f *frozenFile) Stat() (os.FileInfo, error)  { f.disk.wait(); return f.OSFile.Stat() }
func (f *frozenFile) Sync() error                 { f.disk.wait(); return f.OSFile.Sync() }
func (f *frozenFile) Close() error                { f.disk.wait(); return f.OSFile.Close() }

// F22, H23: while the disk hangs, no call that adds lines waits. Lines wait in memory up to a
// limit, further ones are lost and counted, and one warning per minute says so.
func TestFrozenDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, d := t.TempDir(), &frozenDisk{}
		var log testutil.Log
		f := openOn(t, dir, Options{Options: logfile.Options{MaxSize: 1 << 20, RotateEvery: time.Hour}, Flush: 100 * time.Millisecond, Log: zerolog.New(&log)}, d.open)
		f.dir.limit = 1 << 20
		thaw := d.freeze()
		n := 0
		for range 100 {
			for range 500 { // 27 KB
				f.Line(time.Now().UnixNano(), 1, true, submit(n), LoggedIn, About{})
				n++
			}
			f.Flush(time.Now().UnixNano())
			time.Sleep(time.Second)
		}
		f.dir.Reopen() // must not wait either
		if f.Lost() == 0 || f.Lines() != 0 || f.dir.waiting.Load() > f.dir.limit {
			t.Errorf("%d lines lost, %d written, %d bytes wait", f.Lost(), f.Lines(), f.dir.waiting.Load())
		}
		if got := strings.Count(log.String(), `"level":"warn"`); got != 2 {
			t.Errorf("%d warnings in 100 s, want 2:\n%s", got, &log)
		}
		thaw()
		time.Sleep(time.Minute)
		f.Line(time.Now().UnixNano(), 1, true, submit(n), LoggedIn, About{})
		mustClose(t, f)
		if f.Lines()+f.Lost() != uint64(n)+1 {
			t.Errorf("%d lines written and %d lost of %d", f.Lines(), f.Lost(), n+1)
		}
		if got := readAll(t, dir, Query{}); len(got) != int(f.Lines()) || got[len(got)-1] != n {
			t.Errorf("%d lines are in the files, %d were written", len(got), f.Lines())
		}
	})
}

// While writing fails, small chunks are joined to large ones.
func TestFailingDiskTakesLittleMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		f := openOn(t, t.TempDir(), Options{Log: zerolog.Nop()}, d.open)
		for n := range 5000 {
			f.Line(time.Now().UnixNano(), 1, true, submit(n), LoggedIn, About{})
			f.Flush(time.Now().UnixNano())
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		if n := len(f.w.Load().queue); n > 10 { // 280 KB
			t.Errorf("%d chunks wait", n)
		}
		d.room = 1 << 30
		mustClose(t, f)
		if f.Lines() != 5000 {
			t.Errorf("%d lines written", f.Lines())
		}
	})
}

// F22: a stopping gateway does not wait long for a dead disk, however many files it has.
func TestCloseOnFrozenDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &frozenDisk{}
		logs := NewDir(t.TempDir(), Options{})
		logs.logs.Open = d.open
		var files []*File
		for i := range 10 {
			f, err := logs.Open(fmt.Sprint("c", i))
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		thaw := d.freeze()
		for _, f := range files {
			f.Line(0, 1, true, submit(1), LoggedIn, About{})
			f.Flush(0)
		}
		begun := time.Now()
		if err := logs.Close(); !errors.Is(err, ErrNoAnswer) || !strings.Contains(err.Error(), "c9: the disk has not answered") {
			t.Errorf("Close: %v", err)
		}
		if d := time.Since(begun); d != closeWait { // in synctest's time
			t.Errorf("Close took %v", d)
		}
		thaw()
		synctest.Wait()
		if f := files[9]; f.Lines() != 1 {
			t.Error("the line was not written when the disk came back")
		}
	})
}

// F22: while a real system call blocks, other files are still written.
func TestFIFO(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	f := openOn(t, t.TempDir(), Options{}, func(path string) (logfile.OSFile, error) {
		if _, err := logfile.OpenFile(path); err != nil {
			return nil, err
		}
		fd, err := syscall.Open(fifo, syscall.O_WRONLY, 0) // blocking, unlike os.OpenFile
		return &blockingFile{fd: fd, path: path}, err
	})
	const lines = 10_000 // far more than a FIFO takes
	for n := range lines {
		f.Line(0, 1, true, submit(n), LoggedIn, About{})
	}
	f.Flush(0)
	if f.Lines() == lines {
		t.Error("the FIFO did not block")
	}
	go func() {
		b := make([]byte, 64<<10)
		for {
			if _, err := reader.Read(b); err != nil {
				return
			}
		}
	}()
	mustClose(t, f)
	if f.Lines() != lines {
		t.Errorf("%d lines written of %d", f.Lines(), lines)
	}
}

type blockingFile struct {
	fd   int
	path string
}

func (f *blockingFile) Write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var more int
		more, err = syscall.Write(f.fd, b[n:])
		n += max(more, 0)
	}
	return n, err
}
func (f *blockingFile) Stat() (os.FileInfo, error) { return os.Stat(f.path) }
func (f *blockingFile) Truncate(int64) error       { return nil }
func (f *blockingFile) Sync() error                { return nil }
func (f *blockingFile) Close() error               { return syscall.Close(f.fd) }

// F17: a removed connector that still drains and a new one of the same name share one file. It
// is closed when neither uses it any more.
func TestSharedFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, opened, closed := t.TempDir(), 0, 0
		var mu sync.Mutex
		count := func(n *int) { mu.Lock(); *n++; mu.Unlock() }
		logs := NewDir(dir, Options{})
		logs.logs.Open = func(path string) (logfile.OSFile, error) {
			count(&opened)
			f, err := logfile.OpenFile(path)
			return &countedFile{f, func() { count(&closed) }}, err
		}
		open := func() *File {
			f, err := logs.Open("c")
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		is := func(wantOpened, wantClosed int, when string) {
			t.Helper()
			time.Sleep(time.Minute)
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if opened != wantOpened || closed != wantClosed {
				t.Errorf("%s: opened %d times and closed %d times, want %d and %d", when, opened, closed, wantOpened, wantClosed)
			}
		}
		n := 0
		write := func(f *File) {
			f.Line(time.Now().UnixNano(), 1, true, submit(n), LoggedIn, About{})
			f.Flush(time.Now().UnixNano())
			synctest.Wait()
			n++
		}
		old := open()
		write(old)
		old.Retire()
		old.Retire()
		write(old)
		is(1, 1, "the connector is removed")
		write(old)
		is(2, 2, "and has one more line")
		added := open()
		write(added)
		write(old)
		write(added)
		is(3, 2, "another of the name was added")
		mustClose(t, old)
		write(added)
		is(3, 2, "the first is closed")
		mustClose(t, added)
		mustClose(t, added)
		is(3, 3, "both are closed")
		if err := logs.Close(); err != nil || len(logs.writers)+len(logs.files) != 0 {
			t.Errorf("%v; %d writers, %d files left", err, len(logs.writers), len(logs.files))
		}
		wantNumbers(t, readAll(t, dir, Query{}), numbers(0, n))
	})
}

type countedFile struct {
	logfile.OSFile
	closed func()
}

func (f *countedFile) Close() error { f.closed(); return f.OSFile.Close() }

// H24: a removed directory is created again. Lines that were written to the removed file since
// its last check are lost and counted. SIGHUP creates the file again immediately.
func TestRemovedDirectory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "pdulog")
		var log testutil.Log
		f := mustOpen(t, dir, "clients", Options{Log: zerolog.New(&log)})
		n := 0
		write := func() {
			f.Line(time.Now().UnixNano(), 1, true, submit(n), LoggedIn, About{})
			f.Flush(time.Now().UnixNano())
			synctest.Wait()
			n++
		}
		remove := func() {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
		write()
		time.Sleep(2 * time.Second) // the next write checks the file
		synctest.Wait()
		write() // checks again, and then not for a second
		remove()
		write()
		write()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if f.Lines() != 1 || f.Lost() != 3 {
			t.Errorf("%d lines written and %d lost, want 1 and 3", f.Lines(), f.Lost())
		}
		wantMessages(t, &log, `"lost":3`)
		write()
		wantNumbers(t, readAll(t, dir, Query{}), []int{4})

		remove()
		f.dir.Reopen()
		synctest.Wait()
		if got := names(t, dir); !slices.Equal(got, []string{"clients.log"}) || f.Lost() != 4 {
			t.Errorf("SIGHUP makes %v; %d lines lost, want 4", got, f.Lost())
		}
		write()
		wantNumbers(t, readAll(t, dir, Query{}), []int{5})
		mustClose(t, f)
	})
}

// H5: the limits Keep and MaxTotal hold at any time, however slowly files are compressed, and
// whatever the size of a chunk.
func TestFlood(t *testing.T) {
	for _, o := range []logfile.Options{
		{MaxSize: 50_000, Keep: 3, Compress: true},
		{MaxSize: 50_000, MaxTotal: 120_000, Compress: true},
		{MaxSize: 50_000, MaxTotal: 120_000},
		{MaxTotal: 120_000},
	} {
		t.Run(fmt.Sprintf("%+v", o), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			largest := int64(0)
			f := mustOpen(t, dir, "clients", Options{Options: o, Log: zerolog.Nop()})
			for n := range 20_000 {
				f.Line(time.Now().UnixNano(), 1, true, submit(n), LoggedIn, About{})
				if n%100 != 0 {
					continue
				}
				flush(f, time.Now().UnixNano())
				total, rotated := int64(0), 0
				for _, name := range names(t, dir) {
					st, err := os.Stat(filepath.Join(dir, name))
					if err != nil {
						continue // removed meanwhile
					}
					if total += st.Size(); strings.HasSuffix(name, ".log") && name != "clients.log" {
						rotated++
					}
					largest = max(largest, st.Size())
				}
				if o.MaxTotal > 0 && total > o.MaxTotal {
					t.Fatalf("%d bytes after %d lines", total, n)
				}
				if o.Keep > 0 && rotated > o.Keep {
					t.Fatalf("%d rotated files after %d lines", rotated, n)
				}
			}
			mustClose(t, f)
			if o.MaxSize > 0 && largest > o.MaxSize {
				t.Errorf("a file has %d bytes", largest)
			}
			got := readAll(t, dir, Query{})
			if want := numbers(20_000-len(got), 20_000); !slices.Equal(got, want) || len(got) < 800 {
				t.Errorf("%d lines are left, and not the newest", len(got))
			}
		})
	}
}

// H5: if old files cannot be removed, lines are lost, so that MaxTotal holds.
func TestMaxTotalWithoutRotation(t *testing.T) {
	dir := t.TempDir()
	f := mustOpen(t, dir, "clients", Options{Options: logfile.Options{MaxSize: 10_000, MaxTotal: 25_000}, Log: zerolog.Nop()})
	f.dir.logs.Rename = func(string, string) error { return syscall.EACCES }
	now := time.Now().UnixNano()
	for n := range 1000 {
		f.Line(now, 1, true, submit(n), LoggedIn, About{})
		flush(f, now)
	}
	st, err := os.Stat(filepath.Join(dir, "clients.log"))
	if err != nil {
		t.Fatal(err)
	}
	if st.Size() > 25_000 || st.Size() < 20_000 || f.Lines()+f.Lost() != 1000 {
		t.Errorf("%d bytes, %d lines written, %d lost", st.Size(), f.Lines(), f.Lost())
	}
	mustClose(t, f)
}
