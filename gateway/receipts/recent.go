package receipts

import (
	"encoding/binary"
	"hash/maphash"
)

// recent holds the mappings of the latest messages by the peers' ids, so that a receipt usually
// finds its message without the disk. New entries replace the oldest ones. It is not safe for
// concurrent use.
//
// Entries lie one after the other in chunks without pointers, so that a hundred thousand of them
// cost the garbage collector nothing.
type recent struct {
	seed   maphash.Seed
	places map[uint64]place // by the hash of the key; if two keys have the same hash, the later one
	chunks [][]byte
	first  uint32 // number of the first chunk
	most   int    // maximum number of chunks
	spare  []byte
}

// A place is where an entry begins: the number of its chunk, and the offset in the chunk.
type place struct{ chunk, at uint32 }

const recentChunk = 64 << 10

// newRecent returns a recent that takes up to about size octets.
func newRecent(size int64) *recent {
	return &recent{seed: maphash.MakeSeed(), places: map[uint64]place{}, most: int(max(size/recentChunk, 2))}
}

// add stores a value for a key.
func (r *recent) add(key, value []byte) {
	n := 4 + len(key) + len(value)
	if n > recentChunk {
		return // the entry is in the store
	}
	last := len(r.chunks) - 1
	if last < 0 || len(r.chunks[last])+n > recentChunk {
		r.grow()
		last = len(r.chunks) - 1
	}
	c := r.chunks[last]
	r.places[maphash.Bytes(r.seed, key)] = place{r.first + uint32(last), uint32(len(c))}
	c = binary.BigEndian.AppendUint16(c, uint16(len(key)))
	c = binary.BigEndian.AppendUint16(c, uint16(len(value)))
	r.chunks[last] = append(append(c, key...), value...)
}

// grow adds a chunk, and drops the first chunk if there are too many.
func (r *recent) grow() {
	if len(r.chunks) == r.most {
		oldest := r.chunks[0]
		for at := 0; at < len(oldest); {
			key, value := entryAt(oldest, at)
			if h := maphash.Bytes(r.seed, key); r.places[h] == (place{r.first, uint32(at)}) {
				delete(r.places, h)
			}
			at += 4 + len(key) + len(value)
		}
		r.chunks = r.chunks[:copy(r.chunks, r.chunks[1:])]
		r.first++
		r.spare = oldest[:0]
	}
	c := r.spare
	if r.spare = nil; c == nil {
		c = make([]byte, 0, recentChunk)
	}
	r.chunks = append(r.chunks, c)
}

// entryAt returns the entry that begins at an offset of a chunk.
func entryAt(c []byte, at int) (key, value []byte) {
	keyLen, valueLen := int(binary.BigEndian.Uint16(c[at:])), int(binary.BigEndian.Uint16(c[at+2:]))
	at += 4
	return c[at : at+keyLen], c[at+keyLen : at+keyLen+valueLen]
}

// find returns the value of a key, or nil if the key is not known. The result is valid until add is
// called.
func (r *recent) find(key []byte) []byte {
	p, ok := r.places[maphash.Bytes(r.seed, key)]
	if !ok {
		return nil
	}
	if found, value := entryAt(r.chunks[p.chunk-r.first], int(p.at)); string(found) == string(key) {
		return value
	}
	return nil
}
