package lists

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"pmg/sms/numbers"
	"pmg/store"
)

// In a cluster the changes of a list are notes in the store, so that the node that takes over has them:
//
//	.listed 0 <name of the list> 0 <number>     '+' or '-'
//	.listed 0 <name of the list> 1 <number>     the same with the origin (numbers.Change.Note)
//
// Earlier versions write and read the first one alone. The second one counts while both have the same sign.
//
// The journal beside the file is written first. What it has and the notes lack, such as what a command has added while
// another node had the work, is stored as well; where both have a number, the note decides.

// ErrNoList is the error for a list that the configuration does not have.
var ErrNoList = errors.New("the configuration has no list of this name")

// Change adds addresses to a list, or removes them, now. It returns how many that has changed, after the changes are on disk.
func (l *Lists) Change(name string, on bool, from numbers.Origin, addresses ...string) (n int, err error) {
	one := l.inUse.Load().named(name)
	if one == nil {
		return 0, ErrNoList
	}
	from.At = time.Unix(0, l.node.Clock.WallNow())
	if on {
		n, err = one.numbers.Add(from, addresses...)
	} else {
		n, err = one.numbers.Remove(from, addresses...)
	}
	l.share(one)
	if err == nil && l.shares.Load() {
		err = l.keep.Batches.Sync()
	}
	return n, err
}

// Register returns the register of a list, to be read.
func (l *Lists) Register(name string) (*numbers.List, error) {
	if one := l.inUse.Load().named(name); one != nil {
		return one.numbers, nil
	}
	return nil, ErrNoList
}

// share stores what has changed in a list, for the other nodes. The message that has caused the change is committed later than
// the change.
func (l *Lists) share(one *list) {
	if !l.shares.Load() {
		return
	}
	l.note(one.name, one.numbers.Fresh())
}

// note writes notes of changes. A change of unknown origin, such as one that was made before, leaves notes that say the same.
func (l *Lists) note(name string, all []numbers.Change) {
	all = slices.DeleteFunc(all, func(c numbers.Change) bool {
		if !c.At.IsZero() {
			return false
		}
		value, known, err := l.keep.Index.Lookup(store.KindListed, append(keyOf(name), c.Entry...))
		return err == nil && known && numbers.ReadNote(c.Entry, value).On == c.On
	})
	if len(all) == 0 {
		return
	}
	l.keep.Batches.Write(func(b *store.Batch) {
		for i := range all {
			c := &all[i]
			note := c.Note()
			b.Note(store.KindListed, append(keyOf(name), c.Entry...), note[:1], store.Forever)
			if len(note) > 1 {
				b.Note(store.KindListed, append(originKeyOf(name), c.Entry...), note, store.Forever)
			}
		}
	})
	l.keep.Batches.CommitSoon()
}

func keyOf(name string) []byte { return append([]byte(name), 0) }

func originKeyOf(name string) []byte { return append([]byte(name), 1) }

// origins sets the origins of changes from their notes, where they are unknown.
func (l *Lists) origins(name string, all []numbers.Change) error {
	for i := range all {
		c := &all[i]
		if !c.At.IsZero() {
			continue
		}
		value, known, err := l.keep.Index.Lookup(store.KindListed, append(originKeyOf(name), c.Entry...))
		if err != nil {
			return err
		}
		if noted := numbers.ReadNote(c.Entry, value); known && noted.On == c.On {
			*c = noted
		}
	}
	return nil
}

// Keep begins to share changes, in a cluster, after the store was opened, and takes over those of the other nodes.
func (l *Lists) Keep() error {
	if l.node.Config().Cluster.Node == "" {
		return nil
	}
	l.shares.Store(true)
	for _, one := range l.inUse.Load().all {
		if err := l.exchange(one); err != nil {
			return err
		}
	}
	return nil
}

// atOnce is how many changes are taken or stored together.
const atOnce = 10_000

var errOther = errors.New("the notes of another list follow")

// exchange takes over the changes of a list that other nodes have stored, and stores those that they lack.
func (l *Lists) exchange(one *list) error {
	t := &takeover{lists: l, list: one, newest: one.numbers.Newest()}
	err := l.eachNote(originKeyOf(one.name), func(c numbers.Change) error { // first, so that these have their origin
		if !c.At.After(t.newest) {
			return nil
		}
		sign, known, err := l.keep.Index.Lookup(store.KindListed, append(keyOf(one.name), c.Entry...))
		if err != nil || !known || numbers.ReadNote(c.Entry, sign).On != c.On {
			return err
		}
		return t.add(c)
	})
	if err == nil {
		err = t.take()
	}
	if err == nil {
		err = l.eachNote(keyOf(one.name), func(c numbers.Change) error {
			if one.numbers.Agrees(&c) { // as usual
				return nil
			}
			return t.add(c)
		})
	}
	if err == nil {
		err = t.take()
	}
	if err == nil {
		err = l.noteOthers(one)
	}
	if err != nil {
		return fmt.Errorf("cannot take over the changes of list %s: %w", one.name, err)
	}
	if t.taken > 0 {
		l.node.Log.Info().Str("list", one.name).Int("numbers", t.taken).
			Msg("numbers that other nodes have added to the list or removed are taken over")
	}
	return nil
}

// eachNote calls take with the notes whose keys begin alike.
func (l *Lists) eachNote(begin []byte, take func(numbers.Change) error) error {
	err := l.keep.Index.Notes(store.KindListed, begin, math.MaxInt, func(key, value []byte) error {
		entry, ok := bytes.CutPrefix(key, begin)
		if !ok {
			return errOther
		}
		return take(numbers.ReadNote(string(entry), value))
	})
	if errors.Is(err, errOther) {
		return nil
	}
	return err
}

// A takeover takes changes of other nodes, some at a time.
type takeover struct {
	lists  *Lists
	list   *list
	newest time.Time // of the journal, before
	some   []numbers.Change
	taken  int
}

func (t *takeover) add(c numbers.Change) error {
	if t.some = append(t.some, c); len(t.some) < atOnce {
		return nil
	}
	return t.take()
}

// take takes over what was added.
func (t *takeover) take() error {
	if err := t.lists.origins(t.list.name, t.some); err != nil {
		return err
	}
	n, err := t.list.numbers.Take(t.some, t.newest)
	t.taken, t.some = t.taken+n, t.some[:0]
	return err
}

// noteOthers stores the changes of a list that have no note.
func (l *Lists) noteOthers(one *list) error {
	var failed error
	others := slices.DeleteFunc(one.numbers.Changes(), func(c numbers.Change) bool {
		_, known, err := l.keep.Index.Lookup(store.KindListed, append(keyOf(one.name), c.Entry...))
		failed = errors.Join(failed, err)
		return known || err != nil
	})
	if failed != nil {
		return failed
	}
	if err := one.numbers.Describe(others); err != nil {
		return err
	}
	for some := range slices.Chunk(others, atOnce) {
		l.note(one.name, some)
	}
	return nil
}
