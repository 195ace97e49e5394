// Package testutil has functions that the tests of several packages need.
//
// # Start reading
//
// Eventually, then Fresh, FreeAddress, Capture and NoLeaks.
package testutil

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

// Patience is the time that a test waits for an event that must happen. Only a failing test waits that long.
const Patience = time.Minute

// Eventually waits until ok returns true, and fails the test if it does not within
// Patience. what names the condition for the message.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(Patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// Receive returns a value from a channel, and fails the test if none comes within Patience. what is its name in the message.
func Receive[T any](t testing.TB, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(Patience):
		t.Fatalf("waited in vain for %s", what)
	}
	return v
}

// Long skips a test that is too long for make test, or needs too many processors. make test-all runs it.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("make test-all runs it")
	}
}

// Histories returns the number of histories that a simulation plays, out of n: a tenth with -short, and with the race
// detector, which makes each ten times as long and finds its races in the first ones.
func Histories(n uint64) uint64 {
	if testing.Short() || Race {
		return (n + 9) / 10
	}
	return n
}

// NoLeaks runs a package's tests and ends the process, as a TestMain. It fails when a
// test leaves goroutines behind.
func NoLeaks(m *testing.M) {
	before := runtime.NumGoroutine()
	code := m.Run()
	if f := flag.Lookup("test.fuzz"); f != nil && f.Value.String() != "" {
		os.Exit(code) // package testing itself leaves goroutines behind
	}
	for i := 0; i < 100 && runtime.NumGoroutine() > before; i++ {
		time.Sleep(10 * time.Millisecond) // goroutines of closed connections end soon, but not immediately
	}
	if now := runtime.NumGoroutine(); now > before && code == 0 {
		stacks := make([]byte, 1<<16)
		fmt.Fprintf(os.Stderr, "goroutines left behind:\n%s\n", stacks[:runtime.Stack(stacks, true)])
		code = 1
	}
	os.Exit(code)
}

// ShortDir returns a temporary directory for a test. The names of t.TempDir are too long for a unix socket.
func ShortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
