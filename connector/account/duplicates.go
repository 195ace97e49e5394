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

// Duplicates returns the account's duplicate finder. The result is nil if the account may submit
// duplicates.
func (a *Account) Duplicates() *Duplicates { return a.use.duplicates.Load() }

// setDuplicates puts the options of an account in force. Earlier claims stay, unless the new
// options find no duplicates at all.
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

// Hash returns the hash of a message: of its two addresses as numbers, its text, and which part of
// a long message it is. part is the reference of the long message, or 0 if the message is whole.
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

// Has reports whether a message with this hash, which arrives at the time at, is a duplicate.
func (d *Duplicates) Has(at int64, hash uint64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seen.Has(at, hash)
}

// Claim records a message with this hash, which arrives at the time at. ok is false if the message
// is a duplicate. Otherwise later messages with the same hash are duplicates. GiveBack undoes the
// claim if the message is not accepted.
func (d *Duplicates) Claim(at int64, hash uint64) (claim uint32, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seen.Claim(at, hash)
}

// GiveBack undoes the claim of a message that arrived at the time at and was not accepted.
func (d *Duplicates) GiveBack(at int64, claim uint32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen.GiveBack(at, claim)
}

// Len returns how many messages are remembered. While it counts, messages that arrive need not
// wait.
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
