package bench

import (
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// This process and a child share no processor until restore is called, and have the same
// processors as before afterwards.
func TestSeparate(t *testing.T) {
	of := func(pid int) (set unix.CPUSet) {
		t.Helper()
		if err := unix.SchedGetaffinity(pid, &set); err != nil {
			t.Fatal(err)
		}
		return set
	}
	before := of(0)
	if before.Count() < 2 {
		t.Skip("there is only one processor")
	}
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = child.Process.Kill()
		_ = child.Wait()
	}()
	restore, err := separate(child.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	ours, its := of(os.Getpid()), of(child.Process.Pid)
	for cpu := range len(before) * 64 {
		if ours.IsSet(cpu) && its.IsSet(cpu) {
			t.Errorf("processor %d is shared", cpu)
		}
	}
	if ours.Count() != 1 || its.Count() != before.Count()-1 {
		t.Errorf("%d processors for us, %d for the child, of %d", ours.Count(), its.Count(), before.Count())
	}
	restore()
	if of(os.Getpid()) != before || of(0) != before {
		t.Error("the affinity is not restored")
	}
	if _, err := separate(1 << 30); err == nil {
		t.Error("a process that does not exist can be separated")
	}
	if of(os.Getpid()) != before {
		t.Error("the affinity is not restored after an error")
	}
}
