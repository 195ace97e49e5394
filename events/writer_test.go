package events

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmg/internal/logfile"
	"pmg/internal/testkit/testutil"
	"pmg/store"
)

// A line of these tests is as short as a line can be.
func lineOf(n uint64) []byte { return fmt.Appendf(nil, `{"number":%d,"x":1}`, n) }

// A rig is a Writer without its goroutine, on a store in memory, which stands for one that
// survives.
type rig struct {
	*Writer
	t      *testing.T
	o      Options
	store  store.Store
	disk   func(logfile.OSFile) logfile.OSFile // what a file is on; nil: a good disk
	opened io.Closer                           // the file opened last, on a good disk
	drops  []uint64                            // what the next batch drops
	ended  uint64                              // events that were committed
}

func newRig(t *testing.T, o Options) *rig {
	t.Helper()
	o.Dir, o.Log = t.TempDir(), zerolog.New(zerolog.NewTestWriter(t))
	if o.MaxWaiting == 0 {
		o.MaxWaiting = 1 << 20
	}
	r := &rig{t: t, o: o, store: store.NewMemory()}
	r.start()
	t.Cleanup(func() { r.kill() })
	return r
}

func (r *rig) start() {
	r.t.Helper()
	var err error
	if r.Writer, err = prepare(r.o, r.store, func(upTo uint64) { r.drops = append(r.drops, upTo) }); err != nil {
		r.t.Fatal(err)
	}
	r.logs.Open = func(path string) (logfile.OSFile, error) {
		f, err := logfile.OpenFile(path)
		if err != nil {
			return nil, err
		}
		r.opened = f
		if r.disk != nil {
			f = r.disk(f)
		}
		return f, nil
	}
}

// kill drops the Writer's state, as the end of its process does.
func (r *rig) kill() {
	if r.Writer == nil {
		return
	}
	if r.opened != nil {
		_ = r.opened.Close() // as it is
	}
	r.release()
	r.Writer, r.drops = nil, nil
}

// end commits n events, and what there is to drop.
func (r *rig) end(n int) {
	r.t.Helper()
	var b store.Batch
	for _, upTo := range r.drops {
		b.DropEvents(upTo)
	}
	r.drops = nil
	for range n {
		number := r.Next()
		if r.ended++; number != r.ended {
			r.t.Fatalf("event %d has number %d", r.ended, number)
		}
		b.Event(number, lineOf(number))
	}
	if err := r.store.Commit(&b); err != nil {
		r.t.Fatal(err)
	}
}

// written returns the numbers of the lines in all files.
func (r *rig) written() (all []uint64) {
	r.t.Helper()
	files, err := filepath.Glob(filepath.Join(r.o.Dir, "events*.log"))
	if err != nil {
		r.t.Fatal(err)
	}
	slices.Sort(files)
	if i := slices.Index(files, filepath.Join(r.o.Dir, fileName)); i >= 0 {
		files = append(slices.Delete(files, i, i+1), filepath.Join(r.o.Dir, fileName))
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			r.t.Fatal(err)
		}
		for line := range bytes.Lines(b) {
			n, ok := NumberOf(line)
			if !ok {
				r.t.Errorf("%s: line %q", f, line)
			}
			all = append(all, n)
		}
	}
	return all
}

// want checks that each event is in the files once, in order.
func (r *rig) want() {
	r.t.Helper()
	all := r.written()
	for i, n := range all {
		if n != uint64(i)+1 {
			r.t.Fatalf("line %d is event %d", i+1, n)
		}
	}
	if uint64(len(all)) != r.ended {
		r.t.Fatalf("%d lines of %d events", len(all), r.ended)
	}
}

// finish writes everything, as at the end of the gateway.
func (r *rig) finish() {
	r.t.Helper()
	if err := r.advance(true); err != nil {
		r.t.Fatal(err)
	}
	if n := r.Waiting(); n != 0 {
		r.t.Errorf("%d events wait", n)
	}
	r.want()
}

