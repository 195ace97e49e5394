package userdata

import (
	"encoding/binary"
	"hash/maphash"
	"math"

	"pmg/sms"
)

// A Source is the sender and the recipient of a part. Parts of one message have the same Source.
type Source struct {
	Account  string // account, or connector for messages from an SMSC
	From, To sms.Address
}

// An Outcome is what Joiner.Add did with a part.
type Outcome uint8

// The outcomes.
const (
	Kept     Outcome = iota // the part waits for the others
	Complete                // the part was the last missing one
	Doubled                 // the part was already there: the Joiner has not stored the new one
	Replaced                // the reference now belongs to another message; the parts of the earlier message are returned
	Full                    // there is no room: the Joiner has not stored the part
	Invalid                 // the message is no part: the Joiner has not stored it
)

// Limits are the limits of a Joiner.
type Limits struct {
	Octets  int   // limit of the octets of all stored parts, as the caller counts them
	Account int   // limit of the octets of an account's parts; 0: only Octets is a limit
	Timeout int64 // time in nanoseconds to wait for the other parts after the first
}

// A Joiner stores the parts of long messages until all parts have come. V is the caller's value of a part.
// The caller passes the time; a time that goes backwards counts as standing still. A Joiner is not safe for
// concurrent use.
type Joiner[V any] struct {
	limits   Limits
	sets     map[string]*set[V]
	accounts map[string]int // stored octets, by account
	seed     maphash.Seed
	now      int64
	octets   int

	oldest, newest *set[V]
	free           *set[V]
	frees          int

	key   []byte // key of the part that is being added
	given []V    // values that the last call returned
}

// A set contains the parts of a message that have come.
type set[V any] struct {
	key      string
	account  string
	deadline int64
	octets   int
	missing  int
	parts    []part[V] // parts, by number

	older, newer *set[V] // newer also links the unused sets
}

type part[V any] struct {
	value V
	hash  uint64
	there bool
}

// Approximate sizes in octets: of a set and its key without parts, and of a part's place without the value.
const (
	setOctets  = 256
	partOctets = 32
)

// Limits of the sets that are kept for reuse, and of the parts for which they have room.
const (
	maxFree = 64
	maxKeep = 16
)

// NewJoiner returns a Joiner without parts.
func NewJoiner[V any](l Limits) *Joiner[V] {
	if l.Account <= 0 {
		l.Account = l.Octets
	}
	return &Joiner[V]{
		limits: l, sets: map[string]*set[V]{}, accounts: map[string]int{},
		seed: maphash.MakeSeed(), now: math.MinInt64,
	}
}

// Add adds a part of a message. The part's text, which is not stored, distinguishes a repeated part from a
// part of another message with the same reference. size is the size of the value in octets.
//
// With Complete, values are the values of all parts in order; with Replaced, the values of the parts that are
// given up. They are valid until the next call.
//
// The caller calls Expire before, so that no part joins an expired message. Parts with different totals
// belong to different messages (3GPP TS 23.040 §9.2.3.24.1).
func (j *Joiner[V]) Add(now int64, from Source, p Part, text []byte, v V, size int) (o Outcome, values []V) {
	j.begin(now)
	if !p.Valid() {
		return Invalid, nil
	}
	if p.Total == 1 {
		j.given = append(j.given, v)
		return Complete, j.given
	}
	hash := maphash.Bytes(j.seed, text)
	j.setKey(from, p)
	s := j.sets[string(j.key)]
	if s != nil && s.parts[p.Number-1].there {
		if s.parts[p.Number-1].hash == hash {
			return Doubled, nil
		}
		o = Replaced
	}
	need, freed := size, 0
	if s == nil || o == Replaced {
		need += setOctets + len(j.key) + int(p.Total)*partOctets
	}
	if o == Replaced {
		freed = s.octets
	}
	last := s != nil && o == Kept && s.missing == 1 // the part completes its set, which frees memory
	if !last && !j.hasRoom(from.Account, need-freed) {
		return Full, nil
	}
	if o == Replaced {
		values, s = j.give(s), nil
	}
	if s == nil {
		s = j.newSet(from.Account, int(p.Total))
	}
	s.parts[p.Number-1] = part[V]{v, hash, true}
	s.missing--
	s.octets += need
	j.octets += need
	j.accounts[s.account] += need
	if s.missing == 0 {
		return Complete, j.give(s)
	}
	return o, values
}

// Expire returns the values of the parts of an expired message, in order. It returns false if no message has
// expired. The values are valid until the next call. At math.MaxInt64 every message has expired.
func (j *Joiner[V]) Expire(now int64) (values []V, ok bool) {
	j.begin(now)
	if j.oldest == nil || j.oldest.deadline > max(j.now, now) {
		return nil, false
	}
	return j.give(j.oldest), true
}

// begin drops the values that the last call returned.
func (j *Joiner[V]) begin(now int64) {
	if now != math.MaxInt64 {
		j.now = max(j.now, now)
	}
	clear(j.given)
	j.given = j.given[:0]
}

// hasRoom reports whether an account may have more octets.
func (j *Joiner[V]) hasRoom(account string, more int) bool {
	return j.octets+more <= j.limits.Octets && j.accounts[account]+more <= j.limits.Account
}

// setKey makes the key of a part's message.
func (j *Joiner[V]) setKey(from Source, p Part) {
	b := append(j.key[:0], byte(p.Reference>>8), byte(p.Reference), p.Total, 0)
	if p.Wide {
		b[3] = 1
	}
	for _, a := range [...]sms.Address{from.From, from.To} {
		b = append(b, a.TON, a.NPI)
		b = append(binary.AppendUvarint(b, uint64(len(a.Addr))), a.Addr...)
	}
	j.key = append(b, from.Account...)
}

// newSet begins a message.
func (j *Joiner[V]) newSet(account string, total int) *set[V] {
	s := j.free
	if s == nil {
		s = new(set[V])
	} else {
		j.free, s.newer = s.newer, nil
		j.frees--
	}
	if cap(s.parts) < total {
		s.parts = make([]part[V], total)
	}
	s.key, s.account, s.deadline = string(j.key), account, j.now+j.limits.Timeout
	s.parts, s.missing, s.octets = s.parts[:total], total, 0
	j.sets[s.key] = s
	if s.older = j.newest; s.older == nil {
		j.oldest = s
	} else {
		s.older.newer = s
	}
	j.newest = s
	return s
}

// give removes a message and returns its values.
func (j *Joiner[V]) give(s *set[V]) []V {
	for i := range s.parts {
		if s.parts[i].there {
			j.given = append(j.given, s.parts[i].value)
		}
	}
	delete(j.sets, s.key)
	j.octets -= s.octets
	if left := j.accounts[s.account] - s.octets; left > 0 {
		j.accounts[s.account] = left
	} else {
		delete(j.accounts, s.account)
	}
	if s.older == nil {
		j.oldest = s.newer
	} else {
		s.older.newer = s.newer
	}
	if s.newer == nil {
		j.newest = s.older
	} else {
		s.newer.older = s.older
	}
	clear(s.parts)
	*s = set[V]{parts: s.parts[:0]}
	if j.frees < maxFree && cap(s.parts) <= maxKeep {
		s.newer, j.free = j.free, s
		j.frees++
	}
	return j.given
}
