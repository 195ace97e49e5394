package program

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Limits of the logged lines of stderr.
const (
	longestLine = 500 // maximum octets of a line; the rest is omitted
	mostLines   = 20  // maximum lines a second, of all processes
)

// A stderrLog passes a limited number of lines on. It is safe for concurrent use.
type stderrLog struct {
	to func(line string) // nil: lines are dropped

	mu      sync.Mutex
	second  int64
	lines   int // lines in this second
	dropped int // number of lines that were dropped since the last line that was passed on
}

// read passes on the lines of a process until its end.
func (l *stderrLog) read(from io.Reader) {
	r := bufio.NewReaderSize(from, longestLine)
	within := false // the rest follows of a line whose beginning was passed on
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
		l.to(fmt.Sprintf("%d lines were omitted", l.dropped))
		l.dropped = 0
	}
	l.to(strings.ToValidUTF8(text, "\uFFFD"))
}