// Whichever step a process is killed behind, each event is in the files once: after the
// commit, in the middle of a line, after the append, after the sync, after the drop, and
// around rotations.
func TestKilled(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 0))
		r := newRig(t, Options{Options: logfile.Options{MaxSize: 200 + int64(random.IntN(400))}, MaxWaiting: 1 << 20})
		for range 30 {
			r.end(random.IntN(8))
			var err error
			switch random.IntN(5) {
			case 0:
			case 1:
				err = r.advance(false)
			case 2:
				err = r.advance(true)
			case 3: // killed while it rotates
				if err = r.advance(true); err == nil {
					err = r.writeMark(r.last)
				}
				if random.IntN(2) == 0 && err == nil {
					_, err = r.file.Rotate(time.Now().UnixNano())
				}
				r.kill()
				r.start()
			case 4: // killed in the middle of a write, after which the disk had not taken all of it
				if err = r.advance(false); err == nil {
					safe := r.file.Size() - r.unsynced
					r.kill()
					path := filepath.Join(r.o.Dir, fileName)
					if st, serr := os.Stat(path); serr == nil {
						err = os.Truncate(path, safe+random.Int64N(st.Size()-safe+1))
					}
					r.start()
				}
			}
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if random.IntN(2) == 0 {
				r.end(0) // what was dropped is gone
			}
			if random.IntN(3) == 0 {
				r.kill()
				r.start()
			}
		}
		r.finish()
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// After a power cut pages of the file may be missing that were not synced: the store has
// them.
func TestLostPages(t *testing.T) {
	t.Parallel()
	for _, hole := range []struct{ dropped, from, octets int }{
		{dropped: 10, octets: 30}, {dropped: 10, from: 13, octets: 3}, {octets: 30}, {from: 13, octets: 3},
	} {
		r := newRig(t, Options{})
		r.end(hole.dropped)
		r.finish()
		r.end(10) // those before are dropped
		if err := r.advance(false); err != nil {
			t.Fatal(err)
		}
		r.kill()
		path := filepath.Join(r.o.Dir, fileName)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.Index(b, lineOf(uint64(hole.dropped)+3)) + hole.from
		clear(b[at : at+hole.octets])
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		r.start()
		r.finish()
		if b, _ := os.ReadFile(path); bytes.IndexByte(b, 0) >= 0 {
			t.Errorf("%+v: the hole is still there", hole)
		}
	}
}

// A file that was changed where the store cannot mend it is kept as it is, and numbers go on.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{})
	r.end(10)
	r.finish()
	r.end(0)
	r.kill()
	path := filepath.Join(r.o.Dir, fileName)
	b, _ := os.ReadFile(path)
	b = bytes.Replace(b, lineOf(4), []byte("edited by hand"), 1)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	r.start()
	r.end(1)
	if err := r.advance(true); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(path)
	old, _ := filepath.Glob(filepath.Join(r.o.Dir, "events-*.log"))
	if string(got) != string(lineOf(11))+"\n" || len(old) != 1 {
		t.Errorf("%s, and %d old files", got, len(old))
	}
}

// Rotated files and the one being written may be taken away: numbers go on all the same,
// and nothing is written twice.
func TestFilesTaken(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{Options: logfile.Options{MaxSize: 100}})
	r.end(20)
	r.finish()
	r.kill()
	files, _ := filepath.Glob(filepath.Join(r.o.Dir, "events-*.log"))
	if len(files) < 3 {
		t.Fatalf("%d rotated files", len(files))
	}
	for _, f := range files {
		_ = os.Remove(f)
	}
	_ = os.Truncate(filepath.Join(r.o.Dir, fileName), 0)
	r.start()
	last := r.last
	if last < 15 {
		t.Errorf("the last event is %d", last)
	}
	r.kill()
	r.store = store.NewMemory()
	r.start()
	if n := r.Next(); n != last+1 {
		t.Errorf("the next event is %d", n)
	}
}

// A file that is moved is whole, also if another is put in its place, and a removed one's events
// that were not synced are in the next.
func TestFileMoved(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{})
	path := filepath.Join(r.o.Dir, fileName)
	r.end(5)
	r.finish()
	r.end(5)
	if err := r.advance(false); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, filepath.Join(r.o.Dir, "events-1.log")); err != nil {
		t.Fatal(err)
	}
	r.Reopen()
	r.end(2)
	r.finish()
	if err := os.Rename(path, filepath.Join(r.o.Dir, "events-2.log")); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, path, "")
	r.Reopen()
	r.end(3)
	r.finish()
	if b, _ := os.ReadFile(path); bytes.Count(b, []byte("\n")) != 3 {
		t.Errorf("the file in the place of the one that was moved has %q", b)
	}
	r.end(5)
	if err := r.advance(false); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	r.Reopen()
	if err := r.advance(true); err != nil {
		t.Fatal(err)
	}
	if all := r.written(); !slices.Equal(all[12:], []uint64{16, 17, 18, 19, 20}) {
		t.Errorf("%v", all)
	}
}

