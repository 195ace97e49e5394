package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/store/journal"
)

// A Copy is a store with the changes that several nodes append to one journal. Each node has a
// Copy, and passes the valid records to Apply. The node that owns the work calls Commit instead. At
// the same place of the journal all copies have the same contents. A Copy is not a Writer: a commit
// appends the whole batch to the journal, which may take as long as an election of the servers.
type Copy struct {
	Store
	disk  *durable // the store itself, as a durable
	batch Batch    // operations of the records read so far; only Apply uses it
}

// OpenCopy opens the copy in a directory, and makes an empty copy if there is none. The journal is
// the one in the options. Before the copy is used, the caller must pass the records after Moved to
// Apply.
func OpenCopy(dir string, o Options) (*Copy, error) {
	s := newDurable(dir, o)
	if err := s.open(o); err != nil {
		return nil, fmt.Errorf("cannot open the store in %s: %w", dir, err)
	}
	return &Copy{Store: s, disk: s}, nil
}

// originName is the file that names the journal of which a store is a copy.
const originName = "origin"

// errOrigin is the error of a store of another journal than the one in the options. The store is not damaged.
var errOrigin = errors.New("it belongs elsewhere")

// checkOrigin returns an error if the store does not match its options: it must be a copy of the
// journal with this origin, or no copy if origin is empty. A store that has never stored anything
// becomes a copy.
func (s *durable) checkOrigin(origin string) error {
	written, err := readOrigin(s.guard.others, s.guard.FS.PathJoin(s.monitor.dir, originName))
	switch m := s.summary.marks; {
	case err == nil && written == origin, origin == "" && errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && origin == "":
		return fmt.Errorf("%w: it is a copy of the journal of a cluster (%s). Start the gateway with the section cluster, or "+
			"remove the file %s to go on without it, with what this copy has", errOrigin, written, originName)
	case err == nil:
		return fmt.Errorf(
			"%w: it is a copy of another journal (%s, not %s). Give the cluster another store.dir", errOrigin, written, origin,
		)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	case m.applied != 0 || m.last != 0:
		return fmt.Errorf("%w: a gateway without a cluster has stored messages in it. A new cluster can take it in "+
			"(pmg cluster adopt); a node of one that works needs an empty store.dir", errOrigin)
	}
	return writeOrigin(s.guard.others, s.monitor.dir, origin)
}

// writeOrigin writes the origin file, which makes the store in a directory a copy.
func writeOrigin(fs vfs.FS, dir, origin string) error {
	f, err := fs.Create(fs.PathJoin(dir, originName), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(origin))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return syncParent(fs, fs.PathJoin(dir, originName))
}

// copyOrigin copies the origin file to a backup, so that the backup is also a copy of the same
// journal.
func (s *durable) copyOrigin(to string) error {
	origin, err := readOrigin(s.guard.others, s.guard.FS.PathJoin(s.monitor.dir, originName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return writeOrigin(s.guard.others, to, origin)
}

// readOrigin returns the contents of the origin file.
func readOrigin(fs vfs.FS, path string) (string, error) {
	f, err := fs.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 4096))
	return string(b), err
}

// Leave makes the copy in a directory, which no process has open, a store without a cluster, that a new cluster may adopt.
func Leave(dir string, o Options) error {
	fs := o.FS
	if fs == nil {
		fs = vfs.Default
	}
	path := fs.PathJoin(dir, originName)
	if err := fs.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return syncParent(fs, path)
}

// Moved returns the place of the last record whose changes are all on disk.
func (c *Copy) Moved() journal.Seq { return c.disk.summary.get().replayed() }

// Applied returns the place of the last record that the copy had when it was closed, or has applied since, even if not all of its
// changes are on disk.
func (c *Copy) Applied() journal.Seq { return c.disk.summary.get().applied }

// List implements Lister.
func (c *Copy) List(kind Kind, below uint64, since uint32, limit int, f func(*Listed) error) (uint64, error) {
	return c.disk.List(kind, below, since, limit, f)
}

// Apply carries out a record. It does not wait for the disk.
func (c *Copy) Apply(at journal.Seq, record []byte) error {
	if err := c.disk.monitor.failure(); err != nil {
		return err
	}
	whole, err := c.batch.readPiece(record)
	c.disk.writer.grow(len(record))
	if err == nil && whole {
		c.batch.at = at
		err = c.disk.writer.askAlone(request{changes: &c.batch, replays: true})
	}
	if err != nil {
		return fmt.Errorf("record %d of the journal: %w", at, err)
	}
	return nil
}

// CheckKeys checks whether the copy can be read with the given keys, and commits a note about the key for new messages, as Open
// does. The node that has begun to own the work calls it before its gateway works.
func (c *Copy) CheckKeys() error {
	if err := checkKeys(c.disk); err != nil {
		return fmt.Errorf("cannot use the store in %s: %w", c.disk.monitor.dir, err)
	}
	return nil
}

var _ Lister = (*Copy)(nil)

// CheckRecord returns an error if Apply cannot read a record.
func CheckRecord(record []byte) error {
	_, err := new(Batch).readPiece(record)
	return err
}

// EmptyRecord returns a record without changes. A new owner appends it to make its epoch known.
func EmptyRecord() []byte {
	b := Batch{}
	record, _ := b.appendPiece(nil, 0)
	return record
}

// ErrBehind is the error of reading a whole copy that does not have yet what it had before it was opened.
var ErrBehind = errors.New("this copy still reads what it had before its node was started")

// Sum reads the whole store, and returns a hash of it and the place of the last record that the
// store has.
func (c *Copy) Sum() (at journal.Seq, sum string, err error) { return contentsOf(c.disk).sum() }
