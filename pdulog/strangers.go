package pdulog

import "time"

// strangers bounds how many lines a second the log takes of sessions that are not
// logged in. Every client's login fits, but a flood of connections that only write
// does not push the history out of the files.
type strangers struct {
	second int64 // that is counted
	lines  int
}

// strangerLines is how many lines of strangers a file takes in a second: with lines
// of 100 octets, 30 MB a minute.
const strangerLines = 5000

// admit counts a line, and reports whether there is room for it.
func (s *strangers) admit(now int64) bool {
	if second := now / int64(time.Second); second != s.second {
		s.second, s.lines = second, 0
	}
	s.lines++
	return s.lines <= strangerLines
}
