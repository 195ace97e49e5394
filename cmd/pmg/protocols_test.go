package main

import (
	"strings"
	"testing"
)

// Commands that log in to a peer refuse protocols without sessions, in words.
func TestSessionDriver(t *testing.T) {
	t.Parallel()
	for _, name := range sessionNames() {
		if d, err := newSessionDriver(name); err != nil || d.Name() != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"http", "x"} {
		if _, err := newSessionDriver(name); err == nil || !strings.Contains(err.Error(), "use smpp or ucp") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
