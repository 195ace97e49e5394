package file

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"pmg/internal/testkit/testutil"
	"pmg/store/journal"
	"pmg/store/journal/journaltest"
)

const small = 4096 // octets of a segment: a new one each few records

func open(t *testing.T, fs vfs.FS, o Options) *Journal {
	t.Helper()
	if o.Segment == 0 {
		o.Segment = small
	}
	makeDir(t, fs)
	j, err := Open(fs, "journal", o)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// makeDir makes the directory of the journal so that it survives a power cut.
func makeDir(t *testing.T, fs vfs.FS) {
	t.Helper()
	err := fs.MkdirAll("journal", 0o700)
	if err == nil {
		err = syncDir(fs, "")
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestContract(t *testing.T) {
	for name, size := range map[string]int64{"small": small, "large": lastSegment, "growing": 0} {
		t.Run(name, func(t *testing.T) {
			fs := vfs.NewMem()
			again := func(t *testing.T) journal.Journal {
				makeDir(t, fs)
				j, err := Open(fs, "journal", Options{Segment: size})
				if err != nil {
					t.Fatal(err)
				}
				return j
			}
			journaltest.Test(t, journaltest.Implementation{
				Open:   func(t *testing.T) journal.Journal { fs = vfs.NewMem(); return again(t) },
				Reopen: again,
			})
		})
	}
}

// A disk counts the files that are open for writing, and syncs nothing if it lies.
type disk struct {
	vfs.FS
	lies bool
	open *atomic.Int64
}

type diskFile struct {
	vfs.File
	disk disk
}

func (d disk) file(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	d.open.Add(1)
	return diskFile{f, d}, nil
}

func (d disk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return d.file(d.FS.Create(name, c))
}

func (d disk) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	return d.file(d.FS.OpenReadWrite(name, c, o...))
}

func (d disk) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return d.file(d.FS.ReuseForWrite(old, name, c))
}

func (f diskFile) Sync() error {
	if f.disk.lies {
		return nil
	}
	return f.File.Sync()
}

func (f diskFile) SyncData() error {
	if f.disk.lies {
		return nil
	}
	return f.File.SyncData()
}

func (f diskFile) Close() error {
	f.disk.open.Add(-1)
	return f.File.Close()
}

// Few files are open, however many segments there are, and none behind Close.
func TestOpenFiles(t *testing.T) {
	d := disk{FS: vfs.NewMem(), open: new(atomic.Int64)}
	j := open(t, d, Options{})
	for n := range 200 {
		if _, err := j.Append(journal.ID{}, make([]byte, 300)); err != nil {
			t.Fatal(err)
		}
		if n%40 == 7 { // some segments are begun without a sync
			for range 30 {
				if _, err := j.Write(journal.ID{}, make([]byte, 300)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if n := d.open.Load(); n > 6 { // the one before, this one and the next, each of which is open twice
		t.Errorf("%d files are open", n)
	}
	if err := j.Close(); err != nil || d.open.Load() != 0 {
		t.Errorf("%d files are open behind Close: %v", d.open.Load(), err)
	}
}

// A life is a journal through power cuts, and what must be in it.
type life struct {
	rand     *rand.Rand
	fs       *vfs.MemFS
	wrap     func(vfs.FS) vfs.FS
	journal  *Journal
	all      [][]byte    // of the places 1 and on
	promised journal.Seq // up to which all must be there
	dropped  journal.Seq // up to which nothing must be
}

// do does one thing, and returns an error if that is refused.
func (l *life) do() (err error) {
	var seq journal.Seq
	value := bytes.Repeat([]byte{byte(len(l.all))}, l.rand.IntN(700))
	value = fmt.Appendf(value, "%d/%d", len(l.all), l.rand.Uint32())
	switch l.rand.IntN(10) {
	case 0, 1, 2, 3:
		if seq, err = l.journal.Append(journal.ID{Number: uint64(len(l.all))}, value); err == nil {
			l.promised = seq
		}
	case 4, 5, 6, 7, 8:
		seq, err = l.journal.Write(journal.ID{Number: uint64(len(l.all))}, value)
	default:
		if l.promised > 0 {
			l.dropped = max(l.dropped, journal.Seq(l.rand.Uint64N(uint64(l.promised)+1)))
		}
		return l.journal.Trim(l.dropped)
	}
	if l.all = append(l.all, value); err == nil && seq != journal.Seq(len(l.all)) {
		err = fmt.Errorf("place %d, want %d", seq, len(l.all))
	}
	return err
}

// cut cuts the power, or kills the process, and looks at what is left.
func (l *life) cut() (err error) {
	percent := []int{0, 0, 20, 50, 100}[l.rand.IntN(5)]
	crashed := l.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: l.rand})
	_ = l.journal.spares.close() // it makes a file in the file system of before
	l.fs = crashed
	if l.journal, err = Open(l.wrap(l.fs), "journal", Options{Segment: small, After: l.dropped}); err != nil {
		return err
	}
	last := l.journal.Status().Last
	if last < l.promised || last > journal.Seq(len(l.all)) {
		return fmt.Errorf("%d are left of %d, and %d were promised", last, len(l.all), l.promised)
	}
	l.all = l.all[:last]
	n := l.dropped
	err = l.journal.Follow(l.dropped, func(seq journal.Seq, id journal.ID, value []byte) error {
		if n++; seq != n || !bytes.Equal(value, l.all[n-1]) || id.Number != uint64(n-1) {
			return fmt.Errorf("place %d has %q, want %q", seq, value, l.all[n-1])
		}
		return nil
	})
	if err == nil && n != last {
		err = fmt.Errorf("%d of %d come", n, last)
	}
	l.promised = last // what was found is synced
	return err
}

func live(seed uint64, wrap func(vfs.FS) vfs.FS) error {
	l := &life{rand: rand.New(rand.NewPCG(seed, 0)), fs: vfs.NewCrashableMem(), wrap: wrap}
	err := errors.Join(l.fs.MkdirAll("journal", 0o700), syncDir(l.fs, ""))
	if err != nil {
		return err
	}
	if l.journal, err = Open(wrap(l.fs), "journal", Options{Segment: small}); err != nil {
		return err
	}
	for range 8 {
		for range l.rand.IntN(60) {
			if err := l.do(); err != nil {
				return err
			}
		}
		if err := l.cut(); err != nil {
			return err
		}
	}
	return l.journal.Close()
}

// What was appended survives power cuts, in order and unchanged, and nothing else comes. Without syncs it does not.
func TestPowerCuts(t *testing.T) {
	t.Parallel()
	seeds := uint64(300)
	if testutil.Race {
		seeds = 40
	}
	for seed := range seeds {
		if err := live(seed, func(fs vfs.FS) vfs.FS { return fs }); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	lost := 0
	for seed := range uint64(30) {
		if live(seed, func(fs vfs.FS) vfs.FS { return disk{fs, true, new(atomic.Int64)} }) != nil {
			lost++
		}
	}
	if lost < 20 {
		t.Errorf("without syncs %d of 30 lives lose something", lost)
	}
}

// A disk without room for another segment refuses a record, and takes it when there is room. The others are there.
func TestFullDisk(t *testing.T) {
	var full atomic.Bool
	disk := errorfs.InjectorFunc(func(op errorfs.Op) error {
		if full.Load() && (op.Kind == errorfs.OpCreate || op.Kind == errorfs.OpReuseForWrite) {
			return syscall.ENOSPC
		}
		return nil
	})
	mem := vfs.NewMem()
	j := open(t, errorfs.Wrap(mem, disk), Options{})
	full.Store(true)
	n, refused := 0, error(nil)
	for ; n < 100 && refused == nil; n++ {
		_, refused = j.Append(journal.ID{}, make([]byte, 500))
	}
	if !errors.Is(refused, syscall.ENOSPC) {
		t.Fatalf("%d records: %v", n, refused)
	}
	full.Store(false)
	for range 2 { // the first may find what was tried while the disk was full
		if _, err := j.Append(journal.ID{}, make([]byte, 500)); err == nil {
			break
		}
	}
	last := j.Status().Last
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if again := open(t, mem, Options{}); again.Status().Last != last || last < journal.Seq(n) {
		t.Errorf("%d records of %d", again.Status().Last, last)
	}
}

// After a write or a sync that has failed nothing is appended any more.
func TestBrokenDisk(t *testing.T) {
	for _, kind := range []errorfs.OpKind{errorfs.OpFileWrite, errorfs.OpFileSyncData} {
		var broken atomic.Bool
		disk := errorfs.InjectorFunc(func(op errorfs.Op) error {
			if broken.Load() && op.Kind == kind {
				return syscall.EIO
			}
			return nil
		})
		mem := vfs.NewMem()
		j := open(t, errorfs.Wrap(mem, disk), Options{Segment: 1 << 20})
		if _, err := j.Append(journal.ID{}, []byte("before")); err != nil {
			t.Fatal(err)
		}
		broken.Store(true)
		if _, err := j.Append(journal.ID{}, []byte("at it")); !errors.Is(err, syscall.EIO) {
			t.Errorf("%v", err)
		}
		broken.Store(false)
		if _, err := j.Append(journal.ID{}, []byte("behind")); !errors.Is(err, syscall.EIO) || j.Status().Fault == nil {
			t.Errorf("a record behind one that has failed: %v", err)
		}
		if err := j.Close(); !errors.Is(err, syscall.EIO) {
			t.Errorf("%v", err)
		}
		again := open(t, mem, Options{})
		if last := again.Status().Last; last < 1 || last > 2 {
			t.Errorf("%d records", last)
		}
	}
}

// A record that is larger than a segment makes its file grow. A power cut that keeps only its beginning is no damage.
func TestLargeThenPowerCut(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		fs := vfs.NewCrashableMem()
		j := open(t, fs, Options{})
		if _, err := j.Append(journal.ID{Number: 1}, []byte("small")); err != nil {
			t.Fatal(err)
		}
		if _, err := j.Write(journal.ID{Number: 2}, make([]byte, 5*small)); err != nil {
			t.Fatal(err)
		}
		cut := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rand.New(rand.NewPCG(seed, 0))})
		_ = j.Close()
		again := open(t, cut, Options{})
		if last := again.Status().Last; last < 1 || last > 2 {
			t.Errorf("seed %d: %d records", seed, last)
		}
		_ = again.Close()
	}
}

// A segment of a later version is refused, not taken for damage.
func TestLaterVersion(t *testing.T) {
	files, _, first := written(t)
	for name, b := range files {
		if headOf(b, numberOf(name)).version == headVersion {
			copy(b, appendHead(nil, numberOf(name), head{version: headVersion + 1, first: first, size: small}))
		}
	}
	if _, err := Open(lay(t, files), "journal", Options{}); err == nil || !strings.Contains(err.Error(), "install the later version") {
		t.Error(err)
	}
}

// An append takes no memory.
func TestAllocations(t *testing.T) {
	j := open(t, vfs.NewMem(), Options{Segment: 8 << 20})
	value := make([]byte, 300)
	if n := testing.AllocsPerRun(100, func() { _, _ = j.Write(journal.ID{}, value) }); n > 0 {
		t.Errorf("%v allocations a note", n)
	}
}

func FuzzFind(f *testing.F) {
	b := appendHead(nil, 1, head{version: headVersion, first: 1})
	for n := range journal.Seq(3) {
		b = appendFrame(b, saltOf(1), &frame{kind: isRecord, seq: n + 1, synced: n, record: []byte("record")})
	}
	f.Add(b, uint64(0))
	f.Fuzz(func(t *testing.T, b []byte, after uint64) {
		fs := lay(t, map[string][]byte{nameOf(1): b, nameOf(2): b})
		last := journal.Seq(after)
		damages, _ := Salvage(fs, "journal", last, func(seq journal.Seq, _ journal.ID, _ []byte) error {
			if seq <= last {
				t.Errorf("place %d behind %d", seq, last)
			}
			last = seq
			return nil
		})
		for _, d := range damages {
			if d.First > d.Last && d.Last > 0 {
				t.Errorf("%v", d)
			}
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{300, 30_000, 120_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			j, err := Open(vfs.Default, b.TempDir(), Options{})
			if err != nil {
				b.Fatal(err)
			}
			value := make([]byte, size)
			b.SetBytes(int64(size))
			for b.Loop() {
				seq, err := j.Append(journal.ID{}, value)
				if err == nil && seq%64 == 0 {
					err = j.Trim(seq - 32)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			if err := j.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func numberOf(name string) (n uint64) {
	_, _ = fmt.Sscanf(name, "%x", &n)
	return n
}

// A journal begins small. Files that nobody needs any more are removed when it has been idle for a minute, one each time that Trim
// is called. A file that is removed behind its back ends it.
func TestTrimRemoves(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	makeDir(t, fs)
	j, err := Open(fs, "journal", Options{})
	if err != nil {
		t.Fatal(err)
	}
	record := make([]byte, 100<<10)
	for n := range uint64(400) {
		if _, err := j.Append(journal.ID{Number: n}, record); err != nil {
			t.Fatal(err)
		}
		if octets := j.Status().Octets; n == 0 && octets != firstSegment {
			t.Errorf("it begins with %d octets", octets)
		}
	}
	full := j.Status().Octets
	for range idleCalls + 40 {
		if err := j.Trim(j.Status().Last); err != nil {
			t.Fatal(err)
		}
	}
	segments, err := list(fs, "journal")
	if octets := j.Status().Octets; err != nil || octets > 2*lastSegment+firstSegment || octets >= full || len(segments) > 3 {
		t.Errorf("%d octets of %d, %d segments, %v", octets, full, len(segments), err)
	}
	if err := fs.Remove("journal/" + nameOf(j.current.number)); err != nil {
		t.Fatal(err)
	}
	if err := j.Trim(0); err == nil || !strings.Contains(err.Error(), nameOf(j.current.number)+" was removed") {
		t.Errorf("a file that is needed was removed: %v", err)
	}
	if _, err := j.Append(journal.ID{}, nil); err == nil {
		t.Error("a record is taken")
	}
	_ = j.Close() // the fault again
}

// Under load, segments are given back many at a time, and are used again: no file is made anew, and none is removed.
func TestTrimKeepsForLoad(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	makeDir(t, fs)
	j, err := Open(fs, "journal", Options{Segment: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	record, all := make([]byte, 1<<10), map[int64]int{}
	for n := range uint64(8000) { // about 1,000 records between two times, and a call every 200
		if _, err := j.Append(journal.ID{Number: n}, record); err != nil {
			t.Fatal(err)
		}
		if n%200 == 0 {
			if err := j.Trim(journal.Seq(n / 1000 * 1000)); err != nil {
				t.Fatal(err)
			}
		}
		if n > 4000 {
			all[j.Status().Octets]++
		}
	}
	if len(all) != 1 {
		t.Errorf("octets of the files, and how often: %v", all)
	}
}
