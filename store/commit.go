package store

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"pmg/store/journal"
)

// A request is a request to the writing goroutine. Each field may have its zero value.
type request struct {
	changes *Batch // a batch to carry out, which is already written to the journal
	replays bool   // changes are replayed from the journal, so they are already safe
	move    moving // which part of the young messages to move to pebble
	batch   bool   // carry out the writer's pebble batch, which the caller has filled
	flush   bool   // write the memory table, so that the journal can be trimmed
}

// A writer has the goroutine that writes to the journal and to pebble, and the batch for pebble.
// After a fault, calls of pebble may never return, so no other goroutine makes such calls.
type writer struct {
	db      *pebble.DB
	reader  *reader
	journal journal.Journal
	young   *young
	monitor *monitor
	summary *summary
	noSync  bool
	commits atomic.Int64
	syncs   atomic.Int64 // number of syncs of the journal
	deleted atomic.Int64 // total octets of deleted messages

	numbering sync.Mutex // guards the fields up to number
	record    []byte
	number    uint64 // number of the last written record

	growth growth

	writing  sync.Mutex // held while the pebble batch is filled, and while a request is carried out
	broken   bool       // pebble has panicked, and may still hold its locks; may be read after ended is closed
	batch    *pebble.Batch
	key      []byte
	moves    mover
	currents currents
	tables   *noteWriter
	dropped  uint64 // number of the last event that was dropped since the store was opened
	requests chan request
	results  chan error
	ended    chan struct{}
}

// A growth counts how much was written to the journal.
type growth struct {
	most   int64        // flushOctets, or less in tests
	octets atomic.Int64 // octets since the memory table was last written
	frozen atomic.Int64 // octets since the notes in memory were last frozen
	round  atomic.Int64 // octets since a round of young messages last began
}

// newWriter makes a writer and starts its goroutine.
func newWriter(r *reader, j journal.Journal, n *noteWriter, o Options) *writer {
	w := &writer{
		db: r.db, reader: r, journal: j, monitor: r.monitor, summary: r.summary, noSync: o.noSync, young: r.young,
		tables:   n,
		requests: make(chan request), results: make(chan error), ended: make(chan struct{}), currents: currents{},
	}
	w.number = uint64(j.Status().Last)
	w.growth.most = cmp.Or(o.flush, flushOctets)
	w.moves.old = boundary{w.summary.marks.moved, w.summary.marks.movedID, w.summary.moved}
	if w.moves.atOnce = o.atOnce; o.atOnce == 0 {
		w.moves.atOnce = leaveAtOnce
	}
	w.deleted.Store(int64(r.db.Metrics().DiskSpaceUsage())) // earlier runs may have deleted everything on the disk
	go w.run()
	return w
}

// run carries out requests until the channel is closed.
func (w *writer) run() {
	defer close(w.ended)
	fault := w.monitor.fault
	for r := range w.requests {
		err := w.carryOut(r)
		if failed := fault.get(); failed != nil {
			err = failed
		}
		select {
		case w.results <- err:
		case <-fault.done:
		}
	}
}

// stop ends the goroutine. It returns false if pebble cannot be closed, because after a fault the
// commit under way may never return.
func (w *writer) stop() bool {
	close(w.requests)
	select {
	case <-w.ended:
		return !w.broken
	case <-w.monitor.fault.done:
	}
	select {
	case <-w.ended:
		return !w.broken
	case <-time.After(closePauses * w.monitor.pause):
		return false
	}
}

// carryOut carries out a request. It recovers from the panic that pebble raises if its manifest
// cannot be written.
func (w *writer) carryOut(r request) (err error) {
	defer func() {
		if p := recover(); p != nil {
			w.broken, err = true, fmt.Errorf("%v", p)
		}
	}()
	if r.changes != nil {
		if err = w.sync(r); err == nil {
			err = w.apply(r.changes)
		}
		if err != nil {
			return err
		}
	}
	if r.batch {
		err = w.db.Apply(w.batch, pebble.NoSync)
	}
	if err != nil || w.summary.isBehind() {
		return err
	}
	if w.growth.octets.Load() > w.growth.most {
		r.flush = true
		if w.growth.round.Load() > w.growth.most { // Tidy begins rounds; one soon behind it would move new messages
			r.move = max(r.move, newRound)
		}
	}
	if err = w.moveSome(r.move); err == nil && r.flush {
		w.growth.octets.Store(0)
		w.freeze()
		w.trim()
		_, err = w.db.AsyncFlush()
	}
	return err
}

