package events

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"pmg/internal/logfile"
)

// Where the directory is removed, or moved, it is made again, and events that were not synced are
// in a file or wait in the store, also if the Writer is closed meanwhile.
func TestDirectoryRemoved(t *testing.T) {
	t.Parallel()
	for _, moved := range []bool{false, true} {
		r := newRig(t, Options{})
		r.o.Dir = filepath.Join(r.o.Dir, "events")
		r.kill()
		r.start()
		r.end(5)
		r.finish()
		r.end(5)
		if err := r.advance(false); err != nil {
			t.Fatal(err)
		}
		first := uint64(6)
		if moved {
			first = 11
			if err := os.Rename(r.o.Dir, r.o.Dir+".moved"); err != nil {
				t.Fatal(err)
			}
		} else if err := os.RemoveAll(r.o.Dir); err != nil {
			t.Fatal(err)
		}
		r.end(5)
		r.Reopen()
		if err := r.advance(false); err != nil {
			t.Fatal(err)
		}
		r.end(5)
		if err := r.advance(true); err != nil {
			t.Fatal(err)
		}
		var want []uint64
		for n := first; n <= 20; n++ {
			want = append(want, n)
		}
		if all := r.written(); !slices.Equal(all, want) {
			t.Errorf("moved %v: %v", moved, all)
		}
		if _, err := prepare(r.o, r.store, nil); err == nil {
			t.Errorf("moved %v: another gateway may write to it", moved)
		}
		r.kill()
		r.start() // nothing locks it any more
	}
}

// What was written to a file that has no name any more is not safe, whenever that is noticed: the
// store keeps it.
func TestRemovedBeforeSync(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testRemovedBeforeSync) // the file is not checked again in the same moment
}

func testRemovedBeforeSync(t *testing.T) {
	r := newRig(t, Options{})
	r.finish()
	r.end(5)
	if err := r.advance(false); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(r.o.Dir, fileName)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := r.advance(true); err == nil {
		t.Error("a removed file is safe")
	}
	if len(r.drops) > 0 || r.Waiting() != 5 {
		t.Errorf("the store drops %v, and %d wait", r.drops, r.Waiting())
	}
	if err := os.RemoveAll(r.o.Dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.o.Dir, nil, 0o600); err != nil { // so that it cannot be made again
		t.Fatal(err)
	}
	for range 2 { // it is not written to in between
		if err := r.advance(true); err == nil {
			t.Error("there is no directory")
		}
	}
	if len(r.drops) > 0 || r.Waiting() != 5 {
		t.Errorf("the store drops %v, and %d wait", r.drops, r.Waiting())
	}
	if err := os.Remove(r.o.Dir); err != nil {
		t.Fatal(err)
	}
	if err := r.advance(true); err != nil {
		t.Fatal(err)
	}
	if all := r.written(); !slices.Equal(all, []uint64{1, 2, 3, 4, 5}) {
		t.Errorf("%v", all)
	}
}

// Half a line at the end of a file that another program has cut is cut off by the next start,
// whether the store still has that event or not.
func TestCutByAnother(t *testing.T) {
	t.Parallel()
	for _, dropped := range []bool{false, true} {
		r := newRig(t, Options{})
		r.end(5)
		r.finish()
		if dropped {
			r.end(0)
		}
		path := filepath.Join(r.o.Dir, fileName)
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, st.Size()-3); err != nil {
			t.Fatal(err)
		}
		r.kill()
		r.start()
		if r.ended = r.number.Load(); dropped != (r.ended == 4) || r.ended < 4 {
			t.Errorf("dropped %v: the last event is %d", dropped, r.ended)
		}
		r.end(1)
		r.finish()
	}
}

// What was cut off below is not written over with zeros when a write has failed as well.
func TestCutAndTorn(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{})
	r.end(5)
	r.finish()
	path := filepath.Join(r.o.Dir, fileName)
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	r.file.Cut(1)
	r.end(1)
	if err := r.advance(true); err != nil {
		t.Fatal(err)
	}
	if all := r.written(); !slices.Equal(all, []uint64{6}) {
		t.Errorf("%v", all)
	}
}

// Where the number of the last event cannot be noted, the file is not rotated. That is reported,
// and nothing is lost or doubled.
func TestMarkFails(t *testing.T) {
	t.Parallel()
	for _, name := range []string{markName + ".tmp", markName} {
		for _, o := range []logfile.Options{{MaxSize: 100}, {RotateEvery: time.Hour}} {
			r := newRig(t, Options{Options: o})
			r.end(1)
			r.finish()
			r.kill()
			long := time.Now().Add(-2 * time.Hour)
			if err := os.Chtimes(filepath.Join(r.o.Dir, fileName), long, long); err != nil {
				t.Fatal(err)
			}
			r.start()
			obstacle := filepath.Join(r.o.Dir, name)
			if err := os.Mkdir(obstacle, 0o700); err != nil {
				t.Fatal(err)
			}
			r.end(5)
			if err := r.advance(true); err == nil {
				t.Errorf("%s: the number of the last event cannot be noted, and the file is rotated", name)
			}
			if err := os.Remove(obstacle); err != nil {
				t.Fatal(err)
			}
			r.finish()
		}
	}
}

// A directory that is removed before the file in it was opened is made again, and locked.
func TestDirectoryRemovedEarly(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{})
	if err := os.RemoveAll(r.o.Dir); err != nil {
		t.Fatal(err)
	}
	r.end(5)
	r.finish()
	if _, err := prepare(r.o, r.store, nil); err == nil {
		t.Error("another gateway may write to it")
	}
}

// Half a line is cut off that a full disk has left in a file that another program has emptied
// before, or moves afterwards.
func TestTornFile(t *testing.T) {
	t.Parallel()
	for _, moved := range []bool{false, true} {
		r := newRig(t, Options{})
		var broken string
		fail := func(operation string) error {
			if strings.Contains(broken, operation) {
				return syscall.ENOSPC
			}
			return nil
		}
		r.disk = func(f logfile.OSFile) logfile.OSFile { return badDisk{f, &fail} }
		r.end(5)
		r.finish()
		path := filepath.Join(r.o.Dir, fileName)
		broken = "write truncate"
		if !moved {
			broken = "write"
			if err := os.Truncate(path, 0); err != nil {
				t.Fatal(err)
			}
		}
		r.end(1)
		if err := r.advance(true); err == nil {
			t.Error("a full disk is written to")
		}
		broken = ""
		if moved {
			if err := os.Rename(path, filepath.Join(r.o.Dir, "events-1.log")); err != nil {
				t.Fatal(err)
			}
			r.Reopen()
		}
		if err := r.advance(true); err != nil {
			t.Fatal(err)
		}
		want := []uint64{6}
		if moved {
			want = []uint64{1, 2, 3, 4, 5, 6}
		}
		if all := r.written(); !slices.Equal(all, want) {
			t.Errorf("moved %v: %v", moved, all)
		}
	}
}
