package simulation

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"pmg/store"
	"pmg/store/journal"
	"pmg/store/journal/journaltest"
)

var errDisk = errors.New("simulated fault of the disk")

// A disk is what a machine keeps: a store without its bugs. A batch is on it wholly or not at
// all, and if its commit has returned nil, it is. Until then it is in a journal in memory, which says what a crash leaves of it.
type disk struct {
	w        *world
	journal  *journaltest.Journal
	noted    map[uint64]*store.Batch // those in the journal, by the numbers of their records
	number   uint64                  // of the last one
	messages map[uint64]*stored
	mapped   map[string]mapping
	ids      []uint64 // of messages, in order
	last     uint64
	begun    uint64 // commits
	broken   bool   // it takes no batch until it is opened again
}

type stored struct {
	record, state []byte
	aside         bool
}

type mapping struct {
	day   uint32
	value []byte
}

// waiting returns how many messages are not put aside.
func (d *disk) waiting() (n int) {
	for _, m := range d.messages {
		if !m.aside {
			n++
		}
	}
	return n
}

// A view is a disk as one process sees it. Its calls come from goroutines of the gateway, which
// wait there for an event.
type view struct {
	store.Store // for what the gateway does not call
	disk        *disk

	mu     sync.Mutex
	gated  bool // reads wait for an event
	dead   bool // the process is
	failed bool // the last commit has
	commit *call[*store.Batch]
	reads  []*call[uint64]
}

// A call waits for its event.
type call[T any] struct {
	arg     T
	number  uint64 // of a commit
	noted   uint64 // number of the last batch that was noted before the commit
	planned bool
	end     chan error
}

func (v *view) Durable() bool  { return true }
func (v *view) LastID() uint64 { return v.disk.last }
func (v *view) Close() error   { return nil }
func (v *view) Tidy()          {}
func (v *view) Stats() store.Stats {
	return store.Stats{Engine: "simulation", Messages: int64(len(v.disk.ids))}
}

// gate makes calls wait for an event, or passes all of them on.
func (v *view) gate(shut bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.gated = shut
}

// endRead ends a read. It reports whether there was one.
func (v *view) endRead(err error) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.reads) == 0 {
		return false
	}
	v.sortReads()
	v.reads[0].end <- err
	v.reads = v.reads[1:]
	return true
}

// sortReads gives the reads an order: they have begun in any.
func (v *view) sortReads() {
	slices.SortStableFunc(v.reads, func(a, b *call[uint64]) int { return cmp.Compare(a.arg, b.arg) })
}

// Write implements store.Writer.
func (v *view) Write(b *store.Batch) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	d := v.disk
	if v.dead || d.broken {
		return errDisk
	}
	d.number++
	if _, err := d.journal.Write(journal.ID{Number: d.number}, nil); err != nil {
		return err
	}
	d.noted[d.number] = &store.Batch{}
	d.noted[d.number].Append(b)
	return nil
}

// Commit implements store.Store.
func (v *view) Commit(b *store.Batch) error {
	v.mu.Lock()
	if v.dead {
		v.mu.Unlock()
		return errDisk
	}
	v.disk.begun++
	if !v.gated {
		v.mu.Unlock()
		if v.disk.broken {
			b.Each(doubt{v.disk.w})
			return errDisk
		}
		v.disk.commit(b, v.disk.number)
		v.disk.w.oracle.committed(v.disk.begun)
		return nil
	}
	c := &call[*store.Batch]{arg: b, number: v.disk.begun, noted: v.disk.number, end: make(chan error, 1)}
	v.commit = c
	v.mu.Unlock()
	return <-c.end
}

// Get implements store.Store.
func (v *view) Get(id uint64, e *store.Entry) (bool, error) {
	v.mu.Lock()
	if v.dead {
		v.mu.Unlock()
		return false, errDisk
	}
	if v.gated {
		c := &call[uint64]{arg: id, end: make(chan error, 1)}
		v.reads = append(v.reads, c)
		v.mu.Unlock()
		if err := <-c.end; err != nil {
			return false, err
		}
	} else {
		v.mu.Unlock()
	}
	m := v.disk.messages[id]
	if m == nil || m.aside && v.disk.w.mutation == leaveOrphans {
		return false, nil
	}
	e.ID, e.Record, e.State = id, append(e.Record[:0], m.record...), slices.Clone(m.state)
	return true, nil
}

