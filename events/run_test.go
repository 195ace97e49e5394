package events

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"pmg/internal/logfile"
	"pmg/store"
)

// lines returns the number of lines in the file that is being written.
func (r *rig) lines() int {
	r.t.Helper()
	b, err := os.ReadFile(filepath.Join(r.o.Dir, fileName))
	if err != nil {
		r.t.Fatal(err)
	}
	if len(b) > 0 && b[len(b)-1] != '\n' {
		r.t.Errorf("the file ends with half a line: %q", b)
	}
	return bytes.Count(b, []byte("\n"))
}

// wake commits n events, and advances the time.
func (r *rig) wake(n int, wait time.Duration) {
	r.t.Helper()
	r.end(n)
	r.Wake()
	time.Sleep(wait)
	synctest.Wait()
}

// An event is in the file after a moment, and safe after a second or when many wait; a Writer that
// has nothing to do notices the next one as well, and the end.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{MaxWaiting: 40})
		go r.run()
		synctest.Wait()
		r.drops = nil
		for n, step := range []struct {
			events  int
			wait    time.Duration
			lines   int
			waiting uint64
		}{
			{1, gather - 1, 0, 1},
			{0, 1, 1, 1},
			{1, gather, 2, 2},
			{0, syncEvery, 2, 0},
			{0, 3 * time.Hour, 2, 0},
			{1, gather, 3, 1},
			{0, syncEvery, 3, 0},
			{9, gather, 12, 9},
			{1, gather, 13, 0},
			{1, 0, 13, 1},
		} {
			r.wake(step.events, step.wait)
			if lines, waiting := r.lines(), r.Waiting(); lines != step.lines || waiting != step.waiting {
				t.Errorf("step %d: %d lines, and %d wait; want %d and %d", n, lines, waiting, step.lines, step.waiting)
			}
		}
		begin := time.Now()
		if err := r.Close(); err != nil || time.Since(begin) != 0 {
			t.Errorf("Close: %v after %v", err, time.Since(begin))
		}
		r.want()
		r.Writer = nil
	})
}

// A file that was moved is noticed within a second of the next event.
func TestMovedUnasked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{})
		go r.run()
		r.wake(1, time.Hour/2)
		path := filepath.Join(r.o.Dir, fileName)
		if err := os.Rename(path, filepath.Join(r.o.Dir, "events-1.log")); err != nil {
			t.Fatal(err)
		}
		r.wake(1, syncEvery)
		if n := r.lines(); n != 1 {
			t.Errorf("%d lines", n)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		r.want()
		r.Writer = nil
	})
}

// A full disk is tried once a second, however many events come. That is counted and reported. The
// log is reminded of it once a minute, and says when it is over.
func TestDiskFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{})
		levels := map[zerolog.Level]int{}
		r.Writer.o.Log = zerolog.New(nil).Hook(zerolog.HookFunc(func(_ *zerolog.Event, l zerolog.Level, _ string) { levels[l]++ }))
		var broken atomic.Pointer[string]
		broken.Store(new(string))
		fail := func(operation string) error {
			if strings.Contains(*broken.Load(), operation) {
				return syscall.ENOSPC
			}
			return nil
		}
		r.disk = func(f logfile.OSFile) logfile.OSFile { return badDisk{f, &fail} }
		go r.run()
		r.wake(3, 2*syncEvery)
		for n, step := range []struct {
			broken          string // what fails
			wait            time.Duration
			errors          int64
			reminded, again int
			lines           int
		}{
			{"write", gather, 1, 1, 0, 3},
			{"write", retryWait / 2, 1, 1, 0, 3},
			{"write", retryWait / 2, 2, 1, 0, 3},
			{"write", 57 * retryWait, 59, 1, 0, 3},
			{"write", 3 * retryWait, 62, 2, 0, 3},
			{"", retryWait, 62, 2, 1, 9},
			{"sync", gather + syncEvery, 63, 3, 1, 10},
			{"", retryWait, 63, 3, 2, 11},
			{"write truncate", gather, 64, 4, 2, -1},
			{"truncate", retryWait, 65, 4, 2, -1},
			{"", retryWait, 65, 4, 3, 14},
		} {
			broken.Store(&step.broken)
			r.wake(1, step.wait)
			if r.Errors() != step.errors || levels[zerolog.ErrorLevel] != step.reminded || levels[zerolog.WarnLevel] != step.again {
				t.Errorf("step %d: %d errors, told %v; want %+v", n, r.Errors(), levels, step)
			}
			if step.lines >= 0 && r.lines() != step.lines {
				t.Errorf("step %d: %d lines, want %d", n, r.lines(), step.lines)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		r.want()
		if n := r.Written(); uint64(n) != r.ended {
			t.Errorf("%d written of %d", n, r.ended)
		}
		r.Writer = nil
	})
}

// A watchedStore counts how often events are read.
type watchedStore struct {
	store.Store
	reads *atomic.Int64
}

func (s watchedStore) Events(after uint64, limit int, f func(uint64, []byte) error) (uint64, error) {
	s.reads.Add(1)
	return s.Store.Events(after, limit, f)
}

// Close gives up while the disk hangs, reports that, and does not use the store any more.
func TestCloseGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{})
		var reads atomic.Int64
		r.Writer.store = watchedStore{r.store, &reads}
		hang := make(chan struct{})
		fail := func(string) error {
			<-hang
			return nil
		}
		r.disk = func(f logfile.OSFile) logfile.OSFile { return badDisk{f, &fail} }
		go r.run()
		r.wake(3, syncEvery)
		begin := time.Now()
		if err := r.Close(); err == nil || time.Since(begin) != closeWait {
			t.Errorf("Close: %v after %v", err, time.Since(begin))
		}
		before := reads.Load()
		close(hang)
		synctest.Wait()
		<-r.Writer.ended
		if n := reads.Load(); n != before {
			t.Error("the store is used behind Close")
		}
		if got := r.rotated(); len(got) > 0 {
			t.Errorf("%v", got)
		}
		r.Writer = nil
	})
}
