package logfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

// A retention removes and compresses the rotated files of one log.
//
// The log's writer itself removes old files at every rotation, so that the limits of Options hold however
// slowly files are compressed. The retention's own goroutine compresses files afterwards, the newest first,
// because the newest file is kept longest. The goroutine stops compressing a file that is removed.
type retention struct {
	dir     *Dir
	name    string         // name of the log
	log     zerolog.Logger // receives the retention's errors
	allowed atomic.Int64   // largest size of the file being written

	wake  chan struct{}
	quit  chan struct{} // closed to stop
	ended chan struct{} // closed when the goroutine has ended

	early atomic.Int64 // segments removed for MinFree

	mu       sync.Mutex
	warned   int64         // early at the last warning
	warnedAt time.Time     // time of that warning
	current  string        // stamp of the file being compressed; empty: none
	reserve  int64         // bytes reserved for the compressed form of the current file
	cancel   chan struct{} // closed to stop compressing the current file
}

// Start starts to remove and compress rotated files, those of an earlier process too.
func (r *retention) Start() {
	r.wake, r.quit, r.ended = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	r.rotated()
	go r.run(r.quit, r.ended)
}

// Stop ends the goroutine of Start, and waits for its end. It interrupts a compression, which the next Start repeats.
func (r *retention) Stop() {
	close(r.quit)
	<-r.ended
}

// RemovedEarly returns how many rotated files were removed because the disk was nearly full.
func (r *retention) RemovedEarly() int64 { return r.early.Load() }

// rotated is called when a file has been rotated.
func (r *retention) rotated() {
	if err := r.remove(); err != nil {
		r.failed(err)
	}
	select {
	case r.wake <- struct{}{}:
	default: // the goroutine will find this file too
	}
}

// DiskFailed makes room before the next attempt to write, because the disk may be full.
func (r *retention) DiskFailed() {
	if r.dir.o.MinFree > 0 {
		_ = r.remove() // no report, because the failed write was reported
	}
}

func (r *retention) failed(err error) {
	r.log.Error().Err(err).Msg("cannot compress or remove rotated " + r.dir.what + "s")
}

// run compresses rotated files. Every hour it also removes old files, because they may reach
// KeepAge without a rotation.
func (r *retention) run(quit, ended chan struct{}) {
	defer close(ended)
	hour := time.NewTicker(time.Hour)
	defer hour.Stop()
	for {
		select {
		case <-quit:
			return
		case <-r.wake:
		case <-hour.C:
			if err := r.remove(); err != nil {
				r.failed(err)
			}
		}
		if r.dir.o.Compress {
			if err := r.compressAll(quit); err != nil {
				r.failed(err)
			}
		}
	}
}

// remove removes the files that exceed the limits of Options.
func (r *retention) remove() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := r.trim(0)
	return err
}

// trim removes rotated files, the oldest first, until the rest is within the limits
// of Options and leaves room for the file being written and for extra bytes. It returns the
// remaining files. The caller holds r.mu.
func (r *retention) trim(extra int64) ([]Segment, error) {
	segments, err := Rotated(r.dir.path, r.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // the directory was removed; the next write creates the directory again
	}
	if err != nil {
		return nil, err
	}
	o, n := &r.dir.o, 0
	if o.Keep > 0 {
		n = max(0, len(segments)-o.Keep)
	}
	if o.KeepAge > 0 {
		oldest := time.Now().UTC().Add(-o.KeepAge).Format(StampLayout)
		for n < len(segments) && segments[n].Stamp < oldest {
			n++
		}
	}
	if o.MaxTotal > 0 {
		total := r.reserve
		sizes := make([]int64, len(segments))
		for i := len(segments) - 1; i >= n; i-- {
			sizes[i] = segments[i].size()
			total += sizes[i]
		}
		for ; n < len(segments) && total > o.MaxTotal-o.MaxSize-extra; n++ {
			total -= sizes[n]
			if segments[n].Stamp == r.current {
				total -= r.reserve
			}
		}
		defer func() { r.allowed.Store(o.MaxTotal - total) }()
	}
	n, errs := r.makeRoom(segments, n)
	r.dir.names.Lock()
	defer r.dir.names.Unlock()
	for _, s := range segments[:n] {
		if s.Stamp == r.current {
			close(r.cancel)
			r.current, r.reserve = "", 0
		}
		errs = errors.Join(errs, s.remove())
	}
	return segments[n:], errs
}

