package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"

	"pmg/store/ballast"
	"pmg/store/journal"
	"pmg/store/notes"
	"pmg/store/seal"
)

// Options are the parameters with which a durable store is opened.
type Options struct {
	FS       vfs.FS         // nil: the file system of the operating system
	Log      zerolog.Logger // log for events of the store: a slow disk, stalls, faults
	Fatal    func(error)    // called once, when the store accepts no more batches; the process should end
	MaxFiles int            // maximum number of open tables; 0: maxFiles
	Ballast  int64          // size of a file that is removed when the disk is full, so that messages can be drained
	// Journal is the journal of several nodes, for OpenCopy. nil: the store has its own journal.
	Journal journal.Journal
	Origin  string // unique name of Journal
	// Keys are the encryption keys of messages, of 32 octets each. The first key encrypts new messages.
	// If there are no keys, messages are not encrypted.
	Keys [][]byte
	// LockWait is for how long Open waits for another process that has the store open, such as a
	// command that copies it.
	LockWait time.Duration

	noSync     bool          // for a test which shows that the other tests need syncs
	segment    int64         // for tests; 0: the default of package file
	atOnce     uint32        // for tests; 0: leaveAtOnce
	retryPause time.Duration // for tests; 0: a second
	memTable   uint64        // for tests, so that tables are written often; 0: memTableSize
	flush      int64         // for tests; 0: flushOctets
	tables     int           // for tests; 0: as many small tables of notes as the package notes has at most
}

// The settings of pebble. They were measured with batches of 1 to 1,000 messages.
const (
	memTableSize  = 16 << 20 // larger tables double the disk space and the latency of the slowest commits
	memTables     = 4
	blockCache    = 64 << 20
	maxFiles      = 1000
	l0Compaction  = 4
	l0StopWrites  = 24
	bloomBits     = 10
	slowDisk      = 2 * time.Second // operations on the disk that take longer are counted as slow
	retryPause    = time.Second     // pause between a failed attempt to write a table and the next attempt
	maxBatchKept  = 4 << 20         // maximum size of the storage that the pebble batch keeps
	formatPebble  = pebble.FormatValueSeparation
	flushRanges   = time.Minute // how long a deleted range stays in the memory table at most
	flushAttempts = 8           // number of pauses after which a memory table that cannot be written is a fault
	flushWait     = time.Minute // the same for a full disk
	lockPause     = 100 * time.Millisecond
	closePauses   = 4 // number of pauses for which Close waits for a commit that may never return
)

// A durable is the engine that keeps messages on disk, in a journal and in pebble.
type durable struct {
	manifest   string // name of the manifest when the store was opened
	guard      *guard
	health     io.Closer
	ballast    *ballast.File
	monitor    *monitor
	lock       *pebble.Lock
	summary    summary
	oldKeyUpTo uint64 // id of the last message stored before the current key; set when the store is opened
	*reader           // implements Index
	journal    journal.Journal
	writer     *writer
	noteWriter *noteWriter
	copying    sync.Mutex // held while the store is copied or purged, because both write all notes
	tidier     *tidier
}

// Open opens the store in a directory, and creates the store if it does not exist.
func Open(dir string, o Options) (Store, error) {
	s := newDurable(dir, o)
	if err := s.open(o); err != nil {
		return nil, fmt.Errorf("cannot open the store in %s: %w", dir, err)
	}
	return s, nil
}

func newDurable(dir string, o Options) *durable {
	base := o.FS
	if base == nil {
		base = vfs.Default
	}
	pause := o.retryPause
	if pause == 0 {
		pause = retryPause
	}
	others := private{base}
	s := &durable{monitor: &monitor{dir: dir, log: o.Log, fault: newFault(o.Fatal), pause: pause}}
	s.monitor.fault.opening.Store(true)
	s.ballast = ballast.New(others, dir, o.Ballast, o.Log)
	fs, health := vfs.WithDiskHealthChecks(vfs.OnDiskFull(others, s.ballast.Drop), slowDisk, nil, s.monitor.isSlow)
	s.health = health
	s.guard = &guard{
		FS: fs, dir: filepath.Clean(dir), others: others, fault: s.monitor.fault,
		released: make(chan struct{}), pause: pause,
	}
	return s
}