// grow counts what was written to the journal.
func (w *writer) grow(octets int) {
	w.growth.octets.Add(int64(octets))
	w.growth.frozen.Add(int64(octets))
	w.growth.round.Add(int64(octets))
}

// flushOctets is how much is written to the journal before the memory table is written again. The older files of the journal
// are then reused.
const flushOctets = 64 << 20

// notesOctets is how much memory the notes take when they are written to tables. They are written too when the journal has twice
// flushOctets more. A start replays up to about three times flushOctets.
const notesOctets = 16 << 20

// freeze begins to write the notes in memory, if they are many.
func (w *writer) freeze() {
	if w.growth.frozen.Load() < 2*w.growth.most && w.reader.notes.Octets() < notesOctets {
		return
	}
	if w.reader.notes.Freeze(w.summary.get().applied) {
		w.growth.frozen.Store(0)
	}
	w.tables.begin()
}

// write writes a batch to the journal, and records the place in the batch. After an error of the
// journal no later batch is accepted, because the contents of the disk are not known.
func (w *writer) write(b *Batch) error {
	w.numbering.Lock()
	defer w.numbering.Unlock()
	var at journal.Seq
	for first := 0; first < len(b.ops); {
		var n int
		w.record, n = b.appendPiece(w.record[:0], first)
		first += n
		w.grow(len(w.record))
		w.number++
		var err error
		at, err = w.journal.Write(journal.ID{Node: 1, Number: w.number}, w.record) // a journal on this machine has only one node
		if cap(w.record) > maxBatchKept {
			w.record = nil
		}
		if err != nil {
			return w.failed(err)
		}
	}
	b.at = at
	return nil
}

// failed records an error as the store's fault. It does not if nothing was written and a later
// batch may succeed.
func (w *writer) failed(err error) error {
	if errors.Is(err, journal.ErrFull) {
		return err
	}
	w.monitor.fault.set(err)
	return w.monitor.failure()
}

// sync syncs the journal up to the changes of a request.
func (w *writer) sync(r request) error {
	if r.replays || w.noSync {
		return nil
	}
	w.syncs.Add(1)
	return w.journal.Sync(r.changes.at)
}

// apply carries out the operations of a batch.
func (w *writer) apply(b *Batch) error {
	w.newBatch()
	before := w.summary.get().applied
	m, lowest := w.summary.reckon(b)
	if err := w.fill(b, m); err != nil {
		return err
	}
	if w.batch.Count() > 0 && b.at > before { // otherwise pebble already has the batch
		if err := w.setMarks(m); err != nil {
			return err
		}
		if err := w.db.Apply(w.batch, pebble.NoSync); err != nil {
			return err
		}
	}
	w.summary.settle(b, m, lowest)
	return nil
}

// fill carries out the operations on young messages and notes, and adds the others to pebble's batch.
func (w *writer) fill(b *Batch, m marks) error {
	w.young.mu.Lock()
	defer w.young.mu.Unlock()
	w.currents.find(b)
	for i, o := range b.ops {
		if o.current && !w.currents.isLast(b, i) || m.has(b, o) {
			continue
		}
		if err := w.do(b, o, m.movedID); err != nil {
			return err
		}
	}
	return nil
}

// currents has the index of the last NoteCurrent operation in a batch, for each key.
type currents map[string]*int

// find fills currents from a batch.
func (c currents) find(b *Batch) {
	clear(c)
	for i, o := range b.ops {
		if !o.current {
			continue
		}
		if last := c[string(b.keyOf(o))]; last != nil {
			*last = i
		} else {
			first := i // a separate variable, so that other operations cost no allocation
			c[string(b.keyOf(o))] = &first
		}
	}
}

// isLast reports whether an operation is the last one with its key.
func (c currents) isLast(b *Batch, i int) bool { return *c[string(b.keyOf(b.ops[i]))] == i }

// setMarks adds the marks to pebble's batch.
func (w *writer) setMarks(m marks) error {
	m.noted = w.reader.notes.Written(m.applied)
	w.key = m.append(append(w.key[:0], keyMarks))
	return w.batch.Set(w.key[:1], w.key[1:], nil)
}

