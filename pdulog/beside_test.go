package pdulog

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"pmg/internal/logfile"
	"pmg/internal/testkit/testutil"
)

// A shakyDisk refuses one write of several, after half of its octets.
type shakyDisk struct {
	writes atomic.Int64
	every  atomic.Int64 // 0: it refuses none
}

func (d *shakyDisk) open(path string) (logfile.OSFile, error) {
	f, err := logfile.OpenFile(path)
	return &shakyFile{f, d}, err
}

type shakyFile struct {
	logfile.OSFile
	disk *shakyDisk
}

func (f *shakyFile) Write(b []byte) (int, error) {
	if every := f.disk.every.Load(); every > 0 && f.disk.writes.Add(1)%every == 0 {
		n, _ := f.OSFile.Write(b[:len(b)/2])
		return n, syscall.ENOSPC
	}
	return f.OSFile.Write(b)
}

// besides returns a file and further ones beside it.
func besides(f *File, n int) []*File {
	all := []*File{f}
	for range n - 1 {
		all = append(all, all[len(all)-1].Beside())
	}
	return all
}

// linesOf returns the sequences of the lines in files, as they stand in the files, by their instances.
func linesOf(t *testing.T, dir string) map[int][]int {
	t.Helper()
	got := map[int][]int{}
	log := newTail(dir, "clients")
	defer log.close()
	for line, err := log.next(); err == nil; line, err = log.next() {
		e, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		got[e.Instance] = append(got[e.Instance], sequence(t, &e))
	}
	return got
}

// Three goroutines log, the file is rotated again and again, and the disk refuses some writes: each line that is not counted as
// lost is in the files once, and those of a goroutine are in order.
func TestBesideIsWrittenOnce(t *testing.T) {
	const files, lines = 3, 3000
	for _, c := range []struct {
		name    string
		every   int64 // writes of which the disk refuses one
		waiting int64
		loses   bool
	}{
		{"a disk that takes all", 0, 0, false},
		{"a disk that refuses some", 3, 0, false},
		{"a disk that refuses most, and little memory", 2, 20_000, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir, d := t.TempDir(), &shakyDisk{}
				d.every.Store(c.every)
				f := openOn(t, dir, Options{
					Options: logfile.Options{MaxSize: 5000, Compress: true}, Waiting: c.waiting,
					Flush: 10 * time.Millisecond, Log: zerolog.Nop(),
				}, d.open)
				var all sync.WaitGroup
				for i, one := range besides(f, files) {
					all.Go(func() {
						for n := range lines {
							one.Line(time.Now().UnixNano(), i, true, submit(n), LoggedIn, About{})
							if due := one.Due(); due != 0 && due <= time.Now().UnixNano() {
								one.Flush(time.Now().UnixNano())
							}
							if n%(7+i) == 0 {
								time.Sleep(time.Duration(1+n%5) * time.Millisecond)
							}
						}
					})
				}
				all.Wait()
				d.every.Store(0)
				if err := f.dir.Close(); err != nil {
					t.Fatal(err)
				}
				found := 0
				for i, got := range linesOf(t, dir) {
					found += len(got)
					if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
						t.Errorf("lines of file %d are twice in the log, or in another order", i)
					}
				}
				if uint64(found) != f.Lines() || f.Lines()+f.Lost() != files*lines || (f.Lost() > 0) != c.loses {
					t.Errorf("%d lines found, %d written, %d lost of %d", found, f.Lines(), f.Lost(), files*lines)
				}
				if (f.Errors() > 0) != (c.every > 0) || f.dir.waiting.Load() != 0 {
					t.Errorf("%d errors, %d octets wait", f.Errors(), f.dir.waiting.Load())
				}
			})
		})
	}
}

