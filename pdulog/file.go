package pdulog

import (
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
// goroutine at a time; the other methods may be called from any goroutine.
//
// Only Close waits for the disk. The other methods gather lines in a chunk, and hand full
// chunks to the file's writer, which has its own goroutine.
type File struct {
	dir  *Dir
	name string
	w    *writer

	text bool      // message texts are written
	hash *textHash // hash that is written in place of texts; nil: none is
	wait int64     // how long a line may wait before the writer is woken

	head    head
	buf     []byte // the chunk that is being filled, which contains only whole lines
	lines   uint64 // number of lines in buf
	waiting bool   // the writer was not yet woken for lines in buf
	first   int64  // time of the oldest of the lines for which the writer was not woken
	retryAt int64  // buf found no room; Flush tries again then

	reported   uint64 // number of lost lines in the last warning
	complainAt int64

	written, lost, errors atomic.Uint64
	released              atomic.Bool // Retire or Close was called
	closed                bool
	strangers             strangers // limits the lines of sessions that are not logged in
	pressing              strangers // limits the lines of sessions that continue although they are refused
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
	f.w.wake()
	f.waiting, f.retryAt = false, 0
}

// handOver hands the chunk to the writer and begins an empty one. It reports whether there was
// room in memory for the chunk.
func (f *File) handOver(now int64, wake bool) bool {
	n := int64(len(f.buf))
	if f.dir.waiting.Add(n) > f.dir.limit {
		f.dir.waiting.Add(-n)
		f.w.wake()
		return false
	}
	c := chunk{from: f, b: f.buf, lines: f.lines, at: now}
	for {
		next, ok := f.w.put(c, wake)
		if ok {
			f.buf, f.lines = next, 0
			return true
		}
		f.w = f.dir.writer(f.name) // the file was retired, and the writer has ended
	}
}

// complain logs a warning about lost lines or a disk that does not answer, at most once per
// complainEvery.
func (f *File) complain(now int64) {
	if now < f.complainAt && now >= f.complainAt-int64(complainEvery) { // otherwise the clock was set back
		return
	}
	lost, stuck := f.lost.Load()-f.reported, f.w.stuck(now)
	if lost == 0 && stuck < stuckAfter {
		return
	}
	f.complainAt = now + int64(complainEvery)
	f.reported += lost
	f.dir.o.Log.Warn().Str("connector", f.name).Uint64("lost", lost).Stringer("disk_silent", stuck).
		Msg(
			"pdu log cannot follow: the disk is too slow or does not answer; messages go on, lines are lost when memory " +
				"for them is full",
		)
}

// Retire is called when the connector was removed. The file on disk is closed as soon as
// all lines are written. Lines may still be added, and open it again.
func (f *File) Retire() {
	if !f.released.Swap(true) {
		f.dir.mu.Lock()
		w := f.dir.writers[f.name]
		f.dir.mu.Unlock()
		f.dir.release(w)
	}
}

// Lines returns how many lines were written.
func (f *File) Lines() uint64 { return f.written.Load() }

// Lost returns the number of lines that were not written, or were written to a file that had been removed.
func (f *File) Lost() uint64 { return f.lost.Load() }

// Errors returns how many operations on the file failed.
func (f *File) Errors() uint64 { return f.errors.Load() }

// RemovedEarly returns how many rotated files were removed because the disk was nearly full.
func (f *File) RemovedEarly() int64 { return f.w.file.RemovedEarly() }

// Close writes the waiting lines and syncs the file. It gives up after closeWait if the
// disk does not answer. It interrupts a compression, which the next Open does again.
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
	if _, ok := f.w.put(chunk{from: f, done: done}, false); !ok {
		done <- nil // the file was retired, and the writer has ended
		return done
	}
	f.buf, f.lines, f.waiting = nil, 0, false
	if f.released.Swap(true) {
		f.w.wake()
	} else {
		f.dir.release(f.w)
	}
	return done
}
