package account

import (
	"encoding/binary"
	"hash/maphash"
	"sync"
	"sync/atomic"

	"pmg/config"
	"pmg/internal/window"
	"pmg/sms"
	"pmg/sms/number"
)

// Duplicates finds messages that an account submits once more within a time. It is safe for concurrent use.
type Duplicates struct {
	seed maphash.Seed

	mu   sync.Mutex
	seen *window.Seen
}

// Duplicates returns what finds the account's duplicates, or nil if it may submit them.
func (a *Account) Duplicates() *Duplicates { return a.use.duplicates.Load() }

// setDuplicates puts the options of an account in force. What was claimed stays so, unless nothing is to be found any more.
func setDuplicates(of *atomic.Pointer[Duplicates], c *config.Duplicates) {
	d := of.Load()
	switch {
	case c.Within == 0:
		of.Store(nil)
	case d == nil:
		of.Store(&Duplicates{seed: maphash.MakeSeed(), seen: window.NewSeen(int64(c.Within), c.Keep)})
	default:
		d.mu.Lock()
		defer d.mu.Unlock()
		d.seen.SetTerms(int64(c.Within), c.Keep)
	}
}

// Hash returns the hash of a message: of the numbers that its addresses are, its text and which part of a long message it is,
// with the reference of that one; 0 for a message that is whole.
func (d *Duplicates) Hash(m *sms.Message, part uint32) uint64 {
	var h maphash.Hash
	h.SetSeed(d.seed)
	var room [128]byte // longer names are rare
	source := number.Of(m.Source()).AppendKey(room[:0])
	dest := number.Of(m.Dest()).AppendKey(source)[len(source):]
	head := [8]byte{uint8(len(source)), uint8(len(dest)), uint8(m.Alphabet), uint8(m.Flags & sms.HasHeader)}
	binary.BigEndian.PutUint32(head[4:], part)
	_, _ = h.Write(head[:])
	_, _ = h.Write(source)
	_, _ = h.Write(dest)
	_, _ = h.Write(m.Text())
	return h.Sum64()
}

// Has reports whether a message with a hash that comes at a time is a duplicate.
func (d *Duplicates) Has(at int64, hash uint64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seen.Has(at, hash)
}

// Claim reports whether a message with a hash that comes at a time is none. Those that come later then are. GiveBack
// takes the claim if the message is not accepted.
func (d *Duplicates) Claim(at int64, hash uint64) (claim uint32, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seen.Claim(at, hash)
}

// GiveBack forgets the claim of a message that has come at a time and was not accepted.
func (d *Duplicates) GiveBack(at int64, claim uint32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen.GiveBack(at, claim)
}

// Len returns how many messages are remembered. Messages that come meanwhile do not wait until it has counted all.
func (d *Duplicates) Len(now int64) int {
	for {
		d.mu.Lock()
		left, more := d.seen.Sweep(now, 1000)
		d.mu.Unlock()
		if !more {
			return left
		}
	}
}
