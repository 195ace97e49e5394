package logfile

import (
	"bytes"
	"fmt"
	"strconv"
	"testing"
)

// A block has all keys of its lines, and one in some thousand of others.
func TestFilter(t *testing.T) {
	key := func(n int) uint64 { return Hash('k', strconv.AppendInt(nil, int64(n), 10)) }
	for _, n := range []int{1, 10, 1000, 3000} {
		x := &indexer{keys: func(line []byte, keys []uint64) ([]uint64, int64) {
			n, _ := strconv.Atoi(string(line[:8]))
			return append(keys, key(n)), int64(n)
		}}
		var text []byte
		for i := range n {
			text = fmt.Appendf(text, "%08d %s\n", i+1, bytes.Repeat([]byte{'x'}, 90))
		}
		b := x.block(text, 0)
		if b.From != 1 || b.To != int64(n) || b.size != int64(len(text)) {
			t.Errorf("a block of %d lines is from %d to %d, and has %d octets", n, b.From, b.To, b.size)
		}
		for i := range n {
			if !b.has(key(i + 1)) {
				t.Errorf("a block of %d keys has not number %d", n, i+1)
			}
		}
		const others = 1_000_000
		wrong := 0
		for i := range others {
			if b.has(key(n + 1 + i)) {
				wrong++
			}
		}
		if wrong > others/2000 {
			t.Errorf("a block of %d keys seems to have %d of %d others", n, wrong, others)
		}
		t.Logf("%d keys: %d of %d others", n, wrong, others)
	}
}

// Blocks are whole lines, wherever the pieces end that a packer gets, and a file of another version is one without an index.
func TestPackerCuts(t *testing.T) {
	var text []byte
	for n := 0; len(text) < 3*blockSize; n++ {
		text = fmt.Appendf(text, "%d %s\n", n, bytes.Repeat([]byte{'x'}, n%300))
	}
	text = append(append(text, bytes.Repeat([]byte{'y'}, 2*blockSize)...), "\nlast\n"...)
	keys := func(line []byte, keys []uint64) ([]uint64, int64) { return keys, 1 }
	for _, piece := range []int{1000, blockSize - 1, blockSize, blockSize + 1, 1 << 20, len(text)} {
		var out bytes.Buffer
		p, err := newPacker(&out, keys)
		if err != nil {
			t.Fatal(err)
		}
		for rest := text; len(rest) > 0; rest = rest[min(piece, len(rest)):] {
			if n, err := p.Write(rest[:min(piece, len(rest))]); err != nil || n != min(piece, len(rest)) {
				t.Fatal(n, err)
			}
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		blocks, err := readIndex(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil || len(blocks) < 4 {
			t.Fatalf("%d blocks, %v", len(blocks), err)
		}
		for _, b := range blocks {
			if text[b.end()-1] != '\n' || b.size > 3*blockSize+300 {
				t.Errorf("in pieces of %d octets a block is from %d to %d", piece, b.at, b.end())
			}
		}
		if end := blocks[len(blocks)-1].end(); end != int64(len(text)) {
			t.Errorf("the blocks end at %d, the text at %d", end, len(text))
		}
		r, err := Segment{Packed: true}.Reader(bytes.NewReader(out.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		var all bytes.Buffer
		if _, err := all.ReadFrom(r); err != nil || !bytes.Equal(all.Bytes(), text) {
			t.Errorf("in pieces of %d octets another text comes back, %v", piece, err)
		}
		old := bytes.Replace(out.Bytes(), []byte(indexMark), []byte("PMG1"), 1)
		if _, err := readIndex(bytes.NewReader(old), int64(len(old))); err != errNoIndex {
			t.Errorf("an index of another version: %v", err)
		}
	}
}
