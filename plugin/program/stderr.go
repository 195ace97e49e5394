package program

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Bounds of what is logged of stderr.
const (
	longestLine = 500 // octets; the rest is left out
	mostLines   = 20  // a second, of all processes
)

// A stderrLog passes on lines, and not too many. It is safe for concurrent use.
type stderrLog struct {
	to func(line string) // nil: nobody

	mu      sync.Mutex
	second  int64
	lines   int // in this second
	dropped int // number of lines that were dropped since the last line that was passed on
}

// read passes on the lines of a process until its end.
func (l *stderrLog) read(from io.Reader) {
	r := bufio.NewReaderSize(from, longestLine)
	within := false // the rest of a line follows, whose beginning was passed on
	for {
		line, more, err := r.ReadLine()
		if err != nil {
			return
		}
		if !within {
			l.line(string(line), time.Now())
		}
		within = more
	}
}

func (l *stderrLog) line(text string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.to == nil {
		return
	}
	if l.second != now.Unix() {
		l.second, l.lines = now.Unix(), 0
	}
	if l.lines >= mostLines {
		l.dropped++
		return
	}
	if l.lines++; l.dropped > 0 {
		l.to(fmt.Sprintf("%d lines are left out", l.dropped))
		l.dropped = 0
	}
	l.to(strings.ToValidUTF8(text, "\uFFFD"))
}
