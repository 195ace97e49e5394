package pdulog

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pmg/internal/logfile"
)

const (
	// wakeSize is how many bytes of full chunks wake the writer before the flush time.
	// Waking a goroutine costs about 20 µs of CPU, so a smaller value would cost more.
	wakeSize = 512 << 10
	// lingerWait is how long a file that only a retired connector uses stays open.
	lingerWait = time.Second
	// idleWait is how long the writer sleeps if it has nothing to do.
	idleWait = time.Hour
)

// A chunk contains lines that files of a connector have passed to their writer.
type chunk struct {
	from  *connectorLog
	b     []byte
	lines uint64
	at    int64      // when the writer got the chunk
	done  chan error // instead of lines: a file is being closed and waits for the result
}

// A writer is one file on disk, with the chunks that wait for it and the goroutine that
// writes them. Only this goroutine (run), the goroutine of the field file and the first Dir.Open
// access the disk, and none of them holds mu while it does.
type writer struct {
	dir    *Dir
	name   string
	log    zerolog.Logger
	file   *logfile.File // closed after a rotation or an error; the next write opens the file
	refs   int           // number of connectors that use the writer; guarded by Dir.mu
	wakeup chan struct{}
	reopen atomic.Bool
	busy   atomic.Int64 // since when the writer has worked on the present chunk; 0: the writer is idle

	mu     sync.Mutex
	queue  []chunk
	queued int   // bytes in queue
	latest int64 // when the writer got the latest chunk
	free   [][]byte
	closes []chan error // channels of callers that wait for a new file
	ended  bool

	// These belong to run.
	taken     []chunk // chunks out of queue; the first is being written
	ends      []chan error
	failing   bool
	retryAt   time.Time
	workedAt  time.Time                // when the writer last had lines to write
	unchecked map[*connectorLog]uint64 // lines written since the last check of the file's name
}

func newWriter(d *Dir, name string) *writer {
	w := &writer{
		dir: d, name: name, log: d.o.Log.With().Str("connector", name).Logger(),
		wakeup: make(chan struct{}, 1), unchecked: map[*connectorLog]uint64{},
		workedAt: time.Now(),
	}
	w.file = d.logs.File(name, w.log, w.happens)
	return w
}

// happens is called for each event of the file. Lines written to a removed file since the last check are
// lost; lines in a renamed file are not lost.
func (w *writer) happens(e logfile.Event) error {
	if e == logfile.Moved || e == logfile.Removed {
		lost := uint64(0)
		for f, lines := range w.unchecked {
			if e == logfile.Removed {
				lost += lines
				f.written.Add(-lines)
				f.lost.Add(lines)
			}
		}
		w.log.Warn().Uint64("lost", lost).Msg("pdu log was removed or renamed while it was being written; it is created again")
	}
	clear(w.unchecked)
	return nil
}

// put appends a chunk to the queue and returns an empty buffer in exchange. It returns false
// if the writer has ended.
func (w *writer) put(c chunk, wake bool) (next []byte, ok bool) {
	w.mu.Lock()
	if w.ended {
		w.mu.Unlock()
		return nil, false
	}
	w.date(&c)
	last := len(w.queue) - 1
	switch {
	case last >= 0 && w.queue[last].takes(&c):
		w.queue[last].add(&c)
		next = c.b[:0]
	case c.done != nil: // the file needs no buffer any more
		w.queue = append(w.queue, c)
	case len(w.free) > 0:
		w.queue = append(w.queue, c)
		next = w.free[len(w.free)-1]
		w.free = w.free[:len(w.free)-1]
	default:
		w.queue = append(w.queue, c)
		next = make([]byte, 0, chunkSize+chunkSize/8) // the line that completes a chunk usually fits too
	}
	w.queued += len(c.b)
	wake = wake || w.queued >= wakeSize
	w.mu.Unlock()
	if wake {
		w.wake()
	}
	return next, true
}

// date makes the times of chunks rise, because the goroutines that hand them over read the clock before that: a file
// would otherwise get an earlier name than the file before it. A clock that was set back is believed.
func (w *writer) date(c *chunk) {
	switch {
	case c.done != nil:
	case c.at < w.latest && c.at > w.latest-int64(logfile.Overlap):
		c.at = w.latest
	default:
		w.latest = c.at
	}
}