// Whichever file of a connector ends first, and whether the connector was removed before, no line is lost, and the writer ends.
func TestBesideEnds(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, all []*File, write func(*File)){
		"the first before the others": func(t *testing.T, all []*File, write func(*File)) {
			mustClose(t, all[0])
			time.Sleep(time.Minute)
			synctest.Wait()
			if f := all[1]; f.dir.writers["clients"] != f.w.Load() {
				t.Error("the writer has ended before the others")
			}
			write(all[1])
			write(all[2])
			mustClose(t, all[2])
			write(all[1])
			mustClose(t, all[1])
		},
		"the last before the others": func(t *testing.T, all []*File, write func(*File)) {
			mustClose(t, all[2])
			write(all[0])
			mustClose(t, all[0])
			write(all[1])
			mustClose(t, all[1])
		},
		"all together": func(t *testing.T, all []*File, _ func(*File)) {
			if err := all[0].dir.Close(); err != nil {
				t.Error(err)
			}
		},
		"removed, then together": func(t *testing.T, all []*File, write func(*File)) {
			all[1].Retire()
			all[0].Retire()
			time.Sleep(time.Minute)
			write(all[0])
			write(all[2])
			time.Sleep(time.Minute)
			write(all[1])
			if err := all[0].dir.Close(); err != nil {
				t.Error(err)
			}
		},
		"removed, and another begins then": func(t *testing.T, all []*File, write func(*File)) {
			all[0].Retire()
			time.Sleep(time.Minute)
			more := all[0].Beside()
			write(more)
			mustClose(t, more)
			mustClose(t, all[1])
			write(all[0])
			mustClose(t, all[0])
			mustClose(t, all[2])
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir, n := t.TempDir(), 0
				d := NewDir(dir, Options{})
				f, err := d.Open("clients")
				if err != nil {
					t.Fatal(err)
				}
				write := func(f *File) {
					f.Line(time.Now().UnixNano(), 1, true, submit(n), LoggedIn, About{})
					time.Sleep(time.Millisecond)
					n++
				}
				all := besides(f, 3)
				for _, one := range all {
					write(one)
				}
				end(t, all, write)
				time.Sleep(time.Minute)
				synctest.Wait()
				if len(d.writers) != 0 || len(d.files) != 0 || f.Lines() != uint64(n) || f.Lost() != 0 {
					t.Errorf("%d writers, %d files left; %d of %d lines written, %d lost", len(d.writers), len(d.files), f.Lines(), n, f.Lost())
				}
				got := linesOf(t, dir)[1]
				if slices.Sort(got); !slices.Equal(got, numbers(0, n)) {
					t.Errorf("lines %v of %d", got, n)
				}
			})
		})
	}
}

// A disk that takes nothing is reported once for all files of the connector, also when they are closed.
func TestBesideComplainsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log testutil.Log
		f := openOn(t, t.TempDir(), Options{Waiting: 200_000, Log: zerolog.New(&log)}, (&disk{room: 0}).open)
		all := besides(f, 3)
		for range 30 {
			for range 100 {
				for _, one := range all {
					one.Line(time.Now().UnixNano(), 1, true, &fakePDU{shown: strings.Repeat("x", 1000)}, LoggedIn, About{})
				}
			}
			for _, one := range all {
				one.Flush(time.Now().UnixNano())
			}
			time.Sleep(2 * time.Second)
		}
		if got := strings.Count(log.String(), "cannot follow"); got != 1 {
			t.Errorf("%d warnings in a minute:\n%s", got, &log)
		}
		err := f.dir.Close()
		if err == nil || strings.Count(err.Error(), "cannot close") != 1 {
			t.Errorf("Close: %v", err)
		}
		if f.Lost() != 30*100*3 || f.dir.waiting.Load() != 0 {
			t.Errorf("%d lines lost, %d octets wait", f.Lost(), f.dir.waiting.Load())
		}
	})
}

// While the disk takes nothing, small chunks are joined, from whichever file they are.
func TestBesideTakesLittleMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		f := openOn(t, t.TempDir(), Options{Log: zerolog.Nop()}, d.open)
		all := besides(f, 3)
		for n := range 3000 {
			one := all[n%3]
			one.Line(time.Now().UnixNano(), 1, true, submit(n), LoggedIn, About{})
			one.Flush(time.Now().UnixNano())
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		if n := len(f.w.Load().queue); n > 6 { // 170 KB
			t.Errorf("%d chunks wait", n)
		}
		d.room = 1 << 30
		if err := f.dir.Close(); err != nil || f.Lines() != 3000 {
			t.Errorf("%d lines written: %v", f.Lines(), err)
		}
	})
}