// Scan implements store.Store.
func (v *view) Scan(from uint64, limit int, f func(*store.Entry) error) (uint64, error) {
	at, _ := slices.BinarySearch(v.disk.ids, from)
	ids := slices.Clone(v.disk.ids[at:])
	limit = min(limit, 7) // so that recovery has many parts
	for _, id := range ids[:min(limit, len(ids))] {
		m := v.disk.messages[id]
		if m == nil {
			continue
		}
		if err := f(&store.Entry{ID: id, Record: m.record, State: m.state}); err != nil {
			return 0, err
		}
	}
	if len(ids) <= limit {
		return 0, nil
	}
	return ids[limit], nil
}

// Lookup implements store.Store.
func (v *view) Lookup(kind store.Kind, key []byte) (value []byte, ok bool, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.dead {
		return nil, false, errDisk
	}
	m, ok := v.disk.mapped[string(kind)+"\x00"+string(key)]
	return slices.Clone(m.value), ok, nil
}

// Notes implements store.Store.
func (v *view) Notes(kind store.Kind, from []byte, limit int, f func(key, value []byte) error) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.dead {
		return errDisk
	}
	prefix := string(kind) + "\x00"
	keys := slices.SortedFunc(maps.Keys(v.disk.mapped), func(a, b string) int {
		return cmp.Or(cmp.Compare(v.disk.mapped[a].day, v.disk.mapped[b].day), cmp.Compare(a, b))
	})
	for _, key := range keys {
		id, ok := strings.CutPrefix(key, prefix)
		if !ok || id < string(from) || limit == 0 {
			continue
		}
		limit--
		if err := f([]byte(id), slices.Clone(v.disk.mapped[key].value)); err != nil {
			return err
		}
	}
	return nil
}

// collect plans the ends of the calls that have begun.
func (v *view) collect() {
	v.mu.Lock()
	defer v.mu.Unlock()
	w := v.disk.w
	if c := v.commit; c != nil && !c.planned {
		c.planned = true
		w.trace("disk: begins a commit of %d", c.arg.Len())
		took := w.between(100*time.Microsecond, 20*time.Millisecond)
		if w.fault(w.plan.slow) {
			took = w.between(0, 5*time.Second)
		}
		w.node.after(took, func() {
			if v.commit == c { // the node that closes has ended it
				v.committed(c)
			}
		})
	}
	v.sortReads()
	for _, c := range v.reads {
		if c.planned {
			continue
		}
		c.planned = true
		w.trace("disk: read of %d", c.arg)
		w.node.after(w.between(10*time.Microsecond, 10*time.Millisecond), func() {
			if at := slices.Index(v.reads, c); at >= 0 {
				v.reads = slices.Delete(v.reads, at, at+1)
				c.end <- nil
			}
		})
	}
}

// committed ends a commit.
func (v *view) committed(c *call[*store.Batch]) {
	w := v.disk.w
	v.commit = nil
	if v.failed = v.disk.broken || w.fault(w.plan.disk); v.failed {
		applied := !v.disk.broken && w.chance(0.5)
		w.note("disk: commit of %d fails, applied %t", c.arg.Len(), applied)
		c.arg.Each(doubt{w})
		for _, b := range v.disk.noted { // it is noted again, behind what has failed
			b.Each(doubt{w})
		}
		if applied {
			v.disk.commit(c.arg, c.noted)
			w.oracle.committed(c.number)
		}
		v.disk.broken = w.plan.breaks
		c.end <- errDisk
		return
	}
	w.note("disk: commit of %d", c.arg.Len())
	v.disk.commit(c.arg, c.noted)
	w.oracle.committed(c.number)
	c.end <- nil
}