// names returns the names that a segment may have: plain and compressed.
func (s Segment) names() []string { return []string{s.plain(), s.plain() + packedSuffix} }

// size returns the bytes of a segment, without the compressed file that is being written, which reserve counts.
func (s Segment) size() (n int64) {
	for _, path := range s.names() {
		if st, err := os.Lstat(path); err == nil {
			n += st.Size()
		}
	}
	return n
}

// remove removes a Segment, and the file that an interrupted compression has left.
func (s Segment) remove() (errs error) {
	for _, path := range s.names() {
		for _, path := range []string{path, path + tmpSuffix} {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = errors.Join(errs, err)
			}
		}
	}
	return errs
}

// compressAll compresses the plain segments, the newest first.
func (r *retention) compressAll(quit chan struct{}) error {
	for {
		select {
		case <-quit:
			return nil // the next Start compresses the others
		case r.dir.compressing <- struct{}{}:
		}
		more, err := r.compressOne(quit)
		<-r.dir.compressing
		if err != nil {
			return fmt.Errorf("cannot compress: %w", err)
		}
		if !more {
			return nil
		}
	}
}

// compressOne compresses the newest plain segment. It reports false if there is no such segment.
func (r *retention) compressOne(quit chan struct{}) (bool, error) {
	s, cancel, err := r.choose()
	if err != nil || cancel == nil {
		return false, err
	}
	return true, r.compress(s, quit, cancel)
}

// choose returns the next segment to compress, and makes room for it. It also returns a
// channel that is closed when the segment is removed. The channel is nil if there is no
// segment.
func (r *retention) choose() (Segment, chan struct{}, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	segments, err := r.trim(0)
	if err != nil {
		return Segment{}, nil, err
	}
	newer := int64(0)
	for i := len(segments) - 1; i >= 0; i-- {
		s := segments[i]
		newer += s.size()
		if s.Packed {
			continue
		}
		// data that cannot be compressed grows a little, and has an index
		extra := s.size() + s.size()/1000 + s.size()/filterShare + 1024
		if o := &r.dir.o; o.MaxTotal > 0 && newer+extra > o.MaxTotal-o.MaxSize {
			break // there is no room for both the segment and its compressed form
		}
		if _, err = r.trim(extra); err != nil {
			return Segment{}, nil, err
		}
		r.current, r.reserve, r.cancel = s.Stamp, extra, make(chan struct{})
		_, err = r.trim(0) // updates the allowed size of the file being written
		return s, r.cancel, err
	}
	return Segment{}, nil, nil
}

// compress replaces a segment by its compressed form. The compressed file gets its name when
// it is complete and safe on disk, and the plain file is removed after that.
func (r *retention) compress(s Segment, quit, cancel chan struct{}) error {
	plain, packed := s.plain(), s.plain()+packedSuffix
	tmp, whole := packed+tmpSuffix, exists(packed) // after a crash before the plain file was removed
	var err error
	if !whole {
		err = compressFile(plain, tmp, r.dir.Keys, quit, cancel)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current != s.Stamp { // the segment was removed
		os.Remove(tmp)
		return nil
	}
	r.current, r.reserve = "", 0
	if err == nil && !whole {
		err = os.Rename(tmp, packed)
	}
	if err != nil {
		os.Remove(tmp)
		if errors.Is(err, errStopped) {
			return nil
		}
		return err
	}
	return os.Remove(plain)
}
