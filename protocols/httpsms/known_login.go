package httpsms

import (
	"encoding/binary"
	"hash/maphash"
)

// A KnownLogin is a name and a password that were right, as a hash with a seed of its own, which no answer shows. The zero value
// is no login.
type KnownLogin struct {
	seed maphash.Seed
	sum  uint64
}

// KnowLogin returns a login that was right.
func KnowLogin(name, password string) KnownLogin {
	l := KnownLogin{seed: maphash.MakeSeed()}
	l.sum = l.sumOf(name, password)
	return l
}

// Is reports whether a name and a password are those of the login.
func (l *KnownLogin) Is(name, password string) bool {
	return l.seed != maphash.Seed{} && l.sum == l.sumOf(name, password)
}

func (l *KnownLogin) sumOf(name, password string) uint64 {
	var h maphash.Hash
	h.SetSeed(l.seed)
	var size [8]byte
	binary.BigEndian.PutUint64(size[:], uint64(len(name)))
	_, _ = h.Write(size[:]) // never fails
	_, _ = h.WriteString(name)
	_, _ = h.WriteString(password)
	return h.Sum64()
}
