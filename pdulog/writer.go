package pdulog

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// wakeSize is how many bytes of full chunks wait before the writer is woken
	// ahead of the flush time. Waking a goroutine costs about 20 µs of CPU.
	wakeSize = 512 << 10
	// checkEvery is how often the writer looks whether its file has kept its name.
	checkEvery = time.Second
	// lingerWait is how long a file stays open that only a retired connector uses.
	lingerWait = time.Second
	// idleWait is how long the writer sleeps when it has nothing to do.
	idleWait = time.Hour
)

// A chunk is lines that one file has handed over.
type chunk struct {
	from  *File
	b     []byte
	lines uint64
	at    int64      // when it was handed over
	done  chan error // instead of lines: from is being closed and awaits the outcome
}

// A writer is one file on disk, the chunks that wait for it and the goroutine that
// writes them. Only that goroutine (run) and the one of its retention call the disk,
// apart from the first Dir.Open, and neither holds mu meanwhile.
type writer struct {
	dir        *Dir
	name, path string
	refs       int // files that use the writer; guarded by Dir.mu
	bell       chan struct{}
	reopen     atomic.Bool
	busy       atomic.Int64 // since when the writer has been at work on a chunk; 0: it is idle

	mu     sync.Mutex
	queue  []chunk
	queued int // bytes
	free   [][]byte
	ended  bool

	// These belong to run.
	taken      []chunk // out of queue, the first being written
	ends       []chan error
	file       logFile // nil after a rotation, a Reopen or an error: opened by the next write
	size       int64
	torn       int64 // bytes of an unfinished line at the end of file
	rotateAt   int64 // when RotateEvery asks for the next file
	rotateHold int64 // no rotation before, because one failed
	failing    bool
	retryAt    time.Time
	workedAt   time.Time // when there last was something to write
	checkAt    time.Time
	unchecked  map[*File]uint64 // lines written since the file was last seen under its name

	retention retention
}

// logFile is what a writer needs of an *os.File; tests put a full or dead disk
// behind it.
type logFile interface {
	io.WriteCloser
	Stat() (os.FileInfo, error)
	Truncate(size int64) error
	Sync() error
}

func newWriter(d *Dir, name, path string) *writer {
	w := &writer{
		dir: d, name: name, path: path,
		bell: make(chan struct{}, 1), rotateAt: math.MaxInt64, unchecked: map[*File]uint64{},
		workedAt: time.Now(),
	}
	w.retention.init()
	return w
}

// put appends a chunk to the queue and returns an empty buffer in exchange. It
// reports false if the writer has ended.
func (w *writer) put(c chunk, ring bool) (next []byte, ok bool) {
	w.mu.Lock()
	if w.ended {
		w.mu.Unlock()
		return nil, false
	}
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
		next = make([]byte, 0, chunkSize+chunkSize/8) // most lines that fill a chunk fit beside it
	}
	w.queued += len(c.b)
	ring = ring || w.queued >= wakeSize
	w.mu.Unlock()
	if ring {
		w.ring()
	}
	return next, true
}

// takes reports whether c fits into t, so that small chunks do not hold much memory
// while the disk is slow.
func (t *chunk) takes(c *chunk) bool {
	return t.done == nil && c.done == nil && t.from == c.from && len(t.b)+len(c.b) <= chunkSize
}

// add appends the lines of c to t.
func (t *chunk) add(c *chunk) {
	t.b, t.lines, t.at = append(t.b, c.b...), t.lines+c.lines, c.at
}

// ring wakes the writer.
func (w *writer) ring() {
	select {
	case w.bell <- struct{}{}:
	default: // it has been rung
	}
}

// stuck returns how long the writer has been at work on one chunk.
func (w *writer) stuck(now int64) time.Duration {
	since := w.busy.Load()
	if since == 0 {
		return 0
	}
	return time.Duration(now - since)
}

// run writes chunks until no file uses the writer any more.
func (w *writer) run() {
	w.retention.start(w)
	timer := time.NewTimer(idleWait)
	defer timer.Stop()
	for {
		wait, ended := w.turn()
		if ended {
			return
		}
		timer.Reset(wait)
		select {
		case <-w.bell:
		case <-timer.C:
		}
	}
}

// turn writes the chunks that wait. It returns how long to sleep unless the bell
// rings, and whether the writer has ended.
func (w *writer) turn() (wait time.Duration, ended bool) {
	if w.reopen.Swap(false) {
		w.openAgain()
	}
	if wait := time.Until(w.retryAt); w.failing && wait > 0 && !w.ending() {
		return wait, false
	}
	w.take()
	err := w.drain()
	w.busy.Store(0)
	w.report(err)
	if w.end(err) {
		return 0, true
	}
	switch {
	case err != nil:
		w.retention.diskFailed(w)
		w.putBack()
		w.retryAt = time.Now().Add(retryWait)
		return retryWait, false
	case len(w.unchecked) > 0 || w.unused():
		return checkEvery, false
	}
	return idleWait, false
}

// take moves the queue to the chunks that run works on.
func (w *writer) take() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.taken = append(w.taken, w.queue...)
	clear(w.queue)
	w.queue, w.queued = w.queue[:0], 0
}

