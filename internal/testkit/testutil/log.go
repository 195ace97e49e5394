package testutil

import (
	"bytes"
	"sync"
)

// A Log is a log in memory. Goroutines may write it while a test reads it.
type Log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write adds lines.
func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

// String returns the lines that were written and not taken.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Take returns what was written since the last call.
func (l *Log) Take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.b.Reset()
	return l.b.String()
}
