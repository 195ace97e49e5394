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
	blockSize   = 256 << 10 // octets of lines that share a filter, and are compressed as one frame
	bitsPerKey  = 20        // bits of a filter for each key
	filterShare = 32        // a filter takes at most 1/filterShare of its block
)

// A Keyer appends the keys of a line, as Hash makes them, and returns the line's time in microseconds, 0 if the line has no time.
type Keyer func(line []byte, keys []uint64) (all []uint64, at int64)

// Hash returns the key of a value. Values of another kind have other keys.
func Hash(kind byte, value []byte) uint64 { return hash(kind, value, 0) }

// HashFolded returns the key of a value without regard to letter case.
func HashFolded(kind byte, value []byte) uint64 { return hash(kind, value, 0x2020202020202020) }

// hash reads eight octets at a time, with some bits set. The last eight may overlap those before them.
func hash(kind byte, value []byte, set uint64) uint64 {
	h, n := uint64(kind)<<32+uint64(len(value)), len(value)
	switch {
	case n >= 8:
		for at := 0; at+8 < n; at += 8 {
			h = Mix(h ^ (binary.LittleEndian.Uint64(value[at:]) | set))
		}
		return Mix(h ^ (binary.LittleEndian.Uint64(value[n-8:]) | set))
	case n >= 4:
		first, last := binary.LittleEndian.Uint32(value), binary.LittleEndian.Uint32(value[n-4:])
		return Mix(Mix(h) ^ (uint64(first) | uint64(last)<<32 | set))
	}
	var all uint64
	for _, c := range value {
		all = all<<8 | uint64(c)
	}
	return Mix(Mix(h) ^ (all | set))
}

// Mix spreads the bits of a number, so that similar ones become different keys.
func Mix(h uint64) uint64 {
	high, low := bits.Mul64(h^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return high ^ low
}

// A Block is some lines of a file that follow each other.
type Block struct {
	From, To int64 // times of the earliest and the latest line in microseconds

	at, packedAt     int64 // offset of the block in the plain file, and in the compressed one
	size, packedSize int64 // sizes of the block; packedSize is 0 if the block cannot be decompressed alone
	filter           []byte
}

// end returns where the block ends in the plain file.
func (b *Block) end() int64 { return b.at + b.size }

// has reports whether the block has a key. For one in 2,800 missing keys it wrongly reports true.
func (b *Block) has(key uint64) bool {
	first, second := places(key, len(b.filter))
	one, other := probes(key)
	return binary.LittleEndian.Uint64(b.filter[first:])&one == one && binary.LittleEndian.Uint64(b.filter[second:])&other == other
}

// places returns where the two words of a filter stand in which a key sets bits.
func places(key uint64, octets int) (first, second int) {
	words := uint64(octets / 8)
	return int(key&math.MaxUint32*words>>32) * 8, int(key>>32*words>>32) * 8
}

// probes returns the bits that a key sets in these words.
func probes(key uint64) (first, second uint64) {
	h := key * 0x9e3779b97f4a7c15 >> 16
	first = 1<<(h&63) | 1<<(h>>6&63) | 1<<(h>>12&63) | 1<<(h>>18&63)
	return first, 1<<(h>>24&63) | 1<<(h>>30&63) | 1<<(h>>36&63) | 1<<(h>>42&63)
}

type indexer struct {
	keys Keyer

	line   []uint64     // keys of a line
	all    []uint64     // keys of a block
	recent [1024]uint64 // some of the keys in all, so that a key of many lines is usually in all once
}

// block returns the block of some lines that begin at an offset.
func (x *indexer) block(text []byte, at int64) Block {
	b := Block{From: math.MaxInt64, at: at, size: int64(len(text))}
	x.all, x.recent = x.all[:0], [len(x.recent)]uint64{}
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
			if known := &x.recent[key%uint64(len(x.recent))]; *known != key {
				*known = key
				x.all = append(x.all, key)
			}
		}
	}
	if b.To == 0 {
		b.From = 0
	}
	b.filter = filterOf(x.all, len(text)/filterShare)
	return b
}

// filterOf returns the filter of keys, with at most most octets.
func filterOf(keys []uint64, most int) []byte {
	filter := make([]byte, max(8, min(len(keys)*bitsPerKey/8, most)&^7))
	for _, key := range keys {
		first, second := places(key, len(filter))
		one, other := probes(key)
		a, b := filter[first:first+8], filter[second:second+8]
		binary.LittleEndian.PutUint64(a, binary.LittleEndian.Uint64(a)|one)
		binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)|other)
	}
	return filter
}

// cut returns the number of octets of text that complete a block which already has has octets, so that the
// block consists of whole lines; 0 if the text is too short.
func cut(has int, text []byte) int {
	room := max(0, blockSize-has)
	if len(text) < room {
		return 0
	}
	if n := bytes.LastIndexByte(text[:room], '\n') + 1; n > 0 {
		return n
	}
	if n := bytes.IndexByte(text[room:], '\n'); n >= 0 { // a line that is longer than the room
		return room + n + 1
	}
	return 0
}

// The index of a compressed file stands at its end, in a frame that decoders skip (RFC 8878 §3.1.2): the header, the
// blocks, and the trailer, by which it is found from the end.
const (
	skippable   = 0x184D2A5D
	headerSize  = 8 // magic number, and number of octets that follow
	blockHeader = 8*5 + 4
	trailerSize = 12 // checksum, octets of the frame, indexMark
	indexMark   = "PMG2"
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
		if b = b[blockHeader:]; filter > len(b) || filter < 8 || filter%8 != 0 || n[2] < 0 || n[4] < 0 || n[3] < 0 ||
			n[3]+n[4] > size {
			return nil, errNoIndex
		}
		blocks = append(
			blocks,
			Block{From: n[0], To: n[1], at: at, size: n[2], packedAt: n[3], packedSize: n[4], filter: b[:filter:filter]},
		)
		b, at = b[filter:], at+n[2]
	}
	return blocks, nil
}