// crash ends the process. A batch that is being committed may be on the disk.
func (v *view) crash(power bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.dead = true
	w := v.disk.w
	if c := v.commit; c != nil {
		c.arg.Each(doubt{w})
		if !v.disk.broken && w.chance(0.5) {
			w.note("disk: the commit under way is done")
			v.disk.commit(c.arg, c.noted)
			w.oracle.committed(c.number)
		}
		c.end <- errDisk
	}
	if power {
		v.disk.journal.CutPower(w.rng.IntN(len(v.disk.noted) + 1))
	}
}

// commit carries out a batch, which was noted up to a number.
func (d *disk) commit(b *store.Batch, noted uint64) {
	d.apply(b)
	d.forget(noted)
}

// forget forgets the batches that were noted up to a number.
func (d *disk) forget(noted uint64) {
	if err := errors.Join(d.journal.Sync(journal.Seq(noted)), d.journal.Trim(journal.Seq(noted))); err != nil {
		panic(err)
	}
	maps.DeleteFunc(d.noted, func(number uint64, _ *store.Batch) bool { return number <= noted })
}

// replay carries out what the journal has.
func (d *disk) replay() {
	s, n := d.journal.Status(), 0
	if s.First == 0 {
		s.First = s.Last + 1
	}
	err := d.journal.Follow(s.First-1, func(_ journal.Seq, id journal.ID, _ []byte) error {
		n++
		d.apply(d.noted[id.Number])
		return nil
	})
	if err != nil {
		panic(err)
	}
	d.w.note("disk: %d batches are carried out that were noted", n)
	d.journal, d.noted, d.number = journaltest.New(nil), map[uint64]*store.Batch{}, 0
}

func (d *disk) apply(b *store.Batch) { b.Each(applied{d}) }

// doubt records the messages of batches of which it is not known whether they are on the disk.
type doubt struct{ w *world }

func (c doubt) Put(id uint64, _ []byte)     { c.w.oracle.doubtful[id] = true }
func (c doubt) Keep(uint64, []byte, []byte) {}
func (c doubt) Delete(id uint64)            { c.w.oracle.doubtful[id] = true }
func (c doubt) Note(uint32, []byte, []byte) {}
func (c doubt) ForgetBefore(uint32)         {}
func (c doubt) Erase(uint32, []byte)        {}
func (c doubt) Event(uint64, []byte)        {}
func (c doubt) DropEvents(uint64)           {}

// applied carries out a batch.
type applied struct{ d *disk }

func (a applied) Put(id uint64, record []byte) {
	a.d.last = max(a.d.last, id)
	at, found := slices.BinarySearch(a.d.ids, id)
	if !found {
		a.d.ids = slices.Insert(a.d.ids, at, id)
	}
	a.d.messages[id] = &stored{record: slices.Clone(record)}
	a.d.w.oracle.put(id, found)
}

func (a applied) Keep(id uint64, state, record []byte) {
	if m := a.d.messages[id]; m != nil {
		m.state, m.aside = slices.Clone(state), record != nil
	}
}

func (a applied) Delete(id uint64) {
	if a.d.w.mutation == keepAll {
		return
	}
	at, found := slices.BinarySearch(a.d.ids, id)
	if found {
		a.d.ids = slices.Delete(a.d.ids, at, at+1)
		delete(a.d.messages, id)
	}
	a.d.w.oracle.deleted(id, found)
}

// Note implements store.Changes.
func (a applied) Note(day uint32, key, value []byte) {
	if a.d.mapped[string(key)].day <= day && a.d.w.mutation != forgetIDs {
		a.d.mapped[string(key)] = mapping{day, slices.Clone(value)}
	}
}

// Erase implements store.Changes.
func (a applied) Erase(day uint32, key []byte) {
	if a.d.mapped[string(key)].day == day {
		delete(a.d.mapped, string(key))
	}
}

// ForgetBefore implements store.Changes.
func (a applied) ForgetBefore(day uint32) {
	maps.DeleteFunc(a.d.mapped, func(_ string, m mapping) bool { return m.day < day })
}

func (applied) Event(uint64, []byte) {}
func (applied) DropEvents(uint64)    {}