// trim allows the journal to drop the records that pebble has on disk. An error is ignored, because
// trim is called again later.
func (w *writer) trim() {
	m, err := w.reader.flushed()
	if w.monitor.fault.get() != nil { // after a fault pebble's own state may be wrong
		return
	}
	if err == nil {
		err = w.journal.Trim(m.replayed())
	}
	if err == nil {
		return
	}
	if w.journal.Status().Fault != nil {
		w.monitor.fault.set(err)
		return
	}
	w.monitor.log.Error().Err(err).Msg("cannot trim the journal of the store")
}

// ask passes a request to the writing goroutine and waits for the result. The caller holds writing.
func (w *writer) ask(r request) error {
	select {
	case w.requests <- r:
	case <-w.monitor.fault.done:
		return w.monitor.failure()
	}
	select {
	case err := <-w.results:
		if err != nil {
			w.monitor.fault.set(err)
		}
	case <-w.monitor.fault.done:
	}
	return w.monitor.failure()
}

// commit syncs a batch and carries it out. After an error, none of the batch's operations is
// carried out.
func (w *writer) commit(b *Batch) (err error) {
	if b.at == 0 {
		err = w.write(b)
	}
	if err == nil {
		err = w.askAlone(request{changes: b})
	}
	if err != nil {
		return fmt.Errorf("cannot commit a batch: %w", err)
	}
	w.commits.Add(1)
	w.deleted.Add(b.deleted())
	return nil
}

// askAlone calls the function ask for a caller that has not filled pebble's batch.
func (w *writer) askAlone(r request) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	return w.ask(r)
}

// newBatch empties and returns pebble's batch. The caller holds writing.
func (w *writer) newBatch() *pebble.Batch {
	if w.batch == nil {
		w.batch = w.db.NewBatch(pebble.WithMaxRetainedSizeBytes(maxBatchKept))
	}
	w.batch.Reset()
	return w.batch
}

// do carries out an operation on a young message, or adds the operation to pebble's batch. A
// message that is put is young if its id is above movedID.
func (w *writer) do(b *Batch, o op, movedID uint64) error {
	t, y := w.batch, w.young
	switch o.kind {
	case opPut, opReplace:
		if _, ok := y.messages.get(o.id); ok || o.kind == opPut && o.id > movedID {
			y.put(o.id, b.valueOf(o))
			return nil
		}
		w.key = appendKey(w.key[:0], keyMessage, o.id)
		return t.Set(w.key, b.valueOf(o), nil)
	case opKeep:
		if y.keep(o.id, b.keyOf(o)) {
			return nil
		}
		w.summary.states.add(o.id)
		w.key = appendKey(w.key[:0], keyState, o.id)
		return t.Set(w.key, b.keyOf(o), nil)
	case opDelete:
		if y.remove(o.id) {
			return nil
		}
		w.key = appendKey(w.key[:0], keyMessage, o.id)
		// no sized or single delete: behind these, pebble panics at damage, and formats an event for each wrong size
		if err := t.Delete(w.key, nil); err != nil || !w.summary.states.maybe(o.id) {
			return err
		}
		w.key[0] = keyState
		return t.Delete(w.key, nil)
	case opNote:
		return w.reader.notes.Put(t, uint32(o.id), b.keyOf(o), b.valueOf(o))
	case opErase:
		return w.reader.notes.Remove(t, uint32(o.id), b.keyOf(o))
	case opForgetBefore:
		return w.reader.notes.Forget(t, uint32(o.id))
	case opEvent:
		y.addEvent(o.id, b.valueOf(o))
		return nil
	default: // opDropEvents
		y.dropEvents(o.id)
		return w.dropEvents(o.id)
	}
}

// dropEvents drops the events from the end of the last dropped range up to upTo. The ranges must
// not overlap: pebble would divide overlapping ranges in a memory table into many pieces, again at
// each read after a change.
func (w *writer) dropEvents(upTo uint64) error {
	first := w.dropped + 1
	if upTo = min(upTo, w.summary.lastMoved()); upTo < first {
		return nil
	}
	w.dropped = upTo
	w.key = appendKey(appendKey(w.key[:0], keyEvent, first), keyEvent, upTo+1)
	return w.batch.DeleteRange(w.key[:9], w.key[9:], nil)
}
