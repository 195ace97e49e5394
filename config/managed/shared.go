package managed

import (
	"bytes"
	"errors"
	"io/fs"
	"strconv"
	"strings"
)

// Take makes the directory equal to the shared files. What is replaced stays in a file with a dot in front of its
// name and .before behind it. It returns how many files have changed. The caller holds the lock.
func (d *Dir) Take() (changed int, err error) {
	seen := map[string]bool{}
	err = d.shared.Each(func(f File) error {
		seen[f.Name] = true
		return d.take(f, &changed)
	})
	if err == nil {
		err = d.each(func(name string) error {
			if seen[name] {
				return nil
			}
			return d.take(File{Name: name}, &changed)
		})
	}
	if err != nil || changed == 0 {
		return changed, err
	}
	return changed, d.syncAll()
}

// TakeOnly does the same for some files.
func (d *Dir) TakeOnly(names []string) (changed int, err error) {
	for _, name := range names {
		data, err := d.shared.Get(name)
		if err == nil {
			err = d.take(File{name, data}, &changed)
		}
		if err != nil {
			return changed, err
		}
	}
	return changed, d.syncAll()
}

// take gives a file its contents, if it has others.
func (d *Dir) take(f File, changed *int) error {
	if !isName(f.Name) {
		return nil
	}
	was, err := d.Read(f.Name)
	if err != nil || bytes.Equal(was, f.Data) && (was == nil) == (f.Data == nil) {
		return err
	}
	*changed++
	return d.overwrite(f.Name, f.Data, was != nil)
}

// syncAll puts the names of all files on disk.
func (d *Dir) syncAll() error {
	for _, kind := range append(Kinds(), history) {
		if err := d.sync(d.Path(kind)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Give stores the files that differ from the shared ones, such as those that were edited by hand. It returns how many these are.
// The caller holds the lock.
func (d *Dir) Give() (changed int, err error) {
	had := map[string]string{} // tags by name
	if err := d.shared.Each(func(f File) error { had[f.Name] = Tag(f.Data); return nil }); err != nil {
		return 0, err
	}
	var some []File // not stored yet
	octets := 0
	put := func() error {
		err := d.shared.Put(some...)
		if err == nil {
			changed += len(some)
		}
		some, octets = nil, 0
		return err
	}
	if err := d.each(func(name string) error {
		data, err := d.Read(name)
		tag := had[name]
		delete(had, name)
		if err != nil || tag == Tag(data) {
			return err
		}
		if some, octets = append(some, File{name, data}), octets+len(data); octets < giveAtOnce {
			return nil
		}
		return put()
	}); err != nil {
		return changed, err
	}
	for name := range had {
		some = append(some, File{Name: name})
	}
	return changed, put() // also without files: the store then knows that it was given what there is
}

// giveAtOnce is how many octets Give stores together.
const giveAtOnce = 1 << 20

// isName reports whether a file with this name may be in the directory or in its history.
func isName(name string) bool {
	_, _, ok := Split(name)
	number, isChange := strings.CutPrefix(name, history+"/")
	n, err := strconv.Atoi(number)
	return ok || isChange && err == nil && n > 0 && name == nameOf(n)
}

// each passes the names of all files.
func (d *Dir) each(pass func(name string) error) error {
	for _, kind := range append(Kinds(), history) {
		all, err := d.fs.List(d.Path(kind))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for _, base := range all {
			if name := kind + "/" + base; isName(name) {
				if err := pass(name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// overwrite gives a file other contents, or removes it, and keeps the old contents beside it. It syncs nothing, because a file
// that a power cut damages is overwritten again.
func (d *Dir) overwrite(name string, data []byte, existed bool) error {
	if err := d.makeDirs(name); err != nil {
		return err
	}
	path := d.Path(name)
	dir, base := d.fs.PathDir(path), d.fs.PathBase(path)
	if existed {
		if err := d.fs.Rename(path, d.fs.PathJoin(dir, "."+base+".before")); err != nil {
			return err
		}
	}
	if data != nil {
		fresh := d.fs.PathJoin(dir, "."+base+".new")
		if err := d.writeOnly(fresh, data); err != nil {
			return err
		}
		return d.fs.Rename(fresh, path)
	}
	return nil
}