// The limit of strangers is one of the connector, also if the goroutines are not in the same second.
func TestBesideSharesLimits(t *testing.T) {
	f := mustOpen(t, t.TempDir(), "clients", Options{Options: logfile.Options{MaxSize: 1 << 30}})
	all := besides(f, 4)
	long := &fakePDU{shown: strings.Repeat("x", 1000)}
	for _, about := range []About{{}, {Pressing: true}} {
		standing, before := LoggedIn, f.Lost()
		if !about.Pressing {
			standing = Stranger
		}
		for n := range 1200 {
			now := int64(100 * time.Second)
			if n%3 == 2 {
				now-- // of a goroutine that is a little behind
			}
			all[n%4].Line(now, 1, true, long, standing, about)
		}
		if taken := 1200 - int64(f.Lost()-before); taken < strangerOctets/1100 || taken > strangerOctets/1000 {
			t.Errorf("%+v: %d lines taken", about, taken)
		}
	}
	if err := f.dir.Close(); err != nil {
		t.Error(err)
	}
}

// A chunk whose goroutine has read the clock before another's does not begin a file that is read before the other's. If the clock
// was set back, the file has that time.
func TestBesideNamesRise(t *testing.T) {
	dir := t.TempDir()
	f := mustOpen(t, dir, "clients", Options{Options: logfile.Options{MaxSize: 1}})
	g := f.Beside()
	now := at("2026-11-20T19:05:22Z")
	write := func(f *File, now int64, n int) {
		f.Line(now, 1, true, submit(n), LoggedIn, About{})
		flush(f, now)
	}
	write(f, now, 0)
	write(g, now-1e6, 1)
	write(f, now-2e6, 2)
	write(g, now+5e6, 3)
	write(f, now+4e6, 4)
	write(g, now-3600e9, 5)
	write(f, now-3600e9+1e6, 6)
	if err := f.dir.Close(); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"clients-20261120T190522.000000.log": "0", "clients-20261120T190522.000001.log": "1",
		"clients-20261120T190522.005000.log": "2", "clients-20261120T190522.005001.log": "3",
		"clients-20261120T180522.000000.log": "4", "clients-20261120T180522.001000.log": "5", "clients.log": "6",
	}
	for _, name := range names(t, dir) {
		if got := mustRead(t, dir, name); !strings.HasSuffix(got, " submit_sm seq="+want[name]+"\n") {
			t.Errorf("%s has %q", filepath.Base(name), got)
		}
	}
}

// The first goroutine uses the connectors' own files, each other one has a file beside them for as long as the connector is there.
func TestFiles(t *testing.T) {
	d := NewDir(t.TempDir(), Options{})
	open := func(name string) *File {
		f, err := d.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	a, b := open("a"), open("b")
	if NewFiles(true).Of(a) != a {
		t.Error("the first goroutine does not use the connector's file")
	}
	files, other := NewFiles(false), NewFiles(false)
	own := files.Of(a)
	if own == a || files.Of(a) != own || files.Of(b) == own || other.Of(a) == own || own.connectorLog != a.connectorLog {
		t.Error("a goroutine does not have one file beside that of each connector")
	}
	if n := testing.AllocsPerRun(100, func() { files.Of(a); files.Of(b) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	line := func(f *File) { f.Line(0, 1, true, submit(1), LoggedIn, About{}) }
	line(own)
	a.Retire()
	has := func(why string, beside, all int) {
		t.Helper()
		if len(files.beside) != beside || len(d.files) != all {
			t.Errorf("%s: %d files of the goroutine, %d of the directory, want %d and %d", why, len(files.beside), len(d.files), beside, all)
		}
	}
	files.Of(open("c"))
	has("a line waits", 3, 7)
	flush(own, 0)
	if files.Of(a) != own {
		t.Error("the file is forgotten before another is needed")
	}
	files.Of(open("d"))
	has("no line waits", 3, 8)
	line(files.Of(a)) // a session is still being ended
	has("a session logs once more", 4, 9)
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if len(d.writers) != 0 || a.Lines() != 2 {
		t.Errorf("%d writers left, %d lines of the removed connector", len(d.writers), a.Lines())
	}
}
