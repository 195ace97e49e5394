package pdulog

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"pmg/protocols"
)

const (
	flushSize = 64 << 10    // a buffer this large is written without waiting, while it is in the cache
	keepSize  = 4 << 20     // while writing fails, lines are kept up to here and then lost
	retryWait = time.Second // after a failed write
)

// A File is the pdu log of one connector. Line, Full, Due, Flush and Close
// belong to one goroutine at a time; the other methods to any.
type File struct {
	dir, connector string
	path           string
	o              Options
	open           func(path string) (logFile, error)

	head    head
	buf     []byte // lines not yet written, always whole ones
	pending uint64 // how many
	first   int64  // when the oldest of them came

	file       logFile // nil after a rotation, a Reopen or an error: opened by the next flush
	size       int64
	rotateAt   int64 // when RotateEvery asks for the next file
	rotateHold int64 // no rotation before, since one failed

	torn     int64 // bytes of an unfinished line at the end of file
	failing  bool
	lostThen uint64 // lost, when writing began to fail
	retryAt  int64

	lines, lost atomic.Uint64
	reopen      atomic.Bool

	wake, stop, done chan struct{} // of the housekeeper
}

// logFile is what File needs of an *os.File; tests put a full disk behind it.
type logFile interface {
	io.WriteCloser
	Stat() (os.FileInfo, error)
	Truncate(size int64) error
	Sync() error
}

// Open opens or creates <dir>/<connector>.log, and dir. A half line at the end of
// an existing file, from a crash, is cut off.
func Open(dir, connector string, o Options) (*File, error) {
	return openWith(dir, connector, o, openFile)
}

func openWith(dir, connector string, o Options, open func(string) (logFile, error)) (*File, error) {
	if err := checkName(connector); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("cannot create directory of pdu logs: %w", err)
	}
	if o.Turn == nil {
		o.Turn = new(sync.Mutex)
	}
	f := &File{
		dir: dir, connector: connector,
		path: filepath.Join(dir, connector+logSuffix),
		o:    o, open: open, head: newHead(connector),
		rotateAt: math.MaxInt64,
		wake:     make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	if err := f.openFile(time.Now().UnixNano()); err != nil {
		return nil, err
	}
	go f.housekeep()
	return f, nil
}

// Line adds a PDU: received from the peer or sent to it, on the given instance.
// It never writes and, once the buffer has grown, never allocates.
func (f *File) Line(now int64, instance int, received bool, p protocols.PDU) {
	if len(f.buf) >= keepSize {
		f.lost.Add(1)
		return
	}
	if len(f.buf) == 0 {
		f.first = now
	}
	b := append(f.buf, f.head.at(now)...)
	b = strconv.AppendInt(b, int64(instance), 10)
	if received {
		b = append(b, " < "...)
	} else {
		b = append(b, " > "...)
	}
	b = p.AppendLog(b, f.o.Text)
	f.buf = append(b, '\n')
	f.pending++
}

// Full tells that so much is waiting that Flush should be called without delay.
func (f *File) Full() bool { return len(f.buf) >= flushSize && !f.failing }

// Due tells when Flush should be called at the latest; 0: nothing is waiting.
func (f *File) Due() int64 {
	if len(f.buf) == 0 {
		return 0
	}
	return max(f.first+int64(f.o.Flush), f.retryAt)
}

// Flush writes what is waiting, in one write, to the file that is due: a new one
// after Reopen or when the old one is too large or too old. An error is not the
// caller's: it is logged once, and the lines wait for a later Flush.
func (f *File) Flush(now int64) {
	if err := f.flush(now); err != nil {
		f.retryAt = now + int64(retryWait)
		if !f.failing {
			f.failing, f.lostThen = true, f.lost.Load()
			f.o.Log.Error().Err(err).Str("connector", f.connector).
				Msg("pdu log cannot be written; lines are kept in memory for a while, then lost")
		}
		return
	}
	f.retryAt = 0
	if f.failing {
		f.failing = false
		f.buf = nil // it is empty, and larger than it need be
		f.o.Log.Warn().Str("connector", f.connector).Uint64("lost", f.lost.Load()-f.lostThen).
			Msg("pdu log is written again")
	}
}

func (f *File) flush(now int64) error {
	if f.reopen.Swap(false) {
		f.closeFile()
	}
	if f.rotationDue(now) {
		f.rotate(now)
	}
	if f.file == nil {
		if err := f.openFile(now); err != nil {
			return err
		}
	}
	if err := f.mend(); err != nil {
		return err
	}
	return f.write()
}

// write writes the buffer. What of it did not reach the file whole stays.
func (f *File) write() error {
	if len(f.buf) == 0 {
		return nil
	}
	n, err := f.file.Write(f.buf)
	whole := n
	if err != nil {
		whole = bytes.LastIndexByte(f.buf[:n], '\n') + 1
		f.torn = int64(n - whole)
		_ = f.mend() // tried again by the next flush, which then reports it
	}
	f.size += int64(whole)
	f.buf = f.buf[:copy(f.buf, f.buf[whole:])]
	rest := uint64(bytes.Count(f.buf, []byte{'\n'}))
	f.lines.Add(f.pending - rest)
	f.pending = rest
	if err != nil {
		return fmt.Errorf("cannot write pdu log: %w", err)
	}
	return nil
}

// mend cuts an unfinished line off the end of the file, so that what follows
// begins a line of its own and a crash now leaves whole lines only.
func (f *File) mend() error {
	if f.torn == 0 {
		return nil
	}
	st, err := f.file.Stat() // not f.size: somebody else may have emptied the file
	if err == nil {
		err = f.file.Truncate(max(0, st.Size()-f.torn))
	}
	if err != nil {
		return fmt.Errorf("cannot cut half a line off pdu log: %w", err)
	}
	f.torn = 0
	return nil
}

// Reopen makes the next Flush open the file by its name again: after another
// program moved it away. It may be called from any goroutine.
func (f *File) Reopen() { f.reopen.Store(true) }

// Lines tells how many lines were written.
func (f *File) Lines() uint64 { return f.lines.Load() }

// Lost tells how many lines were thrown away because writing failed for too long.
func (f *File) Lost() uint64 { return f.lost.Load() }

// Close writes what is waiting and makes it safe on disk. A compression under way
// is cut short and left to the next Open.
func (f *File) Close() error {
	err := f.flush(time.Now().UnixNano())
	if err != nil {
		f.lost.Add(f.pending)
		err = fmt.Errorf("%w (%d lines lost)", err, f.pending)
		f.buf, f.pending = nil, 0
	} else if err = f.file.Sync(); err != nil {
		err = fmt.Errorf("cannot sync pdu log: %w", err)
	}
	f.closeFile()
	close(f.stop)
	<-f.done
	return err
}
