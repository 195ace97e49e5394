package store

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"

	"pmg/internal/testkit/testutil"
	"pmg/store/journal"
	inmemory "pmg/store/journal/journaltest"
	"pmg/store/journal/shared"
)

// A copier is a node with a copy.
type copier struct {
	t       *testing.T
	dir     string // "store" when empty
	node    uint32
	inner   journal.Journal
	fs      *memFS
	keys    [][]byte
	journal *shared.Journal
	copy    *Copy
}

func (c *copier) open() {
	c.t.Helper()
	c.journal = shared.New(c.inner, c.node)
	o := Options{
		FS: c.fs, Log: zerolog.Nop(), Journal: c.journal, Origin: "J", Keys: c.keys, atOnce: 3, memTable: 64 << 10, flush: 2 << 10, tables: 3,
	}
	var err error
	if c.copy, err = OpenCopy(cmp.Or(c.dir, "store"), o); err != nil {
		c.t.Fatal(err)
	}
	after := c.copy.Moved()
	if after == 0 {
		return
	}
	first := true
	err = c.inner.Follow(after-1, func(at journal.Seq, id journal.ID, _ []byte) error {
		if first = false; at != after {
			c.t.Errorf("the record at %d is missing", after)
		}
		c.journal.Seed(at, id)
		return errSeeded
	})
	if first || !errors.Is(err, errSeeded) {
		c.t.Fatalf("cannot go on behind %d: %v", after, err)
	}
}

var errSeeded = errors.New("seeded")

// follow applies what the journal has.
func (c *copier) follow() {
	c.t.Helper()
	for c.followSome(math.MaxInt) {
	}
}

// followSome applies up to most records. It returns false if there are no more.
func (c *copier) followSome(most int) bool {
	c.t.Helper()
	err := c.inner.Follow(c.journal.Last(), func(at journal.Seq, id journal.ID, record []byte) error {
		if most--; most < 0 {
			return errPause
		}
		counts, err := c.journal.Judge(at, id)
		if err == nil && counts {
			err = c.copy.Apply(at, record)
		}
		return err
	})
	if err != nil && !errors.Is(err, errPause) {
		c.t.Fatal(err)
	}
	return err != nil
}

var errPause = errors.New("enough")

// crash ends the process of a node.
func (c *copier) crash(r *rand.Rand) {
	c.t.Helper()
	fs := c.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: r.IntN(100), RNG: r})
	c.close()
	c.fs = fs
	c.open()
}

// wander follows with pauses, in which the node does what a node that stands by may do at any moment.
func (c *copier) wander(r *rand.Rand) {
	c.t.Helper()
	for c.followSome(r.IntN(12)) {
		switch r.IntN(8) {
		case 0, 1, 2, 3:
			c.copy.Tidy()
		case 4:
			_, _, _ = c.copy.Sum()
		case 5:
			c.close()
			c.open()
		case 6:
			c.crash(r)
		}
	}
}

func (c *copier) takeOver(epoch uint32) {
	c.t.Helper()
	if _, err := c.journal.Begin(epoch, EmptyRecord()); err != nil {
		c.t.Fatal(err)
	}
	c.follow()
	if err := c.journal.Own(epoch); err != nil {
		c.t.Fatal(err)
	}
	if err := c.copy.CheckKeys(); err != nil {
		c.t.Fatal(err)
	}
}

func (c *copier) sum() string {
	c.t.Helper()
	at, sum, err := c.copy.Sum()
	if err != nil {
		c.t.Fatal(err)
	}
	return fmt.Sprint(at, " ", sum)
}

func (c *copier) close() {
	c.t.Helper()
	if err := c.copy.Close(); err != nil {
		c.t.Fatal(err)
	}
}

// Three nodes own by turns, crash and start again, some from the files of another. The journal repeats records. All copies
// have what the model has, and have the same hash.
func TestCopies(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { t.Parallel(); runCopies(t, rand.New(rand.NewPCG(seed, 36))) })
	}
}

