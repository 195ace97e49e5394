package file

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/store/journal"
)

// written makes a closed journal with records in some segments, the first of which have been used before, and returns all files.
func written(t *testing.T) (files map[string][]byte, all []string, first journal.Seq) {
	t.Helper()
	fs := vfs.NewMem()
	j := open(t, fs, Options{})
	for n := range 60 {
		value := fmt.Sprintf("record %d %s", n, strings.Repeat("x", n*37%900))
		if all = append(all, value); n%2 == 0 {
			_, _ = j.Write(journal.ID{Number: uint64(n)}, []byte(value))
		} else if _, err := j.Append(journal.ID{Number: uint64(n)}, []byte(value)); err != nil {
			t.Fatal(err)
		}
		if n == 30 {
			if err := j.Trim(28); err != nil {
				t.Fatal(err)
			}
		}
	}
	first = j.Status().First
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := fs.List("journal")
	if err != nil {
		t.Fatal(err)
	}
	files = map[string][]byte{}
	for _, name := range names {
		if files[name], err = read(fs, "journal/"+name, nil); err != nil {
			t.Fatal(err)
		}
	}
	return files, all, first
}

func lay(t *testing.T, files map[string][]byte) vfs.FS {
	t.Helper()
	fs := vfs.NewMem()
	if err := fs.MkdirAll("journal", 0o700); err != nil {
		t.Fatal(err)
	}
	for name, b := range files {
		f, err := fs.Create("journal/"+name, category)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(bytes.Clone(b)); err != nil { // the file system may change what it is given
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return fs
}

// Each octet of a record that changes is noticed, whatever it is, and all other records can be saved. So is a file that is cut,
// empty, or gone. Damage where nothing is that counts is none.
func TestDamage(t *testing.T) {
	t.Parallel()
	files, all, first := written(t)
	found, err := find(lay(t, files), "journal")
	found.chain(first - 1)
	if err != nil || len(found.damages) > 0 || int(found.last) != len(all) {
		t.Fatalf("%+v, %v", found, err)
	}
	check := func(what string, files map[string][]byte, counts bool) {
		t.Helper()
		fs := lay(t, files)
		_, err := Open(fs, "journal", Options{Segment: small, After: first - 1})
		var d *Damage
		if counts != errors.As(err, &d) || !counts && err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if !counts {
			return
		}
		missing := map[journal.Seq]bool{}
		damages, err := Salvage(fs, "journal", first-1, func(seq journal.Seq, _ journal.ID, value []byte) error {
			if missing[seq] = true; string(value) != all[seq-1] {
				return fmt.Errorf("place %d has %q", seq, value)
			}
			return nil
		})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		for _, d := range damages {
			if d.Last == 0 {
				d.Last = journal.Seq(len(all))
			}
			for seq := d.First; seq <= d.Last; seq++ {
				if missing[seq] {
					t.Fatalf("%s: %d is said to be lost, and is there", what, seq)
				}
				missing[seq] = true
			}
		}
		for seq := first; seq <= journal.Seq(len(all)); seq++ {
			if !missing[seq] {
				t.Fatalf("%s: %d is missing, and nobody says so: %v", what, seq, damages)
			}
		}
	}
	const step = 23 // prime to the length of a frame, so that each field of one is changed in some frame
	for i, p := range found.pieces {
		name, newest := nameOf(p.segment.number), i == len(found.pieces)-1
		was := files[name]
		for at := p.from + int64(i); at < p.to; at += step {
			changed := bytes.Clone(was)
			changed[at] ^= 1 << (at % 8)
			_, _, intact := readFrame(changed[frameAt(was, p, at):], p.segment.salt)
			files[name] = changed
			check(fmt.Sprintf("%s at %d", name, at), files, !intact)
		}
		for _, to := range []int64{0, 1, headSize, p.from + 1, (p.from + p.to) / 2} {
			files[name] = was[:to]
			if to >= headSize || !newest { // the newest has the word that its own were synced
				check(fmt.Sprintf("%s cut at %d", name, to), files, true)
			}
		}
		if delete(files, name); !newest {
			check(name+" is gone", files, true)
		}
		files[name] = bytes.Clone(was)
		for at := range files[name][p.to:] {
			if at := p.to + int64(at); at >= p.to+int64(frameSize(0)) { // behind the end of the last one
				files[name][at] ^= 0xff
			}
		}
		check(name+" behind its end", files, false)
		files[name] = was
	}
}

// frameAt returns where the frame begins that has an octet.
func frameAt(b []byte, p piece, octet int64) int64 {
	at := p.from
	for {
		_, size, _ := readFrame(b[at:], p.segment.salt)
		if at+int64(size) > octet {
			return at
		}
		at += int64(size)
	}
}

// Where records are missing, and which, and that those behind them come in their order.
func TestDamageNames(t *testing.T) {
	files, _, first := written(t)
	found, err := find(lay(t, files), "journal")
	found.chain(first - 1)
	if err != nil || len(found.pieces) < 5 {
		t.Fatalf("%+v, %v", found, err)
	}
	gone, cut := found.pieces[1], found.pieces[3]
	delete(files, nameOf(gone.segment.number))
	_, size, _ := readFrame(files[nameOf(cut.segment.number)][cut.from:], cut.segment.salt)
	files[nameOf(cut.segment.number)] = files[nameOf(cut.segment.number)][:cut.from+int64(size)]
	last := first - 1
	damages, err := Salvage(lay(t, files), "journal", first-1, func(seq journal.Seq, _ journal.ID, _ []byte) error {
		if seq <= last {
			return fmt.Errorf("%d comes behind %d", seq, last)
		}
		last = seq
		return nil
	})
	if err != nil || last != found.last {
		t.Errorf("the last one is %d, want %d: %v", last, found.last, err)
	}
	want := []Damage{
		{"journal/" + nameOf(found.pieces[0].segment.number), found.pieces[0].to, gone.first, gone.last, false},
		{"journal/" + nameOf(cut.segment.number), cut.from + int64(size), cut.first + 1, cut.last, false},
	}
	for i, d := range damages {
		if len(damages) != len(want) || *d != want[i] {
			t.Errorf("%+v, want %+v", *d, want)
		}
	}
	if len(damages) == 0 || !strings.Contains(damages[0].Error(), want[0].File) {
		t.Errorf("%v", damages)
	}
}
