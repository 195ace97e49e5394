package file

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/store/journal"
)

// A segment that is gone is noticed, also the newest one of a process that was killed, of which no other says that it was there.
func TestNewestGone(t *testing.T) {
	t.Parallel()
	for _, trimmed := range []bool{false, true} {
		fs := vfs.NewMem()
		j := open(t, fs, Options{})
		for range 40 {
			if _, err := j.Append(journal.ID{}, make([]byte, 500)); err != nil {
				t.Fatal(err)
			}
		}
		after := journal.Seq(0)
		if trimmed {
			after = j.Status().Last - 1
			if err := j.Trim(after); err != nil {
				t.Fatal(err)
			}
		}
		j.spares.mu.Lock()
		ready := j.spares.ready
		j.spares.mu.Unlock()
		m := <-ready // so that it stands in the file
		ready <- m
		for _, number := range []uint64{j.current.number, m.number} {
			files, name := copied(t, fs), nameOf(number)
			if _, err := Open(lay(t, files), "journal", Options{After: after}); err != nil {
				t.Errorf("nothing is gone: %v", err)
			}
			delete(files, name)
			_, err := Open(lay(t, files), "journal", Options{After: after})
			var d *Damage
			if !errors.As(err, &d) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s is gone: %v", name, err)
			}
		}
	}
}

// The segment that a start goes on with has its name in the file until the next one is begun.
func TestNewestAfterStart(t *testing.T) {
	t.Parallel()
	fs := vfs.NewCrashableMem()
	j := open(t, fs, Options{})
	if _, err := j.Append(journal.ID{}, make([]byte, 500)); err != nil {
		t.Fatal(err)
	}
	fs = fs.CrashClone(vfs.CrashCloneCfg{})
	j = open(t, fs, Options{})
	last := j.pieces[len(j.pieces)-1].segment.number
	j.spares.mu.Lock()
	ready := j.spares.prepare()
	j.spares.mu.Unlock()
	if m := <-ready; m.err != nil {
		t.Fatal(m.err)
	}
	if n, err := readNewest(fs, "journal"); err != nil || !n.names(last) {
		t.Errorf("segment %d has the records, and the file names %+v: %v", last, n, err)
	}
}

func copied(t *testing.T, fs vfs.FS) map[string][]byte {
	t.Helper()
	names, err := fs.List("journal")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, name := range names {
		if files[name], err = read(fs, "journal/"+name, nil); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// Whatever is trimmed, and at whatever moment the process is killed or the power cut, no start misses a segment. Wiping goes on
// beside all that.
func TestNewestChurn(t *testing.T) {
	t.Parallel()
	fs, after, random := vfs.NewCrashableMem(), journal.Seq(0), rand.New(rand.NewPCG(1, 1))
	for i := range 60 {
		j := open(t, fs, Options{After: after})
		var wiping sync.WaitGroup
		wiping.Go(func() {
			for range 3 {
				if err := j.Wipe(); err != nil {
					t.Error(err)
				}
			}
		})
		for n := range 25 {
			seq, err := j.Append(journal.ID{}, make([]byte, 100*n))
			if err == nil && n%3 == 0 {
				after, err = seq, errors.Join(j.Trim(seq), j.Trim(seq))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		fs = fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: i % 3 * 50, RNG: random}) // at one moment: j goes on
		wiping.Wait()
	}
}
