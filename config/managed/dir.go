package managed

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sys/unix"

	"pmg/internal/wholefile"
)

// Bounds of a directory.
const (
	MaxFiles   = 200_000  // maximum number of files with options, over all kinds
	MaxOptions = 64 << 10 // octets of a file of options
	MaxRows    = 16 << 20 // octets of a file of numbers or prices
)

// The kinds of files, which are the names of their directories and of the lists of the configuration.
const (
	Accounts = "accounts"
	Routes   = "routes"
	Lists    = "lists"
	Prices   = "prices"
)

// rows are the endings of the files that stand beside those of options, by kind.
var rows = map[string]string{Lists: ".txt", Prices: ".csv"}

// Kinds returns all kinds.
func Kinds() []string { return []string{Accounts, Routes, Lists, Prices} }

// Rows returns the ending of the files with the rows of a kind, "" if the kind has no rows.
func Rows(kind string) string { return rows[kind] }

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// OptionsFile returns the name of the file with an object's options, RowsFile the name of the file with its rows.
func OptionsFile(kind, name string) string { return kind + "/" + name + ".yaml" }

// RowsFile returns the name of the file with the rows of a list or of prices.
func RowsFile(kind, name string) string { return kind + "/" + name + rows[kind] }

// Split returns the kind and the name of the object that a file belongs to, and reports whether the file may be in the directory.
func Split(file string) (kind, name string, ok bool) {
	kind, name, _ = strings.Cut(file, "/")
	ending := filepath.Ext(name)
	name = strings.TrimSuffix(name, ending)
	known := slices.Contains(Kinds(), kind) && nameForm.MatchString(name)
	return kind, name, known && (ending == ".yaml" || ending != "" && ending == rows[kind])
}

// IsOptions reports whether a file contains options.
func IsOptions(file string) bool { return strings.HasSuffix(file, ".yaml") }

// A Dir is a directory of files that the gateway writes.
type Dir struct {
	path   string
	fs     vfs.FS
	now    func() time.Time
	shared Shared
}

// A File is a file of the directory or of its history. Data is nil if the file is to be removed.
type File struct {
	Name string
	Data []byte
}

// Shared is the files that several machines share: the directory of each machine is a copy of them.
type Shared interface {
	// Put stores files, and removes those without data. It returns when the other machines will have them.
	Put(...File) error
	// Each passes all files.
	Each(func(File) error) error
	// Get returns a file, nil if there is none.
	Get(name string) ([]byte, error)
}

// Open returns the directory of a path. Nothing is read or made. shared is nil if this machine alone has the files.
func Open(path string, shared Shared) *Dir { return OpenOn(vfs.Default, path, time.Now, shared) }

// OpenOn opens a directory on any file system, with any clock.
func OpenOn(fs vfs.FS, path string, now func() time.Time, shared Shared) *Dir {
	return &Dir{path, fs, now, shared}
}

