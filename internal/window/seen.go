package window

// A Seen remembers hashes for a time. Make one with NewSeen.
type Seen struct {
	within int64
	table  table[int64] // the time at which a hash was claimed
}

// sweeps is how many hashes a claim forgets that are too old. As it adds one at most, they become fewer.
const sweeps = 16

// NewSeen returns a Seen that remembers a hash for a time, in nanoseconds, while it is among the last keep hashes.
func NewSeen(within int64, keep int) *Seen {
	s := &Seen{}
	s.SetTerms(within, keep)
	return s
}

// SetTerms changes for how long a hash is remembered, and how many are. Claims stay valid.
func (s *Seen) SetTerms(within int64, keep int) {
	s.within = within
	s.table.setKeep(keep)
}

// Has reports whether a hash was claimed less than the time before at.
func (s *Seen) Has(at int64, hash uint64) bool {
	i := s.table.find(hash)
	return i != 0 && at-s.table.at(i).value < s.within
}

// Claim remembers a hash from the time at on, unless Has reports true: then ok is false. GiveBack takes the claim.
func (s *Seen) Claim(at int64, hash uint64) (claim uint32, ok bool) {
	if s.Has(at, hash) {
		return 0, false
	}
	s.sweep(at, sweeps)
	if i := s.table.find(hash); i != 0 {
		s.table.remove(i)
	}
	claim = s.table.add(hash)
	s.table.at(claim).value = at
	return claim, true
}

// GiveBack forgets the hash of a claim that was made for the time at. If its place was taken by another hash meanwhile,
// nothing happens.
func (s *Seen) GiveBack(at int64, claim uint32) {
	if s.table.has(claim) && s.table.at(claim).value == at {
		s.table.remove(claim)
	}
}

// Sweep forgets up to n hashes that are too old at a time, and returns how many are left, and whether there may be more
// that are too old.
func (s *Seen) Sweep(at int64, n int) (left int, more bool) {
	more = s.sweep(at, n) == n
	return s.table.n, more
}

func (s *Seen) sweep(at int64, most int) (n int) {
	for ; n < most && s.table.oldest != 0 && at-s.table.at(s.table.oldest).value >= s.within; n++ {
		s.table.remove(s.table.oldest)
	}
	return n
}
