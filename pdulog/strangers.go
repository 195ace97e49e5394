package pdulog

import (
	"sync"
	"time"
)

// strangers limits how many octets per second a log takes from sessions that are not logged
// in, and likewise from those that are refused and go on. There is room for every client's login, but a flood of
// connections without a login does not displace older lines from the files.
type strangers struct {
	mu     sync.Mutex
	second int64 // the second for which lines are counted
	octets int   // octets of the lines in that second
}

// strangerOctets is how many octets a file takes from strangers per second. It is enough for
// 5000 usual lines, and adds up to 30 MB per minute.
const strangerOctets = 500_000

// admit reports whether there is room for another line in this second. A line of the second before counts for this one,
// because its goroutine may be a little behind another.
func (s *strangers) admit(now int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	second := now / int64(time.Second)
	if second > s.second || second < s.second-1 {
		s.second, s.octets = second, 0
	}
	return s.octets < strangerOctets
}

// add counts a line.
func (s *strangers) add(octets int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.octets += octets
}
