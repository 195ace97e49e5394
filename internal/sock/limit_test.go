package sock

import (
	"testing"

	"golang.org/x/sys/unix"
)

// H16: the soft limit is raised to the hard limit, which is returned.
func TestDescriptorLimit(t *testing.T) {
	var before, after unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	lower := before
	lower.Cur = min(before.Cur, 1000)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &lower); err != nil {
		t.Fatal(err)
	}
	n := DescriptorLimit()
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &after); err != nil {
		t.Fatal(err)
	}
	if uint64(n) != uint64(after.Cur) || after.Cur != before.Max {
		t.Errorf("limit %d; the soft limit is %d, want the hard one, %d", n, after.Cur, before.Max)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
}
