package pdulog

import "time"

// strangers limits how many octets per second a log takes from sessions that are not logged
// in, and likewise from those that are refused and go on. There is room for every client's login, but a flood of
// connections without a login does not displace older lines from the files.
type strangers struct {
	second int64 // the second for which lines are counted
	octets int   // octets of the lines in that second
}

// strangerOctets is how many octets a file takes from strangers per second. It is enough for
// 5000 usual lines, and adds up to 30 MB per minute.
const strangerOctets = 500_000

// admit reports whether there is room for another line in this second.
func (s *strangers) admit(now int64) bool {
	if second := now / int64(time.Second); second != s.second {
		s.second, s.octets = second, 0
	}
	return s.octets < strangerOctets
}

// add counts a line.
func (s *strangers) add(octets int) { s.octets += octets }