// WillBeMade reports whether a directory is missing and the first change will create it: the parent directory
// belongs to the user that the process runs as.
func WillBeMade(path string) bool {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	var st unix.Stat_t
	return unix.Stat(filepath.Dir(path), &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR && int(st.Uid) == os.Geteuid()
}

// Path returns the path of a file, for messages and for other readers.
func (d *Dir) Path(file string) string { return d.fs.PathJoin(d.path, filepath.FromSlash(file)) }

// lockWait is how long a change waits for another process.
const lockWait = 10 * time.Second

// Lock keeps other processes from changing the directory until the result is closed.
func (d *Dir) Lock() (io.Closer, error) {
	for until := d.now().Add(lockWait); ; time.Sleep(20 * time.Millisecond) {
		l, err := d.fs.Lock(d.fs.PathJoin(d.path, ".lock"))
		if err == nil {
			return l, nil
		}
		if errors.Is(err, fs.ErrNotExist) && WillBeMade(d.path) {
			if err := wholefile.MakeDir(d.path, 0o700); err != nil {
				return nil, fmt.Errorf("cannot make %s: %w", d.path, err)
			}
			continue
		}
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || d.now().After(until) {
			return nil, fmt.Errorf("cannot lock %s: %w", d.path, err)
		}
	}
}

// Read returns the contents of a file, nil if the file does not exist.
func (d *Dir) Read(file string) ([]byte, error) {
	f, err := d.fs.Open(d.Path(file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", d.Path(file), err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxRows+1))
	if err == nil && len(data) > MaxRows {
		err = fmt.Errorf("it has more than %d octets", MaxRows)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", d.Path(file), err)
	}
	return data, nil // io.ReadAll returns no nil, so that an empty file exists
}

// Names returns the names of all files with the options of a kind, sorted.
func (d *Dir) Names(kind string) (names []string, err error) {
	all, err := d.fs.List(d.Path(kind))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot read %s: %w", d.Path(kind), err)
	}
	for _, file := range all {
		if _, name, ok := Split(kind + "/" + file); ok && IsOptions(file) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Tag returns a tag that identifies the contents of a file, "" if there is no file.
func Tag(data []byte) string {
	if data == nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// Replace replaces a file by data, or removes the file if data is nil. Then it calls use, which puts the
// change in force. If use or an earlier step fails, the file is restored. The caller holds the lock. The
// returned change has its number.
func (d *Dir) Replace(c Change, data []byte, use func() error) (Change, error) {
	if _, _, ok := Split(c.File); !ok {
		return c, fmt.Errorf("cannot write %s: it is no file of an account, a route, a list or prices", c.File)
	}
	was, err := d.Read(c.File)
	if err != nil {
		return c, err
	}
	c.Time, c.Before, c.Existed = d.now().UTC().Truncate(time.Millisecond), was, was != nil
	if err := d.makeDirs(c.File); err != nil {
		return c, fmt.Errorf("cannot write %s: %w", c.File, err)
	}
	c, recorded, err := d.record(c)
	if err != nil {
		return c, fmt.Errorf("cannot write the history of %s: %w", c.File, err)
	}
	err = d.exchange(c.File, data, was != nil, func() error { return d.share(c, recorded, data, use) })
	if errors.Is(err, ErrStuck) {
		return c, err
	}
	if err != nil {
		_ = d.forget(c.Number) // a record that stays is harmless: it repeats the present contents
		return c, err
	}
	d.trim()
	return c, nil
}

// share stores a change for the other machines, and then calls use. If use fails, the change is taken back there.
func (d *Dir) share(c Change, recorded File, data []byte, use func() error) error {
	if d.shared == nil {
		return use()
	}
	err := d.shared.Put(File{Name: c.File, Data: data}, recorded)
	if err == nil {
		if err = use(); err == nil {
			return nil
		}
	} else {
		err = fmt.Errorf("cannot store %s for the other nodes: %w", c.File, err)
	}
	back := d.shared.Put(File{Name: c.File, Data: c.Before}, File{Name: recorded.Name})
	return errors.Join(err, back)
}

// makeDirs makes the directories of a file and of the history.
func (d *Dir) makeDirs(file string) error {
	kind, _, _ := strings.Cut(file, "/")
	for _, name := range []string{kind, history} {
		if _, err := d.fs.Stat(d.Path(name)); err == nil {
			continue
		}
		if err := d.fs.MkdirAll(d.Path(name), 0o700); err != nil {
			return err
		}
		made, err := d.fs.OpenDir(d.Path(name))
		if err != nil {
			return err
		}
		err = d.give(made)
		if cerr := made.Close(); err != nil || cerr != nil {
			return errors.Join(err, cerr)
		}
	}
	return d.sync(d.path)
}

// ErrStuck means that a file has changed although a later step of the change has failed.
var ErrStuck = errors.New("and the change cannot be taken back")

// exchange replaces the contents of a file, and restores the old contents if use fails.
func (d *Dir) exchange(file string, data []byte, existed bool, use func() error) error {
	path := d.Path(file)
	dir, base := d.fs.PathDir(path), d.fs.PathBase(path)
	fresh, old := d.fs.PathJoin(dir, "."+base+".new"), d.fs.PathJoin(dir, "."+base+".old")
	_ = d.fs.Remove(old) // a temporary file of a process that has died
	back := func() error { return d.fs.Remove(path) }
	if existed {
		if err := d.fs.Link(path, old); err != nil {
			return fmt.Errorf("cannot keep %s: %w", file, err)
		}
		back = func() error { return d.fs.Rename(old, path) }
	}
	err := d.put(path, fresh, data)
	changed := err == nil
	if changed {
		if err = d.sync(dir); err == nil {
			err = use()
		}
	} else {
		err = fmt.Errorf("cannot write %s: %w", file, err)
	}
	_ = d.fs.Remove(fresh)
	switch {
	case err != nil && changed:
		if berr := errors.Join(back(), d.sync(dir)); berr != nil {
			err = fmt.Errorf("%w; %w: %s is what it was to be: %w", err, ErrStuck, file, berr)
		}
	case existed:
		_ = d.fs.Remove(old)
	}
	return err
}

// put gives a file new contents, or removes it. If it fails, the file is unchanged.
func (d *Dir) put(path, fresh string, data []byte) error {
	if data == nil {
		return d.fs.Remove(path)
	}
	if err := d.write(fresh, data); err != nil {
		return err
	}
	return d.fs.Rename(fresh, path)
}

// write writes and syncs a file.
func (d *Dir) write(path string, data []byte) error { return d.writeAnd(path, data, vfs.File.Sync) }

// writeOnly writes a file.
func (d *Dir) writeOnly(path string, data []byte) error {
	return d.writeAnd(path, data, func(vfs.File) error { return nil })
}

// writeAnd writes a file, and calls end before it closes the file.
func (d *Dir) writeAnd(path string, data []byte, end func(vfs.File) error) error {
	f, err := d.fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	err = d.protect(f)
	if err == nil {
		_, err = f.Write(slices.Clone(data)) // a vfs.File may change the slice that it gets
	}
	if err == nil {
		err = end(f)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// protect makes a file readable only for the owner of the directory. The owner is the gateway's user, also if
// root writes the file.
func (d *Dir) protect(f vfs.File) error {
	if f.Fd() == vfs.InvalidFd {
		return nil // the file is in memory
	}
	if err := unix.Fchmod(int(f.Fd()), 0o600); err != nil {
		return err
	}
	return d.give(f)
}

// give gives a file or a directory to the owner of the directory.
func (d *Dir) give(f vfs.File) error {
	if f.Fd() == vfs.InvalidFd || os.Geteuid() != 0 {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Stat(d.path, &st); err != nil {
		return err
	}
	return unix.Fchown(int(f.Fd()), int(st.Uid), int(st.Gid))
}

// sync puts the names of a directory on disk.
func (d *Dir) sync(path string) error {
	f, err := d.fs.OpenDir(path)
	if err != nil {
		return err
	}
	err = f.Sync()
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
