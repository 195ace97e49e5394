package arch

import (
	"os/exec"
	"strings"
	"testing"
)

// L: bin/pmg had 31 MB, half of which were the charts and fonts of the bench. It does not
// contain packages whose paths begin with these prefixes.
func TestProgramIsLean(t *testing.T) {
	t.Parallel()
	without := []string{
		"pmg/loadtest/bench", "gonum.org/", "codeberg.org/go-", "git.sr.ht/~sbinet/", "github.com/ajstarks/svgo",
		"github.com/golang/freetype", "golang.org/x/image", "image",
		"pmg/protocols/prototest", "pmg/internal/testutil", "pmg/internal/e2e", "github.com/fiorix/", "testing",
	}
	cmd := exec.Command("go", "list", "-deps", "./cmd/pmg")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("cannot list the packages of pmg: %v", err)
	}
	for pkg := range strings.Lines(string(out)) {
		for _, prefix := range without {
			if strings.HasPrefix(pkg, prefix) {
				t.Errorf("pmg contains %s", strings.TrimSpace(pkg))
			}
		}
	}
}