// closeFile begins a new file for the callers that wait for one, after all lines that the writer got earlier.
func (w *writer) closeFile(err error) {
	w.mu.Lock()
	closes := w.closes
	w.closes = nil
	w.mu.Unlock()
	if len(closes) > 0 && err == nil {
		err = w.file.CloseLog(time.Now().UnixNano())
	}
	for _, c := range closes {
		c <- err
	}
}

// takes reports whether the lines of c fit into t. Joining small chunks, also those of several
// files of the connector, saves memory while the disk is slow.
func (t *chunk) takes(c *chunk) bool {
	return t.done == nil && c.done == nil && t.from == c.from && len(t.b)+len(c.b) <= chunkSize
}

func (t *chunk) add(c *chunk) {
	t.b, t.lines, t.at = append(t.b, c.b...), t.lines+c.lines, c.at
}

func (w *writer) wake() {
	select {
	case w.wakeup <- struct{}{}:
	default: // a wake-up is pending already
	}
}

// stuck returns how long the writer has worked on its current chunk.
func (w *writer) stuck(now int64) time.Duration {
	since := w.busy.Load()
	if since == 0 {
		return 0
	}
	return time.Duration(now - since)
}

// run writes chunks until no connector uses the writer any more.
func (w *writer) run() {
	w.file.Start()
	timer := time.NewTimer(idleWait)
	defer timer.Stop()
	for {
		wait, ended := w.writeWaiting()
		if ended {
			return
		}
		timer.Reset(wait)
		select {
		case <-w.wakeup:
		case <-timer.C:
		}
	}
}

// writeWaiting writes the waiting chunks. It returns how long the writer may sleep if it is
// not woken, and whether it has ended.
func (w *writer) writeWaiting() (wait time.Duration, ended bool) {
	if w.reopen.Swap(false) {
		w.file.CheckSoon()
		_ = w.file.Ready(time.Now().UnixNano()) // the next write reports errors
	}
	if wait := time.Until(w.retryAt); w.failing && wait > 0 && !w.ending() {
		return wait, false
	}
	w.take()
	err := w.drain()
	w.closeFile(err)
	w.busy.Store(0)
	w.report(err)
	if w.end(err) {
		return 0, true
	}
	switch {
	case err != nil:
		w.file.DiskFailed()
		w.putBack()
		w.retryAt = time.Now().Add(retryWait)
		return retryWait, false
	case len(w.unchecked) > 0 || w.unused():
		return logfile.CheckEvery, false
	}
	return idleWait, false
}

// take moves the queue's chunks to taken.
func (w *writer) take() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.taken = append(w.taken, w.queue...)
	clear(w.queue)
	w.queue, w.queued = w.queue[:0], 0
}

// putBack returns the chunks that could not be written to the front of the queue, where the
// last chunk can still grow.
func (w *writer) putBack() {
	w.mu.Lock()
	defer w.mu.Unlock()
	came := w.queue
	w.queue, w.taken = w.taken, nil
	for _, c := range came {
		if last := len(w.queue) - 1; last >= 0 && w.queue[last].takes(&c) {
			w.queue[last].add(&c)
		} else {
			w.queue = append(w.queue, c)
		}
	}
}

// ending reports whether a file is being closed and waits for the result.
func (w *writer) ending() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.queue, func(c chunk) bool { return c.done != nil })
}

// drain writes until no chunk is left.
func (w *writer) drain() error {
	for {
		if len(w.taken) > 0 {
			w.workedAt = time.Now()
		}
		done := 0
		for i := range w.taken {
			c := &w.taken[i]
			w.busy.Store(time.Now().UnixNano())
			if c.done != nil {
				w.ends = append(w.ends, c.done)
			} else if err := w.write(c); err != nil {
				c.from.errors.Add(1)
				w.taken = slices.Delete(w.taken, 0, done)
				return err
			}
			w.recycle(c)
			done++
		}
		clear(w.taken)
		w.taken = w.taken[:0]
		if w.take(); len(w.taken) == 0 {
			return w.file.Check()
		}
	}
}

// recycle keeps a chunk's buffer for reuse.
func (w *writer) recycle(c *chunk) {
	if cap(c.b) == 0 || cap(c.b) > 2*chunkSize {
		return
	}
	w.mu.Lock()
	if len(w.free) < 2*wakeSize/chunkSize {
		w.free = append(w.free, c.b[:0])
	}
	w.mu.Unlock()
}