// putBack returns what could not be written to the front of the queue, where the
// last chunk may still grow.
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

// ending reports whether a file is being closed and waits for the outcome.
func (w *writer) ending() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.queue, func(c chunk) bool { return c.done != nil })
}

// drain writes until nothing is left.
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
			return w.check()
		}
	}
}

// recycle keeps a chunk's buffer for another one.
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

// write writes a chunk, into as many files as it takes. It leaves in c what was not
// written.
func (w *writer) write(c *chunk) error {
	for len(c.b) > 0 {
		if err := w.check(); err != nil {
			return err
		}
		if w.file != nil && c.at >= w.rotateAt && w.size > 0 && c.at >= w.rotateHold {
			w.rotate(c.at)
		}
		if w.file == nil {
			if err := w.openFile(c.at); err != nil {
				return err
			}
		}
		if err := w.mend(); err != nil {
			return err
		}
		n := w.fits(c)
		if n == 0 && w.size > 0 && c.at >= w.rotateHold {
			w.rotate(c.at)
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

// fits returns how much of a chunk, in whole lines, belongs into the file.
func (w *writer) fits(c *chunk) int {
	room := w.retention.allowed.Load() - w.size
	if w.dir.o.MaxSize > 0 && c.at >= w.rotateHold {
		room = min(room, w.dir.o.MaxSize-w.size)
	}
	if room >= int64(len(c.b)) {
		return len(c.b)
	}
	return bytes.LastIndexByte(c.b[:max(0, room)], '\n') + 1
}

// tooLong drops the first line of a chunk if it would break Options.MaxTotal. It may
// break MaxSize: then it has a file of its own.
func (w *writer) tooLong(c *chunk) bool {
	n := bytes.IndexByte(c.b, '\n') + 1
	if w.size+int64(n) <= w.retention.allowed.Load() {
		return false
	}
	w.done(c, n)
	c.from.lost.Add(1)
	return true
}

// writeLines writes the first n bytes of a chunk. What did not reach the file whole
// stays in the chunk.
func (w *writer) writeLines(c *chunk, n int) error {
	whole, err := w.file.Write(c.b[:n])
	if err != nil {
		n := whole
		whole = bytes.LastIndexByte(c.b[:n], '\n') + 1
		w.torn = int64(n - whole)
		_ = w.mend() // tried again before the next write, which then reports it
	}
	w.size += int64(whole)
	lines := w.done(c, whole)
	c.from.written.Add(lines)
	w.unchecked[c.from] += lines
	if err != nil {
		return fmt.Errorf("cannot write pdu log: %w", err)
	}
	return nil
}

// done takes the first n bytes off a chunk and returns how many lines they held.
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

// mend cuts an unfinished line off the end of the file, so that what follows begins
// a line of its own and a crash now leaves whole lines only.
func (w *writer) mend() error {
	if w.torn == 0 {
		return nil
	}
	st, err := w.file.Stat() // not w.size: another program may have emptied the file
	if err == nil {
		err = w.file.Truncate(max(0, st.Size()-w.torn))
	}
	if err != nil {
		return fmt.Errorf("cannot cut half a line off pdu log: %w", err)
	}
	w.torn = 0
	return nil
}

// report logs when writing begins to fail and when it works again.
func (w *writer) report(err error) {
	log := &w.dir.o.Log
	switch {
	case err != nil && !w.failing:
		log.Error().Err(err).Str("connector", w.name).
			Msg("pdu log cannot be written; lines are kept in memory for a while, then lost")
	case err == nil && w.failing:
		log.Warn().Str("connector", w.name).Msg("pdu log is written again")
	}
	w.failing = err != nil
}

// end answers the files that are being closed. If no file uses the writer any more,
// it closes the file on disk and reports true. err is why lines could not be written;
// they are lost if no file is left, because nothing would try again.
func (w *writer) end(err error) bool {
	for _, c := range w.taken { // those behind lines that could not be written
		if c.done != nil {
			w.ends = append(w.ends, c.done)
		}
	}
	w.taken = slices.DeleteFunc(w.taken, func(c chunk) bool { return c.done != nil })
	unused := w.unused()
	if len(w.ends) == 0 && (!unused || time.Since(w.workedAt) < lingerWait) {
		return false
	}
	if err == nil && w.file != nil && len(w.ends) > 0 {
		if err = w.file.Sync(); err != nil {
			err = fmt.Errorf("cannot sync pdu log: %w", err)
		}
	}
	if unused {
		if lost := w.giveUp(); lost > 0 {
			err = fmt.Errorf("%w (%d lines lost)", err, lost)
		}
		w.closeFile()
		w.retention.stop()
		if unused = w.leave(); !unused {
			w.retention.start(w)
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

// unused reports whether no file uses the writer.
func (w *writer) unused() bool {
	w.dir.mu.Lock()
	defer w.dir.mu.Unlock()
	return w.refs == 0
}

// leave takes the writer out of the directory, unless a file uses it again or lines
// have come meanwhile.
func (w *writer) leave() bool {
	w.dir.mu.Lock()
	defer w.dir.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refs > 0 || len(w.queue) > 0 {
		return false
	}
	w.ended = true
	delete(w.dir.writers, w.name)
	return true
}
