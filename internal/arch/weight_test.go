package arch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// charts returns what the paths of the bench's charts and fonts begin with.
func charts() []string {
	return []string{
		"gonum.org/", "codeberg.org/go-", "git.sr.ht/~sbinet/", "github.com/ajstarks/svgo",
		"github.com/golang/freetype", "golang.org/x/image",
	}
}

// L: bin/pmg had 31 MB, half of which were the charts and fonts of the bench. It does not
// contain packages whose paths begin with these prefixes. The picture of a second factor's secret has image and image/color alone.
func TestProgramIsLean(t *testing.T) {
	t.Parallel()
	without := append(charts(), "pmg/loadtest/bench", "image/draw", "image/png", "image/jpeg", "image/gif",
		"pmg/protocols/prototest", "pmg/internal/testkit/testutil", "pmg/internal/e2e", "github.com/fiorix/", "testing")
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

// The module of the product does not require them either.
func TestModuleIsLean(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for _, prefix := range charts() {
		if strings.Contains(string(mod), prefix) {
			t.Errorf("go.mod names %s", prefix)
		}
	}
}