// A badDisk is a file that fails on request.
type badDisk struct {
	logfile.OSFile
	fail *func(operation string) error
}

func (d badDisk) Write(b []byte) (int, error) {
	if err := (*d.fail)("write"); err != nil {
		n, _ := d.OSFile.Write(b[:len(b)/2])
		return n, err
	}
	return d.OSFile.Write(b)
}

func (d badDisk) Sync() error {
	if err := (*d.fail)("sync"); err != nil {
		return err
	}
	return d.OSFile.Sync()
}

func (d badDisk) Truncate(size int64) error {
	if err := (*d.fail)("truncate"); err != nil {
		return err
	}
	return d.OSFile.Truncate(size)
}

// A disk that fails at times neither loses an event nor gets one twice.
func TestDiskFails(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		r := newRig(t, Options{Options: logfile.Options{MaxSize: 300}})
		rate := 4
		fail := func(string) error {
			if random.IntN(10) < rate {
				return errors.New("no space left on device")
			}
			return nil
		}
		r.disk = func(f logfile.OSFile) logfile.OSFile { return badDisk{f, &fail} }
		for range 40 {
			r.end(random.IntN(8))
			_ = r.advance(random.IntN(2) == 0)
			if random.IntN(8) == 0 {
				r.kill()
				r.start()
			}
		}
		rate = 0
		r.finish()
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// While the disk hangs, events wait up to their limit, and the rest of the gateway is informed.
// Close gives up, and does not use the store any more.
func TestDiskHangs(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{MaxWaiting: 10})
	hang, hangs := make(chan struct{}), make(chan struct{})
	var once sync.Once
	fail := func(string) error {
		once.Do(func() { close(hangs) })
		<-hang
		return nil
	}
	r.disk = func(f logfile.OSFile) logfile.OSFile { return badDisk{f, &fail} }
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.work(false)
	}()
	<-hangs // the sync at the start
	r.end(9)
	if r.Full() {
		t.Error("full with 9 of 10")
	}
	r.end(1)
	if _, slow := r.Slow(0); !r.Full() || !slow {
		t.Error("it is not full, or not slow")
	}
	close(hang)
	<-done
	if _, slow := r.Slow(0); slow {
		t.Error("still slow")
	}
	r.end(0)
	r.finish()
	if r.Full() {
		t.Error("still full")
	}
}

// The goroutine writes what was committed, and Close writes the rest.
func TestRun(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), store.NewMemory()
	var mu sync.Mutex
	var dropped uint64
	w, err := Open(Options{Dir: dir, MaxWaiting: 100, Log: zerolog.Nop()}, s, func(upTo uint64) {
		mu.Lock()
		defer mu.Unlock()
		dropped = upTo
	})
	if err != nil {
		t.Fatal(err)
	}
	end := func() {
		var b store.Batch
		n := w.Next()
		b.Event(n, lineOf(n))
		if err := s.Commit(&b); err != nil {
			t.Error(err)
		}
		w.Wake()
	}
	for range 30 {
		end()
	}
	testutil.Eventually(t, "the events are safe", func() bool { return w.Waiting() == 0 })
	if _, err := Open(Options{Dir: dir}, s, nil); err == nil || !strings.Contains(err.Error(), "another gateway") {
		t.Errorf("a second writer: %v", err)
	}
	end()
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if next, err := Open(Options{Dir: dir}, store.NewMemory(), func(uint64) {}); err != nil {
		t.Error(err)
	} else if err := next.Close(); err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if b, _ := os.ReadFile(filepath.Join(dir, fileName)); dropped != 31 || bytes.Count(b, []byte("\n")) != 31 || w.Written() != 31 {
		t.Errorf("dropped up to %d, %d written\n%s", dropped, w.Written(), b)
	}
}
