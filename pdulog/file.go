package pdulog

import (
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"pmg/protocols"
)

const (
	chunkSize = 64 << 10    // bytes of lines that the writer gets together
	retryWait = time.Second // pause after a failed write, and after the memory was full

	// complainEvery is the pause between two warnings about lost lines or a disk
	// that does not answer.
	complainEvery = time.Minute
	// stuckAfter is how long a call to the disk may take without a warning.
	stuckAfter = 5 * time.Second
)

// A File is the pdu log of one connector. Line, Due, Flush and Close belong to one
// goroutine at a time; the other methods may be called from any goroutine. Another goroutine
// that logs PDUs of the connector has a File of its own (Beside).
//
// Only Close waits for the disk. The other methods gather lines in a chunk, and hand full
// chunks to the file's writer, which has its own goroutine.
type File struct {
	*connectorLog

	hash    *textHash // hash that is written in place of texts; nil: none is
	head    head
	buf     []byte // the chunk that is being filled, which contains only whole lines
	lines   uint64 // number of lines in buf
	waiting bool   // the writer was not yet woken for lines in buf
	first   int64  // time of the oldest of the lines for which the writer was not woken
	retryAt int64  // buf found no room; Flush tries again then
	closed  bool
}

// A connectorLog is what the files of one connector have in common.
type connectorLog struct {
	dir  *Dir
	name string
	text bool  // message texts are written
	wait int64 // how long a line may wait before the writer is woken

	w        atomic.Pointer[writer] // another one, if the connector was removed and the writer has ended
	open     atomic.Int64           // number of files that are not closed
	released atomic.Bool            // Retire was called, or Close of the last file
	shared   atomic.Bool            // Share was called: only the Shared uses the connector's file

	written, lost, errors atomic.Uint64
	reported              atomic.Uint64 // number of lost lines in the last warning
	complainAt            atomic.Int64

	strangers strangers // limits the lines of sessions that are not logged in
	pressing  strangers // limits the lines of sessions that continue although they are refused
}

// newFile returns a further file of a connector.
func (c *connectorLog) newFile() *File {
	f := &File{connectorLog: c, head: newHead(c.name), hash: newTextHash(&c.dir.o)}
	c.open.Add(1)
	c.dir.mu.Lock()
	c.dir.files = append(c.dir.files, f)
	c.dir.mu.Unlock()
	return f
}

// Beside returns a further file of the same connector, for another goroutine. Both are
// written to the same file on disk, and share limits, counters, and the end by Retire. Each is
// closed by itself, or by Dir.Close.
func (f *File) Beside() *File { return f.newFile() }

// leave ends a file into which no more lines come, if the connector was removed and no line waits. It reports whether it did.
func (f *File) leave() bool {
	if !f.released.Load() || f.waiting {
		return false
	}
	f.closed = true
	f.open.Add(-1)
	f.dir.mu.Lock()
	defer f.dir.mu.Unlock()
	f.dir.files = slices.DeleteFunc(f.dir.files, func(other *File) bool { return other == f })
	return true
}

// Line adds a PDU that was received from the peer on an instance, or is sent to it. s is
// the standing of the session, and about holds the further fields of the line. Line never
// waits, and does not allocate after the buffers have reached their usual size.
func (f *File) Line(now int64, instance int, received bool, p protocols.PDU, s Standing, about About) {
	limit := f.limitOf(s, &about)
	if limit != nil && !limit.admit(now) {
		f.lost.Add(1)
		return
	}
	if len(f.buf) >= chunkSize && !f.handOver(now, false) {
		f.lost.Add(1)
		f.complain(now)
		return
	}
	if !f.waiting {
		f.waiting, f.first = true, now
	}
	b := append(f.buf, f.head.at(now)...)
	b = strconv.AppendInt(b, int64(instance), 10)
	if received {
		b = append(b, " < "...)
	} else {
		b = append(b, " > "...)
	}
	b = s.append(b, p, f.text)
	if f.hash != nil && s == LoggedIn {
		b = f.hash.append(b, p)
	}
	b = append(about.append(b, p), '\n')
	if limit != nil {
		limit.add(len(b) - len(f.buf))
	}
	f.buf = b
	f.lines++
	if len(f.buf) >= chunkSize {
		f.handOver(now, false)
	}
}

