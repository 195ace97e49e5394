package numbers

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"pmg/internal/textfile"
	"pmg/sms/number"
)

// Memory has of each number only whether it is on the list. All else is read from the journal when somebody asks.

// MostFound is how many changes History and Recent return: the latest.
const MostFound = 100

// eachLine calls take with each complete line, with its LF.
func eachLine(from io.Reader, take func(line []byte) error) error {
	in := bufio.NewReaderSize(from, textfile.MaxLine)
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		if err := take(line); err != nil {
			return err
		}
	}
}

// scan calls take with the lines of a journal that can be read, and their offsets.
func scan(from io.Reader, take func(r *record, line []byte, offset int64) error) error {
	var r record
	var room [maxName]byte
	offset := int64(0)
	return eachLine(from, func(line []byte) error {
		at := offset
		offset += int64(len(line))
		if !r.read(bytes.TrimSpace(line), &room) {
			return nil
		}
		return take(&r, line, at)
	})
}

// describe sets the origins of changes from the last lines about them.
func describe(from io.Reader, all []Change) error {
	if len(all) == 0 {
		return nil
	}
	index := make(map[string]int, len(all))
	for i := range all {
		index[all[i].Entry] = i
	}
	var text []byte
	return scan(from, func(r *record, _ []byte, _ int64) error {
		text = r.entry.appendTo(text[:0])
		if i, known := index[string(text)]; known && all[i].On == r.on {
			all[i].Origin = r.origin()
		}
		return nil
	})
}

// snapshot returns the journal as it is now, to the last line that is in force. The file is nil if there is no journal.
func (c *changes) snapshot() (*os.File, *io.SectionReader, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	f, err := os.Open(c.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, io.NewSectionReader(bytes.NewReader(nil), 0, 0), nil
	}
	if err == nil {
		if err = c.catchUp(f); err != nil {
			_ = f.Close()
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read the changes of list %s: %w", c.list, err)
	}
	return f, io.NewSectionReader(f, 0, c.offset), nil
}

// checkEvery is after how many lines a reader of the journal looks whether its caller is still there.
const checkEvery = 4096

// scan reads the journal until the context ends.
func (c *changes) scan(ctx context.Context, take func(r *record, line []byte, offset int64) error) error {
	f, from, err := c.snapshot()
	if err != nil || f == nil {
		return err
	}
	defer f.Close()
	return scanUntil(ctx, from, take)
}

func scanUntil(ctx context.Context, from io.Reader, take func(r *record, line []byte, offset int64) error) error {
	n := 0
	return scan(from, func(r *record, line []byte, offset int64) error {
		if n++; n%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		return take(r, line, offset)
	})
}

// A Place is where a list has an address.
type Place string

// The places.
const (
	Nowhere  Place = ""
	InFile   Place = "file"
	ByPrefix Place = "prefix" // a prefix of the file
	ByChange Place = "change" // the journal adds it, or removes it
)

// place returns whether an entry is on the list, and what decides that.
func (l *List) place(e *entry) (on bool, by Place) {
	on, known := l.changes.find(e)
	t := l.file.InForce()
	switch {
	case known:
		return on, ByChange
	case t.hasItself(e):
		return true, InFile
	case t.hasBeginning(e):
		return true, ByPrefix
	}
	return false, Nowhere
}

// A Found is what a list knows of an address.
type Found struct {
	On      bool
	By      Place
	History []Change // changes, the latest first
}

// Look returns what the list knows of an address. It reads the journal.
func (l *List) Look(ctx context.Context, address string) (f Found, err error) {
	if _, err := l.entryOf(address); err != nil {
		return f, err
	}
	var room, bare [maxName]byte
	var all []entry // as Has looks them up
	n := number.Read(address)
	if e, ok := addressOf(n, &room); ok {
		all = append(all, e)
	}
	if isBare(n) {
		if e, err := numberOf(n.Digits(), false, &bare); err == nil {
			all = append(all, e)
		}
	}
	for i := range all {
		if on, by := l.place(&all[i]); on || f.By == Nowhere {
			f.On, f.By = on, by
		}
		if f.On {
			break
		}
	}
	err = l.changes.scan(ctx, func(r *record, _ []byte, _ int64) error {
		if slices.ContainsFunc(all, func(e entry) bool { return e.same(&r.entry) }) {
			f.History = latest(f.History, r.change())
		}
		return nil
	})
	f.History = newestFirst(f.History)
	return f, err
}

// Last returns the last change of each address that has one, in no order. It reads the journal.
func (l *List) Last(addresses []string) (all []Change, err error) {
	var room [maxName]byte
	for _, address := range addresses {
		if e, ok := addressOf(number.Read(address), &room); ok {
			if on, known := l.changes.find(&e); known {
				all = append(all, Change{Entry: string(e.appendTo(nil)), On: on})
			}
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	return all, l.Describe(all)
}

// latest appends a change, and drops the earliest ones from time to time.
func latest(all []Change, c Change) []Change {
	if len(all) >= 2*MostFound {
		all = append(all[:0], all[len(all)-MostFound:]...)
	}
	return append(all, c)
}

func newestFirst(all []Change) []Change {
	all = all[max(0, len(all)-MostFound):]
	slices.Reverse(all)
	return all
}

// tail is the end of the journal that has the latest changes.
const tail = MostFound * 512

// Recent returns the latest changes of the list, the latest first.
func (l *List) Recent() (all []Change, err error) {
	f, from, err := l.changes.snapshot()
	if err != nil || f == nil {
		return nil, err
	}
	defer f.Close()
	size := from.Size()
	if size > tail {
		from = io.NewSectionReader(from, size-tail, tail)
	}
	err = scan(from, func(r *record, _ []byte, offset int64) error {
		if offset > 0 || size <= tail { // otherwise the line is probably incomplete
			all = latest(all, r.change())
		}
		return nil
	})
	return newestFirst(all), err
}

// Each calls take with each entry that is on the list, prefixes with their '*', and with the removed ones if removed. Those of
// the file come first, with the origin unknown.
func (l *List) Each(ctx context.Context, removed bool, take func(Change) error) error {
	n := 0
	for e := range l.file.InForce().all() {
		if n++; n%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if _, changed := l.changes.find(&e); changed && !e.prefix {
			continue
		}
		c := Change{Entry: string(e.appendTo(nil)), On: true}
		if e.prefix {
			c.Entry += string(cut)
		}
		if err := take(c); err != nil {
			return err
		}
	}
	return l.eachChange(ctx, func(c Change) error {
		if !c.On && !removed {
			return nil
		}
		return take(c)
	})
}

// eachChange calls take with the last line about each entry of the journal.
func (l *List) eachChange(ctx context.Context, take func(Change) error) error {
	f, from, err := l.changes.snapshot()
	if err != nil || f == nil {
		return err
	}
	defer f.Close()
	last := newByEntry[int64]() // offsets of the last lines about entries with several
	err = scanUntil(ctx, from, func(r *record, _ []byte, offset int64) error {
		if l.changes.markOf(&r.entry).lines() > 1 {
			last.set(&r.entry, offset)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return scanUntil(ctx, from, func(r *record, _ []byte, offset int64) error {
		if at, several := last.get(&r.entry); several && at != offset {
			return nil
		}
		return take(r.change())
	})
}
