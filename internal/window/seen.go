package window

// A Seen remembers hashes for a period. Make one with NewSeen.
type Seen struct {
	within int64
	table  table[int64] // the time at which a hash was claimed
}

// sweeps is the maximum number of expired hashes that a claim drops. It is more than one, so that expired hashes become fewer.
const sweeps = 16

// NewSeen returns a Seen that remembers a hash for a period in nanoseconds, while it is among the latest keep hashes.
func NewSeen(within int64, keep int) *Seen {
	s := &Seen{}
	s.SetTerms(within, keep)
	return s
}

// SetTerms changes the period and the maximum number of hashes. Claims stay valid.
func (s *Seen) SetTerms(within int64, keep int) {
	s.within = within
	s.table.setKeep(keep)
}

// Has reports whether a hash was claimed within the period before at.
func (s *Seen) Has(at int64, hash uint64) bool {
	i := s.table.find(hash)
	return i != 0 && at-s.table.at(i).value < s.within
}

// Claim remembers a hash from the time at on, unless Has reports true: then ok is false. GiveBack undoes the claim.
func (s *Seen) Claim(at int64, hash uint64) (claim uint32, ok bool) {
	if s.Has(at, hash) {
		return 0, false
	}
	return s.Renew(at, hash), true
}

// Renew remembers a hash from the time at on, whether or not it is remembered already.
func (s *Seen) Renew(at int64, hash uint64) (claim uint32) {
	s.sweep(at, sweeps)
	if i := s.table.find(hash); i != 0 {
		s.table.remove(i)
	}
	claim = s.table.add(hash)
	s.table.at(claim).value = at
	return claim
}

// GiveBack drops the hash of a claim for the time at. It does nothing if another hash has taken its place meanwhile.
func (s *Seen) GiveBack(at int64, claim uint32) {
	if s.table.has(claim) && s.table.at(claim).value == at {
		s.table.remove(claim)
	}
}

// Sweep drops up to n hashes that have expired at a time. It returns the number of hashes left, and whether more may have
// expired.
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
