// Package files keeps whole files in a store, so that each copy of the store has them. A file is a note that stays for good, for
// each piece of it:
//
//	.files 0 <name> 0 <number of the piece>     number 0: how many pieces there are
//
// All pieces of a change are in one batch.
//
// # Start reading
//
// Files.Put.
package files

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

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

// Put stores files, and removes those without data.
func (f *Files) Put(all ...File) error {
	before := make([]int, len(all))
	for i, one := range all {
		var err error
		if before[i], err = f.pieces(one.Name); err != nil {
			return err
		}
	}
	return f.write(func(b *store.Batch) {
		b.Note(store.KindFile, nil, []byte{1}, store.Forever) // see Any
		for i, one := range all {
			add(b, one, before[i])
		}
	})
}

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
	value, ok, err := f.index.Lookup(store.KindFile, keyOf(name, 0))
	if err != nil || !ok {
		return 0, err
	}
	if len(value) != 4 {
		return 0, fmt.Errorf("the file %s in the store is damaged", name)
	}
	return int(binary.BigEndian.Uint32(value)), nil
}

// Any reports whether files were ever put into the store.
func (f *Files) Any() (bool, error) {
	_, ok, err := f.index.Lookup(store.KindFile, nil)
	return ok, err
}

// Each passes all files, in the order of their names. pass may use the data only until it returns.
func (f *Files) Each(pass func(File) error) error {
	var one File
	left := 0
	err := f.index.Notes(store.KindFile, nil, math.MaxInt, func(key, value []byte) error {
		at := bytes.IndexByte(key, 0)
		if at < 0 {
			return nil // the note of Any
		}
		name, piece := string(key[:at]), key[at+1:]
		switch {
		case len(piece) != 4:
			return fmt.Errorf("the file %s in the store is damaged", name)
		case binary.BigEndian.Uint32(piece) == 0 && len(value) == 4 && left == 0:
			one, left = File{name, one.Data[:0]}, int(binary.BigEndian.Uint32(value))
		case name == one.Name && left > 0:
			one.Data = append(one.Data, value...)
			left--
		default:
			return fmt.Errorf("the file %s in the store is damaged", name)
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
		err = fmt.Errorf("the file %s in the store is damaged", one.Name)
	}
	return err
}
