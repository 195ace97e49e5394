package body

import (
	"errors"
	"io"
	"runtime"
	"sync"

	"pmg/connector"
)

// Limits of the bodies that are read at the same time.
const (
	most  = 256 << 20 // octets of all bodies, unless limits.memory is small
	small = 64 << 10  // octets that each body may have in any case: the number of connections limits these
	large = 1 << 20   // octets from which on bodies are parsed in turn
)

// Errors of bodies that were not read.
var (
	ErrFull  = errors.New("too many bodies are being read")
	ErrLarge = errors.New("the body is too large")
)

// A Room bounds the octets of bodies. It is safe for concurrent use.
type Room struct {
	memory  *connector.Memory
	parsing chan struct{} // has an element for each large body that is being parsed: half of the processors stay free

	mu   sync.Mutex
	used int64
	by   map[string]int64 // octets by account
}

// NewRoom returns a room whose octets are counted in memory.
func NewRoom(memory *connector.Memory) *Room {
	places := max(1, runtime.GOMAXPROCS(0)/2)
	return &Room{memory: memory, parsing: make(chan struct{}, places), by: map[string]int64{}}
}

// A Claim is the memory of a room that a request has reserved. It is not safe for concurrent use.
type Claim struct {
	room    *Room
	account string
	octets  int64
}

// Largest returns the possible size of a body of a kind that may have most octets: a body above an account's share is never
// read.
func (r *Room) Largest(most int64) int64 { return min(most, max(r.all()/2-1, small-1)) }

// all returns the limit of octets for all bodies.
func (r *Room) all() int64 { return min(most, r.memory.Limit()/2) }

// Claim returns an empty claim of an account; "" is for clients without a login. The caller releases the claim.
func (r *Room) Claim(account string) *Claim { return &Claim{room: r, account: account} }

// Take reserves n more octets. It reports false if there is no room: an account may have half of the room that others leave.
func (c *Claim) Take(n int64) bool {
	r := c.room
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.octets+n > small {
		all, own := r.all(), r.by[c.account]
		if r.memory.Full() || r.used+n > all || own+n > (all-(r.used-own))/2 {
			return false
		}
	}
	c.octets += n
	r.used += n
	r.by[c.account] += n
	r.memory.Add(n)
	return true
}

// Release returns the octets of the claim.
func (c *Claim) Release() {
	r := c.room
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used -= c.octets
	if r.by[c.account] -= c.octets; r.by[c.account] == 0 {
		delete(r.by, c.account)
	}
	r.memory.Add(-c.octets)
	c.octets = 0
}

// Parse calls the function work, which parses the body or a part of the body. Large bodies take turns, so that
// many of them do not delay small requests. It reports false, and does not call work, if the channel gone is closed
// before the body's turn.
func (c *Claim) Parse(gone <-chan struct{}, work func()) bool {
	if c.octets < large {
		work()
		return true
	}
	select {
	case c.room.parsing <- struct{}{}:
	case <-gone:
		return false
	}
	defer func() { <-c.room.parsing }()
	work()
	return true
}

// Read reads a body to its end, which may have most octets at most. declared is the length that the client
// declares, -1 if none: the declared octets are claimed before any is read.
func (c *Claim) Read(in io.Reader, declared, most int64) ([]byte, error) {
	if declared > most {
		return nil, ErrLarge
	}
	size := declared
	if size < 0 {
		size = min(512, most)
	}
	size++ // one octet more, so that the end is detected
	if !c.Take(size) {
		return nil, ErrFull
	}
	for b := make([]byte, 0, size); ; {
		n, err := in.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case int64(len(b)) > most:
			return nil, ErrLarge
		case err == io.EOF:
			return b, nil
		case err != nil:
			return nil, err
		case len(b) < cap(b):
			continue
		}
		more := min(int64(cap(b)), most+1-int64(len(b)))
		if !c.Take(more) {
			return nil, ErrFull
		}
		b = append(make([]byte, 0, int64(cap(b))+more), b...)
	}
}