func (s *durable) open(o Options) error {
	if err := makeDir(s.guard.FS, s.monitor.dir); err != nil {
		return err
	}
	lock, err := pebble.LockDirectory(s.monitor.dir, s.guard.FS)
	for end := time.Now().Add(o.LockWait); err != nil && time.Now().Before(end); {
		time.Sleep(lockPause)
		lock, err = pebble.LockDirectory(s.monitor.dir, s.guard.FS)
	}
	if err != nil {
		return lockError(err)
	}
	s.lock = lock
	s.ballast.Find()
	if err := s.openLocked(o); err != nil {
		_ = s.lock.Close()
		_ = s.health.Close()
		return s.openError(err)
	}
	s.guard.opened()
	s.ballast.Lay()
	return nil
}

// openLocked opens the database in a directory that is locked.
func (s *durable) openLocked(o Options) error {
	sealer, err := seal.New(o.Keys)
	if err == nil {
		err = s.checkDir()
	}
	if err != nil {
		return err
	}
	names, err := s.guard.FS.List(s.monitor.dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		s.guard.files.add(name)
	}
	settings := s.settings(o)
	db, err := s.openPebble(settings)
	if err != nil {
		return err
	}
	s.reader = &reader{db: db, young: newYoung(), monitor: s.monitor, summary: &s.summary, sealer: sealer}
	if err = s.load(); err == nil {
		s.reader.notes, err = notes.Open(db, settings, s.monitor.dir, s.summary.marks.noted, o.tables, s.monitor.readError)
	}
	if err == nil {
		err = s.openJournal(o)
	}
	if err != nil {
		close(s.guard.released)
		_ = db.Close()
		return err
	}
	s.noteWriter = &noteWriter{notes: s.reader.notes, monitor: s.monitor}
	s.writer = newWriter(s.reader, s.journal, s.noteWriter, o)
	s.tidier = &tidier{reader: s.reader, writer: s.writer, monitor: s.monitor, summary: &s.summary}
	if o.Journal != nil {
		return nil // the user of a copy replays the journal
	}
	if err := s.replay(); err != nil {
		s.monitor.fault.set(err)
		_, _ = s.closeAll()
		return err
	}
	if err := checkKeys(s); err != nil {
		_, _ = s.closeAll()
		return err
	}
	return nil
}

// lockError explains the error of locking a directory.
func lockError(err error) error {
	var number syscall.Errno
	if errors.As(err, &number) && number != syscall.EAGAIN {
		return fmt.Errorf("cannot lock the directory: %w", err)
	}
	return fmt.Errorf("%w; stop that gateway, or give this one another store.dir", ErrLocked)
}

// settings returns the options for pebble.
func (s *durable) settings(from Options) *pebble.Options {
	o := &pebble.Options{
		FS:                          s.guard,
		Lock:                        s.lock,
		DisableWAL:                  true, // the journal is the log
		FormatMajorVersion:          formatPebble,
		MemTableSize:                memTableSize,
		MemTableStopWritesThreshold: memTables,
		L0CompactionThreshold:       l0Compaction,
		L0StopWritesThreshold:       l0StopWrites,
		CompactionConcurrencyRange:  func() (int, int) { return 1, max(1, runtime.GOMAXPROCS(0)/2) },
		CacheSize:                   blockCache,
		MaxOpenFiles:                maxFiles,
		FlushDelayDeleteRange:       flushRanges,
		Logger:                      s.monitor,
		EventListener:               s.monitor.listener(),
	}
	if from.memTable > 0 {
		o.MemTableSize = from.memTable
	}
	if from.MaxFiles > 0 { // less than the default of MaxOpenFiles
		o.FileCache = pebble.NewFileCache(1, from.MaxFiles)
	}
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(bloomBits)
	}
	return o
}

// openPebble opens the database on a goroutine of its own. The reasons are that pebble retries
// without end if a table cannot be written, and panics at some kinds of damage.
func (s *durable) openPebble(o *pebble.Options) (*pebble.DB, error) {
	type result struct {
		db  *pebble.DB
		err error
	}
	opened := make(chan result, 1)
	if files := o.FileCache; files != nil {
		defer files.Unref() // the database has its own reference
	}
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r.err = fmt.Errorf("%v", p)
			}
			opened <- r
		}()
		r.db, r.err = pebble.Open(s.monitor.dir, o)
	}()
	select {
	case r := <-opened:
		return r.db, r.err
	case <-s.monitor.fault.done:
		return nil, s.monitor.fault.err
	}
}

// namesFile matches the name of a file in an error. An unknown table may be missing, or the file
// that names it may be damaged.
var namesFile = regexp.MustCompile(`\b\d{6}\.sst\b|\btable \d{6}\b|\bMANIFEST-\d+|\bOPTIONS-\d+|\.journal\b`)

