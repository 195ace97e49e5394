package account

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
)

// A digest is a keyed hash of a hash and the password that matched it. The key is the
// registry's and is never stored, so a leaked digest is of no use to an attacker.
type digest [sha256.Size]byte

func newKey() (key [32]byte) {
	_, _ = rand.Read(key[:]) // never fails
	return key
}

// digest returns the digest of secrets. The hash also covers the length of each secret, so that the
// boundary between two secrets is unambiguous.
func (r *Registry) digest(secrets ...[]byte) digest {
	h := hmac.New(sha256.New, r.key[:])
	for _, s := range secrets {
		h.Write([]byte{byte(len(s) >> 24), byte(len(s) >> 16), byte(len(s) >> 8), byte(len(s))})
		h.Write(s)
	}
	return digest(h.Sum(nil))
}
