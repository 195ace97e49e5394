package pdulog

import (
	"strconv"
	"sync/atomic"
	"time"

	"pmg/protocols"
)

const (
	chunkSize = 64 << 10    // lines are handed over in pieces of this size
	retryWait = time.Second // pause after a failed write, and after lines found no room in memory

	// complainEvery is the pause between two warnings about lost lines or a disk
	// that does not answer.
	complainEvery = time.Minute
	// stuckAfter is how long a call to the disk may take before it is worth a warning.
	stuckAfter = 5 * time.Second
)

// A File is the pdu log of one connector. Line, Due, Flush and Close belong to one
// goroutine at a time; the other methods may be called from any goroutine.
//
// No method but Close waits for the disk: lines are gathered in a chunk, and full
// chunks are handed to the writer of the file, which has a goroutine of its own.
type File struct {
	dir  *Dir
	name string
	w    *writer

	text bool  // message texts are written
	wait int64 // how long a line may wait before it is handed over

	head    head
	buf     []byte // the chunk being filled, always whole lines
	lines   uint64 // in buf
	waiting bool   // some lines were added and the writer was not told yet
	first   int64  // when the oldest of those was added
	retryAt int64  // buf found no room; Flush tries again then

	told       uint64 // lost lines that a warning has told of
	complainAt int64

	written, lost, errors atomic.Uint64
	released              atomic.Bool // by Retire or Close
	closed                bool
	strangers             strangers // lines of sessions that are not logged in
}

// Line adds a PDU that was received from the peer, or sent to it, on the given
// instance, of a session of that standing, and what it is about. Line never waits and does not allocate once
// the log has reached its usual size.
func (f *File) Line(now int64, instance int, received bool, p protocols.PDU, s Standing, about About) {
	if s != LoggedIn && !f.strangers.admit(now) {
		f.lost.Add(1)
		return
	}
	if len(f.buf) >= chunkSize && !f.hand(now, false) {
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
	b = append(about.append(b, p), '\n')
	if s != LoggedIn {
		f.strangers.add(len(b) - len(f.buf))
	}
	f.buf = b
	f.lines++
	if len(f.buf) >= chunkSize {
		f.hand(now, false)
	}
}

// Due returns when Flush should be called at the latest; 0 means that nothing waits.
func (f *File) Due() int64 {
	if !f.waiting {
		return 0
	}
	return max(f.first+f.wait, f.retryAt)
}

// Flush hands over what waits and wakes the writer.
func (f *File) Flush(now int64) {
	if !f.waiting {
		return
	}
	f.complain(now)
	if len(f.buf) > 0 && !f.hand(now, true) {
		f.retryAt = now + int64(retryWait)
		return
	}
	f.w.ring()
	f.waiting, f.retryAt = false, 0
}

// hand gives the chunk to the writer and goes on with an empty one. It reports
// whether there was room in memory for it.
func (f *File) hand(now int64, ring bool) bool {
	n := int64(len(f.buf))
	if f.dir.waiting.Add(n) > f.dir.limit {
		f.dir.waiting.Add(-n)
		f.w.ring()
		return false
	}
	c := chunk{from: f, b: f.buf, lines: f.lines, at: now}
	for {
		next, ok := f.w.put(c, ring)
		if ok {
			f.buf, f.lines = next, 0
			return true
		}
		f.w = f.dir.writer(f.name) // the file is retired, and its writer had ended
	}
}

// complain warns, once a minute at most, of lost lines and of a disk that does not
// answer.
func (f *File) complain(now int64) {
	if now < f.complainAt && now >= f.complainAt-int64(complainEvery) { // the clock may be set back
		return
	}
	lost, stuck := f.lost.Load()-f.told, f.w.stuck(now)
	if lost == 0 && stuck < stuckAfter {
		return
	}
	f.complainAt = now + int64(complainEvery)
	f.told += lost
	f.dir.o.Log.Warn().Str("connector", f.name).Uint64("lost", lost).Dur("disk_silent_ms", stuck).
		Msg("pdu log cannot follow: the disk is too slow or does not answer; messages go on, lines are lost when memory for them is full")
}

// Retire says that the connector was removed. The file on disk is closed as soon as
// nothing waits to be written. Lines may still be added: they open it again.
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

// Lost returns how many lines were not written, or written to a file that had been
// removed.
func (f *File) Lost() uint64 { return f.lost.Load() }

// Errors returns how many operations on the file failed.
func (f *File) Errors() uint64 { return f.errors.Load() }

// Close writes what waits and makes it safe on disk. It gives up after a few
// seconds if the disk does not answer. A compression under way is cut short and
// left to the next Open.
func (f *File) Close() error { return f.dir.close([]*File{f}) }

// end hands over the last lines and returns the channel on which the writer reports
// that they are safe on disk.
func (f *File) end() <-chan error {
	done := make(chan error, 1)
	if f.closed {
		done <- nil
		return done
	}
	f.closed = true
	if len(f.buf) > 0 && !f.hand(time.Now().UnixNano(), false) {
		f.lost.Add(f.lines)
	}
	if _, ok := f.w.put(chunk{from: f, done: done}, false); !ok {
		done <- nil // the file is retired, and its writer has ended
		return done
	}
	f.buf, f.lines, f.waiting = nil, 0, false
	if f.released.Swap(true) {
		f.w.ring()
	} else {
		f.dir.release(f.w)
	}
	return done
}
