package events

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pmg/internal/logfile"
)

const (
	syncEvery = time.Second
	gather    = 100 * time.Millisecond // time for which events are collected before they are written
	retryWait = time.Second            // pause after a failure
	idleWait  = time.Hour              // how long a Writer with nothing to do sleeps
	closeWait = 5 * time.Second
	remind    = time.Minute // pause between two lines of the log about the same failure

	// together is how many octets of lines are written together.
	together = 256 << 10
)

// Options are the options of a Writer. The zero value of a field switches its feature off.
type Options struct {
	logfile.Options
	Dir        string
	MaxWaiting uint64 // events that may wait in the store until Full
	Log        zerolog.Logger
	Counter    Counter // counts the written events; nil: events are not counted
}

// A Counter counts events. It is used by one goroutine.
type Counter interface {
	Begin(last uint64) error // last is the number of the last event in the files
	Counted() uint64         // number up to which events are counted
	// Count counts the events of whole lines. After an error, the events above Counted are passed to Count again.
	Count(lines []byte) error
	// Save persists the counters if a save is due, or immediately with now. All counted events are safe in
	// the files. Save returns the time of the next save; zero: everything is saved.
	Save(now bool) (at time.Time, err error)
}

// asked contains the requests to the Writer's goroutine, in addition to its own work.
type asked struct {
	reopen atomic.Bool
	closes chan chan error // channels of callers that wait for a new file
}

// A Store is the source of events.
type Store interface {
	// Events calls f for each committed event whose number is above after, and returns the number of
	// the last one.
	Events(after uint64, limit int, f func(number uint64, line []byte) error) (last uint64, err error)
}

// A Writer appends the events of a store to files. Its methods may be called from any
// goroutine, except that numbers are used in the order in which Next returned them.
type Writer struct {
	o    Options
	drop func(upTo uint64)
	dir  *os.File // locked
	logs *logfile.Dir

	wakeup chan struct{}
	quit   chan struct{}
	ended  chan struct{} // closed when the goroutine has ended
	once   sync.Once     // Close

	asked   asked
	number  atomic.Uint64 // number of the last event
	synced  atomic.Uint64 // number of the last event that is synced to a file
	written atomic.Int64
	errors  atomic.Int64
	busy    atomic.Int64 // since when a write is running, in Unix nanoseconds; 0: no write is running

	mu    sync.Mutex
	store Store // nil: the writer is closed

	// These belong to the goroutine.
	file     *logfile.File
	unsynced int64  // octets at the end of file behind the event synced
	last     uint64 // number of the last event that is in a file
	dirty    bool   // something in file is not synced
	syncAt   time.Time
	buf      []byte
	failing  bool
	loggedAt time.Time
	counting counting
}

// Open continues the files in Options.Dir, and starts to append what the store has. drop
// is called with the number up to which events are safe in a file, so that the store need
// not keep them.
func Open(o Options, s Store, drop func(upTo uint64)) (*Writer, error) {
	w, err := prepare(o, s, drop)
	if err != nil {
		return nil, fmt.Errorf("cannot open events in %s: %w", o.Dir, err)
	}
	go w.run()
	return w, nil
}

// prepare makes a Writer whose goroutine does not run yet.
func prepare(o Options, s Store, drop func(upTo uint64)) (*Writer, error) {
	w := &Writer{
		o: o, drop: drop, store: s,
		wakeup: make(chan struct{}, 1), quit: make(chan struct{}), ended: make(chan struct{}),
		asked: asked{closes: make(chan chan error, 1)},
	}
	var err error
	if w.dir, err = lockDir(o.Dir); err != nil {
		return nil, err
	}
	w.logs = logfile.NewDir(o.Dir, "events file", o.Options)
	w.logs.Keys = AppendKeys
	w.file = w.logs.File("events", o.Log, w.happens)
	w.file.Start()
	var first uint64
	_, err = s.Events(0, 1, func(number uint64, _ []byte) error { first = number; return nil })
	if err == nil {
		err = w.find(first)
	}
	var number uint64
	if err == nil {
		number, err = s.Events(w.last, math.MaxInt, func(uint64, []byte) error { return nil })
	}
	if err != nil {
		w.release()
		return nil, err
	}
	w.number.Store(number)
	w.counting.upTo = w.last
	if o.Counter != nil {
		if err := o.Counter.Begin(w.last); err != nil {
			w.release()
			return nil, err
		}
		w.countAgain()
	}
	w.dirty = true // an earlier process may not have synced the file
	return w, nil
}

