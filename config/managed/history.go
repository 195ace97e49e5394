package managed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"time"
)

// history is the directory of earlier contents.
const history = "history"

// Bounds of the history. The oldest changes go first; the last one stays whatever it takes.
const (
	MostChanges = 10_000
	MostOctets  = 256 << 20
	MostAge     = 366 * 24 * time.Hour
)

// A Change is a change of one file.
type Change struct {
	Number  int       `json:"number"` // number of the change, from 1; 0: the change has no number yet
	Time    time.Time `json:"time"`
	By      string    `json:"by"`
	Comment string    `json:"comment,omitempty"`
	File    string    `json:"file"`
	Existed bool      `json:"existed"` // reports whether the file existed before the change
	Before  []byte    `json:"-"`       // contents of the file before the change
}

// ErrNoChange is the error for a number without a change in the history.
var ErrNoChange = errors.New("the history has no such change")

func nameOf(number int) string { return fmt.Sprintf("%s/%08d", history, number) }

// numbers returns the numbers of the changes that are kept, the oldest in front.
func (d *Dir) numbers() (all []int, err error) {
	names, err := d.fs.List(d.Path(history))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot read the history: %w", err)
	}
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil && n > 0 {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all, nil
}

// record writes a change into the history, under the next number. It returns the file with the change, too.
func (d *Dir) record(c Change) (_ Change, f File, err error) {
	all, err := d.numbers()
	if err != nil {
		return c, f, err
	}
	c.Number = 1
	if len(all) > 0 {
		c.Number = all[len(all)-1] + 1
	}
	head, err := json.Marshal(c)
	if err != nil {
		return c, f, err
	}
	f = File{Name: nameOf(c.Number), Data: slices.Concat(head, []byte("\n"), c.Before)}
	path := d.Path(f.Name)
	fresh := d.Path(history + "/.new")
	err = d.write(fresh, f.Data)
	if err == nil {
		err = d.fs.Rename(fresh, path)
	}
	if err == nil {
		err = d.sync(d.Path(history))
	}
	if err != nil {
		_, _ = d.fs.Remove(fresh), d.fs.Remove(path)
	}
	return c, f, err
}

// forget removes a change that was not made.
func (d *Dir) forget(number int) error {
	err := d.fs.Remove(d.Path(nameOf(number)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// trim removes changes that are too old. If there are too many, it removes the oldest changes of the object
// that has the most, so that frequent changes of one object do not displace those of others. A change that
// cannot be removed is removed later.
func (d *Dir) trim() {
	all, err := d.numbers()
	if err != nil {
		return
	}
	var kept []held
	var gone []File
	forget := func(n int) {
		if d.forget(n) == nil {
			gone = append(gone, File{Name: nameOf(n)})
		}
	}
	octets := int64(0)
	for i, n := range all {
		info, err := d.fs.Stat(d.Path(nameOf(n)))
		if err != nil {
			continue
		}
		if i < len(all)-1 && d.now().Sub(info.ModTime()) > MostAge {
			forget(n)
			continue
		}
		octets += info.Size()
		kept = append(kept, held{n, info.Size()})
	}
	if len(kept) > MostChanges || octets > MostOctets {
		d.makeRoom(kept, octets, forget)
	}
	if d.shared != nil && len(gone) > 0 {
		_ = d.shared.Put(gone...) // what stays is removed later
	}
}

// A held change is a change that takes room in the history.
type held struct {
	number int
	octets int64
}

// room is the share of its limits, 1/room, that the history frees at a time, so that the heads of all changes are read rarely.
const room = 20

// makeRoom removes changes until there is room for further ones. The last change is never removed.
func (d *Dir) makeRoom(all []held, octets int64, forget func(number int)) {
	type part struct {
		changes []held // the oldest in front
		octets  int64
	}
	parts, count := map[string]*part{}, len(all)
	for _, h := range all[:count-1] {
		c, _ := d.head(h.number) // an unreadable head makes the file a part of its own
		kind, name, _ := Split(c.File)
		p := parts[kind+"/"+name]
		if p == nil {
			p = &part{}
			parts[kind+"/"+name] = p
		}
		p.changes = append(p.changes, h)
		p.octets += h.octets
	}
	for {
		long, large := count > MostChanges-MostChanges/room, octets > MostOctets-MostOctets/room
		var most *part
		for _, p := range parts {
			switch {
			case len(p.changes) == 0:
			case most == nil, long && len(p.changes) > len(most.changes), !long && p.octets > most.octets:
				most = p
			}
		}
		if most == nil || !long && !large {
			return
		}
		h := most.changes[0]
		forget(h.number)
		most.changes = most.changes[1:]
		most.octets -= h.octets
		octets -= h.octets
		count--
	}
}

// History returns at most most changes, the latest first: those with a lower number than before, or all if
// before is 0; of a file, or of all files if file is "".
func (d *Dir) History(file string, before, most int) ([]Change, error) {
	all, err := d.numbers()
	if err != nil {
		return nil, err
	}
	var found []Change
	for _, n := range slices.Backward(all) {
		if len(found) == most {
			break
		}
		if before > 0 && n >= before {
			continue
		}
		c, err := d.head(n)
		if err == nil && (file == "" || c.File == file) {
			found = append(found, c)
		}
	}
	return found, nil
}

// maxHead is how many octets the first line of a change has at most.
const maxHead = 4096

// head returns a change without the old contents, which may be large and are not read.
func (d *Dir) head(number int) (c Change, err error) {
	c, _, err = d.read(number, maxHead)
	return c, err
}

// Change returns a change with the old contents.
func (d *Dir) Change(number int) (Change, error) {
	c, rest, err := d.read(number, maxHead+MaxRows+MaxOptions)
	if err == nil && c.Existed {
		c.Before = append([]byte{}, rest...)
	}
	return c, err
}

// read reads a change, and the octets that follow its head in the first octets of its file.
func (d *Dir) read(number int, octets int64) (c Change, rest []byte, err error) {
	f, err := d.fs.Open(d.Path(nameOf(number)))
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil, fmt.Errorf("change %d: %w", number, ErrNoChange)
	}
	if err != nil {
		return c, nil, fmt.Errorf("cannot read change %d: %w", number, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, octets))
	if err != nil {
		return c, nil, fmt.Errorf("cannot read change %d: %w", number, err)
	}
	head, rest, _ := bytes.Cut(data, []byte("\n"))
	if err := json.Unmarshal(head, &c); err != nil {
		return c, nil, fmt.Errorf("cannot read change %d: %w", number, err)
	}
	if _, _, ok := Split(c.File); !ok || c.Number != number {
		return c, nil, fmt.Errorf("cannot read change %d: it was changed by hand", number)
	}
	return c, rest, nil
}
