package pdulog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pmg/internal/logfile"
)

const (
	// maxWaiting limits the bytes of lines that wait in memory for a slow disk, for all
	// files of a directory together. Further lines are lost. A gateway writes about 600
	// bytes per message, so the limit is reached after a third of a second at 300,000
	// messages per second, and after two minutes at 1,000.
	maxWaiting = 64 << 20

	// closeWait is how long Close waits for a disk that does not answer.
	closeWait = 5 * time.Second
)

// ErrNoAnswer means that a disk did not answer within the time for which Close waits.
var ErrNoAnswer = errors.New("the disk has not answered")

// A Dir is the directory of one gateway's pdu logs. It is safe for concurrent use.
//
// Files of the same name share one file on disk and the goroutine that writes it: those that
// goroutines have of one connector (File.Beside), and those of a connector that was removed and
// still drains while another one of that name has been added.
type Dir struct {
	o       Options
	limit   int64 // maxWaiting, except in tests
	logs    *logfile.Dir
	waiting atomic.Int64 // bytes of lines that writers have and have not written yet

	mu      sync.Mutex
	writers map[string]*writer
	files   []*File // files that are still open
}

// limitOf returns how many bytes of lines may wait in memory.
func limitOf(o Options) int64 {
	if o.Waiting > 0 {
		return min(o.Waiting, maxWaiting)
	}
	return maxWaiting
}

// NewDir returns the directory at path. Nothing is created before Open.
func NewDir(path string, o Options) *Dir {
	logs := logfile.NewDir(path, "pdu log", o.Options)
	logs.Keys = AppendKeys
	return &Dir{o: o, limit: limitOf(o), logs: logs, writers: map[string]*writer{}}
}

// Open opens <dir>/<connector>.log. It creates the file and the directory if they do not
// exist, and cuts off a half line that a crash has left at the end of the file.
func (d *Dir) Open(connector string) (*File, error) {
	if err := checkName(connector); err != nil {
		return nil, err
	}
	d.mu.Lock()
	w := d.writers[connector]
	fresh := w == nil
	if fresh {
		w = d.add(connector)
	}
	w.refs++
	d.mu.Unlock()
	if fresh {
		err := w.file.Open(time.Now().UnixNano())
		if err != nil {
			d.release(w)
		}
		go w.run() // even after an error: the writer ends, unless another file uses it already
		if err != nil {
			return nil, err
		}
	}
	c := &connectorLog{dir: d, name: connector, text: d.o.Text, wait: int64(d.o.Flush)}
	c.w.Store(w)
	return c.newFile(), nil
}

// add makes a writer for a name that has no writer. The caller holds d.mu, and starts the writer.
func (d *Dir) add(name string) *writer {
	w := newWriter(d, name)
	d.writers[name] = w
	return w
}

// writer returns the writer of a name. If the name has no writer, it makes and starts a writer.
func (d *Dir) writer(name string) *writer {
	d.mu.Lock()
	defer d.mu.Unlock()
	w := d.writers[name]
	if w == nil {
		w = d.add(name)
		go w.run()
	}
	return w
}

// release ends a connector's use of its writer. A writer that no connector uses ends.
func (d *Dir) release(w *writer) {
	d.mu.Lock()
	w.refs--
	d.mu.Unlock()
	w.wake()
}

// Reopen opens every file by its name again, after another program has moved or removed it.
func (d *Dir) Reopen() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range d.writers {
		w.reopen.Store(true)
		w.wake()
	}
}

// Close closes every file of the directory. It waits for at most closeWait, however many
// files there are.
func (d *Dir) Close() error {
	d.mu.Lock()
	files := slices.Clone(d.files)
	d.mu.Unlock()
	return d.close(files)
}

// close closes files. The caller ensures that nothing adds lines to them any more.
func (d *Dir) close(files []*File) error {
	ends := make([]<-chan error, len(files))
	for i, f := range files {
		ends[i] = f.end()
	}
	limit, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	var errs error
	failed := map[*connectorLog]bool{} // an error is about all files of a connector
	for i, end := range ends {
		var err error
		select {
		case err = <-end:
		case <-limit.Done():
			err = fmt.Errorf("%w for %v; lines are lost", ErrNoAnswer, closeWait)
		}
		if c := files[i].connectorLog; err != nil && !failed[c] {
			failed[c] = true
			errs = errors.Join(errs, fmt.Errorf("cannot close pdu log of %s: %w", files[i].name, err))
		}
	}
	d.mu.Lock()
	d.files = slices.DeleteFunc(d.files, func(f *File) bool { return slices.Contains(files, f) })
	d.mu.Unlock()
	return errs
}