// release gives up the directory.
func (w *Writer) release() {
	w.file.Stop()
	_ = w.dir.Close()
}

// Next returns the number of the next event.
func (w *Writer) Next() uint64 { return w.number.Add(1) }

// Last returns the number of the last event that Next has numbered.
func (w *Writer) Last() uint64 { return w.number.Load() }

// WaitFor waits until the events up to a number are safe in a file.
func (w *Writer) WaitFor(ctx context.Context, upTo uint64) error {
	for w.Wake(); w.synced.Load() < upTo; {
		select {
		case <-time.After(waitPoll):
		case <-w.ended:
			return errors.New("events are not written any more")
		case <-ctx.Done():
			return fmt.Errorf("the last events are not written yet: %w", ctx.Err())
		}
	}
	return nil
}

// waitPoll is the pause between two looks at what is written.
const waitPoll = 20 * time.Millisecond

// Wake makes the Writer append what was committed.
func (w *Writer) Wake() {
	select {
	case w.wakeup <- struct{}{}:
	default: // a wake-up is pending already
	}
}

// Reopen makes the Writer check whether another program has moved the file.
func (w *Writer) Reopen() {
	w.asked.reopen.Store(true)
	w.Wake()
}

// Waiting returns how many events are not safe in a file yet.
func (w *Writer) Waiting() uint64 {
	synced := w.synced.Load() // synced is read first, because it follows number
	return w.number.Load() - synced
}

// Full reports whether so many wait that no message should end any more.
func (w *Writer) Full() bool { return w.Waiting() >= w.o.MaxWaiting }

// Written returns how many events were written.
func (w *Writer) Written() int64 { return w.written.Load() }

// Errors returns how often writing has failed.
func (w *Writer) Errors() int64 { return w.errors.Load() }

// Slow reports how long the disk has worked on its last request, if that is longer than limit.
func (w *Writer) Slow(limit time.Duration) (took time.Duration, slow bool) {
	since := w.busy.Load()
	if since == 0 {
		return 0, false
	}
	took = time.Duration(time.Now().UnixNano() - since)
	return took, took > limit
}

// Close writes the events that were committed, and ends the Writer. It gives up after closeWait
// if the disk does not answer. What was not written stays in the store, which is not
// used any more.
func (w *Writer) Close() error {
	w.once.Do(func() { close(w.quit) })
	select {
	case <-w.ended:
	case <-time.After(closeWait):
	}
	w.mu.Lock()
	w.store = nil
	w.mu.Unlock()
	if n := w.Waiting(); n > 0 {
		return fmt.Errorf("cannot write %d events to %s; a durable store keeps them, and the next start writes them", n, w.o.Dir)
	}
	return nil
}

func (w *Writer) run() {
	defer close(w.ended)
	defer w.release()
	timer := time.NewTimer(idleWait)
	defer timer.Stop()
	for w.pause(timer, w.work(false)) {
	}
	w.work(true)
	w.saveCounts(true)
	w.file.Close()
}

// pause waits until there is work, and reports whether the Writer goes on. Events of several
// commits are written together, and commits do not make it try a disk that fails earlier.
func (w *Writer) pause(timer *time.Timer, wait time.Duration) bool {
	timer.Reset(wait)
	select {
	case <-w.quit:
		return false
	case <-timer.C:
		return true
	case <-w.wakeup:
	}
	if !w.failing {
		timer.Reset(min(wait, gather))
	}
	select {
	case <-w.quit:
		return false
	case <-timer.C:
		return true
	}
}

// work writes what the store has, and returns when to call it again at the latest.
func (w *Writer) work(closing bool) (wait time.Duration) {
	w.busy.Store(time.Now().UnixNano())
	err := w.advance(closing)
	w.busy.Store(0)
	w.report(err)
	switch {
	case err != nil:
		return retryWait
	case w.dirty:
		return max(time.Until(w.syncAt), 0)
	case !w.counting.saveAt.IsZero():
		return max(time.Until(w.counting.saveAt), 0)
	}
	return idleWait
}

