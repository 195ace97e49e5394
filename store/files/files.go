// Package files keeps whole files in a store, so that each copy of the store has them. A file is a note that stays for good, for
// each piece of it:
//
//	.files 0                                    the number of the last change
//	.files 0 0 <number of a change>             the names of its files, a line each
//	.files 0 <name> 0 <number of the piece>     number 0: how many pieces there are
//
// All notes of a change are in one batch.
//
// # Start reading
//
// Files.Put.
package files

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"pmg/store"
)

// pieceOctets is the size of a piece.
const pieceOctets = 64 << 10

// A File is a file. Data is nil if the file is to be removed.
type File struct {
	Name string // without a NUL
	Data []byte
}

// Files are the files in a store.
type Files struct {
	index store.Index
	write func(add func(*store.Batch)) error
}

// Open returns the files of a store. write writes changes and returns when they are on disk.
func Open(index store.Index, write func(add func(*store.Batch)) error) *Files {
	return &Files{index, write}
}

// changesKept is how many changes Since knows.
const changesKept = 1000

// Put stores files, and removes those without data. It is called by one goroutine at a time.
func (f *Files) Put(all ...File) error {
	number, err := f.Last()
	if err != nil {
		return err
	}
	number++
	before, names := make([]int, len(all)), []byte(nil)
	for i, one := range all {
		if before[i], err = f.pieces(one.Name); err != nil {
			return err
		}
		names = append(append(names, one.Name...), '\n')
	}
	return f.write(func(b *store.Batch) {
		b.Note(store.KindFile, nil, binary.BigEndian.AppendUint64(nil, number), store.Forever)
		b.Note(store.KindFile, changeKey(number), names, store.Forever)
		if number > changesKept {
			b.Erase(store.KindFile, changeKey(number-changesKept), store.Forever)
		}
		for i, one := range all {
			add(b, one, before[i])
		}
	})
}

func changeKey(number uint64) []byte { return binary.BigEndian.AppendUint64([]byte{0}, number) }

// Last returns the number of the last change, 0 if there was none.
func (f *Files) Last() (uint64, error) {
	value, ok, err := f.index.Lookup(store.KindFile, nil)
	if err != nil || !ok {
		return 0, err
	}
	if len(value) != 8 {
		return 0, errors.New("the number of the last change of files in the store is damaged")
	}
	return binary.BigEndian.Uint64(value), nil
}

// Since returns the names of the files that changed after a change. known is false if not all of them are known any more.
func (f *Files) Since(number, last uint64) (names []string, known bool, err error) {
	if last-number > changesKept {
		return nil, false, nil
	}
	for number++; number <= last; number++ {
		value, ok, err := f.index.Lookup(store.KindFile, changeKey(number))
		if err != nil || !ok {
			return nil, false, err
		}
		names = append(names, strings.Fields(string(value))...)
	}
	return names, true, nil
}

// Get returns a file, nil if there is none.
func (f *Files) Get(name string) ([]byte, error) {
	count, ok, err := f.header(name)
	if err != nil || !ok {
		return nil, err
	}
	data := []byte{}
	for piece := 1; piece <= count; piece++ {
		value, ok, err := f.index.Lookup(store.KindFile, keyOf(name, piece))
		if err != nil || !ok {
			return nil, errors.Join(err, damaged(name))
		}
		data = append(data, value...)
	}
	return data, nil
}

func damaged(name string) error { return fmt.Errorf("the file %s in the store is damaged", name) }

// add adds the change of a file to a batch. before is how many pieces the file had.
func add(b *store.Batch, one File, before int) {
	count := 0
	for rest := one.Data; len(rest) > 0; count++ {
		n := min(pieceOctets, len(rest))
		b.Note(store.KindFile, keyOf(one.Name, count+1), rest[:n], store.Forever)
		rest = rest[n:]
	}
	for ; before > count; before-- {
		b.Erase(store.KindFile, keyOf(one.Name, before), store.Forever)
	}
	if one.Data == nil {
		b.Erase(store.KindFile, keyOf(one.Name, 0), store.Forever)
	} else {
		b.Note(store.KindFile, keyOf(one.Name, 0), binary.BigEndian.AppendUint32(nil, uint32(count)), store.Forever)
	}
}

func keyOf(name string, piece int) []byte {
	return binary.BigEndian.AppendUint32(append([]byte(name), 0), uint32(piece))
}

// pieces returns how many pieces a file has.
func (f *Files) pieces(name string) (int, error) {
	count, _, err := f.header(name)
	return count, err
}

// header returns how many pieces a file has, and whether it exists.
func (f *Files) header(name string) (count int, ok bool, err error) {
	value, ok, err := f.index.Lookup(store.KindFile, keyOf(name, 0))
	if err != nil || !ok {
		return 0, false, err
	}
	if len(value) != 4 {
		return 0, false, damaged(name)
	}
	return int(binary.BigEndian.Uint32(value)), true, nil
}

// Each passes all files, in the order of their names. pass may use the data only until it returns.
func (f *Files) Each(pass func(File) error) error {
	var one File
	left := 0
	err := f.index.Notes(store.KindFile, nil, math.MaxInt, func(key, value []byte) error {
		at := bytes.IndexByte(key, 0)
		if at <= 0 {
			return nil // of the changes
		}
		name, piece := string(key[:at]), key[at+1:]
		switch {
		case len(piece) != 4:
			return damaged(name)
		case binary.BigEndian.Uint32(piece) == 0 && len(value) == 4 && left == 0:
			one, left = File{name, one.Data[:0]}, int(binary.BigEndian.Uint32(value))
		case name == one.Name && left > 0:
			one.Data = append(one.Data, value...)
			left--
		default:
			return damaged(name)
		}
		if left == 0 {
			if one.Data == nil {
				one.Data = []byte{}
			}
			return pass(one)
		}
		return nil
	})
	if err == nil && left > 0 {
		err = damaged(one.Name)
	}
	return err
}
