package main

import (
	"bytes"
	"regexp"
	"testing"

	"pmg/internal/testkit/natstest"
	"pmg/internal/testkit/testutil"
)

// The demonstration names the nodes that work, one after the other, and counts; nothing is missing.
func TestClusterDemo(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	var said bytes.Buffer
	out, err := runForTest(t, newClusterDemoCommand(), &said, "--pmg", pmg.Program(t).Path, "--nats-server", natstest.Program(t),
		"--lease", "5s", "--pause", "2s", "--rate", "50")
	if err != nil || said.Len() > 0 {
		t.Fatalf("%v\n%s%s", err, out, &said)
	}
	if !regexp.MustCompile(`(?s)node (.) owns the work after .*kill -9 of node .*node . works after .*pmg cluster move .\nnode . works after .*` +
		`✓ accepted     \d+\n  delivered    \d+\n  twice        .*\n  missing      0\n  receipts     \d+, 0 missing\n$`).MatchString(out) {
		t.Errorf("it prints\n%s", out)
	}
}
