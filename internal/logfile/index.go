package logfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
)

const (
	blockSize   = 256 << 10 // octets of lines that have one filter, and are compressed as one frame
	bitsPerKey  = 20        // of a filter
	probes      = 8         // bits that a key sets; with 20 bits for each key one in 7,000 others has them too
	filterShare = 32        // a filter takes at most 1/filterShare of its block
)

// A Keyer appends what a line is found by, as Hash makes it, and returns the line's time in microseconds, 0 if it has none.
type Keyer func(line []byte, keys []uint64) (all []uint64, at int64)

// Hash returns the key of a value. Values of another kind have other keys.
func Hash(kind byte, value []byte) uint64 {
	h := uint64(kind)*0x9e3779b97f4a7c15 + 0xcbf29ce484222325
	for _, c := range value {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	return Mix(h)
}

// Mix spreads the bits of a number, so that similar ones become different keys.
func Mix(h uint64) uint64 {
	h = (h ^ h>>32) * 0xd6e8feb86659fd93
	return h ^ h>>32
}

// A Block is some lines of a file that follow each other.
type Block struct {
	From, To int64 // times of the earliest and the latest line in microseconds

	at, packedAt     int64 // offset in the plain file, and in the compressed one
	size, packedSize int64 // packedSize is 0 if it cannot be read apart
	filter           []byte
}

// end returns where the block ends in the plain file.
func (b *Block) end() int64 { return b.at + b.size }

// has reports whether the block has a key; one in 7,000 that it does not have seems to be there.
func (b *Block) has(key uint64) bool {
	at, step := uint32(key), uint32(key>>32)|1
	for range probes {
		if n := place(at, len(b.filter)); b.filter[n>>3]&(1<<(n&7)) == 0 {
			return false
		}
		at += step
	}
	return true
}

// place returns the bit of a filter that a hash means.
func place(hash uint32, octets int) int {
	n, _ := bits.Mul64(uint64(hash)<<32, uint64(octets)*8)
	return int(n)
}

// An indexer makes blocks of lines.
type indexer struct {
	keys Keyer

	line  []uint64      // keys of a line
	all   []uint64      // those of a block, each once
	table [1 << 14]slot // where all of them are
	round uint32        // that table belongs to
}

type slot struct {
	round, at uint32
}

// block returns the block of some lines that begin at an offset.
func (x *indexer) block(text []byte, at int64) Block {
	b := Block{From: math.MaxInt64, at: at, size: int64(len(text))}
	x.all, x.round = x.all[:0], x.round+1
	for rest := text; len(rest) > 0; {
		n := bytes.IndexByte(rest, '\n')
		if n < 0 {
			n = len(rest) - 1
		}
		var when int64
		x.line, when = x.keys(rest[:n], x.line[:0])
		rest = rest[n+1:]
		if when != 0 {
			b.From, b.To = min(b.From, when), max(b.To, when)
		}
		for _, key := range x.line {
			x.add(key)
		}
	}
	if b.To == 0 {
		b.From = 0
	}
	b.filter = make([]byte, max(8, min(len(x.all)*bitsPerKey/8, len(text)/filterShare)))
	for _, key := range x.all {
		at, step := uint32(key), uint32(key>>32)|1
		for range probes {
			n := place(at, len(b.filter))
			b.filter[n>>3] |= 1 << (n & 7)
			at += step
		}
	}
	return b
}

// add adds a key to those of the block unless it is there.
func (x *indexer) add(key uint64) {
	if len(x.all) >= len(x.table)*3/4 { // some are there twice, and the filter is full anyway
		x.all = append(x.all, key)
		return
	}
	for i := key; ; i++ {
		switch s := &x.table[i%uint64(len(x.table))]; {
		case s.round != x.round:
			*s = slot{x.round, uint32(len(x.all))}
			x.all = append(x.all, key)
			return
		case x.all[s.at] == key:
			return
		}
	}
}

// cut returns how many octets of text the next block has: whole lines; 0 if it does not have them all yet.
func cut(text []byte) int {
	if len(text) < blockSize {
		return 0
	}
	if n := bytes.LastIndexByte(text[:blockSize], '\n') + 1; n > 0 {
		return n
	}
	if n := bytes.IndexByte(text[blockSize:], '\n'); n >= 0 { // a line that is longer
		return blockSize + n + 1
	}
	return 0
}

// The index of a compressed file stands at its end, in a frame that decoders skip (RFC 8878 §3.1.2): the header, the blocks, and the trailer,
// by which it is found from the end.
const (
	skippable   = 0x184D2A5D
	headerSize  = 8 // magic number, octets behind it
	blockHeader = 8*5 + 4
	trailerSize = 12 // checksum, octets of the frame, indexMark
	indexMark   = "PMG1"
)

// appendIndex appends the frame with an index.
func appendIndex(b []byte, blocks []Block) []byte {
	start := len(b)
	b = binary.LittleEndian.AppendUint32(b, skippable)
	b = binary.LittleEndian.AppendUint32(b, 0)
	for i := range blocks {
		one := &blocks[i]
		for _, n := range [...]int64{one.From, one.To, one.size, one.packedAt, one.packedSize} {
			b = binary.LittleEndian.AppendUint64(b, uint64(n))
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(len(one.filter)))
		b = append(b, one.filter...)
	}
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b[start+headerSize:]))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(b)-start+8))
	b = append(b, indexMark...)
	binary.LittleEndian.PutUint32(b[start+4:], uint32(len(b)-start-headerSize))
	return b
}

var errNoIndex = errors.New("the file has no index")

// readIndex reads the index at the end of a compressed file.
func readIndex(file io.ReaderAt, size int64) ([]Block, error) {
	var trailer [trailerSize]byte
	if size < headerSize+trailerSize {
		return nil, errNoIndex
	}
	if _, err := file.ReadAt(trailer[:], size-trailerSize); err != nil {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(trailer[4:]))
	if string(trailer[8:]) != indexMark || length > size || length < headerSize+trailerSize {
		return nil, errNoIndex
	}
	b := make([]byte, length)
	if _, err := file.ReadAt(b, size-length); err != nil {
		return nil, err
	}
	b = b[headerSize : length-trailerSize]
	if crc32.ChecksumIEEE(b) != binary.LittleEndian.Uint32(trailer[:]) {
		return nil, errNoIndex
	}
	var blocks []Block
	for at := int64(0); len(b) > 0; {
		if len(b) < blockHeader {
			return nil, errNoIndex
		}
		var n [5]int64
		for i := range n {
			n[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
		}
		filter := int(binary.LittleEndian.Uint32(b[40:]))
		if b = b[blockHeader:]; filter > len(b) || filter < 1 || n[2] < 0 || n[4] < 0 || n[3] < 0 || n[3]+n[4] > size {
			return nil, errNoIndex
		}
		blocks = append(blocks, Block{From: n[0], To: n[1], at: at, size: n[2], packedAt: n[3], packedSize: n[4], filter: b[:filter:filter]})
		b, at = b[filter:], at+n[2]
	}
	return blocks, nil
}
