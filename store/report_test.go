package store

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// withEntry returns a store of three messages, an id of a peer and an event that has one more entry.
func withEntry(t *testing.T, key, value []byte) *vfs.MemFS {
	t.Helper()
	fs := vfs.NewMem()
	s := open(t, fs)
	commit(t, s, func(b *Batch) {
		for id := uint64(7); id <= 9; id++ {
			b.Put(sample(id, "text"), sampleLane)
		}
		b.Note("north", []byte("peer"), []byte("value"), 5)
		b.Event(1, []byte("line"))
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if key == nil {
		return fs
	}
	again := open(t, fs)
	d := again.(*durable)
	setEntry(t, d, key, value)
	d.monitor.fault.set(errors.New("killed")) // so that Close writes nothing
	_ = again.Close()
	if err := errors.Join(fs.RemoveAll("data/"+journalDir), fs.MkdirAll("data/"+journalDir, 0o700)); err != nil { // it has the messages as well
		t.Fatal(err)
	}
	return fs
}

// A check, and the report of a repair, count what is in the store and name what cannot be read.
func TestReport(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		key, value []byte
		fault      string
	}{
		"nothing wrong":   {},
		"a message":       {appendKey(nil, keyMessage, 8), []byte{recordVersion}, "message 0000000000000008: "},
		"a key":           {[]byte("m1"), nil, "the key \"m1\" has a wrong length"},
		"a state":         {appendKey(nil, keyState, 8), []byte{stateVersion}, "state 0000000000000008: "},
		"an unknown kind": {[]byte("zebra"), nil, "the key \"zebra\" is of no known kind"},
	} {
		fs := withEntry(t, c.key, c.value)
		for _, what := range []string{"check", "repair"} {
			r, err := check(fs, "data")
			if what == "repair" {
				_, r, err = repair(fs, "data", aMoment)
			}
			if err != nil {
				t.Errorf("%s, %s: %v", name, what, err)
				continue
			}
			if c.fault == "" && len(r.Faults) > 0 || c.fault != "" && (len(r.Faults) != 1 || !strings.HasPrefix(r.Faults[0], c.fault)) {
				t.Errorf("%s, %s: faults %q", name, what, r.Faults)
			}
			if r.Faults = nil; fmt.Sprint(r) != fmt.Sprint(Report{Format: formatVersion, Messages: 3, Mappings: 1, Events: 1, First: 7, Last: 9}) {
				t.Errorf("%s, %s: %+v", name, what, r)
			}
		}
	}
}

// A report names so many faults, and not a million.
func TestReportFaults(t *testing.T) {
	t.Parallel()
	var r Report
	for range 2 * maxFaults {
		r.count([]byte("z"), nil)
	}
	if len(r.Faults) != maxFaults {
		t.Errorf("%d faults", len(r.Faults))
	}
}

// What a store needs before all others is refused where it is wrong, by serve and by a check.
func TestWrongEntries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		key, value []byte
		check      bool // refuses it as well
	}{
		"format": {[]byte{keyFormat}, []byte{1}, true},
		"marks":  {[]byte{keyMarks}, []byte{1}, false},
		"day":    {[]byte{keyNote, 1}, nil, false},
		"event":  {[]byte{keyEvent, 0xFF}, nil, false},
	} {
		fs := withEntry(t, c.key, c.value)
		if _, err := check(fs, "data"); (err != nil) != c.check {
			t.Errorf("%s: check: %v", name, err)
		}
		s, err := Open("data", Options{FS: fs})
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "pmg store repair") {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			_ = s.Close()
		}
	}
}

// A repair that was interrupted leaves nothing to the next one, ids go on behind the highest, and
// a second repair does not touch what the first has put aside.
func TestRepairAgain(t *testing.T) {
	t.Parallel()
	fs := withEntry(t, nil, nil)
	if err := fs.MkdirAll("data.repaired", 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, fs, "data.repaired/notes", []byte("of the one before"))
	if _, _, err := repair(fs, "data", aMoment); err != nil {
		t.Fatal(err)
	}
	s := open(t, fs)
	if s.LastID() != 9 || s.Stats().Messages != 3 {
		t.Errorf("last id %d, %+v", s.LastID(), s.Stats())
	}
	if _, _, err := repair(fs, "data", aMoment); !errors.Is(err, ErrLocked) {
		t.Errorf("a store that is in use is repaired: %v", err)
	}
	if got := eventsOf(t, s); len(got) != 1 {
		t.Errorf("events %v", got)
	}
	if v, ok, err := s.Lookup("north", []byte("peer")); string(v) != "value" || !ok || err != nil {
		t.Errorf("%q %v %v", v, ok, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// An error of the operating system at the opening is reported as it is: a store is damaged where it
// cannot be read, and not where it may not be read, or too many files are open; it is locked where
// another process has it, and not where there can be no lock.
func TestOpenErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind    errorfs.OpKind
		err     error
		damaged bool
	}{
		{errorfs.OpFileRead, syscall.EIO, true},
		{errorfs.OpFileReadAt, syscall.EIO, true},
		{errorfs.OpOpen, syscall.EACCES, false},
		{errorfs.OpOpen, syscall.EMFILE, false},
		{errorfs.OpCreate, syscall.ENOSPC, false},
		{errorfs.OpCreate, syscall.EROFS, false},
	} {
		fs := withEntry(t, nil, nil)
		broken := errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind == c.kind && (isLog(op.Path) || isManifest(op.Path) || isTable(op.Path)) {
				return c.err
			}
			return nil
		})
		for _, what := range []string{"serve", "check"} {
			s, err := Store(nil), error(nil)
			if what == "check" {
				if c.kind == errorfs.OpCreate {
					continue
				}
				_, err = check(errorfs.Wrap(fs, broken), "data")
			} else if s, err = Open("data", Options{FS: errorfs.Wrap(fs, broken)}); err == nil {
				_ = s.Close()
			}
			if err == nil || errors.Is(err, ErrDamaged) != c.damaged || errors.Is(err, ErrLocked) || !c.damaged && !errors.Is(err, c.err) {
				t.Errorf("%s, %v %v: %v", what, c.kind, c.err, err)
			}
		}
		if c.kind == errorfs.OpCreate {
			continue // pebble goes on trying for as long as the process runs
		}
		if s, err := Open("data", Options{FS: fs}); err != nil {
			t.Errorf("%v %v: afterwards: %v", c.kind, c.err, err)
		} else if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	for err, locked := range map[error]bool{syscall.EAGAIN: true, errors.New("lock held by current process"): true, syscall.EROFS: false, syscall.ENOLCK: false} {
		if got := lockError(err); errors.Is(got, ErrLocked) != locked || !locked && !errors.Is(got, err) {
			t.Errorf("%v: %v", err, got)
		}
	}
}
