package account

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"sync"
	"time"
)

// A digest is a keyed hash of a bcrypt hash and a password. The key is the
// registry's and is never stored, so a leaked digest is of no use to an attacker.
type digest [sha256.Size]byte

func newKey() (key [32]byte) {
	_, _ = rand.Read(key[:]) // never fails
	return key
}

// digest returns the digest of secrets. Their lengths are part of it, so that the
// end of one cannot be taken for the beginning of the next.
func (r *Registry) digest(secrets ...[]byte) digest {
	h := hmac.New(sha256.New, r.key[:])
	for _, s := range secrets {
		h.Write([]byte{byte(len(s) >> 24), byte(len(s) >> 16), byte(len(s) >> 8), byte(len(s))})
		h.Write(s)
	}
	return digest(h.Sum(nil))
}

// verified holds the last few digests that bcrypt accepted for an account. It holds
// several, so that the old and the new password do not evict each other while
// clients change from one to the other.
type verified struct {
	digests [4]digest
	n       int // ever added
}

func (v *verified) has(d digest) bool {
	found := 0
	for i := range min(v.n, len(v.digests)) {
		found |= subtle.ConstantTimeCompare(v.digests[i][:], d[:])
	}
	return found == 1
}

func (v *verified) add(d digest) {
	if !v.has(d) {
		v.digests[v.n%len(v.digests)] = d
		v.n++
	}
}

// How many wrong passwords are remembered, and how long each one at least.
const (
	maxWrong      = 4096
	rememberWrong = time.Minute
)

// wrongPasswords holds the digests that bcrypt refused recently. A client that
// repeats the same wrong password costs one bcrypt a minute.
type wrongPasswords struct {
	mu     sync.Mutex
	recent recent[digest, struct{}]
}

func (w *wrongPasswords) has(now int64, d digest) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, ok := w.recent.get(now, d)
	return ok
}

func (w *wrongPasswords) add(now int64, d digest) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.recent.put(now, d, struct{}{})
}