// advance appends what the store has. It syncs the file if it is time for that, or all is
// to end.
func (w *Writer) advance(closing bool) error {
	if w.asked.reopen.Swap(false) {
		w.file.CheckSoon()
	}
	for more := true; more; {
		w.busy.Store(time.Now().UnixNano())
		var err error
		if more, err = w.appendSome(time.Now().UnixNano()); err != nil {
			return err
		}
	}
	select {
	case done := <-w.asked.closes:
		done <- w.file.CloseLog(time.Now().UnixNano())
	default:
	}
	if w.dirty && (closing || !time.Now().Before(w.syncAt) || w.Waiting() >= w.o.MaxWaiting/4) {
		return w.sync()
	}
	if at := w.counting.saveAt; !w.dirty && !at.IsZero() && !time.Now().Before(at) {
		w.saveCounts(false)
	}
	return nil
}

// errFull ends the reading of events when there is no room for a further one.
var errFull = errors.New("full")

// appendSome appends some events, and reports whether there may be more.
func (w *Writer) appendSome(now int64) (more bool, err error) {
	if err := w.file.Ready(now); err != nil {
		return false, err
	}
	if w.file.Due(now, false) {
		_, err := w.file.Rotate(now)
		return true, err
	}
	last, full, err := w.read(min(together, w.file.Room(now)))
	if err != nil {
		return false, err
	}
	if last == w.last {
		if full { // not even one event fits into the file
			_, err = w.file.Rotate(now)
			return true, err
		}
		return false, nil
	}
	n, err := w.file.Append(w.buf, true)
	if err != nil {
		return false, err
	}
	w.unsynced += int64(n)
	if last > w.counting.upTo { // behind a failed sync, events are written once more
		w.written.Add(int64(last - w.counting.upTo))
		w.counting.upTo = last
	}
	w.last = last
	w.count(w.buf)
	if !w.dirty {
		w.dirty, w.syncAt = true, time.Now().Add(syncEvery)
	}
	return full, nil
}

// read reads the next events into buf, up to a number of octets, and reports whether there are
// more. One that is too long for any file is read all the same.
func (w *Writer) read(limit int64) (last uint64, full bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = w.buf[:0]
	if w.store == nil {
		return w.last, false, nil
	}
	last, err = w.store.Events(w.last, math.MaxInt, func(_ uint64, line []byte) error {
		if int64(len(w.buf)+len(line)+1) > limit && (len(w.buf) > 0 || w.file.Size() > 0) {
			return errFull
		}
		w.buf = append(append(w.buf, line...), '\n')
		return nil
	})
	if errors.Is(err, errFull) {
		return last, true, nil
	}
	return last, false, err
}

// errRemoved is the error after the removal of a file whose lines may not be safe on disk.
var errRemoved = errors.New("the file was removed while it was being written")

// sync syncs the file. Then the store drops the events that are in it.
func (w *Writer) sync() error {
	if !w.dirty {
		return nil
	}
	if err := w.file.Sync(); err != nil { // nobody knows which octets are on the disk
		w.file.Cut(w.unsynced)
		w.forget()
		return err
	}
	if removed, err := w.file.Removed(); err != nil || removed {
		w.forget()
		w.file.CheckSoon()
		return errors.Join(err, errRemoved)
	}
	w.dirty, w.unsynced = false, 0
	w.synced.Store(w.last)
	w.drop(w.last)
	w.saveCounts(false)
	return nil
}

// forget writes once more what is not synced.
func (w *Writer) forget() { w.last, w.dirty, w.unsynced = w.synced.Load(), false, 0 }

// report logs that writing has begun to fail, still fails, or works again.
func (w *Writer) report(err error) {
	switch {
	case err != nil:
		w.errors.Add(1)
		if !w.failing || time.Since(w.loggedAt) >= remind {
			w.loggedAt = time.Now()
			w.o.Log.Error().Err(err).Uint64("waiting", w.Waiting()).Uint64("limit", w.o.MaxWaiting).
				Msg(
					"cannot write events; they wait in the store, and no message is sent any more when as many wait as " +
						"the limit says; look at the disk of events.dir",
				)
		}
	case w.failing:
		w.o.Log.Warn().Msg("events are written again")
	}
	w.failing = err != nil
}