// openError explains an error of opening the store.
func (s *durable) openError(err error) error {
	var number syscall.Errno
	switch {
	case errors.Is(err, ErrNewer), errors.Is(err, ErrKey), errors.Is(err, errOrigin):
		return err
	case strings.Contains(err.Error(), "unknown format major version"):
		return ErrNewer
	case errors.As(err, &number) && number != syscall.ENOENT && number != syscall.EIO, errors.Is(err, fs.ErrPermission):
		return err
	}
	if !errors.Is(err, ErrDamaged) {
		file := s.monitor.dir
		if name := s.guard.reading.Load(); name != nil {
			file = *name
		}
		if !namesFile.MatchString(err.Error()) { // pebble names the damaged file, or no file
			err = fmt.Errorf("%w (last file read: %s)", err, file)
		}
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return fmt.Errorf("%w; pmg store repair puts it aside and saves what can be read", err)
}

// load reads the data that the engine keeps in memory, and marks a new store.
func (s *durable) load() error {
	if err := s.loadFormat(); err != nil {
		return err
	}
	written, ok, err := s.get([]byte{keyMarks})
	if err != nil {
		return err
	}
	if ok {
		if s.summary.marks, err = decodeMarks(written); err != nil {
			return err
		}
	}
	s.summary.place = s.summary.marks.replayed()
	if s.summary.event, err = s.lastEvent(); err != nil {
		return err
	}
	s.summary.moved = s.summary.event
	_, kept, err := s.first(keyState, s.summary.marks.low)
	if kept {
		s.summary.states.upTo = s.summary.marks.last
	}
	return err
}

var errNoFormat = errors.New("it has no format: a part of the store is missing, or pmg did not write it")

// loadFormat checks the format of the store. It writes the current format to a store that is empty
// or has an earlier format.
func (s *durable) loadFormat() error {
	format, ok, err := s.get([]byte{keyFormat})
	switch {
	case err != nil:
		return err
	case !ok:
		if err := s.checkEmpty(); err != nil {
			return err
		}
	case len(format) != 4:
		return errors.New("the entry f has a wrong length")
	case binary.BigEndian.Uint32(format) > formatVersion:
		return fmt.Errorf("%w: its format is %d, and this version knows formats up to %d; install the later version again",
			ErrNewer, binary.BigEndian.Uint32(format), formatVersion)
	case binary.BigEndian.Uint32(format) == formatVersion:
		return nil
	}
	// earlier versions do not know the journal, so they must find the format before it has a record
	if err := makeDir(s.guard.FS, s.journalDir()); err != nil {
		return err
	}
	if err := s.db.Set([]byte{keyFormat}, binary.BigEndian.AppendUint32(nil, formatVersion), pebble.NoSync); err != nil {
		return err
	}
	_ = s.guard.FS.Remove(s.guard.FS.PathJoin(s.monitor.dir, "seal")) // of format 1, and not used any more
	return s.flush()
}

// flush writes the memory table to disk.
func (s *durable) flush() error {
	flushed, err := s.db.AsyncFlush()
	if err != nil {
		return err
	}
	select {
	case <-flushed:
	case <-s.monitor.fault.done:
	case <-time.After(flushWait):
		return errors.New("what is in memory cannot be written: look at the disk")
	}
	return s.monitor.failure()
}

func (s *durable) checkEmpty() error {
	it, err := s.db.NewIter(nil)
	if err != nil {
		return err
	}
	defer it.Close()
	if it.First() {
		return errNoFormat
	}
	return it.Error()
}

func (s *durable) Durable() bool { return true }

// Write implements Writer: it writes a batch into the journal.
func (s *durable) Write(b *Batch) error {
	if err := s.monitor.failure(); err != nil {
		return err
	}
	b.seal(s.sealer)
	return s.writer.write(b)
}

// Commit implements Store. It carries out a batch.
func (s *durable) Commit(b *Batch) error {
	if err := s.monitor.failure(); err != nil {
		return err
	}
	if b.Len() == 0 {
		return nil
	}
	b.seal(s.sealer)
	return s.writer.commit(b)
}

// Tidy implements Store. It checks the store's files, and then tidies their contents.
func (s *durable) Tidy() {
	if s.monitor.fault.get() != nil || s.guard.isRemoved() || s.summary.isBehind() {
		return
	}
	s.ballast.Lay()
	if err := s.writer.askAlone(request{move: newRound}); err == nil {
		_ = s.writer.leaveRest() // the store reports a fault itself
	}
	s.noteWriter.tryAgain()
	s.tidier.tidy()
	s.writer.trim()
}

func (s *durable) Stats() Stats {
	st := Stats{
		Engine:   "pebble",
		Octets:   int64(s.db.Metrics().DiskSpaceUsage()) + s.journal.Status().Octets + s.ballast.Octets(),
		Commits:  s.writer.commits.Load(),
		Syncs:    s.writer.syncs.Load(),
		Messages: s.summary.get().messages,
		Full:     s.ballast.InUse(),
		OldKey:   s.needsOldKey(),
	}
	s.monitor.addTo(&st)
	return st
}

// move moves all young messages and events to pebble.
func (s *durable) move() error {
	if s.summary.isBehind() {
		return ErrBehind
	}
	return s.writer.askAlone(request{move: everything})
}

// writeMarks writes the marks, and starts writing the memory table.
func (s *durable) writeMarks() error {
	s.writer.writing.Lock()
	defer s.writer.writing.Unlock()
	return s.askMarks()
}

// askMarks is writeMarks for a caller that holds writing.
func (s *durable) askMarks() error {
	w := s.writer
	w.newBatch()
	if err := w.setMarks(s.summary.get()); err != nil {
		return err
	}
	return w.ask(request{batch: true, flush: true})
}

// Scan implements Index. It first moves all young messages to pebble, which then has all messages.
func (s *durable) Scan(from uint64, limit int, f func(*Entry) error) (uint64, error) {
	if err := s.move(); err != nil {
		return 0, err
	}
	return s.reader.Scan(from, limit, f)
}

// List implements Lister. It first moves all young messages to pebble, which then has all messages.
func (s *durable) List(kind Kind, below uint64, since uint32, limit int, f func(*Listed) error) (uint64, error) {
	if err := s.move(); err != nil {
		return 0, err
	}
	return s.reader.List(kind, below, since, limit, f)
}

// Backup implements Store. It writes what is in memory to tables, and makes links to the tables. An error of the backup's disk
// is not a fault of the store. Most of the notes are written while commits go on. The rest is written while they wait, so that
// the backup has the note of each message that it does not have.
func (s *durable) Backup(dir string) error {
	if err := s.monitor.failure(); err != nil {
		return err
	}
	s.copying.Lock()
	defer s.copying.Unlock()
	s.reader.notes.StopMerges() // commits would wait for a merge
	defer s.reader.notes.AllowMerges()
	err := s.move()
	if err == nil {
		err = s.noteWriter.writeAll(s.summary.get().applied)
	}
	if err == nil {
		err = s.checkpoint(dir)
	}
	if err == nil {
		err = makeDir(s.guard.others, s.guard.FS.PathJoin(dir, journalDir)) // made because a missing journal counts as damage
	}
	if err == nil {
		err = s.copyOrigin(dir)
	}
	if err != nil {
		return fmt.Errorf("cannot back up the store to %s: %w", dir, err)
	}
	return s.monitor.failure()
}

// checkpoint makes links to the tables, which have everything at that moment.
func (s *durable) checkpoint(dir string) error {
	s.writer.writing.Lock()
	defer s.writer.writing.Unlock()
	err := s.writer.ask(request{move: everything})
	if err == nil {
		err = s.noteWriter.writeAll(s.summary.get().applied)
	}
	if err == nil {
		err = s.askMarks()
	}
	if err == nil {
		err = s.flush()
	}
	if err == nil {
		err = s.db.Checkpoint(dir)
	}
	return err
}

// Close writes the memory table, so that the next start has nothing to replay, and closes the
// database and the journal. After a fault it writes nothing, and abandons a commit that never
// returns. It also writes nothing while a copy is behind: the next start replays again.
func (s *durable) Close() error {
	if s.monitor.fault.get() == nil && !s.summary.isBehind() {
		_ = s.move() // after an error the next start replays the journal
		s.reader.notes.StopMerges()
		_ = s.noteWriter.writeAll(s.summary.get().applied)
		s.tidier.seek()
		_ = s.writeMarks()
	}
	closed, err := s.closeAll()
	if closed {
		err = errors.Join(err, s.lock.Close(), s.health.Close())
	}
	if f := s.monitor.failure(); f != nil {
		return f
	}
	if err != nil {
		return fmt.Errorf("cannot close the store in %s: %w", s.monitor.dir, err)
	}
	return nil
}

// closeAll closes what openLocked has opened. closed is false if that was not possible.
func (s *durable) closeAll() (closed bool, err error) {
	if !s.writer.stop() || !s.noteWriter.stop() {
		return false, nil
	}
	err = s.journal.Close()
	close(s.guard.released)
	return true, errors.Join(err, s.db.Close())
}
