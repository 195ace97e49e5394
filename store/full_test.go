package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"pmg/internal/testkit/testutil"
	"pmg/store/ballast"
	"pmg/store/journal"
)

// A fullDisk has no room for what is written while the ballast is there.
type fullDisk struct {
	fs   vfs.FS
	full atomic.Bool
}

func (d *fullDisk) String() string { return "full disk" }

func (d *fullDisk) MaybeError(op errorfs.Op) error {
	switch op.Kind {
	case errorfs.OpFileWrite, errorfs.OpCreate:
	default:
		return nil
	}
	if !d.full.Load() {
		return nil
	}
	if _, err := d.fs.Stat("data/" + ballast.Name); err == nil {
		return syscall.ENOSPC
	}
	return nil
}

// A full disk costs the ballast and nothing else. It is laid again when there is room.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk := &fullDisk{fs: vfs.NewMem()}
	s, err := Open("data", Options{FS: errorfs.Wrap(disk.fs, disk), Ballast: 1 << 20, memTable: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	laid := func() bool { _, err := disk.fs.Stat("data/" + ballast.Name); return err == nil }
	if !laid() {
		t.Fatal("there is no ballast")
	}
	disk.full.Store(true)
	for id := range uint64(200) {
		commit(t, s, func(b *Batch) { b.Put(sample(1+id, "text"), sampleLane) })
	}
	if laid() {
		t.Error("the ballast is still there")
	}
	disk.full.Store(false)
	s.Tidy()
	if !laid() {
		t.Error("the ballast was not laid again")
	}
	if got, _ := entries(t, s, 0, 1000); len(got) != 200 {
		t.Errorf("%d messages", len(got))
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// On a full disk without ballast a commit waits while only tables cannot be written, and goes on
// when there is room.
func TestFullDiskWaits(t *testing.T) {
	t.Parallel()
	var full atomic.Bool
	disk := errorfs.InjectorFunc(func(op errorfs.Op) error {
		if full.Load() && op.Kind == errorfs.OpCreate && isTable(op.Path) {
			return syscall.ENOSPC
		}
		return nil
	})
	s, err := Open("data", Options{FS: errorfs.Wrap(vfs.NewMem(), disk), memTable: 16 << 10, flush: 8 << 20, retryPause: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	full.Store(true)
	text := strings.Repeat("text", 5000) // so that what is young is moved
	done := make(chan error, 1)
	go func() {
		var err error
		for id := range uint64(2000) {
			var b Batch
			b.Put(sample(1+id, text), sampleLane)
			err = errors.Join(err, s.Commit(&b))
		}
		done <- err
	}()
	waits := func(st Stats) bool { return st.Stalled && st.Problem != "" } // why is known when the first table has failed
	for until := time.Now().Add(20 * time.Second); !waits(s.Stats()); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("the commits do not wait, or Stats does not say why: %+v", s.Stats())
		}
	}
	full.Store(false)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if st := s.Stats(); st.Stalls == 0 || st.Full {
		t.Errorf("%+v", st)
	}
	if got, _ := entries(t, s, 0, 3000); len(got) != 2000 {
		t.Errorf("%d messages", len(got))
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A disk that is full when the gateway starts costs the ballast that an earlier run has laid.
func TestFullDiskAtStart(t *testing.T) {
	t.Parallel()
	disk := &fullDisk{fs: vfs.NewMem()}
	o := Options{FS: errorfs.Wrap(disk.fs, disk), Ballast: 1 << 20, memTable: 64 << 10, retryPause: time.Millisecond}
	s, err := Open("data", o)
	if err != nil {
		t.Fatal(err)
	}
	for id := range uint64(200) {
		commit(t, s, func(b *Batch) { b.Put(sample(1+id, "text"), sampleLane) })
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	disk.full.Store(true)
	if s, err = Open("data", o); err != nil {
		t.Fatal(err)
	}
	if n := s.Stats().Messages; n != 200 {
		t.Errorf("%d messages", n)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// The ballast of an earlier run is given back, whether this one is to have one or not.
func TestBallastOfEarlierRun(t *testing.T) {
	t.Parallel()
	disk := &fullDisk{fs: vfs.NewMem()}
	if err := disk.fs.MkdirAll("data", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int64{1 << 20, 0} {
		disk.full.Store(false)
		writeFile(t, disk.fs, "data/"+ballast.Name, []byte("room"))
		s, err := Open("data", Options{FS: errorfs.Wrap(disk.fs, disk), Ballast: size, memTable: 64 << 10, segment: 4 << 10})
		if err != nil {
			t.Fatal(err)
		}
		disk.full.Store(true)
		for n := 0; n < 5000 && !s.Stats().Full; n++ { // more than the segments of before have room for
			commit(t, s, func(b *Batch) { b.Put(sample(1, "text"), sampleLane) })
		}
		if !s.Stats().Full {
			t.Errorf("ballast %d: the disk is not known to be full", size)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A roomyDisk has so much room, and perhaps cannot allocate.
type roomyDisk struct {
	vfs.FS
	free      uint64
	allocates bool
}

func (d roomyDisk) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: d.free}, nil
}

func (d roomyDisk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.Create(name, c)
	if err == nil && !d.allocates {
		f = unallocated{f}
	}
	return f, err
}

type unallocated struct{ vfs.File }

func (unallocated) Preallocate(int64, int64) error { return syscall.EOPNOTSUPP }

// The ballast is laid where there is twice as much room, and written where the file system does not
// allocate; it is counted among the octets of the store.
func TestBallastRoom(t *testing.T) {
	t.Parallel()
	const size = 5 << 19
	for _, c := range []struct {
		free      uint64
		allocates bool
		laid      bool
	}{{2*size - 1, true, false}, {2 * size, true, true}, {2*size - 1, false, false}, {1 << 40, false, true}} {
		mem := vfs.NewMem()
		s, err := Open("data", Options{FS: roomyDisk{mem, c.free, c.allocates}, Ballast: size})
		if err != nil {
			t.Fatal(err)
		}
		info, err := mem.Stat("data/" + ballast.Name)
		if (err == nil) != c.laid || c.laid && !c.allocates && info.Size() != size {
			t.Errorf("%+v: %v %v", c, info, err)
		}
		if st := s.Stats(); st.Full || (st.Octets >= size) != c.laid {
			t.Errorf("%+v: %+v", c, st)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A quota that is used up is a full disk: the ballast is removed, and laid again a minute after it was
// refused at the earliest.
func TestQuota(t *testing.T) {
	t.Parallel()
	var used atomic.Bool
	var refused atomic.Int64
	mem := vfs.NewMem()
	quota := errorfs.InjectorFunc(func(op errorfs.Op) error {
		reserve := op.Path == "data/"+ballast.Name
		if _, err := mem.Stat("data/" + ballast.Name); used.Load() && op.Kind == errorfs.OpFileWrite && err == nil || used.Load() && op.Kind == errorfs.OpCreate && reserve {
			if reserve {
				refused.Add(1)
			}
			return syscall.EDQUOT
		}
		return nil
	})
	s, err := Open("data", Options{FS: errorfs.Wrap(mem, quota), Ballast: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	used.Store(true)
	commit(t, s, func(b *Batch) { b.Put(sample(1, "text"), sampleLane) })
	if !s.Stats().Full {
		t.Error("the ballast was not removed")
	}
	for range ballast.Rest {
		s.Tidy()
	}
	if n := refused.Load(); n != 1 {
		t.Errorf("the ballast was refused %d times", n)
	}
	used.Store(false)
	s.Tidy()
	s.Tidy()
	if s.Stats().Full {
		t.Error("the ballast was not laid again")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A table that could not be written is not waited for longer than the pause, also where the clock is
// set back by an hour meanwhile.
func TestRestClockBack(t *testing.T) {
	t.Parallel()
	g := &guard{fault: newFault(nil), pause: time.Millisecond}
	g.failedAt.Store(time.Now().Add(time.Hour).UnixNano())
	if err := g.rest(); err != nil {
		t.Error(err)
	}
}

// Ids that had a state are forgotten when there is no message any more.
func TestStatesCleared(t *testing.T) {
	t.Parallel()
	s := open(t, vfs.NewMem()).(*durable)
	commit(t, s, func(b *Batch) { b.Put(sample(1, "text"), sampleLane); b.Keep(sample(1, ""), State{Reason: "busy"}) })
	if err := s.move(); err != nil {
		t.Fatal(err)
	}
	s.Tidy()
	if !s.summary.states.maybe(1) {
		t.Error("a message that is there has no state")
	}
	commit(t, s, func(b *Batch) { b.Delete(1, 50) })
	s.Tidy()
	if s.summary.states.maybe(1) {
		t.Error("a message that is gone has a state")
	}
	commit(t, s, func(b *Batch) { b.Put(sample(2, "text"), sampleLane); b.Keep(sample(2, ""), State{Reason: "again"}) })
	s.Tidy()
	if got := entriesOf(t, s); !slices.Equal(got, []string{"2 text (again)"}) {
		t.Errorf("%q", got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// Where the journal finds no room for its next file a batch is refused, and the next one gets through when there is room.
func TestFullDiskRefuses(t *testing.T) {
	t.Parallel()
	var full atomic.Bool
	disk := errorfs.InjectorFunc(func(op errorfs.Op) error {
		if full.Load() && op.Kind == errorfs.OpCreate {
			return syscall.ENOSPC
		}
		return nil
	})
	fs := vfs.NewMem()
	o := Options{FS: errorfs.Wrap(fs, disk), segment: 4 << 10, retryPause: time.Millisecond, Fatal: func(err error) { t.Error(err) }}
	s, err := Open("data", o)
	if err != nil {
		t.Fatal(err)
	}
	full.Store(true)
	var taken []string
	put := func(id uint64) error {
		var b Batch
		b.Put(sample(id, "text"), sampleLane)
		err := s.Commit(&b)
		if err == nil {
			taken = append(taken, fmt.Sprint(id, " text"))
		}
		return err
	}
	id := uint64(1)
	for ; err == nil && id < 1000; id++ {
		err = put(id)
	}
	if !errors.Is(err, journal.ErrFull) || s.Stats().Problem != "" {
		t.Fatalf("%d messages: %v, %+v", len(taken), err, s.Stats())
	}
	full.Store(false)
	testutil.Eventually(t, "a batch is taken", func() bool { id++; return put(id) == nil })
	for range 2 {
		if got, _ := entries(t, s, 0, 1000); !slices.Equal(got, taken) {
			t.Errorf("%q, not %q", got, taken)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if s, err = Open("data", o); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A file of the journal that cannot be removed is no reason to end: what was committed is, and batches are taken.
func TestTrimFails(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	disk := errorfs.InjectorFunc(func(op errorfs.Op) error {
		if broken.Load() && op.Kind == errorfs.OpRemove && strings.Contains(op.Path, journalDir) {
			return errDisk
		}
		return nil
	})
	o := Options{FS: errorfs.Wrap(vfs.NewMem(), disk), segment: 64 << 10, Fatal: func(err error) { t.Error(err) }}
	s, err := Open("data", o)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("text", 5000)
	put := func(first, n uint64) {
		for id := first; id < first+n; id++ {
			commit(t, s, func(b *Batch) { b.Put(sample(id, text), sampleLane) })
			commit(t, s, func(b *Batch) { b.Delete(id, len(text)) })
		}
	}
	put(1, 1000)
	for range 3 {
		s.Tidy()
	}
	if err := s.(*durable).flush(); err != nil {
		t.Fatal(err)
	}
	broken.Store(true)
	if err := s.(*durable).writer.askAlone(request{flush: true}); err != nil {
		t.Error(err)
	}
	put(2000, 100)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
