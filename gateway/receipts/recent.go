package receipts

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// recent holds the mappings of the latest messages by the peers' ids, so that a receipt usually
// finds its message without the disk. New entries replace the oldest ones. It is not safe for
// concurrent use.
//
// Entries lie one after the other in chunks without pointers, so that a hundred thousand of them
// cost the garbage collector nothing. A Go map of their places took 3 % of a receipt's CPU.
type recent struct {
	seed    maphash.Seed
	buckets []bucket // a power of two
	chunks  [][]byte
	first   uint32 // number of the first chunk
	most    int    // maximum number of chunks
	spare   []byte
}

// A bucket has the places of some entries; the hash of a key says which bucket. It is a line of the processor's cache.
// In a full bucket a new place replaces the oldest one, whose entry is then only in the store.
type bucket [8]place

// A place is where an entry begins: from the highest bit on, 24 bits of the key's hash, the number of the chunk
// in 24, and the offset in the chunk in 16. 0 is no place, and chunks have numbers from 1 on.
type place uint64

const (
	recentChunk = 64 << 10
	lowChunk    = 1<<24 - 1 // bits of a chunk's number that a place has
	perBucket   = 256       // octets of entries for each bucket: two or three entries, so that it seldom needs more than 8 places
)

func newPlace(hash uint64, chunk uint32, at int) place {
	return place(hash<<40 | uint64(chunk&lowChunk)<<16 | uint64(at))
}

// age returns how far a place is behind the beginning of the chunk after the current one. Places in chunks that were dropped
// are the oldest.
func (p place) age(current uint32) int {
	return (int(current+1-uint32(p>>16))&lowChunk)<<16 - int(p&0xFFFF)
}

// newRecent returns a recent that takes up to about size octets for entries, and a quarter of that for places. The number of
// buckets is fixed: pages of the table that have no place yet take no memory, and a table that grew would copy its places.
func newRecent(size int64) *recent {
	most := max(size/recentChunk, 2)
	buckets := 1 << bits.Len64(uint64(most*recentChunk/perBucket-1))
	return &recent{seed: maphash.MakeSeed(), buckets: make([]bucket, buckets), first: 1, most: int(most)}
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
	r.put(key, r.first+uint32(last), len(c))
	c = binary.BigEndian.AppendUint16(c, uint16(len(key)))
	c = binary.BigEndian.AppendUint16(c, uint16(len(value)))
	r.chunks[last] = append(append(c, key...), value...)
}

// put adds a place. It replaces that of the same key, an unused one, or the oldest one.
func (r *recent) put(key []byte, chunk uint32, at int) {
	hash := maphash.Bytes(r.seed, key)
	b := r.bucketOf(hash)
	to, oldest := 0, -1
	for i, p := range b {
		if p == 0 {
			to = i
			break
		}
		if found, _ := r.entry(p, hash); found != nil && string(found) == string(key) {
			to = i
			break
		}
		if age := p.age(chunk); age > oldest {
			to, oldest = i, age
		}
	}
	b[to] = newPlace(hash, chunk, at)
}

func (r *recent) bucketOf(hash uint64) *bucket { return &r.buckets[hash>>24&uint64(len(r.buckets)-1)] }

// entry returns the entry at a place, or a nil key if it is of another hash or was dropped.
func (r *recent) entry(p place, hash uint64) (key, value []byte) {
	chunk := (uint32(p>>16) - r.first) & lowChunk
	if uint64(p)>>40 != hash&(1<<24-1) || int(chunk) >= len(r.chunks) {
		return nil, nil
	}
	return entryAt(r.chunks[chunk], int(p&0xFFFF))
}

// grow adds a chunk, and drops the first chunk if there are too many.
func (r *recent) grow() {
	if len(r.chunks) == r.most {
		r.spare = r.chunks[0][:0]
		r.chunks = r.chunks[:copy(r.chunks, r.chunks[1:])]
		r.first++
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
	hash := maphash.Bytes(r.seed, key)
	for _, p := range r.bucketOf(hash) {
		if found, value := r.entry(p, hash); found != nil && string(found) == string(key) {
			return value
		}
	}
	return nil
}