func runCopies(t *testing.T, r *rand.Rand) {
	inner := inmemory.New(func(journal.ID) inmemory.Fault {
		if r.IntN(10) == 0 {
			return inmemory.Repeated
		}
		return inmemory.None
	})
	var all []*copier
	for i := range 3 {
		all = append(all, &copier{t: t, node: uint32(i + 1), inner: inner, fs: newMemFS()})
		all[i].open()
	}
	m, epoch := newModel(), uint32(0)
	for range 8 {
		epoch += 1 + r.Uint32N(2)
		owner := all[r.IntN(3)]
		owner.takeOver(epoch)
		for range r.IntN(30) {
			var b Batch
			if m.change(r, &b); b.Len() == 0 {
				continue
			}
			if err := owner.copy.Commit(&b); err != nil {
				t.Fatal(err)
			}
			if r.IntN(10) == 0 {
				all[r.IntN(3)].copy.Tidy()
			}
		}
		for _, c := range all {
			if c != owner {
				c.wander(r)
			}
		}
		for _, c := range all {
			if got := c.sum(); got != all[0].sum() {
				t.Fatalf("node %d has %s, and node 1 %s", c.node, got, all[0].sum())
			}
			if why := m.differs(c.copy); why != "" {
				t.Fatalf("node %d: %s", c.node, why)
			}
		}
		restart(r, owner, all[r.IntN(3)])
	}
	for _, c := range all {
		c.close()
	}
}

// restart ends the owner, or another node by a crash, and starts it again.
func restart(r *rand.Rand, owner, other *copier) {
	if r.IntN(2) == 0 {
		owner.crash(r)
	} else {
		owner.close()
		owner.open()
	}
	if other != owner {
		other.crash(r)
		other.wander(r)
	}
	owner.wander(r)
}

// A node that only follows writes what it has to tables, as the owner does, so that neither its memory nor the journal that it
// needs grows.
func TestCopyFollowsLong(t *testing.T) {
	t.Parallel()
	a := &copier{t: t, node: 1, inner: inmemory.New(nil), fs: newMemFS()}
	b := &copier{t: t, node: 2, inner: a.inner, fs: newMemFS()}
	a.open()
	b.open()
	a.takeOver(1)
	most := 0
	for id := range uint64(3000) {
		commit(t, a.copy, func(b *Batch) { b.Note("north", fmt.Append(nil, "peer ", id), []byte("some value"), 100) })
		if id%10 == 0 {
			b.follow()
			if err := b.copy.disk.noteWriter.wait(); err != nil { // it writes them beside
				t.Fatal(err)
			}
			most = max(most, b.copy.disk.reader.notes.Octets())
		}
		if id%300 == 0 {
			b.copy.Tidy()
		}
	}
	if most > 64<<10 {
		t.Errorf("its notes took %d octets of memory", most)
	}
	testutil.Eventually(t, "the journal is not needed", func() bool {
		b.copy.Tidy()
		return b.copy.disk.journal.(*shared.Journal).Moved() > 2000
	})
	b.follow()
	if a.sum() != b.sum() {
		t.Errorf("%s, and %s", a.sum(), b.sum())
	}
	a.close()
	b.close()
}

// A backup of a copy is the copy of another node, which goes on where it was made.
func TestCopyBackup(t *testing.T) {
	t.Parallel()
	a := &copier{t: t, node: 1, inner: inmemory.New(nil), fs: newMemFS()}
	a.open()
	a.takeOver(1)
	for id := range uint64(20) {
		if id == 10 {
			if err := a.copy.Backup("backup"); err != nil {
				t.Fatal(err)
			}
		}
		commit(t, a.copy, func(b *Batch) { b.Put(sample(id+1, "text"), sampleLane) })
	}
	b := &copier{t: t, dir: "backup", node: 2, inner: a.inner, fs: a.fs}
	b.open()
	b.follow()
	if a.sum() != b.sum() || b.copy.LastID() != 20 {
		t.Errorf("%s, and %s", a.sum(), b.sum())
	}
	a.close()
	b.close()
}

// A store with a journal of its own is no copy, and does not become one.
func TestCopyOfOther(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	s := open(t, fs)
	commit(t, s, func(b *Batch) { b.Put(sample(1, "text"), sampleLane) })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"data", "copy"} {
		o := Options{FS: fs, Log: zerolog.Nop(), Journal: shared.New(inmemory.New(nil), 1), Origin: "J"}
		c, err := OpenCopy(dir, o)
		if dir == "data" {
			if err == nil || !strings.Contains(err.Error(), "without a cluster") {
				t.Errorf("opened: %v", err)
			}
			continue
		}
		if err == nil {
			err = c.Close()
		}
		if _, err := Open(dir, Options{FS: fs, Log: zerolog.Nop()}); err == nil || !strings.Contains(err.Error(), "of a cluster") {
			t.Errorf("opened: %v", err)
		}
		if o.Origin = "another"; err != nil {
			t.Fatal(err)
		}
		if _, err = OpenCopy(dir, o); err == nil || !strings.Contains(err.Error(), "another journal") {
			t.Errorf("opened: %v", err)
		}
	}
}
