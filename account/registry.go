package account

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"sync/atomic"

	"pmg/ratelimit"
)

// A Registry keeps what belongs to an account whatever the configuration says
// of it. It is safe for concurrent use.
type Registry struct {
	key   [32]byte // of digests; a new one each time the process starts
	mu    sync.Mutex
	usage map[string]*usage // by system_id
}

// NewRegistry makes an empty one.
func NewRegistry() *Registry {
	r := &Registry{usage: map[string]*usage{}}
	rand.Read(r.key[:]) // never fails
	return r
}

// usage is what an account uses, and what was verified for it.
type usage struct {
	mu       sync.Mutex
	sessions int
	limiter  ratelimit.Limiter
	limited  atomic.Bool // the limiter limits: without a rate no message takes the lock
	verified digest      // of the bcrypt hash and the password that fits it
}

// begin counts a session unless there are already limit of them; 0 is no limit.
func (u *usage) begin(limit int) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if limit > 0 && u.sessions >= limit {
		return false
	}
	u.sessions++
	return true
}

func (u *usage) end() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.sessions == 0 {
		panic("account: more sessions ended than began")
	}
	u.sessions--
}

// take finds or makes the usage of an account, with its rate.
func (r *Registry) take(systemID string, rate int) *usage {
	r.mu.Lock()
	defer r.mu.Unlock()
	u := r.usage[systemID]
	if u == nil {
		u = &usage{}
		r.usage[systemID] = u
	}
	u.mu.Lock()
	u.limiter.SetRate(rate, 0)
	u.limited.Store(rate > 0)
	u.mu.Unlock()
	return u
}

// forget drops what no account of the table and no session needs any more.
func (r *Registry) forget(t *Table) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, u := range r.usage {
		if t.accounts[id] == nil && u.count() == 0 {
			delete(r.usage, id)
		}
	}
}

func (u *usage) count() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.sessions
}

// A digest stands for secrets without being of use to who finds it.
type digest [sha256.Size]byte

// digest makes one of secrets. Their lengths are part of it, so that what
// belongs to one cannot be taken for part of the next.
func (r *Registry) digest(secrets ...[]byte) digest {
	h := hmac.New(sha256.New, r.key[:])
	for _, s := range secrets {
		h.Write([]byte{byte(len(s) >> 24), byte(len(s) >> 16), byte(len(s) >> 8), byte(len(s))})
		h.Write(s)
	}
	return digest(h.Sum(nil))
}
