package machine

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "memory.max")
	for _, c := range []struct {
		total int64
		limit string
		want  int64
	}{
		{100, "", 100},
		{100, "max\n", 100},
		{100, "60\n", 60},
		{100, "200\n", 100},
		{0, "max\n", assumed},
		{0, "60\n", 60},
	} {
		if err := os.WriteFile(file, []byte(c.limit), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := memory(c.total, file); got != c.want {
			t.Errorf("%d bytes, limit %q: got %d, want %d", c.total, c.limit, got, c.want)
		}
	}
	if got := memory(100, filepath.Join(t.TempDir(), "none")); got != 100 {
		t.Errorf("without a limit: got %d, want 100", got)
	}
	if Memory() <= 0 {
		t.Error("this machine has no memory")
	}
}