// write writes a chunk, into several files if necessary. It leaves the unwritten lines in c.
func (w *writer) write(c *chunk) error {
	for len(c.b) > 0 {
		if err := w.file.Ready(c.at); err != nil {
			return err
		}
		n := w.fits(c)
		if w.file.Due(c.at, n == 0) {
			if _, err := w.file.Rotate(c.at); err != nil {
				return err
			}
			continue
		}
		if n == 0 {
			if w.tooLong(c) {
				continue
			}
			n = bytes.IndexByte(c.b, '\n') + 1
		}
		if err := w.writeLines(c, n); err != nil {
			return err
		}
	}
	return nil
}

// fits returns how many bytes of a chunk, in whole lines, belong into the current file.
func (w *writer) fits(c *chunk) int {
	room := min(w.file.Room(c.at), w.file.Allowed())
	if room >= int64(len(c.b)) {
		return len(c.b)
	}
	return bytes.LastIndexByte(c.b[:max(0, room)], '\n') + 1
}

// tooLong drops the first line of a chunk if it would exceed Options.MaxTotal. A line that
// exceeds MaxSize gets its own file.
func (w *writer) tooLong(c *chunk) bool {
	n := bytes.IndexByte(c.b, '\n') + 1
	if int64(n) <= w.file.Allowed() {
		return false
	}
	w.done(c, n)
	c.from.lost.Add(1)
	return true
}

// writeLines writes the first n bytes of a chunk. Lines that were not written completely
// stay in the chunk.
func (w *writer) writeLines(c *chunk, n int) error {
	whole, err := w.file.Append(c.b[:n], false)
	lines := w.done(c, whole)
	c.from.written.Add(lines)
	w.unchecked[c.from] += lines
	return err
}

// done removes the first n bytes from a chunk and returns the number of lines in them.
func (w *writer) done(c *chunk, n int) (lines uint64) {
	w.dir.waiting.Add(-int64(n))
	if n == len(c.b) {
		lines = c.lines
	} else {
		lines = uint64(bytes.Count(c.b[:n], []byte{'\n'}))
	}
	c.lines -= lines
	c.b = c.b[:copy(c.b, c.b[n:])]
	return lines
}

// report logs that writing has begun to fail, or works again.
func (w *writer) report(err error) {
	switch {
	case err != nil && !w.failing:
		w.log.Error().Err(err).
			Msg("pdu log cannot be written; lines are kept in memory for a while, then lost")
	case err == nil && w.failing:
		w.log.Warn().Msg("pdu log is written again")
	}
	w.failing = err != nil
}

// end reports the result to the files that are being closed. If no connector uses the writer any more, it closes
// the file on disk and returns true. err is the reason why lines could not be written. The lines are lost if
// no connector is left, because there is no further attempt.
func (w *writer) end(err error) bool {
	for _, c := range w.taken { // files that wait after lines that could not be written
		if c.done != nil {
			w.ends = append(w.ends, c.done)
		}
	}
	w.taken = slices.DeleteFunc(w.taken, func(c chunk) bool { return c.done != nil })
	unused := w.unused()
	if len(w.ends) == 0 && (!unused || time.Since(w.workedAt) < lingerWait) {
		return false
	}
	if err == nil && len(w.ends) > 0 {
		err = w.file.Sync()
	}
	if unused {
		if lost := w.giveUp(); lost > 0 {
			err = fmt.Errorf("%w (%d lines lost)", err, lost)
		}
		w.file.Close()
		w.file.Stop()
		if unused = w.leave(); !unused {
			w.file.Start()
		}
	}
	for _, done := range w.ends {
		done <- err
	}
	clear(w.ends)
	w.ends = w.ends[:0]
	return unused
}

// giveUp counts the lines that cannot be written as lost.
func (w *writer) giveUp() (lost uint64) {
	for i := range w.taken {
		c := &w.taken[i]
		lost += c.lines
		c.from.lost.Add(c.lines)
		w.done(c, len(c.b))
	}
	w.taken = nil
	return lost
}

// unused reports whether no connector uses the writer any more.
func (w *writer) unused() bool {
	w.dir.mu.Lock()
	defer w.dir.mu.Unlock()
	return w.refs == 0
}

// leave removes the writer from the directory, unless a file uses the writer again or has passed lines to it
// meanwhile. It reports whether the writer was removed.
func (w *writer) leave() bool {
	w.dir.mu.Lock()
	defer w.dir.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refs > 0 || len(w.queue) > 0 || len(w.closes) > 0 {
		return false
	}
	w.ended = true
	delete(w.dir.writers, w.name)
	return true
}
