package pdulog

import "time"

// strangers bounds how much a second the log takes of sessions that are not logged in.
// Every client's login fits, but a flood of connections that only write does not push
// the history out of the files.
type strangers struct {
	second int64 // that is counted
	octets int   // of lines
}

// strangerOctets is how much a file takes of strangers in a second: 5000 lines of
// usual length, 30 MB a minute.
const strangerOctets = 500_000

// admit reports whether there is room for another line.
func (s *strangers) admit(now int64) bool {
	if second := now / int64(time.Second); second != s.second {
		s.second, s.octets = second, 0
	}
	return s.octets < strangerOctets
}

// add counts a line.
func (s *strangers) add(octets int) { s.octets += octets }