// limitOf returns the limit of a session's lines, nil if there is no limit.
func (f *File) limitOf(s Standing, about *About) *strangers {
	switch {
	case s != LoggedIn:
		return &f.strangers
	case about.Pressing:
		return &f.pressing
	}
	return nil
}

// Due returns when Flush must be called at the latest, or 0 if no line waits.
func (f *File) Due() int64 {
	if !f.waiting {
		return 0
	}
	return max(f.first+f.wait, f.retryAt)
}

// Flush hands the waiting lines to the writer and wakes it.
func (f *File) Flush(now int64) {
	if !f.waiting {
		return
	}
	f.complain(now)
	if len(f.buf) > 0 && !f.handOver(now, true) {
		f.retryAt = now + int64(retryWait)
		return
	}
	f.w.Load().wake()
	f.waiting, f.retryAt = false, 0
}

// handOver hands the chunk to the writer and begins an empty one. It reports whether there was
// room in memory for the chunk.
func (f *File) handOver(now int64, wake bool) bool {
	n := int64(len(f.buf))
	if f.dir.waiting.Add(n) > f.dir.limit {
		f.dir.waiting.Add(-n)
		f.w.Load().wake()
		return false
	}
	c := chunk{from: f.connectorLog, b: f.buf, lines: f.lines, at: now}
	for {
		next, ok := f.w.Load().put(c, wake)
		if ok {
			f.buf, f.lines = next, 0
			return true
		}
		f.w.Store(f.dir.writer(f.name)) // the file was retired, and the writer has ended
	}
}

// complain logs a warning about lost lines or a disk that does not answer, at most once per
// complainEvery.
func (c *connectorLog) complain(now int64) {
	at := c.complainAt.Load()
	if now < at && now >= at-int64(complainEvery) { // otherwise the clock was set back
		return
	}
	lost, stuck := c.lost.Load(), c.w.Load().stuck(now)
	if lost == c.reported.Load() && stuck < stuckAfter ||
		!c.complainAt.CompareAndSwap(at, now+int64(complainEvery)) { // another file has just logged it
		return
	}
	c.dir.o.Log.Warn().Str("connector", c.name).Uint64("lost", lost-c.reported.Swap(lost)).Stringer("disk_silent", stuck).
		Msg(
			"pdu log cannot follow: the disk is too slow or does not answer; messages go on, lines are lost when memory " +
				"for them is full",
		)
}

// Retire is called when the connector was removed. It is about all files of the connector:
// the file on disk is closed as soon as all lines are written. Lines may still be added, and
// open it again.
func (c *connectorLog) Retire() {
	if !c.released.Swap(true) {
		c.dir.release(c.w.Load()) // it has not ended, because it was in use
	}
}

// Lines returns how many lines were written.
func (c *connectorLog) Lines() uint64 { return c.written.Load() }

// Lost returns the number of lines that were not written, or were written to a file that had been removed.
func (c *connectorLog) Lost() uint64 { return c.lost.Load() }

// Errors returns how many operations on the file failed.
func (c *connectorLog) Errors() uint64 { return c.errors.Load() }

// RemovedEarly returns how many rotated files were removed because the disk was nearly full.
func (c *connectorLog) RemovedEarly() int64 { return c.w.Load().file.RemovedEarly() }

// Close writes the waiting lines and syncs the file. It gives up after closeWait if the
// disk does not answer. With the last file of the connector it interrupts a compression, which
// the next Open does again.
func (f *File) Close() error { return f.dir.close([]*File{f}) }

// end hands the last lines to the writer. It returns the channel on which the writer reports when the lines are safe on disk.
func (f *File) end() <-chan error {
	done := make(chan error, 1)
	if f.closed {
		done <- nil
		return done
	}
	f.closed = true
	if len(f.buf) > 0 && !f.handOver(time.Now().UnixNano(), false) {
		f.lost.Add(f.lines)
	}
	isLast := f.open.Add(-1) == 0
	w := f.w.Load()
	_, ok := w.put(chunk{done: done}, false)
	f.buf, f.lines, f.waiting = nil, 0, false
	switch {
	case !ok: // the file was retired, and the writer has ended
		done <- nil
	case isLast && !f.released.Swap(true):
		f.dir.release(w)
	default:
		w.wake()
	}
	return done
}
